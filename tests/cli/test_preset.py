"""``pqswarm preset``, and presets of one's own in the other commands."""

import pytest
from tests.cli.running import refused, run

from pqswarm.cli.options import complete_names, complete_preset
from pqswarm.datasets import load_dataset
from pqswarm.events import PRESETS, load_preset
from pqswarm.features import FeatureOptions
from pqswarm.identify import load_model

FILE = """
extends = "paper"
classes = ["sag", "harmonics"]
[common]
frequency = 60
cycles = 12
[sag]
duration = { steps = [0.5, 10], number = 20, unit = "cycles" }
start = 0
[spectra]
six_pulse = { h5 = 0.2, h7 = 0.14, h11 = 0.09, h13 = 0.077 }
twelve_pulse = { h11 = 0.09, h13 = 0.077 }
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FILE)
    return tmp_path


def test_show_prints_a_file_that_loads(mine):
    for name in ("paper", "mine.toml"):
        (mine / "shown.toml").write_text(run("preset", "show", name).output)
        assert load_preset("shown.toml") == (PRESETS[name] if name in PRESETS else load_preset(name))


def test_check_counts(mine):
    assert run("preset", "check", "mine.toml").output == (
        "mine.toml is valid: preset 'mine', 2 classes, 7 parameters drawn, 28 % of the events from the bench.\n"
    )
    (mine / "mine.toml").write_text(FILE + "[bench]\nfraction = 2")
    told = refused("preset", "check", "mine.toml")
    assert "mine.toml: [bench]: fraction " in told
    assert " must be a number from 0 to 1, as 2 of 2 classes" in told


@pytest.mark.slow
def test_other_commands_take_files(mine):
    options = ("--snr", "inf", "--set", "cycles=10", "--wavelet", "db2", "--level", 3, "--border", "zero")
    said = run("dataset", "--preset", "mine.toml", "--events-per-class", 4, *options).output
    assert "8 events of 2 classes, 44 features" in said
    made = load_dataset("dataset.npz")
    assert made.feature_options == FeatureOptions(wavelet="db2", level=3, border="zero")
    assert (made.preset["name"], made.class_names) == ("mine, cycles=10", ("sag", "harmonics"))
    assert made.record[0].tolist() == [25_000, 60, 10]
    run("plot", "all", "--preset", "mine.toml", "--out", "all.png")
    run("train", "--preset", "mine.toml", "--events-per-class", 10, "--classifier", "gaussian-nb", "-j", 1)
    model = load_model("model.npz")
    assert (model.origin["preset"], model.class_names) == ("mine", ("sag", "harmonics"))
    assert "there is no preset file other" in refused("dataset", "--preset", "other.toml", "--out", "other.npz")


def test_completion_knows_files_and_wavelets(mine):
    assert (
        complete_names("pqswarm.features", "WAVELETS")("coif"),
        complete_names("pqswarm.features", "BORDERS")("period"),
    ) == (["coif1", "coif2", "coif3", "coif4", "coif5"], ["periodic", "periodization"])
    (mine / "folder").mkdir()
    (mine / "folder" / "paper-like.toml").touch()
    assert complete_preset("") == [*PRESETS, "mine.toml"]
    assert complete_preset("paper") == [name for name in PRESETS if name.startswith("paper")]
    assert complete_preset("folder/p") == ["folder/paper-like.toml"]
