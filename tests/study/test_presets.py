"""Studies on presets and features of one's own: 60 Hz, another wavelet, from the plan to the report."""

import pytest

from pqswarm.datasets import load_dataset
from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS, load_preset
from pqswarm.events.preset_file import write_preset
from pqswarm.report import summarize, write_report
from pqswarm.report.sections import events as events_of
from pqswarm.report.sections import features
from pqswarm.study import Store, format_plan, load_plan, read_plan, run_study
from pqswarm.study.findings import Events
from tests.study.studies import contents, find, plan_toml

SIXTY = """
extends = "paper"
classes = ["sag", "harmonics", "swell"]
[common]
sampling_rate = 7680
frequency = 60
[sag]
depth = { uniform = [0.3, 0.9] }
[spectra]
six_pulse = { h5 = 0.2, h7 = 0.14, h11 = 0.09, h13 = 0.077 }
twelve_pulse = { h11 = 0.09, h13 = 0.077 }
"""
OLD = 'preset = "paper"'
NEW = 'preset = "sixty.toml"\nfeatures = { wavelet = "db4", level = 5, border = "periodization" }'


@pytest.fixture
def plan_file(tmp_path):
    (tmp_path / "sixty.toml").write_text(SIXTY)
    path = tmp_path / "plan.toml"
    path.write_text(plan_toml(runs=1, max_evaluations=20, algorithms=("2d-upso", "ga"), old=OLD, new=NEW))
    return path


def test_sixty_hertz_from_plan_to_report(plan_file, tmp_path):
    plan, folder = load_plan(plan_file), tmp_path / "study"
    assert (plan.dataset.preset_name, plan.dataset.n_features) == ("sixty", 66)
    run_study(plan, folder, jobs=1)
    assert len(find(folder, Events).feature_names) == 66
    events = load_dataset(folder / "dataset.npz")
    assert events.class_names == ("sag", "swell", "harmonics")
    assert (events.record == [7680, 60, 30]).all()
    assert events.feature_options == plan.dataset.feature_options

    before = contents(folder)
    (tmp_path / "sixty.toml").unlink()
    with Store(folder) as store:
        summary = summarize(store).only
    assert summary.plan == plan
    run_study(summary.plan, folder, jobs=1)  # resumed by what the study keeps
    assert contents(folder) == before
    text = write_report(folder, "md").read_text()
    assert "(preset sixty, seed 0), with 66 wavelet features each (db4, level 5, border periodization)" in text
    assert "[dataset.preset.sag]" in text
    (axis, *_) = features.features_content(summary, summary.classifiers[0]).drawings[0].draw().axes
    assert any("1.92 to 3.84 kHz" in label.get_text() for label in axis.get_yticklabels())
    assert len(events_of.events_content(summary).drawings[0].draw().axes) == 3

    (tmp_path / "sixty.toml").write_text(SIXTY.replace("0.3, 0.9", "0.2, 0.9"))
    with pytest.raises(PqswarmError, match=r"preset.sag.depth.uniform: \[0.2, 0.9\] in the plan, \[0.3, 0.9\] in"):
        run_study(load_plan(plan_file), folder, jobs=1)


def test_a_preset_in_the_plan_itself(plan_file):
    table = plan_toml(old=OLD, new='preset = { extends = "paper", common = { frequency = 60 } }')
    plan = read_plan(table)
    assert plan.differences(read_plan(plan_toml())) == [
        ("dataset.preset.name", "own", "paper"),
        ("dataset.preset.common.frequency", 60, 50),
    ]
    named = read_plan(plan_toml(old=OLD, new=f"preset = {{ name = 'own', extends = '{plan_file.parent}/sixty.toml' }}"))
    assert named.dataset.class_names == ("sag", "swell", "harmonics")
    for one in (plan, load_plan(plan_file)):
        assert read_plan(format_plan(one)).canonical() == one.canonical()


def test_a_plan_holds_all_of_the_preset(plan_file):
    kept = load_plan(plan_file).dataset.preset
    assert kept == write_preset(load_preset(plan_file.with_name("sixty.toml")))
    assert "extends" not in kept
    assert load_plan(plan_file).dataset.features == {"wavelet": "db4", "level": 5, "border": "periodization"}


def test_defaults_said_aloud_change_nothing():
    said = plan_toml(old=OLD, new='features = { wavelet = "sym6", border = "symmetric" }')
    assert read_plan(said).canonical() == read_plan(plan_toml()).canonical()
    assert read_plan(plan_toml()).dataset.preset in PRESETS


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ('preset = "no.toml"', "dataset.preset: there is no preset file"),
        ('preset = { extends = "papper" }', "dataset.preset: extends: unknown preset 'papper': did you mean 'paper'"),
        ('preset = { extends = "paper", sag = { dept = 1 } }', r"dataset.preset: \[sag\]: unknown parameter of sag 'd"),
        ('features = { wavelet = "db44" }', "dataset.features: unknown wavelet of features 'db44': did you mean 'db4'"),
        ("features = { levels = 5 }", "dataset.features: unknown parameter of features 'levels': did you mean 'level'"),
        ("features = 5", "dataset.features: must be a table of keys, not 5"),
        ("features = { level = 12 }", "dataset: features: events of 15000 samples are too short for sym6 to level 12"),
        (
            'preset = { extends = "paper", common = { sampling_rate = { uniform = [9e3, 3e4] } } }',
            r"different numbers of features \[88, 110\]",
        ),
    ],
)
def test_mistakes_are_named(new, message):
    with pytest.raises(PqswarmError, match=message):
        read_plan(plan_toml(old=OLD, new=new))


def test_sizes_are_those_of_the_features():
    text = plan_toml(old=OLD, new="features = { level = 2 }")
    sized = text + "parameters = { size = 34 }\n"
    with pytest.raises(PqswarmError, match="size of sffs is 34, but there are only 33 features"):
        read_plan(sized)
    assert read_plan(sized.replace("34", "33")).algorithm("sffs").parameters == {"size": 33}
