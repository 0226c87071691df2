"""``pqswarm watch`` and ``pqswarm site-file``, as a person uses them."""

import csv
import hashlib
import json
import os
import signal
import subprocess

import numpy as np
import pytest
from filelock import FileLock
from tests.cli.running import refused, run
from tests.study.studies import start_command
from tests.waiting import PATIENCE, wait_until

from pqswarm.recordings import Channel, Recording, Site, write_comtrade


@pytest.fixture
def folder(tmp_path):
    t = np.arange(3200) / 6400
    wave = 325 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.3), 0.5, 1.0)
    folder = tmp_path / "incoming"
    write_comtrade(Recording((Channel("UA", "V", "A", wave),), 6400, 50), folder / "fault.cfg")
    (folder / "bad.csv").write_text("nothing to read here\n")
    return folder


def test_once_then_the_archive(folder, tmp_path):
    lines = tmp_path / "events.jsonl"
    first = run("watch", folder, "--once", "--settle", 0, "--jsonl", lines)
    assert "fault.cfg: 1 event" in first.stderr
    assert "bad.csv: failed" in first.stderr
    assert run("watch", folder, "--once", "--settle", 0, "--jsonl", lines).stderr == ""
    (event,) = [json.loads(line) for line in lines.read_text().splitlines()]
    assert (event["type"], event["phases"], event["path"]) == ("sag", "A", str(folder / "fault.cfg"))
    home = folder.with_name("incoming.archive")
    table = tmp_path / "events.csv"
    assert "1 event" in run("archive", "export", home, "--out", table, "--separator", "semicolon").stdout
    (row,) = csv.DictReader(table.read_text().splitlines(), delimiter=";")
    assert (row["type"], row["key"]) == ("sag", event["key"])
    asked = run(
        "archive", "query", home, "SELECT type, magnitude FROM events", "--decimal", "comma", "--separator", "tab"
    )
    assert asked.stdout.splitlines()[1].startswith("sag\t0,5")
    checked = run("archive", "check", home).stdout
    assert f"{folder / 'bad.csv'}: " in checked
    assert "2 files, 1 recording, 1 event; 0 waiting, 1 failed" in checked
    # Another receiver gets what it does not have.
    assert json.loads(run("watch", folder, "--once").stdout)["key"] == event["key"]
    assert run("watch", folder, "--once").stdout == ""


def test_one_process_watches_a_folder(folder, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    place = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    with FileLock(home / f"watch-{place}.lock"):
        assert "another process" in refused("watch", folder, "--once", "--archive", home)
    (home / f"watch-{place}.lock").unlink(missing_ok=True)
    (home / f"watch-{place}.lock").mkdir()
    told = refused("watch", folder, "--once", "--archive", home)
    assert f"with the archive {home}: {home / f'watch-{place}.lock'}: Is a directory" in " ".join(told.split())


def test_a_webhook_that_fails_is_told_by_the_exit_code(folder, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.folder.watch._TRIES", 1)
    result = run("watch", folder, "--once", "--settle", 0, "--webhook", "http://127.0.0.1:9/x", code=1)
    assert "the next run retries" in result.stderr


def test_once_that_is_stopped_is_not_taken_for_done(folder, monkeypatch, pqswarm):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pqswarm.identify.folder.watch.Watcher.look", stop)
    ended = pqswarm("watch", folder, "--once")
    assert ended.returncode == 130
    assert "stopped; 0 files analyzed" in ended.stderr
    assert "the next run resumes" in ended.stderr
    assert "resumes" not in run("watch", folder).stderr


@pytest.mark.slow
def test_a_signal_ends_it_cleanly(folder, tmp_path):
    lines = tmp_path / "events.jsonl"
    process = start_command(
        "watch", folder, "--jsonl", lines, "--settle", 0, "--interval", 0.05, stderr=subprocess.PIPE
    )
    wait_until(lambda: lines.exists() and lines.stat().st_size, "an event is written")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert "stopped; " in said
    assert "Traceback" not in said
    assert len(lines.read_text().splitlines()) == 1


def test_site_prints_a_file_to_edit(folder):
    text = run("site-file", folder / "fault.cfg").stdout
    site = Site.read(text)
    assert "UA" in site.channels


def test_identify_and_watch_share_an_archive(folder, tmp_path):
    home = tmp_path / "home"
    first = run("identify", folder, "--archive", home, "--jobs", 2, "--csv", tmp_path / "a.csv", code=1)
    again = run("identify", folder, "--archive", home, "--csv", tmp_path / "b.csv", code=1)
    assert again.stderr.count("(analyzed before)") == 2
    assert again.stdout.replace("b.csv", "a.csv") == first.stdout
    run("identify", folder, "--csv", tmp_path / "c.csv", code=1)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()
    told = run("watch", folder / ".." / folder.name, "--once", "--settle", 0, "--archive", home)
    assert json.loads(told.stdout)["type"] == "sag"
    assert "events" not in told.stderr  # nothing was analyzed again
    assert "(analyzed before)" not in run("identify", folder, "--archive", home, "--reanalyze", code=1).stderr
