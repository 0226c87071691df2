"""A watched folder: each file judged once, each event delivered, whatever happens."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.identify import Failure, watch
from pqswarm.identify.batch import explain
from pqswarm.identify.folders import scan
from pqswarm.identify.journal import Journal
from pqswarm.identify.receivers import JsonLines, Stream, Webhook
from pqswarm.identify.watch import JOURNAL, Watcher


class Found:
    """A verdict as far as a watcher looks at it: an event for each line of the file."""

    def __init__(self, path):
        self.path = path

    def rows(self):
        return [
            {"kind": line, "path": self.path.name, "magnitude": float("nan")} for line in self.path.read_text().split()
        ]


class Judge:
    def __init__(self):
        self.asked = []

    def __call__(self, path):
        self.asked.append(path.name)
        if "broken" in path.read_text():
            return [Failure(str(path), "", "is broken.")]
        return [Found(path)]


class Place:
    """A folder, its journal and what was judged in it."""

    def __init__(self, folder):
        self.folder, self.judge, self.said = folder, Judge(), []
        self.lines = folder / "events.jsonl"

    def look(self, *receivers, settle=0.0, times=1):
        with Journal(self.folder / JOURNAL) as journal:
            chosen = receivers or (JsonLines(self.lines),)
            watcher = Watcher(self.folder, journal, self.judge, chosen, settle=settle, say=self.said.append)
            waiting = [watcher.look() for _ in range(times)]
            return waiting[-1]

    def files(self):
        with Journal(self.folder / JOURNAL, read_only=True) as journal:
            return {name: record.state for name, record in journal.files().items()}

    def keys(self):
        return [json.loads(line)["key"] for line in self.lines.read_text().splitlines()]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_each_file_is_judged_once(place):
    (place.folder / "deep").mkdir()
    (place.folder / "deep/a.csv").write_text("sag swell")
    (place.folder / "b.csv").write_text("none")
    (place.folder / ".hidden.csv").write_text("sag")
    (place.folder / "notes.md").write_text("sag")
    for _ in range(3):
        place.look()
    assert sorted(place.judge.asked) == ["a.csv", "b.csv"]
    lines = [json.loads(line) for line in place.lines.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["sag", "swell"]  # nothing happened in b
    assert len({line["key"] for line in lines}) == 2
    assert lines[0]["magnitude"] is None
    (place.folder / "c.csv").write_text("transient")
    place.look()
    assert len(place.keys()) == 3


def test_content_tells_copies_and_changes_apart(place):
    path = place.folder / "a.csv"
    path.write_text("sag")
    place.look()
    os.utime(path, (1, 1))
    (place.folder / "renamed.csv").write_text("sag")
    place.look()
    assert place.judge.asked == ["a.csv"]
    assert place.files() == {"a.csv": "done", "renamed.csv": "copy"}
    path.write_text("sag swell")
    place.look()
    assert place.judge.asked == ["a.csv", "a.csv"]
    assert len(place.keys()) == len(set(place.keys())) == 3


def test_a_failed_file_is_tried_again_when_it_changes(place):
    path = place.folder / "a.csv"
    path.write_text("broken")
    place.look(times=3)
    assert place.judge.asked == ["a.csv"]
    assert place.files() == {"a.csv": "failed"}
    assert "a.csv: failed; is broken." in place.said
    path.write_text("swell now")
    place.look()
    assert place.files() == {"a.csv": "done"}


def test_a_file_is_waited_for_until_it_rests(place):
    path = place.folder / "a.csv"
    path.write_text("")
    assert place.look(settle=0.0) == 1  # empty: it is only begun
    with Journal(place.folder / JOURNAL) as journal:
        watcher = Watcher(place.folder, journal, place.judge, settle=0.05)
        for part in ("sag", "sag swell", "sag swell"):
            path.write_text(part)
            assert watcher.look() == 1
            assert place.judge.asked == []
        time.sleep(0.06)
        watcher.look()
    assert place.judge.asked == ["a.csv"]


def test_a_pair_is_judged_when_both_are_there(place):
    (place.folder / "A.CFG").write_text("sag")
    assert place.look(times=2) == 1
    (place.folder / "a.dat").write_text("data")
    place.look()
    assert place.judge.asked == ["A.CFG"]
    (place.folder / "a.dat").write_text("other data")
    place.look()
    assert place.judge.asked == ["A.CFG", "A.CFG"]
    assert [len(one.parts) for one in scan(place.folder)] == [2]


def test_a_file_that_changes_while_it_is_judged_is_judged_again(place):
    path = place.folder / "a.csv"
    path.write_text("sag")

    def judge(one):
        place.judge.asked.append(one.name)
        if len(place.judge.asked) == 1:
            path.write_text("sag swell")
        return [Found(one)]

    with Journal(place.folder / JOURNAL) as journal:
        watcher = Watcher(place.folder, journal, judge, (JsonLines(place.lines),), settle=0.0)
        watcher.look()
        assert not place.lines.exists()
        watcher.look()
    assert len(place.keys()) == 2


def test_what_ended_the_process_comes_last(place):
    for name in "abc":
        (place.folder / f"{name}.csv").write_text(f"sag {name}")
    with Journal(place.folder / JOURNAL) as journal:
        journal.begin("a.csv")
        journal.begin("a.csv")
        journal.begin("b.csv")
    place.look()
    assert place.judge.asked == ["c.csv", "b.csv", "a.csv"]


@pytest.mark.parametrize("left", [0, 1, 30, "all"])
def test_half_written_lines_are_completed(place, left):
    """As after a crash between writing and noting it."""
    (place.folder / "a.csv").write_text("sag")
    place.look()
    before = place.lines.read_bytes()
    (place.folder / "b.csv").write_text("swell transient")
    with Journal(place.folder / JOURNAL) as journal:
        Watcher(place.folder, journal, place.judge, (), settle=0.0).look()
        entries = journal.pending(JsonLines(place.lines).name)
    rest = "".join(f"{entry.line()}\n" for entry in entries).encode()
    place.lines.write_bytes(before + (rest if left == "all" else rest[:left]))
    place.look()
    assert place.lines.read_bytes() == before + rest


@pytest.mark.parametrize("strange", [b"", b"short", b"a line of another program\n"])
def test_lines_of_others_stay(place, strange):
    (place.folder / "a.csv").write_text("sag")
    place.look()
    kept = strange if len(strange) < 10 else place.lines.read_bytes() + strange
    place.lines.write_bytes(kept)
    (place.folder / "b.csv").write_text("swell")
    place.look()
    text = place.lines.read_bytes()
    assert text.startswith(kept)
    assert json.loads(text.splitlines()[-1])["kind"] == "swell"


@pytest.fixture
def server():
    """A receiver that fails twice of three times, unless it is told otherwise, and drops what it has."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert content["key"] == self.headers["Idempotency-Key"]
            httpd.posts.append(content["key"])
            self.send_response(httpd.answer(content) or (503 if len(httpd.posts) % 3 else 204))
            self.send_header("Location", f"http://127.0.0.1:{httpd.server_port}/secret/elsewhere")
            self.end_headers()

        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Handler)
    httpd.posts, httpd.answer = [], lambda content: 0
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield httpd
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_a_webhook_that_fails_gets_everything_in_the_end(place, server):
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/events", timeout=5)
    (place.folder / "a.csv").write_text("sag swell transient")
    with Journal(place.folder / JOURNAL) as journal:
        watcher = Watcher(
            place.folder, journal, place.judge, (hook, JsonLines(place.lines)), settle=0, say=place.said.append
        )
        watcher.look()
        assert len(place.keys()) == 3  # one that fails does not hinder another
        assert len(server.posts) == 1
        watcher.look()
        assert len(server.posts) == 1  # not at once
        while journal.pending(hook.name):
            watcher.deliver(now=True)
    assert list(dict.fromkeys(server.posts)) == place.keys()
    assert len(server.posts) == 9
    assert "503" in " ".join(place.said)
    place.look(hook)
    assert len(server.posts) == 9


def test_a_webhook_that_is_not_there(place):
    hook = Webhook("http://127.0.0.1:9/nobody", timeout=0.5)
    (place.folder / "a.csv").write_text("sag")
    place.look(hook)
    assert "not delivered" in place.said[-1]
    for url in ("ftp://x/y", "file:///etc/passwd", "nonsense", "http://"):
        with pytest.raises(PqswarmError, match="--webhook"):
            Webhook(url)


@pytest.mark.parametrize("code", [301, 302, 303, 307])
def test_a_redirection_is_no_delivery(place, server, code):
    server.answer = lambda content: code
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/secret", timeout=5)
    (place.folder / "a.csv").write_text("sag")
    place.look(hook)
    with Journal(place.folder / JOURNAL) as journal:
        assert len(journal.pending(hook.name)) == 1
    assert f"answered {code}" in place.said[-1]
    assert f"points to http://127.0.0.1:{server.server_port}:" in place.said[-1]
    assert "secret" not in " ".join(place.said)
    assert "secret" not in hook.name


def test_receivers_are_told_apart_without_their_secrets():
    one, other = (Webhook(f"https://example.org/hook/{secret}") for secret in ("s3cret", "0ther"))
    assert one.name != other.name
    assert one.name.startswith("webhook https://example.org (")
    for url in ("https://user:s3cret@example.org", "https://example.org/s3 cret", "http://[x", "http://a:port/"):
        with pytest.raises(PqswarmError) as refused:
            Webhook(url)
        assert "s3" not in str(refused.value)


def test_an_event_that_is_refused_for_good_is_set_aside(place, server):
    server.answer = lambda content: 400 if content["kind"] == "swell" else 204
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", timeout=5)
    (place.folder / "a.csv").write_text("sag swell transient")
    for _ in range(6):  # started again and again
        place.look(hook)
    assert len(server.posts) == 7  # the second one five times
    assert sum("set aside" in text for text in place.said) == 1
    with Journal(place.folder / JOURNAL, read_only=True) as journal:
        ((name, key, reason),) = journal.set_aside()
    assert (name, key) == (hook.name, server.posts[1])
    assert "400" in reason


@pytest.mark.parametrize("code", [401, 408, 429, 500])
def test_other_failures_are_tried_forever(place, server, code):
    server.answer = lambda content: code
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", timeout=5)
    (place.folder / "a.csv").write_text("sag")
    for _ in range(7):
        place.look(hook)
    assert len(server.posts) == 7


def test_lines_are_found_again_among_those_of_others(place):
    """As after a crash between writing and noting it, while another program writes too."""
    place.lines.write_bytes(b"x" * 1000 + b"\n")
    (place.folder / "a.csv").write_text("sag swell")
    lines = JsonLines(place.lines)
    with Journal(place.folder / JOURNAL) as journal:
        Watcher(place.folder, journal, place.judge, (), settle=0.0).look()
        for last, length in lines.send(journal.pending(lines.name), None):
            if last == 0:
                journal.delivered(lines.name, last, length)  # the note before writing; the one after it is lost
                with place.lines.open("ab") as other:
                    other.write(b"before\n")
        with place.lines.open("ab") as other:
            other.write(b"after\n")
    kept = place.lines.read_bytes()
    assert len(kept.splitlines()) == 5
    place.look()
    assert place.lines.read_bytes() == kept


def test_a_pipe_that_nobody_reads_ends_the_watch(place):
    (place.folder / "a.csv").write_text("sag")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream, pytest.raises(PqswarmError, match="nobody reads the standard output"):
        place.look(Stream(stream))
    place.look()
    assert len(place.keys()) == 1


def test_names_that_are_no_text(place):
    (place.folder / os.fsdecode(b"st\xe9.csv")).write_text("sag")
    place.look()
    assert place.files() == {"st\\xe9.csv": "done"}
    assert "st\\xe9.csv: 1 event" in place.said


def test_nothing_about_a_file_stops_the_watch(place):
    def judge(path):
        if path.name == "a.csv":
            raise RuntimeError("something new")
        return [Found(path)]

    place.judge = judge
    (place.folder / "a.csv").write_text("sag")
    (place.folder / "b.csv").write_text("swell")
    place.look()
    assert place.files() == {"a.csv": "failed", "b.csv": "done"}


@pytest.mark.parametrize("error", [OSError("gone"), MemoryError()])
def test_what_passes_is_tried_again(place, error, monkeypatch):
    tries = []

    def judge(path):
        tries.append(path)
        return [explain(error, path, "")] if len(tries) < 4 else [Found(path)]

    (place.folder / "a.csv").write_text("sag")
    monkeypatch.setattr(watch, "_FILE_TRIES", 3)
    with Journal(place.folder / JOURNAL) as journal:
        watcher = Watcher(place.folder, journal, judge, settle=0, say=place.said.append)
        for _ in range(5):
            watcher.look()
        assert len(tries) == 1  # not at once
        for _ in range(5):
            watcher.look(now=True)
        assert len(tries) == 3  # bounded
        assert not journal.files()
    assert len(place.said) == 2
    place.judge = judge
    place.look()
    assert place.files() == {"a.csv": "done"}


def test_what_is_waited_for_is_named_once(place, monkeypatch):
    (place.folder / "a.cfg").write_text("x")
    (place.folder / "b.csv").write_text("")
    with Journal(place.folder / JOURNAL) as journal:
        watcher = Watcher(place.folder, journal, place.judge, settle=0, say=place.said.append)
        watcher.look()
        assert place.said == []
        monkeypatch.setattr(watch, "_PATIENCE", 0.0)
        watcher.look()
        watcher.look()
        assert len(place.said) == 2
        assert "a.cfg: waited for: its .dat is missing." in place.said
        again = Watcher(place.folder, journal, place.judge, settle=0, say=place.said.append)
        monkeypatch.undo()
        assert again.run_once()
    assert len(place.said) == 4


def test_a_new_time_keeps_the_reason(place):
    path = place.folder / "a.csv"
    path.write_text("sag")
    place.judge = lambda path: [Found(path), Failure(str(path), "a.csv, 2", "is broken.")]
    place.look()
    os.utime(path, (1, 1))
    place.look()
    with Journal(place.folder / JOURNAL, read_only=True) as journal:
        assert "is broken" in journal.files()["a.csv"].reason


def test_a_strangers_database_stays_what_it_is(tmp_path):
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(PqswarmError, match="another program"):
        Journal(path)
    assert path.read_bytes() == before
    with Journal(tmp_path / "ours.sqlite") as journal:
        assert sorted(one.name for one in tmp_path.iterdir()) == ["journal.sqlite", "ours.sqlite"]  # no write-ahead log
        journal.close()
        with pytest.raises(PqswarmError, match=r"ours\.sqlite cannot be used"):
            journal.begin("a.csv")


def test_what_is_no_journal(tmp_path):
    path = tmp_path / "journal.sqlite"
    with pytest.raises(PqswarmError, match="no journal"):
        Journal(path, read_only=True)
    path.write_text("something else, and long enough to be looked at" * 50)
    with pytest.raises(PqswarmError, match="cannot be used as a journal"):
        Journal(path)


KILLING = """
import os, random, signal, sys, time
from pathlib import Path
from pqswarm.identify.journal import Journal
from pqswarm.identify.receivers import JsonLines
from pqswarm.identify.watch import JOURNAL, Watcher
from tests.identify.test_watch import Found

folder, draw = Path(sys.argv[1]), random.Random(int(sys.argv[2]))

def judge(path):
    yield Found(path)

def watch():
    with Journal(folder / JOURNAL) as journal:
        Watcher(folder, journal, judge, (JsonLines(folder / "events.jsonl"),), settle=0).run(0.001)

def die_at_line(left):
    def trace(frame, event, argument):
        nonlocal left
        code = frame.f_code
        if code.co_filename.endswith(("journal.py", "receivers.py")) or code.co_name in ("_take", "_note", "deliver"):
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
    sys.settrace(trace)

for number in range(60):
    (folder / f"{number}.csv").write_text(f"sag swell {'x' * number}")
    child = os.fork()
    if not child:
        if number % 3:
            die_at_line(draw.randrange(500))
        watch()
    if number % 3 == 0:
        time.sleep(draw.random() * 0.06)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    draw.random()
with Journal(folder / JOURNAL) as journal:
    print(len(journal.files()))
    Watcher(folder, journal, judge, (JsonLines(folder / "events.jsonl"),), settle=0).look()
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """Sixty processes, each killed (-9) at a random line, or at a random time: nothing is lost, nothing is doubled."""
    command = [sys.executable, "-c", KILLING, str(tmp_path), "1"]
    run = subprocess.run(
        command, check=True, cwd=Path(__file__).parents[2], timeout=120, capture_output=True, text=True
    )
    assert int(run.stdout) > 20  # most was done by processes that were killed
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    expected = {(f"{k}.csv", kind) for k in range(60) for kind in ("sag", "swell", "x" * k) if kind}
    assert len(lines) == len(expected) == 179
    assert {(line["path"], line["kind"]) for line in lines} == expected
    assert len({line["key"] for line in lines}) == 179
    with Journal(tmp_path / JOURNAL, read_only=True) as journal:
        assert len(list(journal.events())) == 179
        assert {record.state for record in journal.files().values()} == {"done"}
