"""Servers for tests of the workbench: one that is only read, one that may be changed, one with a password."""

import shutil
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from math import sqrt

import numpy as np
import pytest
from tests.app.recordings import write_pair
from tests.app.recordings_page import LISTED
from tests.app.requests import ONE, OTHER, WAITS, ask, get, running_app
from tests.conftest import made_once
from tests.recordings.builders import binary_dat, cfg, rows
from tests.waiting import PATIENCE

from pqswarm.recordings import write_comtrade
from pqswarm.recordings.samples import Disturbance, SampleRecording
from pqswarm.study import Store, findings, read_plan, run_study

HOSTILE = "<img src=x onerror=window.hacked=1>"
SMALL_METHODS = """
baseline = "ga"
folds = { number = 2 }
classifiers = [{ name = "k-NN", kind = "k-nn", n_neighbors = 3, grid_search = false }]
algorithms = [{ algorithm = "ga" }, { algorithm = "bpso" }]
"""
SMALL = f"""
runs = 1
max_evaluations = 30
dataset = {{ events_per_class = 10, classes = ["sag", "swell", "harmonics"], snr = [inf] }}
{SMALL_METHODS}"""
HOSTILE_CHANNEL = "<img src=x onerror=alert(1)>\u202e=1+1"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Servers in this process wait as those of `running_app` do."""
    for wait in WAITS:
        monkeypatch.setattr(f"pqswarm.app.{wait}", PATIENCE)


@contextmanager
def served(tmp_path_factory, *options):
    """A server on an empty folder, with `folder`, `state` and `archive`."""
    folder = tmp_path_factory.mktemp("private") / "grid"
    folder.mkdir()
    state = tmp_path_factory.mktemp("state")
    with running_app(folder, *options, state=state) as process:
        process.folder, process.state = folder, state
        process.archive = folder.with_name("grid.archive")
        yield process


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """The server for all tests that only read; `recordings` and `studies` fill its folder."""
    with served(tmp_path_factory, "--max-mb", "1") as process:
        yield process


@pytest.fixture(scope="session")
def writable_server(tmp_path_factory):
    with served(tmp_path_factory, "--max-mb", "1") as process:
        yield process


@pytest.fixture
def writable(writable_server):
    """The server for tests that send, remove and correct; what a test uploads or writes in its folder is removed."""
    yield writable_server
    for visitor in (ONE, OTHER):
        for one in get(writable_server, "/api/recordings", visitor)["recordings"]:
            if one["upload"]:
                ask(writable_server, f"/api/recordings/{one['id']}", "DELETE", visitor=visitor)
    for path in writable_server.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture(scope="session")
def locked(tmp_path_factory):
    """A server that other machines can reach, with the password ``open sesame`` and a blank."""
    path = tmp_path_factory.mktemp("password") / "word.txt"
    path.write_text("open sesame \n")
    with served(tmp_path_factory, "--host", "0.0.0.0", "--password-file", path) as process:
        process.home = f"http://127.0.0.1:{process.home.rpartition(':')[2]}"
        yield process


def generated(name, disturbances, seconds, station, number, **more):
    start = datetime(2026, 3, 2, 10, 15, 30) + timedelta(hours=number)
    volts = 20e3 / sqrt(3)
    return SampleRecording(
        disturbances, seconds, 3200.0, volts=volts, seed=number, start=start, source=name, station=station, **more
    )


@pytest.fixture(scope="session")
def recordings(app):
    """The folder of the server, with recordings: good, broken, incomplete, hostile, and links that lead outside."""
    home = app.folder
    (home / "day").mkdir()
    write_pair(home / "day" / "sag.cfg")
    write_pair(home / "hostile <b>&.cfg", names=(HOSTILE_CHANNEL, "UB", "UC"), station="<script>alert(2)</script>")
    (home / "broken.cfg").write_text("nothing\n")
    (home / "broken.dat").write_bytes(b"\0" * 10)
    (home / "alone.cfg").write_bytes(cfg())
    (home / "events.csv").write_text("source,path,station,date\n")
    (home.parent / "secret.csv").write_text("t,u\n0,1\n1,2\n2,3\n")
    (home / "link.csv").symlink_to(home.parent / "secret.csv")
    (home / "folder").symlink_to(home.parent)
    wave = [1000 * np.sin(2 * np.pi * 50 * np.arange(2010) / 4800 - k * 2.0944) for k in range(3)]
    (home / "two.cfg").write_bytes(cfg(rates=("4800,1000", "480,1010", "4800,2010"), kind="BINARY"))
    (home / "two.dat").write_bytes(binary_dat(rows(wave)))
    scenes = {
        "interruption.cfg": ([Disturbance("interruption", "ABC", 0.5, 0.8, 0.02)], 2.0, "South"),
        "swell.cfg": ([Disturbance("swell", "B", 0.3, 0.2, 1.18)], 0.8, "North"),
        "quiet.cfg": ([], 0.6, "North"),
    }
    for number, (name, (disturbances, seconds, station)) in enumerate(scenes.items()):
        write_comtrade(generated(name, disturbances, seconds, station, number), home / name, "BINARY")
    (home / "broken.csv").write_text(f"{HOSTILE}\nno numbers at all\n")
    evil = generated("evil.cfg", [Disturbance("sag", "ABC", 0.3, 0.15, 0.6)], 0.8, HOSTILE, 7).read()
    channels = [replace(one, name=f"{HOSTILE}{one.name}") for one in evil.channels]
    write_comtrade(replace(evil, channels=tuple(channels)), home / "evil.cfg", "BINARY")
    return home


@pytest.fixture(scope="session")
def fault(tmp_path_factory):
    """A fault with currents, which is not in the folder."""
    disturbances = [Disturbance("sag", "A", 0.3, 0.12, 0.42), Disturbance("swell", "BC", 0.3, 0.12, 1.25)]
    path = tmp_path_factory.mktemp("drop") / "fault.cfg"
    return write_comtrade(generated("fault.cfg", disturbances, 0.8, "East", 9, currents=True), path)


FORGET = """
Promise.all(pq.recordings.store.recordings.filter(one => one.upload && !KEPT.includes(one.name)).map(one => one.id).map(
  id => pq.app.api(`/api/recordings/${id}`, {method: "DELETE"}).then(() => pq.recordings.store.load())))
"""


def forget_uploads(tab, *kept):
    """Remove what was dropped, and wait until the list is without it."""
    tab.evaluate("document.querySelectorAll('.uploads button').forEach(button => button.click())")
    tab.evaluate(FORGET.replace("KEPT", repr(list(kept))))


@pytest.fixture(scope="module")
def list_tab(app, browser, recordings, fault):
    """A page with the list of recordings, where `fault` was dropped."""
    tab = browser.tab(app.address)
    try:
        tab.until("!!document.querySelector('.drop')")
        tab.drop(".drop", fault, fault.with_suffix(".dat"))
        known, done = "pq.recordings.store.recordings", "['analyzed', 'failed'].includes(one.state)"
        for name in ("fault.cfg", "evil.cfg"):
            tab.until(f"{known}.some(one => one.name === '{name}' && {done})")
        tab.until(f"{known}.every(one => {done} || one.reason)")
        tab.until(LISTED)
        forget_uploads(tab, "fault.cfg")
        yield tab
        assert tab.problems() == []
        forget_uploads(tab)
    finally:
        tab.close()


@pytest.fixture
def start(list_tab):
    """The list, without filters and the name of a person; what a test drops there is removed."""
    list_tab.evaluate("localStorage.removeItem('pqswarm-name')")
    list_tab.evaluate("location.hash = '#/recordings?text='")
    list_tab.until(LISTED)
    yield list_tab
    forget_uploads(list_tab, "fault.cfg")


def copy_study(study, folder):
    folder.mkdir(parents=True)
    return shutil.copy(study / "study.sqlite", folder)


@pytest.fixture(scope="session")
def small_study(tmp_path_factory):
    """The folder of a study whose report takes a fraction of the time of that of ``smoke``."""
    return made_once(tmp_path_factory, "small-study", lambda folder: run_study(read_plan(SMALL), folder, jobs=1))


@pytest.fixture(scope="session")
def studies(app, small_study):
    """The folder of the server, with studies: good, killed, damaged, of a newer version, too deep and outside."""
    folder = app.folder
    copy_study(small_study, folder / "good")
    copy_study(small_study, folder / "below" / "other")
    copy_study(small_study, folder / "1" / "2" / "3" / "4" / "5")  # too deep
    outside = folder.parent / "outside"
    copy_study(small_study, outside)
    (folder / "link").symlink_to(outside)
    (folder / "linked").mkdir()
    (folder / "linked" / "study.sqlite").symlink_to(outside / "study.sqlite")
    newer = sqlite3.connect(copy_study(small_study, folder / "newer"))
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    damaged = folder / "damaged" / "study.sqlite"
    copy_study(small_study, damaged.parent)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:4096] + b"\x5a" * 20_000 + content[24_096:])
    (folder / "text").mkdir()
    (folder / "text" / "study.sqlite").write_text("This is no database, but a text that is long enough.\n" * 99)
    with Store(outside, write=True) as store:  # as a study that was killed leaves its files
        store.put(store.find(findings.About), replace=True)
        shutil.copytree(outside, folder / "killed")
    return folder
