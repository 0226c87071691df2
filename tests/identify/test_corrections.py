"""The file of corrections: several writers, kills, damage, strangers."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.identify.training.corrections import Correction, CorrectionFile, corrections_path, load_corrections
from pqswarm.identify.verdict import EventVerdict
from pqswarm.measure.event import Event, Part

AT = "2026-06-30T12:00:00+00:00"


def correction(start=0.2, channels=("UA",), **known):
    parts = tuple(Part(i, name, "A", "sag", 0.6, start, start + 0.1, 0.1) for i, name in enumerate(channels))
    event = Event("sag", "sag", parts, "", 0.6, "pu", start, start + 0.1, 0.1, 50.0, 230.0, "a sag")
    found = EventVerdict(event, "sag", {"sag": 0.9, "swell": 0.1}, "agree", (0.0, 1.0), "nominal")
    values = {"path": "june/a.cfg", "digest": 64 * "a", "source": "a.cfg", "found": found}
    return Correction(**values | {"label": "sag_with_harmonics", "by": "Eve", "at": AT} | known)


def start_of(one):
    return one.found.event.start


@pytest.fixture
def file(tmp_path):
    (tmp_path / "june").mkdir()
    return CorrectionFile(corrections_path(tmp_path / "june"))


def test_it_lies_beside_the_folder_and_names_files_from_there(file, tmp_path):
    assert file.path == tmp_path / "june.corrections.jsonl"
    assert file.current() == ()
    file.add(correction(path=str(tmp_path / "june" / "st\udce9\n.cfg"), note="two\nlines"))
    file.add(correction(path="/elsewhere/b.cfg", digest=64 * "b"))
    lines = [json.loads(line) for line in file.path.read_text("ascii").splitlines()]
    assert [line["path"] for line in lines] == ["june/st\udce9\n.cfg", "/elsewhere/b.cfg"]
    assert [one.path for one in file.current()] == [str(tmp_path / "june" / "st\udce9\n.cfg"), "/elsewhere/b.cfg"]
    assert not list((tmp_path / "june").iterdir())
    with pytest.raises(PqswarmError, match="name the file"):
        corrections_path("/")


def test_the_last_one_of_an_event_wins_and_an_empty_label_withdraws(file):
    file.add(correction())
    file.add(correction(start=0.7))
    file.add(correction(label="sag_with_transient", path="july/renamed.cfg", source="renamed.cfg"))
    assert [(start_of(one), one.label) for one in file.current()] == [
        (0.2, "sag_with_transient"),
        (0.7, "sag_with_harmonics"),
    ]
    file.add(correction(label="", start=0.7))
    assert [start_of(one) for one in load_corrections(file.path)] == [0.2]
    assert len(file.history()) == 4


def test_only_classes_that_can_be_trained(file):
    with pytest.raises(PqswarmError, match="did you mean 'swell'"):
        file.add(correction(label="swel"))
    CorrectionFile(file.path, ["my_class"]).add(correction(label="my_class"))
    assert [one.label for one in file.current()] == ["my_class"]
    with pytest.raises(PqswarmError, match="too long"):
        file.add(correction(channels=tuple(f"U{i:0200}" for i in range(3000))))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"digest": "f00d"}, "SHA-256"),
        ({"digest": 64 * "G"}, "SHA-256"),
        ({"label": "<script>"}, "name of a class"),
        ({"found": {}}, "event"),
        ({"found": "sag"}, "event"),
        ({"found": {"start": None}}, "event"),
        ({"by": " "}, "by must not be empty"),
        ({"by": "Eve\x1b[2J"}, "control characters"),
        ({"path": "a\0b"}, "control characters"),
        ({"note": 5}, "note is not a text"),
        ({"note": "x" * 3000}, "note is not a text"),
        ({"at": "yesterday"}, "at is not a time"),
        ({"at": "2026-06-30T12:00:00"}, "at is not a time"),
        ({"more": 1}, "this version"),
    ],
)
def test_a_damaged_line_is_named_with_a_remedy(file, wrong, reason):
    file.add(correction())
    values = json.loads(file.path.read_text())
    with file.path.open("a") as out:
        out.write(json.dumps(values | wrong) + "\n")
    with pytest.raises(FileFormatError, match=rf"june\.corrections\.jsonl, line 2: .*{reason}.* delete this line"):
        file.current()
    with pytest.raises(FileFormatError, match="line 2"):
        file.add(correction())


@pytest.mark.parametrize("line", [b"[]", b"{", b"\xff\xfe", b"[" * 60_000, b'{"path": 1e999}', b"x" * 600_000, b"12"])
def test_strange_bytes(file, line):
    file.path.write_bytes(line + b"\n")
    with pytest.raises(FileFormatError, match="line 1"):
        file.current()


def test_limits_and_things_that_are_no_files(file, tmp_path, monkeypatch):
    with pytest.raises(PqswarmError, match="does not exist"):
        load_corrections(file.path)
    with pytest.raises(FileFormatError, match="is not a file of corrections"):
        CorrectionFile(tmp_path).current()
    file.add(correction())
    monkeypatch.setattr("pqswarm.identify.training.corrections._MAX_LINES", 1)
    with pytest.raises(PqswarmError, match="move old ones"):
        file.add(correction())
    monkeypatch.setattr("pqswarm.identify.training.corrections._MAX_BYTES", 10)
    with pytest.raises(FileFormatError, match="too large"):
        file.current()


def test_a_line_that_was_cut_off_is_left_out_and_written_over(file):
    file.add(correction())
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + whole[:50])
    with pytest.warns(UserWarning, match="cut off"):
        assert len(file.current()) == 1
    file.add(correction(start=0.7))
    assert [start_of(one) for one in file.current()] == [0.2, 0.7]
    file.path.write_bytes(whole.rstrip())  # by an editor
    file.add(correction(start=0.9))
    assert [start_of(one) for one in file.current()] == [0.2, 0.9]


@pytest.mark.parametrize("tail", [b"a token of somebody else", b"42", b'{"key": 1'])
@pytest.mark.parametrize("linked", [False, True])
def test_files_of_others_are_left_as_they_are(file, tmp_path, tail, linked):
    other = tmp_path / "other" if linked else file.path
    other.write_bytes(tail)
    if linked:
        file.path.symlink_to(other)
    with pytest.raises(PqswarmError, match="is a link: give the name" if linked else "line 1: .*delete this line"):
        file.add(correction())
    with pytest.raises(FileFormatError, match="line 1: "):
        file.history()
    assert other.read_bytes() == tail


def test_a_full_disk_leaves_no_half_line(file, monkeypatch):
    import os

    file.add(correction())
    before, write = file.path.read_bytes(), os.write
    monkeypatch.setattr("os.write", lambda fd, data: write(fd, data[:20]) if b"digest" in data else write(fd, data))
    with pytest.raises(PqswarmError, match="the disk is full"):
        file.add(correction(start=0.7))
    assert file.path.read_bytes() == before


def test_several_writers_lose_nothing(file):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: CorrectionFile(file.path).add(correction(start=float(i))), range(40)))
    assert [start_of(one) for one in file.current()] == [float(i) for i in range(40)]


WRITER = """
import sys
from dataclasses import replace
from pqswarm.identify.training.corrections import CorrectionFile
file = CorrectionFile(sys.argv[1])
(first,) = file.history()
print("ready", flush=True)
for i in range(100_000):
    event = replace(first.found.event, start=float(i))
    file.add(replace(first, found=replace(first.found, event=event), by="Ann"))
    print(i, flush=True)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing_that_it_said_was_written(file):
    file.add(correction(start=-1.0))
    other = subprocess.Popen([sys.executable, "-c", WRITER, str(file.path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "ready\n"
        for i in range(20):
            file.add(correction(start=float(i), by="Bob"))
            other.stdout.readline()
    finally:
        other.kill()
        said = 20 + len(other.communicate()[0].split())
    for name, least in (("Ann", said), ("Bob", 20)):
        starts = [start_of(one) for one in file.history() if one.by == name]
        assert starts == [float(i) for i in range(len(starts))]
        assert len(starts) >= least
    file.add(correction(start=-2.0))
