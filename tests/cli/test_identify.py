"""``pqswarm train`` and ``pqswarm identify``, as a person uses them."""

import csv
import json
import os
import re

import numpy as np
import pytest
from tests.cli.running import refused, run
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.cli.options import Stopped
from pqswarm.events import generate
from pqswarm.identify import Archive
from pqswarm.recordings import Channel, Recording, read, write_comtrade, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings")
    known = {"amplitude": 1.0, "phase": 0.0, "frequency_deviation": 0.0, "depth": 0.4, "start": 0.2, "duration": 0.15}
    sag = generate("sag", seed=3, preset="field", cycles=30, frequency=50, **known)
    t = np.arange(sag.signal.size) / 25_000
    every = slice(None, None, 4)
    clean = [np.sin(2 * np.pi * 50 * t + angle) for angle in (-2 * np.pi / 3, 2 * np.pi / 3)]
    channels = tuple(
        Channel(f"U{name}", "V", name, 325.27 * wave[every])
        for name, wave in zip("ABC", (sag.signal, *clean), strict=True)
    )
    write_comtrade(Recording(channels, 6250, 50), path / "fault.cfg")
    harmonics = generate("harmonics", seed=3, preset="field", cycles=20, frequency=60)
    write_csv(Recording((Channel("UA", "V", "A", 170 * harmonics.signal),), 25_000, 60), path / "steady.csv")
    return path


def test_one_file(folder):
    output = run("identify", folder / "fault.cfg").output
    first, cause, line, *rest = output.splitlines()
    assert first.endswith(str(folder / "fault.cfg"))
    assert re.match(r"  \S.*  fault A \(\d+ %\): A dips by [34]\d % in a step; ", cause)
    assert re.match(r"    \S.* instantaneous sag .*\bA\b.* 0\.6\d pu .* cycles\)  sag", line)
    assert rest[0].startswith("  1 pu: ")


@pytest.mark.slow
def test_batch_with_a_bad_file(folder, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("nothing to read here\n")
    rows, page = tmp_path / "rows.csv", tmp_path / "page.html"
    result = run("identify", folder, bad, tmp_path / "none.cfg", "--csv", rows, "--html", page, code=1)
    complaints = [line for line in result.stderr.splitlines() if line.startswith("pqswarm:")]
    assert len(complaints) == 3
    assert "bad.csv" in complaints[0]
    assert "none.cfg" in complaints[1]
    assert complaints[2] == "pqswarm: 2 failures in 4 files, see above."
    table = list(csv.DictReader(rows.read_text(encoding="utf-8").splitlines()))
    assert [row["label"] for row in table] == ["sag", "harmonics"]
    assert [row["path"] for row in table] == [str(folder / "fault.cfg"), str(folder / "steady.csv")]
    assert "bad.csv" in page.read_text(encoding="utf-8")


def test_what_cannot_be_told_is_the_files_failure(folder, tmp_path, monkeypatch):
    def tell(verdict, rows, said):
        return verdict.source if "steady" in verdict.source else 1 // 0

    monkeypatch.setattr("pqswarm.cli.identify._identified_text", tell)
    rows = tmp_path / "rows.csv"
    result = run("identify", folder, "--csv", rows, code=1)
    assert "fault.cfg: could not be analyzed: ZeroDivisionError" in result.stderr
    assert "steady.csv" in result.stdout
    assert [row["label"] for row in csv.DictReader(rows.read_text(encoding="utf-8").splitlines())] == ["harmonics"]


@pytest.mark.slow
def test_json_and_sheets(folder, tmp_path):
    (tmp_path / "bad.csv").write_text("nothing to read here\n")
    result = run("identify", folder, tmp_path, "--json", "--pdf", tmp_path / "all.pdf", code=1)
    content = json.loads(result.stdout, parse_constant=pytest.fail)
    assert [len(one["channels"]) for one in content["recordings"]] == [3, 1]
    assert [one["path"] for one in content["failures"]] == [str(tmp_path / "bad.csv")]
    incidents = sum(len(one["incidents"]) for one in content["recordings"])
    assert (tmp_path / "all.pdf").read_bytes().count(b"/Type /Page ") == incidents > 1


def test_sheets_are_not_overwritten(folder, tmp_path):
    (tmp_path / "sheets.pdf").touch()
    assert "sheets.pdf exists" in refused("identify", folder / "fault.cfg", "--pdf", tmp_path / "sheets.pdf")


@pytest.mark.slow
def test_recordings_are_opened_again_for_the_page(folder, tmp_path, monkeypatch):
    """As they were judged: with the sampling rate that was given, and the site; whatever the file is called."""
    site, page, rows = tmp_path / "site.toml", tmp_path / "page.html", tmp_path / "rows.csv"
    site.write_text('[channels."column 1"]\nname = "north"\nphase = "A"\n')
    path = tmp_path / os.fsdecode(b"st\xe9.csv")
    samples = read(folder / "fault.cfg").channel("UA").samples
    path.write_text("U [V]\n" + "".join(f"{value:.2f}\n" for value in samples))
    run("identify", path, "--rate", 6250, "--site", site, "--html", page, "--csv", rows)
    assert 'id="figure-1"' in page.read_text(encoding="utf-8")
    assert "st\\xe9.csv" in rows.read_text(encoding="utf-8")


@pytest.mark.slow
def test_options(folder):
    output = run("identify", folder / "fault.cfg", "--channel", "A", "--reference", "pre-event").output
    assert "UB" not in output.split("1 pu")[0]
    assert "1 pu: 230 V (given)" in run("identify", folder / "fault.cfg", "-c", "UA", "--reference", 230).output


@pytest.mark.slow
def test_a_site_file(folder, tmp_path):
    site = tmp_path / "site.toml"
    site.write_text('station = "Nord"\nreference = "nominal"\nnominal_voltage = { phase_to_neutral = "0.24 kV" }\n')
    output = run("identify", folder / "fault.cfg", "--site", site).output
    assert output.startswith("Nord, ")
    assert "1 pu: 240 V" in output
    assert "1 pu: 250 V" in run("identify", folder / "fault.cfg", "--site", site, "--nominal", "250 V").output
    site.write_text("statio = 3")
    assert "did you mean 'station'" in refused("identify", folder, "--site", site)


def test_interrupt_says_what_was_done_and_writes_it(folder, tmp_path, monkeypatch):
    from pqswarm.identify.folder import batch

    def analyze(path, **_):
        if path.suffix == ".csv":
            raise KeyboardInterrupt
        return found

    found = [*batch.identify_file(folder / "fault.cfg")]
    monkeypatch.setattr("pqswarm.identify.archive.analyzer.identify_file", analyze)
    result = CliRunner().invoke(app, ["identify", str(folder), "--csv", str(tmp_path / "rows.csv"), "--json"])
    assert isinstance(result.exception, Stopped)
    assert "stopped after 1 of 2 files: 1 event, 0 failures" in str(result.exception)
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 2
    assert len(json.loads(result.stdout)["recordings"]) == 1


@pytest.mark.slow
def test_train_then_identify(folder, tmp_path):
    names = tmp_path / "subset.txt"
    names.write_text("# mine\nrms.minimum\nrms.maximum\nharmonic.5\n")
    model = tmp_path / "model.npz"
    (tmp_path / "few.toml").write_text('extends = "field"\nclasses = ["pure_sinusoid", "sag", "harmonics"]\n')
    small = ("--preset", tmp_path / "few.toml", "--events-per-class", 12, "--jobs", 1)
    run("identify", folder / "fault.cfg", "--archive", tmp_path / "archive")
    with Archive(tmp_path / "archive") as archive:
        archive.correct(1, 0, "sag", "Eve")
    said = run("train", "--out", model, "--subset", names, "--archive", tmp_path / "archive", *small).output
    assert "wrote" in said
    assert "1 corrected event learned, 1 classified as corrected" in said
    assert " sag " in run("identify", folder / "fault.cfg", "--model", model).output
    run("train", "--out", model, "--overwrite", "--search", "--evaluations", 30, "--classifier", "k-nn", *small)
    assert "no data set" not in refused("identify", folder, "--model", names)
