"""Each event is delivered, whatever the receiver, the disk or another program does."""

import io
import itertools
import json
import os
import socket
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from tests.waiting import PATIENCE, Clock

from pqswarm.errors import PqswarmError
from pqswarm.identify import Archive
from pqswarm.identify.folder.watch import JsonLines, StreamReceiver, Webhook


@pytest.mark.parametrize("left", [0, 1, 30, "all"])
def test_half_written_lines_are_completed(place, left):
    """As after a crash between writing and noting it."""
    place.put("a.csv", "sag")
    place.look()
    before = place.lines.read_bytes()
    place.put("b.csv", "swell transient")
    with Archive(place.home) as archive:
        place.watcher(archive, JsonLines(place.folder.parent / "other")).look()
        entries = place.pending(archive, JsonLines(place.lines))
    rest = "".join(f"{entry.line()}\n" for entry in entries).encode()
    place.lines.write_bytes(before + (rest if left == "all" else rest[:left]))
    place.look()
    assert place.lines.read_bytes() == before + rest


@pytest.mark.parametrize("strange", [b"", b"short", b"a line of another program\n"])
def test_lines_of_others_stay(place, strange):
    place.put("a.csv", "sag")
    place.look()
    kept = strange if len(strange) < 10 else place.lines.read_bytes() + strange
    place.lines.write_bytes(kept)
    place.put("b.csv", "swell")
    place.look()
    text = place.lines.read_bytes()
    assert text.startswith(kept)
    assert json.loads(text.splitlines()[-1])["type"] == "swell"


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


def test_a_webhook_that_fails_gets_everything_in_the_end(place, server, monkeypatch):
    Clock(monkeypatch, "identify.folder.watch")
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/events", timeout=60, is_local=True)
    place.put("a.csv", "sag swell transient")
    with Archive(place.home) as archive:
        watcher = place.watcher(archive, hook, JsonLines(place.lines))
        watcher.look()
        assert len(place.keys()) == 3  # one that fails does not hinder another
        assert len(server.posts) == 1
        watcher.look()
        assert len(server.posts) == 1  # not at once
        while place.pending(archive, hook):
            watcher.deliver(now=True)
    assert list(dict.fromkeys(server.posts)) == place.keys()
    assert len(server.posts) == 9
    assert "503" in " ".join(place.said)
    place.look(hook)
    assert len(server.posts) == 9


def test_a_webhook_that_is_not_there(place):
    hook = Webhook("http://127.0.0.1:9/nobody", timeout=0.5, is_local=True)
    place.put("a.csv", "sag")
    place.look(hook)
    assert "not delivered" in place.said[-1]
    for url in ("ftp://x/y", "file:///etc/passwd", "nonsense", "http://"):
        with pytest.raises(PqswarmError, match="--webhook"):
            Webhook(url)


@pytest.fixture
def raw_server():
    """A receiver that answers a post with the pieces of `answer`, and then with more of the last one."""
    listener, stopped = socket.create_server(("127.0.0.1", 0)), threading.Event()
    server = SimpleNamespace(url="http://127.0.0.1:{1}/".format(*listener.getsockname()), answer=[], posts=[])

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    server.posts.append(connection.recv(65536))
                    for piece in itertools.chain(server.answer, itertools.repeat(server.answer[-1])):
                        if not piece or stopped.wait(0.02):
                            break
                        connection.sendall(piece)

    thread = threading.Thread(target=serve)
    thread.start()
    yield server
    stopped.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize("piece", [b"x", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 20", b""])
def test_an_answer_that_never_ends_is_no_delivery(place, raw_server, piece):
    """Though its bytes come one after the other, each in time."""
    raw_server.answer = [piece]
    place.put("a.csv", "sag")
    began = time.monotonic()
    place.look(Webhook(raw_server.url, timeout=0.1, is_local=True))
    assert time.monotonic() - began < PATIENCE
    assert "not delivered" in place.said[-1]


def test_an_endless_body_of_a_success_is_a_delivery(place, raw_server):
    raw_server.answer = [b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", b"x"]
    hook = Webhook(raw_server.url, timeout=60, is_local=True)
    place.put("a.csv", "sag swell")
    place.look(hook)
    assert len(raw_server.posts) == 2
    with Archive(place.home) as archive:
        assert not place.pending(archive, hook)


def test_a_slow_receiver_does_not_keep_files_waiting(place, monkeypatch):
    clock = itertools.count(0.0, 40.0)
    place.put("a.csv", "sag swell transient flicker " * 3)
    with Archive(place.home) as archive:
        watcher = place.watcher(archive, StreamReceiver(io.StringIO()))
        monkeypatch.setattr("pqswarm.identify.folder.watch.time", SimpleNamespace(monotonic=lambda: next(clock)))
        watcher.look()
        place.put("b.csv", "sag")
        watcher.look()
        assert place.analyze.asked == ["a.csv", "b.csv"]
        assert place.pending(archive, watcher.receivers[0])
        assert watcher.run_once()
        assert not place.pending(archive, watcher.receivers[0])


@pytest.mark.parametrize("code", [301, 302, 303, 307])
def test_a_redirection_is_no_delivery(place, server, code):
    server.answer = lambda content: code
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/secret", timeout=60, is_local=True)
    place.put("a.csv", "sag")
    place.look(hook)
    with Archive(place.home) as archive:
        assert len(place.pending(archive, hook)) == 1
    assert f"answered {code}" in place.said[-1]
    assert f"redirects to http://127.0.0.1:{server.server_port}:" in place.said[-1]
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
    server.answer = lambda content: 400 if content["type"] == "swell" else 204
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", timeout=60, is_local=True)
    place.put("a.csv", "sag swell transient")
    for _ in range(6):  # started again and again
        place.look(hook)
    assert len(server.posts) == 7  # the second one five times
    assert sum("set aside" in text for text in place.said) == 1
    with Archive(place.home, read_only=True) as archive:
        ((name, key, reason),) = archive.deliveries.refused()
    assert (name, key) == (place.key(hook), server.posts[1])
    assert "400" in reason


@pytest.mark.parametrize("code", [401, 408, 429, 500])
def test_other_failures_are_tried_forever(place, server, code):
    server.answer = lambda content: code
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", timeout=60, is_local=True)
    place.put("a.csv", "sag")
    for _ in range(7):
        place.look(hook)
    assert len(server.posts) == 7


def test_lines_are_found_again_among_those_of_others(place):
    """As after a crash between writing and noting it, while another program writes too."""
    place.lines.write_bytes(b"x" * 1000 + b"\n")
    place.put("a.csv", "sag swell")
    lines = JsonLines(place.lines)
    with Archive(place.home) as archive, place.lines.open("ab", buffering=0) as other:
        place.watcher(archive, JsonLines(place.folder.parent / "other")).look()
        for last, length in lines.send(place.pending(archive, lines), None):
            if last == 0:  # the note before writing; the one after it is lost
                archive.deliveries.delivered(place.key(lines), last, length)
                other.write(b"before\n")
        other.write(b"after\n")
    kept = place.lines.read_bytes()
    assert len(kept.splitlines()) == 5
    place.look()
    assert place.lines.read_bytes() == kept


def test_a_pipe_that_nobody_reads_ends_the_watch(place):
    place.put("a.csv", "sag")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream, pytest.raises(PqswarmError, match="standard output was closed"):
        place.look(StreamReceiver(stream))
    place.look()
    assert len(place.keys()) == 1


INWARD = ["127.0.0.1", "10.1.2.3", "192.168.0.9", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"]
INWARD += ["::1", "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "ff02::1"]


@pytest.mark.parametrize("address", INWARD)
def test_a_webhook_that_leads_inward_is_not_connected_to(place, server, monkeypatch, address):
    """Whatever its name: what it resolves to decides."""
    asked = []
    place.put("a.csv", "sag")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **_: [(2, 1, 6, "", (address, given[1]))])
    monkeypatch.setattr(socket, "create_connection", lambda *given, **_: asked.append(given))
    place.look(Webhook(f"http://innocent.example:{server.server_port}/", timeout=60))
    assert not asked
    assert not server.posts
    assert "--local-webhook allows" in place.said[-1]


def test_numbers_in_disguise_lead_inward_too(place, server):
    place.put("a.csv", "sag")
    for host in ("127.1", "2130706433", "0x7f000001", "localhost", "[::ffff:127.0.0.1]"):
        place.look(Webhook(f"http://{host}:{server.server_port}/", timeout=60))
    assert not server.posts
