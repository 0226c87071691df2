"""Presets as files: what they may say, what comes back, and what is refused."""

import csv
import re
import tomllib
from pathlib import Path

import pytest

import pqswarm.events
from pqswarm.errors import PqswarmError
from pqswarm.events import (
    PRESETS,
    EqualTo,
    Fixed,
    LogUniform,
    OneOf,
    Preset,
    Steps,
    Uniform,
    WithinRecord,
    format_preset,
    generate,
    get_preset,
    load_preset,
    spectrum_ranges,
)

SPECTRA = {
    "six_pulse": {"h5": 0.2, "h7": 0.14, "h11": 0.09, "h13": 0.077},
    "twelve_pulse": {"h5": 0.0, "h7": 0.0, "h11": 0.09, "h13": 0.077},
}
PAPER = PRESETS["paper"]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def load(tmp_path):
    def read(text, name="mine.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return load_preset(tmp_path / name)

    return read


def same(one, other):
    """Whether two presets are equal, also in the order in which parameters are drawn."""
    sources = [("model", label) for label in one.models] + [("bench", label) for label in one.bench]
    return one == other and all(list(one.ranges(c, s)) == list(other.ranges(c, s)) for s, c in sources)


@pytest.mark.parametrize("name", PRESETS.built_in)
def test_every_preset_round_trips(load, name):
    assert same(load(format_preset(PRESETS[name])), PRESETS[name])


@pytest.mark.parametrize("name", PRESETS.built_in)
def test_files_of_the_package_mean_the_same_to_the_reader_of_your_files(name):
    folder = Path(pqswarm.events.__file__).parent / "preset_files"
    assert same(load_preset(folder / f"{name}.toml"), PRESETS[name])


def test_your_own_file_round_trips(load):
    text = """
        name = "laboratory, 60 Hz"
        extends = "field"
        classes = ["sag", "harmonics", "flicker_with_harmonics", "notching"]
        [common]
        frequency = 60
        cycles = { choice = [10, 20] }
        snr = inf
        [spectra]
        six_pulse = { h5 = 0.2, h7 = 0.14, h11 = 0.09, h13 = 0.077 }
        twelve_pulse = { h11 = 0.09, h13 = 0.077 }
        [sag]
        duration = { steps = [0.5, 10], number = 20, unit = "cycles" }
        start = 0
        [flicker_with_harmonics]
        spectrum = ["six_pulse"]
        [bench]
        fraction = 0.25
        [bench.sag]
        source_x_over_r = { log_uniform = [2, 9] }
        cycles = 20
    """
    made = load(text)
    field = PRESETS["field"]
    assert made.name == "laboratory, 60 Hz"
    assert made.classes == ("sag", "notching", "harmonics", "flicker_with_harmonics")
    assert (made.common["frequency"], made.common["cycles"]) == (Fixed(60.0), OneOf((10.0, 20.0)))
    assert made.common["amplitude"] == field.common["amplitude"]
    window = {"duration": Steps(0.5, 10, 20, "cycles"), "start": Fixed(0.0)}
    assert made.models["sag"] == {"depth": Uniform(0.1, 0.9), **window}
    assert made.models["harmonics"] == spectrum_ranges(SPECTRA)
    flicker = {key: field.models["flicker_with_harmonics"][key] for key in ("flicker_depth", "flicker_frequency")}
    assert made.models["flicker_with_harmonics"] == flicker | spectrum_ranges({"six_pulse": SPECTRA["six_pulse"]})
    assert set(made.bench) == {"sag", "harmonics"}
    assert (made.bench_fraction, made.bench["sag"]["source_x_over_r"]) == (0.25, LogUniform(2, 9))
    # The record of the bench follows what is common, unless the class of the bench says otherwise.
    assert (made.bench["harmonics"]["cycles"], made.bench["sag"]["cycles"]) == (OneOf((10.0, 20.0)), Fixed(20.0))
    assert same(load(format_preset(made)), made)
    event = generate("flicker_with_harmonics", 1, made)
    assert (event.frequency, event.parameters["spectrum"], event.parameters["h5"]) == (60, 1, 0.2)


def test_common_ranges_apply_to_every_class_with_the_parameter(load):
    made = load("""
        extends = "paper"
        [common]
        amplitude = { uniform = [0.95, 1.05] }
        duration = { choice = [1, 5, 10], unit = "cycles" }
        h5 = 0.1
        [swell]
        duration = 0.2
    """)
    assert made.common["amplitude"] == made.models["pure_sinusoid"]["amplitude"] == Uniform(0.95, 1.05)
    cycles = OneOf((1.0, 5.0, 10.0), "cycles")
    found = {label: ranges["duration"] for label, ranges in made.models.items() if "duration" in ranges}
    assert found == dict.fromkeys(found, cycles) | {"swell": Fixed(0.2)}
    assert len(found) == 7
    assert all(made.models[label]["h5"] == Fixed(0.1) for label in made.classes if "harmonics" in label)
    assert made.bench == PAPER.bench  # its faults are its own
    assert {generate("sag", seed, made).parameters["duration"] for seed in range(30)} == {0.02, 0.1, 0.2}


def test_unlisted_parameters_and_their_draws_do_not_change(load):
    made = load('extends = "paper"\n[sag]\ndepth = { uniform = [0.1, 0.2] }')
    assert made.name == "mine"
    assert {label: made.models[label] for label in made.models if label != "sag"} == {
        label: PAPER.models[label] for label in PAPER.models if label != "sag"
    }
    free, ours = generate("sag", 4).parameters, generate("sag", 4, made).parameters
    assert {key: ours[key] for key in ("start", "duration")} == {key: free[key] for key in ("start", "duration")}


def test_parameters_are_drawn_after_those_they_depend_on(load):
    made = load("""
        extends = "paper"
        [sag_with_transient]
        start = { same = "transient_onset" }
        duration = { uniform = [0.5, 30], unit = "cycles left" }
    """)
    order = list(made.models["sag_with_transient"])
    assert order.index("transient_onset") < order.index("start") < order.index("duration")
    assert made.models["sag_with_transient"]["start"] == EqualTo("transient_onset")
    assert made.models["sag_with_transient"] == PRESETS["paper-printed"].models["sag_with_transient"]


def test_a_file_can_extend_a_file_or_be_complete(load, tmp_path):
    whole = load("""
        [common]
        sampling_rate = 12800
        frequency = 60
        cycles = 12
        [pure_sinusoid]
        [sag]
        depth = { uniform = [0.1, 0.9] }
        start = { inside = "duration", margin = 1 }
        duration = { uniform = [0.5, 5], unit = "cycles" }
    """)
    assert isinstance(whole, Preset)
    assert (whole.classes, whole.bench, whole.bench_fraction) == (("pure_sinusoid", "sag"), {}, 0.0)
    assert list(whole.models["sag"]) == ["depth", "duration", "start"]
    assert whole.models["sag"]["start"] == WithinRecord("duration", margin=1.0)
    assert generate("sag", 0, whole).signal.size == 2560
    second = load('name = "second"\nextends = "mine.toml"\n[common]\nfrequency = 50', "second.toml")
    assert (second.common["frequency"], second.common["cycles"]) == (Fixed(50.0), Fixed(12.0))
    assert get_preset(str(tmp_path / "second.toml")) == get_preset(tmp_path / "second.toml") == second


def test_inherited_spectra_can_be_selected_or_replaced(load):
    load('extends = "paper"\n[spectra]\na = { h5 = 0.1 }\nb = { h5 = 0.1, h7 = 0.05 }', "base.toml")
    made = load("""
        extends = "base.toml"
        [harmonics]
        spectrum = ["b"]
        [sag_with_harmonics]
        h5 = 0.2
        h7 = { uniform = [0, 0.1] }
        h11 = 0
        h13 = 0
    """)
    assert made.models["harmonics"]["spectrum"].names == ("b",)
    assert made.models["swell_with_harmonics"]["spectrum"].names == ("a", "b")
    assert "spectrum" not in made.models["sag_with_harmonics"]
    assert generate("sag_with_harmonics", 0, made).parameters["h5"] == 0.2
    assert same(load(format_preset(made), "again.toml"), made)


MISTAKES = [
    ("extends = ", r"mine.toml is not valid TOML"),
    ('extend = "paper"', "unknown key or event class 'extend': did you mean 'extends'"),
    ('extends = "papper"', "extends: unknown preset 'papper': did you mean 'paper'"),
    ('extends = "mine.toml"', "the file extends itself"),
    ('extends = "no.toml"', "there is no preset file .*no.toml: `pqswarm preset show paper > no.toml`"),
    ("", r"\[common\]: sampling_rate is missing: add it, or extends"),
    ("common = {sampling_rate=25000, frequency=50, cycles=10}", r"no event class: add a table such as \[sag\]"),
    ("common = {sampling_rate=25000, frequency=50, cycles=10}\n[sag]\ndepth=0.5", r"\[sag\]: start is missing"),
]
BESIDE_THE_PAPER = [
    ('classes = ["sga"]', "classes: unknown event class 'sga': did you mean 'sag'"),
    ("classes = []", "classes: must hold at least 1, not"),
    ('classes = ["sag"]\n[swell]\nrise=0.2', "'swell' has a table but is not listed"),
    ('name = "field"', "'field' is a preset with other ranges: give this one another name"),
    ("name = 3", "name: must be text"),
    ("sag = 3", r"sag: must be a table of keys, not 3"),
    ("[sags]", "unknown key or event class 'sags': did you mean 'sag'"),
    ("[common]\nfrequenzy = 60", r"\[common\]: unknown parameter 'frequenzy': did you mean 'freq"),
    ("[sag]\ndept = 0.4", r"\[sag\]: unknown parameter of sag 'dept': did you mean 'depth'"),
    ("[sag]\nrise = 0.4", r"\[sag\]: unknown parameter of sag 'rise'"),
    ("[sag]\ndepth = 1.4", r"\[sag\]: depth: must lie from 0 to 1 \[pu\], not at 1.4"),
    ("[sag]\ndepth = true", "depth: must be a number, or a range such as"),
    ("[sag]\ndepth = inf", "depth: must be a finite number, not inf"),
    ("[sag]\ndepth = [0.1, 0.9]", r"write \{ uniform = \[0.1, 0.9\] \} or \{ choice ="),
    ("[sag]\ndepth = { unifrom = [0.1, 0.9] }", "kind of range 'unifrom': did you mean 'uniform'"),
    ('[sag]\ndepth = { unit = "pu" }', "must have one of uniform, log_uniform, steps"),
    ("[sag]\ndepth = { uniform = [0, 1], choice = [1] }", "has both 'uniform' and 'choice'"),
    ("[sag]\ndepth = { uniform = [0.1, 1.9] }", r"depth: must lie from 0 to 1 \[pu\], not at 1.9"),
    ("[sag]\ndepth = { uniform = [0.9, 0.1] }", "low must be below high, not 0.9 and 0.1"),
    ("[sag]\ndepth = { uniform = [0.9] }", "uniform: must hold at least 2, not"),
    ('[sag]\ndepth = { uniform = [0.1, "a"] }', r"uniform\[1\]: must be a number, not 'a'"),
    ("[sag]\ndepth = { log_uniform = [0, 1] }", r"log_uniform\[0\]: must be above 0"),
    ("[sag]\ndepth = { choice = [0.1, 2] }", "depth: must lie from 0 to 1"),
    ("[sag]\ndepth = { choice = [] }", "choice: must hold at least 1"),
    ("[sag]\ndepth = { steps = [0, 1] }", "number: is missing"),
    ("[sag]\ndepth = { steps = [0, 1], number = 1 }", "number: must be at least 2"),
    ("[sag]\ndepth = { steps = [0, 1], numbr = 5 }", "numbr: unknown key; did you mean 'number'"),
    ('[sag]\ndepth = { uniform = [0, 1], unit = "cycles" }', "unknown unit 'cycles'. Known: pu"),
    ('[sag]\nduration = { uniform = [1, 2], unit = "cycle" }', "did you mean 'cycles'"),
    ('[sag]\nduration = { uniform = [-1, 2], unit = "cycles" }', "duration of sag must be a number"),
    ('[sag]\nduration = { steps = [40, 50], number = 2, unit = "cycles" }', "cannot hold a range"),
    ('[sag]\ndepth = { inside = "duration" }', "'inside' is only for times, and depth is not"),
    ("[sag]\nstart = { inside = 3 }", "inside: must be text, not 3"),
    ('[sag]\nstart = { inside = "duration", margin = -1 }', "margin: must be at least 0"),
    ('[sag]\nstart = { same = "onset" }', "start depends on onset, which is not drawn"),
    (
        '[sag]\nduration = { uniform = [1, 2], unit = "cycles left" }',
        r"\[sag\]: duration and start depend on each other",
    ),
    ('[sag]\namplitude = { same = "depth" }', "record and supply cannot depend on those of the dist"),
    ("[sag]\nstart = 0.7", "start of sag must lie inside the record of 0.6 s"),
    ("[common]\nsampling_rate = 1000", "sampling_rate must be above 26 times the frequency"),
    ("[spectra]\nSix = { h5 = 0.1 }", r"spectra.Six: 'Six' must be lower-case letters"),
    ("[spectra]\nsix = { h6 = 0.1 }", "unknown parameter of spectrum 'six' 'h6'. Known: h5, h7"),
    ("[spectra]\nsix = { h5 = 0.9 }", "h5 of spectrum 'six' must be a number from 0 to 0.5"),
    ("[spectra]", "at least one spectrum"),
    (
        '[spectra]\nsix = { h5 = 0.1 }\n[harmonics]\nspectrum = ["sex"]',
        "spectrum: unknown spectrum 'sex': did you mean 'six'",
    ),
    ('[spectra]\nsix = {}\n[harmonics]\nspectrum = "six"', r"must be a list of names of \[spectra\]"),
    ('[spectra]\nsix = {}\n[harmonics]\nspectrum = ["six"]\nh5 = 0.1', "has both spectrum and h5"),
    ("[common]\nh5 = 0.1\n[spectra]\nsix = {}", r"\[common\] h5: harmonics are also given by"),
    ("[bench]\nfraction = 0.5", r"\[bench\]: fraction .* must be a number from 0 to 0.3571, as 5 of"),
    ("[bench]\nfractio = 0.1", "bench: unknown key or event class .*: did you mean 'fraction'"),
    ("[bench.sag]\nfault = 0.1", r"\[bench.sag\]: unknown parameter of the bench 'fault'"),
    ("[bench.swell]\nfault_ratio = 1", r"\[bench.swell\]: source_inductance is missing"),
    ("[bench.sag]\nfault_ratio = 0", r"\[bench.sag\]: fault_ratio: must lie from 0.0001"),
]
MISTAKES += [(f'extends = "paper"\n{text}', message) for text, message in BESIDE_THE_PAPER]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[str(i) for i in range(len(MISTAKES))])
def test_mistakes_are_named_with_file_and_key(load, text, message):
    with pytest.raises(PqswarmError, match=message) as caught:
        load(text)
    assert "mine.toml" in str(caught.value) or "no.toml" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(PqswarmError, match=r"cannot read .*: Is a directory"):
        load_preset(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(PqswarmError, match=r"cannot read .*latin.toml"):
        load_preset(tmp_path / "latin.toml")


def test_ranges_that_cannot_be_written_are_named():
    class Odd:
        def at(self, u, values):
            return u

    with pytest.raises(PqswarmError, match="a range of type Odd cannot be written to a file"):
        format_preset(Preset("odd", {}, {"sag": {"depth": Odd()}}, {}))
    split = {
        "sag_with_harmonics": spectrum_ranges({"a": {"h5": 0.1}}),
        "harmonics": spectrum_ranges({"a": {"h5": 0.2}}),
    }
    with pytest.raises(PqswarmError, match="spectrum 'a' differs between classes"):
        format_preset(Preset("split", {}, split, {}))


def test_parameters_are_explained():
    text = format_preset(PRESETS["paper"])
    assert "depth = { uniform = [0.1, 0.9] }  # depth of a sag or an interruption [pu]" in text
    assert 'unit = "cycles" }  # duration of a sag, swell, interruption or fault\n' in text
    assert tomllib.loads(text)["bench"]["fraction"] == 0.1


def test_files_of_the_documentation_load(load):
    page = (DOCS / "guides/presets.md").read_text(encoding="utf-8")
    files = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    presets = [load(text) for text in files if "title" not in tomllib.loads(text)]
    assert [preset.name for preset in presets] == ["mine", "mine"]
    for preset in presets:
        assert generate(preset.classes[-1], 0, preset).signal.any()


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("sin(beta_f w t)", "flicker"),
        ("Transient with a sag or swell", "sag_with_transient"),
        ("Transient with a sag or swell", "swell_with_transient"),
        ("Number of the notches", "notching"),
    ],
)
def test_alternatives_of_open_choices_extend_the_paper(load, question, label):
    page = (DOCS / "explanation/open-choices.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {question}"))
    keys = [code for code in re.findall(r"`([^`]+)`", row.rstrip("| ").rpartition(" | ")[2]) if " = " in code]
    preset = load("\n".join(['extends = "paper"', f"[{label}]", *keys]))
    assert keys
    assert preset.ranges(label, "model") != PAPER.ranges(label, "model")


def ranges_on_the_page():
    """Lower and upper end of each parameter that has a row of its own, as often as it has one."""
    ranges = set()
    with (DOCS / "reference/event-parameters.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            name = re.fullmatch(r"`(\w+)`", row["parameter"])
            ends = re.fullmatch(r"([\d.]+) to ([\d.]+) (?:pu|cycles)", row["range"])
            if name and ends:
                ranges.add((name[1], float(ends[1]), float(ends[2])))
    return ranges


def test_the_page_of_events_lists_the_classes_in_order_with_their_pictures():
    page = (DOCS / "reference/events-table.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| !\[\]\(\.\./(_static/events/\w+\.png)\) \|", page, re.MULTILINE)
    assert [name for name, _ in listed] == list(PAPER.classes)
    for name, picture in listed:
        assert picture == f"_static/events/{name}.png"
        assert (DOCS / picture).exists()


def test_the_ranges_on_the_page_of_events_are_those_of_the_preset():
    drawn = {
        (parameter, rule.low, rule.high)
        for name in PAPER.classes
        for parameter, rule in PAPER.ranges(name).items()
        if hasattr(rule, "low")
    }
    assert len(ranges_on_the_page()) == 7
    assert ranges_on_the_page() <= drawn
