"""A watched folder: each file judged once, each event delivered, whatever happens."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from tests.app.recordings import write_pair
from tests.identify.invented import analysis, event
from tests.identify.watching import analyzed, found_in
from tests.waiting import Clock

from pqswarm.identify import Archive, Failure
from pqswarm.identify.archive.files import look_at_file
from pqswarm.identify.folder import watch
from pqswarm.identify.folder.batch import Candidate, find_batch_candidate, recording_failure, scan
from pqswarm.recordings.files import find_partner


def test_each_file_is_judged_once(place):
    (place.folder / "deep").mkdir()
    for name, text in (("deep/a.csv", "sag swell"), ("b.csv", "quiet"), (".hidden.csv", "sag"), ("notes.md", "sag")):
        place.put(name, text)
    for _ in range(3):
        place.look()
    assert sorted(place.analyze.asked) == ["a.csv", "b.csv"]
    lines = place.told()
    assert [line["type"] for line in lines] == ["sag", "swell"]  # nothing happened in b
    assert len({line["key"] for line in lines}) == 2
    assert lines[0]["magnitude"] is None
    place.put("c.csv", "transient")
    place.look()
    assert len(place.keys()) == 3


def test_content_tells_copies_and_changes_apart(place):
    path = place.put("a.csv", "sag")
    place.look()
    os.utime(path, (1, 1))
    place.put("renamed.csv", "sag")
    place.look()
    assert place.analyze.asked == ["a.csv"]
    assert place.files() == {"a.csv": "done", "renamed.csv": "done"}
    assert any(line.startswith("renamed.csv: copy") for line in place.said)
    path.write_text("swell sag")
    place.look()
    assert place.analyze.asked == ["a.csv", "a.csv"]
    assert len(place.keys()) == len(set(place.keys())) == 3


def test_a_file_that_grows_tells_its_events_once(place):
    for text in ("sag ", "sag swell ", "sag swell interruption "):
        place.put("log.csv", text)
        place.look()
    assert [one["type"] for one in place.told()] == ["sag", "swell", "interruption"]
    place.put("log.csv", "sag again ")  # another content: analyzed again
    place.look()
    assert len(place.keys()) == len(set(place.keys())) == 5


def test_a_failed_file_is_tried_again_when_it_changes(place):
    place.put("a.csv", "broken")
    place.look(times=3)
    assert place.analyze.asked == ["a.csv"]
    assert place.files() == {"a.csv": "failed"}
    assert place.said == ["a.csv: failed; is broken."]
    place.put("a.csv", "swell now")
    place.look()
    assert place.files() == {"a.csv": "done"}


def test_a_file_is_waited_for_until_it_rests(place, monkeypatch):
    clock = Clock(monkeypatch, "identify.folder.watch")
    path = place.put("a.csv", "")
    assert place.look(settle=0.0) == 1  # empty: it is only begun
    with Archive(place.home) as archive:
        watcher = place.watcher(archive, settle=0.05)
        for number, part in enumerate(("sag", "sag swell", "sag swell")):
            path.write_text(part)
            os.utime(path, (number, number))
            assert watcher.look() == 1
            assert place.analyze.asked == []
            clock.sleep(0.04)
        assert watcher.look() == 1
        clock.sleep(0.02)
        assert place.analyze.asked == []
        watcher.look()
    assert place.analyze.asked == ["a.csv"]


def test_a_pair_is_judged_when_both_are_there(place):
    place.put("A.CFG", "sag")
    assert place.look(times=2) == 1
    place.put("a.dat", "data")
    place.look()
    assert place.analyze.asked == ["A.CFG"]
    place.put("a.dat", "other data")
    place.look()
    assert place.analyze.asked == ["A.CFG", "A.CFG"]
    assert [len(one.parts) for one in scan(place.folder)] == [2]


@pytest.mark.parametrize("other", ["ev.dat", "EV.DAT", "Ev.DAT", "Ev.dAT"])
def test_list_digest_and_reader_take_the_same_partner(place, other):
    place.put("Ev.cfg", "sag")
    for name in ("Ev.dat", other):
        (place.folder / name).write_text(name)
    if len(list(place.folder.iterdir())) < 3:
        pytest.skip("this disk ignores case")
    (found,) = [one for one in scan(place.folder) if one.name == "Ev.cfg"]
    assert found.parts == find_batch_candidate(place.folder / "Ev.cfg").parts
    assert found.parts[1] == find_partner(place.folder / "Ev.cfg", ".dat") == place.folder / "Ev.dat"


def test_parts_that_are_no_files_are_not_opened(place):
    place.put("a.cfg", "sag")
    (place.folder / "a.dat").mkdir()
    (found,) = scan(place.folder)
    assert found.lack == "its .dat is missing"
    pipe = place.folder / "b.csv"
    os.mkfifo(pipe)
    Thread(target=lambda: pipe.open("wb").close(), daemon=True).start()
    with pytest.raises(OSError, match="it is not a regular file"):
        Candidate("b.csv", (pipe,), "1:1").digest()


def test_a_file_that_changes_while_it_is_judged_is_judged_again(place):
    path = place.put("a.csv", "sag")
    asked = []

    def analyze(one):
        asked.append(one.name)
        if len(asked) == 1:
            path.write_text("sag swell")
        return analyzed(found_in(one))

    place.analyze = analyze
    with Archive(place.home) as archive:
        watcher = place.watcher(archive)
        watcher.look()
        assert not place.lines.exists()
        watcher.look()
    assert len(place.keys()) == 2


def test_what_ended_the_process_comes_last(place):
    for name in "abc":
        place.put(f"{name}.csv", f"sag {name}")
    with Archive(place.home) as archive:
        for name, times in (("a", 2), ("b", 1)):
            file = look_at_file(find_batch_candidate(place.folder / f"{name}.csv"))
            archive.files.register([file])
            for _ in range(times):
                archive.files.claim(file.content)
                archive.files.release([file.content])
    place.look()
    assert place.analyze.asked == ["c.csv", "b.csv", "a.csv"]


def test_what_vanishes_before_it_is_analysed_is_forgotten(place):
    path = place.put("a.csv", "sag")
    with Archive(place.home) as archive:
        file = look_at_file(find_batch_candidate(path))
        archive.files.register([file])
        archive.files.claim(file.content)
        path.unlink()
        place.watcher(archive).look()
        assert (archive.files.begun(), archive.files.all(), archive.files.waiting()) == ({}, {}, [])


def test_what_another_process_analyses_is_left_to_it(place, monkeypatch):
    file = look_at_file(find_batch_candidate(place.put("a.csv", "sag")))
    with Archive(place.home) as archive, Archive(place.home) as other:
        other.files.register([file])
        assert other.files.claim(file.content) == "mine"
        watcher = place.watcher(archive)
        watcher.look()
        assert place.analyze.asked == []
        monkeypatch.setattr(watch.time, "sleep", lambda _: None)
        assert not watcher.run_once()  # it is not done
        other.finish(file, [found_in(place.folder / "a.csv")])
        assert watcher.run_once()
    assert place.analyze.asked == []
    assert [one["type"] for one in place.told()] == ["sag"]  # told, whoever analyzed it


def test_an_event_that_was_cut_is_told_again_when_its_file_is_complete(place):
    place.put("log.csv", "1")

    def analyze(one):
        whole = len(one.read_text()) > 1
        sag = event("sag", 0.5, 0.8 if whole else 0.2, 0.5, cut_end=not whole)
        return analyzed(analysis(sag, event("swell", 1.2, 0.1, 0.1), path=one.name))

    place.analyze = analyze
    place.look()
    place.put("log.csv", "12")
    place.look()
    told = place.told()
    assert [(one["type"], one["duration_s"]) for one in told] == [("sag", 0.2), ("swell", 0.1), ("sag", 0.8)]
    assert told[2]["refers_to"] == told[0]["key"] != told[2]["key"]
    assert "refers_to" not in told[0]
    with Archive(place.home) as archive:
        assert archive.counts()["events"] == 2
        assert archive.counts()["recordings"] == 1


@pytest.mark.parametrize("changed", [1, 2**32], ids=["long ago", "by a clock that is years ahead"])
def test_a_dat_that_is_shorter_than_its_cfg_says_is_waited_for(place, changed):
    whole = write_pair(place.folder / "a.cfg", seconds=0.5)
    data = whole.with_suffix(".dat")
    content = data.read_bytes()
    data.write_bytes(content[: len(content) // 2])
    assert place.look() == 1
    assert place.analyze.asked == []
    os.utime(data, (changed, changed))  # nobody will complete it
    os.utime(whole, (changed, changed))
    place.analyze = lambda path: analyzed(analysis(event("sag", 0.5, 0.1, 0.1), path=path.name))
    assert place.look() == 0
    data.write_bytes(content)
    assert place.look() == 0
    assert place.files() == {"a.cfg": "done"}


def test_names_that_are_no_text(place):
    (place.folder / os.fsdecode(b"st\xe9.csv")).write_text("sag")
    place.look()
    assert place.files() == {"st\\xe9.csv": "done"}
    assert "st\\xe9.csv: 1 event" in place.said


def test_nothing_about_a_file_stops_the_watch(place):
    def analyze(path):
        if path.name == "a.csv":
            raise RuntimeError("something new")
        return analyzed(found_in(path))

    place.analyze = analyze
    place.put("a.csv", "sag")
    place.put("b.csv", "swell")
    place.look()
    assert place.files() == {"a.csv": "failed", "b.csv": "done"}


@pytest.mark.parametrize("error", [OSError("gone"), MemoryError()])
def test_what_passes_is_tried_again(place, error, monkeypatch):
    tries = []

    def analyze(path):
        tries.append(path)
        return analyzed(recording_failure(error, path, "") if len(tries) < 4 else found_in(path))

    place.put("a.csv", "sag")
    monkeypatch.setattr(watch, "_FILE_TRIES", 3)
    Clock(monkeypatch, "identify.folder.watch")
    place.analyze = analyze
    with Archive(place.home) as archive:
        watcher = place.watcher(archive)
        for _ in range(5):
            watcher.look()
        assert len(tries) == 1  # not at once
        for _ in range(5):
            watcher.look(now=True)
        assert len(tries) == 3  # bounded
        assert [one.state for one in archive.files.all().values()] == ["waiting"]
    assert len(place.said) == 2
    place.look()
    assert place.files() == {"a.csv": "done"}


def test_what_is_waited_for_is_named_once(place, monkeypatch):
    place.put("a.cfg", "x")
    place.put("b.csv", "")
    with Archive(place.home) as archive:
        watcher = place.watcher(archive)
        watcher.look()
        assert place.said == []
        monkeypatch.setattr(watch, "_PATIENCE", 0.0)
        watcher.look()
        watcher.look()
        assert len(place.said) == 2
        assert "a.cfg: waiting: its .dat is missing." in place.said
        again = place.watcher(archive)
        monkeypatch.undo()
        assert again.run_once()
    assert len(place.said) == 4


def test_a_new_time_keeps_the_reason(place):
    path = place.put("a.csv", "sag")
    place.analyze = lambda path: analyzed(found_in(path), Failure(str(path), "a.csv, 2", "is broken."))
    place.look()
    os.utime(path, (1, 1))
    place.look()
    with Archive(place.home, read_only=True) as archive:
        assert "is broken" in archive.files.all()[path].reason


KILLING = """
import os, random, signal, sys, tempfile, time
from pathlib import Path
from pqswarm.identify import Archive
from tests.app.recordings import write_pair
from tests.identify.invented import event, analysis
from tests.identify.watching import Place
from tests.waiting import wait_until

place, draw = Place(Path(sys.argv[1])), random.Random(int(sys.argv[2]))
folder = place.folder
with tempfile.TemporaryDirectory() as other:  # load what the children need
    warm = Place(Path(other))
    (warm.folder / "a.csv").write_text("sag")
    warm.look()

def count_lines():
    return len(place.lines.read_text().splitlines()) if place.lines.exists() else 0

def watch():
    with Archive(place.home) as archive:
        place.watcher(archive).run(0.001)

def die_at_line(left):
    def trace(frame, event, argument):
        nonlocal left
        code = frame.f_code
        if "identify/archive/" in code.co_filename or code.co_filename.endswith(("watch.py", "receivers.py")):
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
    sys.settrace(trace)

for number in range(36):
    (folder / f"{number}.csv").write_text(f"sag swell {'x' * number}")
    child = os.fork()
    if not child:
        if number % 3:
            die_at_line(draw.randrange(3000))
        watch()
    if number % 3 == 0:
        wait_until(lambda: number % 6 or count_lines() > 1.5 * number)  # on a slow machine, too, it has done something
        time.sleep(draw.random() * 0.3)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    draw.random()
with Archive(place.home) as archive:
    print(archive.counts()["recordings"])
    place.watcher(archive).look()
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """Many processes, each killed (-9) at a random line, or at a random time: nothing is lost, nothing is doubled."""
    command = [sys.executable, "-c", KILLING, str(tmp_path), "1"]
    run = subprocess.run(
        command, check=True, cwd=Path(__file__).parents[2], timeout=600, capture_output=True, text=True
    )
    assert int(run.stdout) > 12  # most was done by processes that were killed
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    expected = {(f"{k}.csv", kind) for k in range(36) for kind in ("sag", "swell", "flicker" if k else "") if kind}
    assert len(lines) == len(expected) == 107
    assert {(Path(line["path"]).name, line["type"]) for line in lines} == expected
    assert len({line["key"] for line in lines}) == 107
    with Archive(tmp_path / "archive", read_only=True) as archive:
        assert archive.counts() == {"files": 36, "recordings": 36, "events": 107, "waiting": 0, "failed": 0}
        assert archive.files.begun() == {}
