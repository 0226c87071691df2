"""Event classes and presets: subsets, plugins and seed words."""

import importlib
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, PRESETS, EventClass, Parameter, class_title, class_type, generate, models
from pqswarm.events.classes import visible_classes
from pqswarm.events.training import record_event

PLUGIN = '''"""A class of events that pqswarm does not have, and a preset with it."""

from dataclasses import replace

import numpy as np

from pqswarm.events import PRESETS, EventClass, Parameter, Uniform


def subharmonic(t, *, grid, order, strength):
    """A fraction of the fundamental beside it, as ferroresonance makes it."""
    return grid.wave(t) + strength * np.sin(grid.angle(t) / order)


SUBHARMONIC = EventClass(
    "subharmonic",
    subharmonic,
    {"order": Parameter("n", "1", "divisor", 2, 9), "strength": Parameter("", "pu", "amplitude", 0, 2)},
    title="Ferroresonance",
)
PAPER = PRESETS["paper"]
MINE = replace(
    PAPER, name="mine", models={**PAPER.models, "subharmonic": {"order": Uniform(2, 5), "strength": Uniform(0.3, 1.0)}}
)
'''


@pytest.fixture
def plugin(installed, tmp_path, monkeypatch):
    installed(PLUGIN, "[pqswarm.event_classes]\nsubharmonic = plugin:SUBHARMONIC\n", EVENT_CLASSES, PRESETS)
    PRESETS.register(importlib.import_module("plugin").MINE)
    monkeypatch.chdir(tmp_path)


def test_plugin_class_and_preset(plugin, monkeypatch):
    assert len(PLUGIN.splitlines()) <= 30
    made, paper = make_dataset(2, snr=30.0, preset="mine"), make_dataset(2, snr=30.0)
    assert (len(made), made.class_names[14], EVENT_CLASSES["subharmonic"].seed_word) == (30, "subharmonic", 2797428986)
    assert "mine" in PRESETS
    assert (made.seeds[:28] == paper.seeds).all()
    assert (made.X(30.0)[:4] == paper.X(30.0)[:4]).all()
    loaded = load_dataset(made.save("made.npz"))
    assert 2 <= loaded.event(28).parameters["order"] <= 5
    assert made.event(29).label == "subharmonic"
    monkeypatch.delitem(EVENT_CLASSES._members, "subharmonic")
    monkeypatch.setitem(vars(EVENT_CLASSES), "_entry_points", {})  # as if it were no longer installed
    loaded = load_dataset("made.npz")
    assert loaded.class_names[-1] == "subharmonic"
    assert loaded.event(0).label == "pure_sinusoid"
    with pytest.raises(PqswarmError, match="unknown event class 'subharmonic'"):
        loaded.event(28)


def test_commands_know_the_plugin_class(plugin):
    def said(line):
        result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    made = said("dataset --preset mine --events-per-class 2 --snr inf --out data.npz --jobs 1")
    assert "30 events of 15 classes, 99 features" in made
    assert "wrote subharmonic.svg" in said("plot subharmonic --preset mine --out subharmonic.svg")
    assert "Ferroresonance" in Path("subharmonic.svg").read_text(encoding="utf-8")
    assert "wrote all.png" in said("plot all --preset mine")


@pytest.mark.parametrize("preset", ["paper", "field"])
def test_events_do_not_depend_on_the_other_classes(preset):
    names = ["swell", "harmonics", "sag"]
    whole, some = (make_dataset(8, inf, 3, chosen) for chosen in (preset, PRESETS[preset].with_classes(names)))
    assert some.class_names == ("sag", "swell", "harmonics")
    assert some.preset["name"] == f"{preset}, 3 classes"
    rows = np.isin(whole.y, [whole.class_names.index(name) for name in names])
    for name in ("seeds", "source", "record"):
        assert np.array_equal(getattr(some, name), getattr(whole, name)[rows])
    assert some.X().tobytes() == whole.X()[rows].tobytes()
    assert not make_dataset(1, inf, preset=PRESETS[preset].with_classes(["swell"])).source.any()


def test_all_classes_are_the_preset_itself():
    paper = PRESETS["paper"]
    assert paper.with_classes(reversed(paper.classes)) is paper
    for names, message in (
        (["sga"], "unknown event class of preset 'paper' 'sga': did you mean 'sag'"),
        ([], "at least one event class"),
        (["sag", "sag"], "each once"),
    ):
        with pytest.raises(PqswarmError, match=message):
            paper.with_classes(names)


def test_titles():
    assert class_title("dc_offset") == "DC offset"
    assert class_title("not_known_here") == "Not known here"
    for name in PRESETS["paper"].classes:
        assert class_title(name).lower() == name.replace("_", " ")


def test_mistakes_of_plugin_authors_are_named(monkeypatch):
    with pytest.raises(PqswarmError, match="'Big Sag' must be lower-case letters"):
        EventClass("Big Sag", lambda t: t)
    with pytest.raises(PqswarmError, match="'depth' cannot be declared again"):
        EventClass("deep", lambda t: t, {"depth": Parameter("", "", "")})
    with pytest.raises(PqswarmError, match="'sag' cannot be registered"):
        EVENT_CLASSES.register(EventClass("sag", lambda t: t))
    monkeypatch.setattr(EVENT_CLASSES, "_members", dict(EVENT_CLASSES._members))
    EVENT_CLASSES.register(EventClass("short", lambda t, *, grid, **_: t[1:]))
    paper = PRESETS["paper"]
    mine = replace(paper, models={"short": {}})
    with pytest.raises(PqswarmError, match="the model of event class 'short' must return one voltage for each"):
        generate("short", 0, mine)
    with pytest.raises(PqswarmError, match=r"unknown event class 'sag'\. Known: short"):
        generate("sag", 0, mine)
    with pytest.raises(PqswarmError, match="draws 'depht', which event class 'short' does not declare"):
        generate("short", 0, replace(mine, models={"short": {"depht": paper.models["sag"]["depth"]}}))
    with pytest.raises(PqswarmError, match="unknown event class 'storm'"):
        generate("storm", 0, replace(paper, models={"storm": {}}))


def test_a_class_inserted_in_the_middle_changes_no_other_class(monkeypatch):
    """Events of presets and of recorders depend on the seed word of their class, not on its place in the list."""
    before = make_dataset(2, 30.0)
    recorded = record_event("swell_with_transient", 5).signal
    members = list(EVENT_CLASSES._members.values())
    members.insert(4, EventClass("sag_with_jump", models.sag, type="sag"))
    monkeypatch.setattr(EVENT_CLASSES, "_members", {one.name: one for one in members})
    paper = PRESETS["paper"]
    drawn = {"sag_with_jump": paper.models["sag"], **paper.models}
    after = make_dataset(2, 30.0, preset=replace(paper, models=drawn))
    assert after.class_names[0] == "sag_with_jump"
    assert np.array_equal(after.seeds[2:], before.seeds)
    assert after.X(30.0)[2:].tobytes() == before.X(30.0).tobytes()
    assert record_event("swell_with_transient", 5).signal.tobytes() == recorded.tobytes()
    assert len({one.seed_word for one in EVENT_CLASSES.values()}) == len(EVENT_CLASSES)


def test_types_and_capture_requirements():
    assert class_type("sag_with_transient") == class_type("sag") == "sag"
    assert class_type("impulsive_transient") == "transient"
    assert class_type("not_known_here") == EventClass("not_known_here", None).type == "not known here"
    names = ("sag", "flicker_with_harmonics", "oscillatory_transient", "notching", "not_known_here")
    assert visible_classes(names, 12_800, 50.0, 10.0) == set(names)
    assert visible_classes(names, 12_800, 50.0, 4.0) == set(names) - {"flicker_with_harmonics"}
    assert visible_classes(names, 1_000, 50.0, 10.0) == set(names) - {"oscillatory_transient", "notching"}


def test_groups_are_those_of_the_paper():
    """Section 4.1, by the numbers of the table."""
    numbered = dict(enumerate(list(EVENT_CLASSES.built_in)[:14], 1))
    printed = {
        "stationary": (2, 7, 8),
        "non-stationary": (3, 4, 5, *range(9, 15)),
        "low frequency": range(1, 8),
        "high frequency": range(8, 15),
        "single": range(1, 10),
        "simultaneous": range(10, 15),
    }
    for group, numbers in printed.items():
        assert [number for number, name in numbered.items() if group in EVENT_CLASSES[name].groups] == list(numbers)
    assert {group for name in numbered.values() for group in EVENT_CLASSES[name].groups} == set(printed)
