"""``pqswarm train`` and ``pqswarm identify``, as a person uses them."""

import csv
import json

import pytest
import typer
from typer.testing import CliRunner

from pqswarm.cli.identify import identify
from pqswarm.cli.train import train
from pqswarm.errors import PqswarmError
from pqswarm.events import generate
from pqswarm.recordings import Channel, Recording, write_comtrade, write_csv

app = typer.Typer()
app.command()(identify)
app.command()(train)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, PqswarmError), result.output
    return str(result.exception)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings")
    sag = generate("sag", seed=3, preset="field", cycles=30, frequency=50, depth=0.4, start=0.2, duration=0.15)
    clean = generate("pure_sinusoid", seed=1, preset="field", cycles=30, frequency=50)
    channels = tuple(
        Channel(f"U{name}", "V", name, 325.27 * one.signal)
        for name, one in zip("ABC", (sag, clean, clean), strict=True)
    )
    write_comtrade(Recording(channels, 25_000, 50), path / "fault.cfg")
    harmonics = generate("harmonics", seed=3, preset="field", cycles=20, frequency=60)
    write_csv(Recording((Channel("UA", "V", "A", 170 * harmonics.signal),), 25_000, 60), path / "steady.csv")
    return path


def test_one_file(folder):
    output = run("identify", folder / "fault.cfg").output
    assert "instantaneous sag on phase A" in output
    assert "UA (phase A): sag" in output
    assert "UB (phase B): no disturbance" in output
    assert "agree" in output


def test_batch_with_a_bad_file(folder, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("nothing to read here\n")
    summary = tmp_path / "summary.csv"
    result = run("identify", folder, bad, tmp_path / "none.cfg", "--summary", summary, code=1)
    complaints = [line for line in result.stderr.splitlines() if line.startswith("pqswarm:")]
    assert len(complaints) == 2
    assert "bad.csv" in complaints[0]
    assert "none.cfg" in complaints[1]
    rows = list(csv.DictReader(summary.read_text(encoding="utf-8").splitlines()))
    assert [row["channel"] for row in rows] == ["UA", "UB", "UC", "UA"]
    assert rows[0]["class"] == "sag"
    assert rows[3]["class"] == "harmonics"
    assert "exists" in refused("identify", folder, "--summary", summary)
    page = tmp_path / "summary.html"
    run("identify", folder, bad, "--summary", page, code=1)
    assert "Not read" in page.read_text(encoding="utf-8")


def test_json_and_figures(folder, tmp_path):
    result = run("identify", folder, "--json", "--plot", tmp_path / "figures")
    content = json.loads(result.stdout)
    assert [len(one["channels"]) for one in content["recordings"]] == [3, 1]
    assert content["failures"] == []
    assert len(list((tmp_path / "figures").glob("*.png"))) == 2


def test_options(folder, tmp_path):
    output = run("identify", folder / "fault.cfg", "--channel", "A", "--reference", "pre-event").output
    assert "UB" not in output.split("1 pu")[0]
    assert "1 pu: UA 230 V (given)" in run("identify", folder / "fault.cfg", "-c", "UA", "--reference", 230).output
    assert run("identify", folder / "fault.cfg", "--channel", "Q", code=1).stderr.startswith("pqswarm: ")
    assert "summary" in refused("identify", folder, "--summary", tmp_path / "summary.pdf")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no recordings" in run("identify", empty, code=1).stderr


def test_train_then_identify(folder, tmp_path):
    names = tmp_path / "subset.txt"
    names.write_text("# mine\nrms.minimum\nrms.maximum\nharmonic.5\n")
    model = tmp_path / "model.npz"
    small = ("--preset", "field", "--events-per-class", 12, "--jobs", 1)
    assert "wrote" in run("train", "--out", model, "--subset", names, *small).output
    assert "UA (phase A): " in run("identify", folder / "fault.cfg", "--model", model).output
    assert "exists" in refused("train", "--out", model, *small)
    run("train", "--out", model, "--overwrite", "--search", "--evaluations", 30, "--classifier", "k-nn", *small)
    names.write_text("rms.lowest\n")
    assert "unknown feature" in refused("train", "--out", tmp_path / "no.npz", "--subset", names, *small)
    assert "no data set" not in refused("identify", folder, "--model", names)
