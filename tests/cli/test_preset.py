"""``pqswarm preset``, and presets of one's own in the other commands."""

import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.cli.options import complete_names, complete_preset
from pqswarm.datasets import load_dataset
from pqswarm.errors import PqswarmError
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


def pqswarm(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(result.exception, PqswarmError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_show_prints_a_file_that_loads(mine):
    for name in ("paper", "mine.toml"):
        (mine / "shown.toml").write_text(pqswarm("preset", "show", name))
        assert load_preset("shown.toml") == (PRESETS[name] if name in PRESETS else load_preset(name))


def test_check_counts(mine):
    assert pqswarm("preset", "check", "mine.toml") == (
        "mine.toml is valid: preset 'mine', 2 classes, 7 parameters drawn, 28 % of the events from the bench.\n"
    )
    (mine / "mine.toml").write_text(FILE + "[bench]\nfraction = 2")
    with pytest.raises(
        PqswarmError, match=r"mine.toml: \[bench\]: fraction .* must be a number from 0 to 1, as 2 of 2 classes"
    ):
        pqswarm("preset", "check", "mine.toml")


@pytest.mark.slow
def test_other_commands_take_files(mine):
    options = ("--snr", "inf", "--set", "cycles=10", "--wavelet", "db2", "--level", 3, "--border", "zero")
    said = pqswarm("dataset", "--preset", "mine.toml", "--events-per-class", 4, *options)
    assert "8 events of 2 classes, 44 features" in said
    made = load_dataset("dataset.npz")
    assert made.feature_options == FeatureOptions(wavelet="db2", level=3, border="zero")
    assert (made.preset["name"], made.class_names) == ("mine, cycles=10", ("sag", "harmonics"))
    assert made.record[0].tolist() == [25_000, 60, 10]
    pqswarm("plot", "all", "--preset", "mine.toml", "--out", "all.png")
    pqswarm("train", "--preset", "mine.toml", "--events-per-class", 10, "--classifier", "gaussian-nb", "-j", 1)
    model = load_model("model.npz")
    assert (model.origin["preset"], model.class_names) == ("mine", ("sag", "harmonics"))
    with pytest.raises(PqswarmError, match="there is no preset file other"):
        pqswarm("dataset", "--preset", "other.toml", "--out", "other.npz")


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
