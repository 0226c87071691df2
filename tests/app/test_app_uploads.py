"""Uploads: whole or not at all, bounded, and each visitor's own."""

import json
import os
import socket
import time

import pytest
from tests.app.asking import ONE, OTHER, ask, connect, cookies, get, open_page, recording, upload, wait_judged
from tests.app.made import write_pair
from tests.app.serving import running_app

from pqswarm.app.recordings.files import upload_folder_name
from pqswarm.app.recordings.old_state import remove_old, touch
from pqswarm.app.recordings.uploads import Upload, clean_name, clean_parts
from pqswarm.errors import PqswarmError


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def app(tmp_path_factory, state):
    with running_app(tmp_path_factory.mktemp("empty"), "--max-mb", "1", state=state) as process:
        yield process


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = write_pair(tmp_path_factory.mktemp("pair") / "fault.cfg")
    return path.read_bytes(), path.with_suffix(".dat").read_bytes()


def stored(state):
    return sorted(path.name for path in state.rglob("*") if path.is_file() and "verdicts" not in path.parts)


def test_a_pair_is_judged_once_both_parts_are_there(app, pair):
    with open_page(app) as page:
        status, answer = upload(app, "fault.dat", pair[1])
        assert (status, answer["reason"]) == (200, "waiting for its .cfg")
        page.wait(lambda message: message["state"] == "changed")
        upload(app, "alone.cfg", pair[0])
        assert recording(app, "alone.cfg")["reason"] == "waiting for its .dat"
        status, answer = upload(app, "fault.cfg", pair[0])
        assert status == 200
        told = page.wait(lambda message: message["state"] == "judged")
    assert told["id"] == answer["recording"]
    assert told["rows"][0]["kind"] == "sag"
    assert told["rows"][0]["path"] == "uploads/fault.cfg"
    (one,) = [one for one in get(app, "/api/recordings")["recordings"] if one["name"].startswith("fault")]
    assert (one["name"], one["upload"], one["state"]) == ("fault.cfg", True, "judged")
    assert get(app, f"/api/recordings/{one['id']}/view")["channels"]


def test_others_do_not_see_it(app, pair):
    upload(app, "fault.dat", pair[1])
    upload(app, "fault.cfg", pair[0])
    one = recording(app, "fault.cfg")["id"]
    found = get(app, "/api/recordings", OTHER)
    assert (found["recordings"], found["rows"]) == ([], [])
    for more in ("", "/view", "/judged", "/cursor?t=0", "/bands", "/page.html", "/raw.csv"):
        assert ask(app, f"/api/recordings/{one}{more}", visitor=OTHER)[0] == 404
    assert ask(app, f"/api/recordings/{one}", "DELETE", visitor=OTHER)[0] == 404
    correction = json.dumps({"recording": one, "event": 0, "label": "", "by": "Eve"})
    assert ask(app, "/api/corrections", "POST", correction, visitor=OTHER)[0] == 404
    assert b"fault" not in ask(app, "/api/table.csv", visitor=OTHER)[1]
    with open_page(app, name="e" * 32, visitor=OTHER) as page:
        upload(app, "more.cfg", pair[0])
        upload(app, "others.cfg", pair[0], visitor=OTHER)
        told = page.wait(lambda message: True)
        assert told == {"about": "recordings", "id": "", "state": "changed"}
        assert [one["name"] for one in get(app, "/api/recordings", OTHER)["recordings"]] == ["others.cfg"]


def test_what_was_sent_can_be_removed(app, state, pair):
    upload(app, "gone.dat", pair[1])
    one = upload(app, "gone.cfg", pair[0])[1]["recording"]
    wait_judged(app)
    status, content = ask(app, f"/api/recordings/{one}", "DELETE")
    assert (status, json.loads(content)) == (200, {"removed": ["gone.cfg", "gone.dat"]})
    assert ask(app, f"/api/recordings/{one}")[0] == 404
    assert not list(state.rglob("gone.*"))
    assert not list(state.rglob(f"{one}.json"))


def announce(app, name, length, more=b"", headers=""):
    """What the server answers to the beginning of an upload."""
    host, _, port = app.home.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    with connection, connection.makefile("rb") as answer:
        head = f"PUT /api/uploads/{name} HTTP/1.1\r\nHost: {host}:{port}\r\nX-Page: {'0' * 32}\r\n"
        head += f"Cookie: {cookies(app)['Cookie']}\r\n{headers or f'Content-Length: {length}'}\r\n\r\n"
        connection.sendall(head.encode() + more)
        return answer.readline()


def test_a_gigabyte_is_refused_before_anything_is_stored(app, state):
    before = stored(state)
    assert b" 413 " in announce(app, "huge.csv", 1_000_000_000)
    assert stored(state) == before
    status, content = upload(app, "large.csv", b"0" * 1_000_001)
    assert status == 413
    assert content["error"].startswith("Files of up to 1 MB")
    assert stored(state) == before


def test_a_body_of_unknown_length_is_counted(app, state):
    before = stored(state)
    connection = connect(app)
    chunks = (b"1,2\n" * 25_000 for _ in range(15))
    headers = cookies(app) | {"X-Page": "0" * 32, "Transfer-Encoding": "chunked"}
    connection.request("PUT", "/api/uploads/endless.csv", chunks, headers, encode_chunked=True)
    with connection.getresponse() as answer:
        assert answer.status == 413
    connection.close()
    assert stored(state) == before


def test_what_breaks_off_leaves_nothing(app, state):
    before = stored(state)
    host, _, port = app.home.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    head = f"PUT /api/uploads/half.csv HTTP/1.1\r\nHost: {host}:{port}\r\nX-Page: {'0' * 32}\r\n"
    connection.sendall(f"{head}Cookie: {cookies(app)['Cookie']}\r\nContent-Length: 5000\r\n\r\n1,2\n".encode())
    end = time.monotonic() + 5
    while stored(state) == before and time.monotonic() < end:
        time.sleep(0.02)
    assert stored(state) != before
    connection.close()
    while stored(state) != before and time.monotonic() < end:
        time.sleep(0.02)
    assert stored(state) == before


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run.exe", 400),
        ("page.html", 400),
        ("noending", 400),
        (".csv", 400),
        ("\u202e.csv", 400),
        ("a.cfg/", 400),
        ("..", 403),
        ("a.csv/..", 403),
    ],
)
def test_names_that_are_no_recordings(app, name, expected):
    status, content = upload(app, name, b"1")
    assert status == expected
    assert content["error"].endswith(".")


def test_the_name_that_is_stored_is_told(app):
    status, content = upload(app, "day/.a.csv.", b"1")
    assert (status, content["name"]) == (200, "a.csv")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("C:\\data\\a b.CSV", "a b.CSV"),
        ("/etc/../x.csv", "x.csv"),
        ("..hidden.csv", "hidden.csv"),
        ("li\nne\x00\x1b[31m.csv", "line[31m.csv"),
        ("rev\u202eersed\u2066.csv", "reversed.csv"),
        ("<b>a</b>.csv", "b.csv"),
        ("NUL.csv", "_NUL.csv"),
        ("ü" * 200 + ".csv", "ü" * 73 + ".csv"),
    ],
)
def test_names_are_cleaned(given, name):
    assert clean_name(given) == name


def test_there_is_a_quota(app, pair, state):
    upload(app, "first.csv", b"1")
    home = next(state.rglob(f"uploads/{upload_folder_name(ONE)}"))
    filler = home / "filler.csv"
    with filler.open("wb") as file:
        file.truncate(3_990_000)
    status, content = upload(app, "more.csv", b"1" * 900_000)
    filler.unlink()
    assert not list(state.rglob(f"*{ONE}*"))  # the cookie is all that keeps visitors apart
    assert status == 429
    assert "remove some first" in content["error"]


def test_all_visitors_together_have_a_quota(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}").mkdir()
        with (tmp_path / f"{number}" / "filler.csv").open("wb") as file:
            file.truncate(3_400)
    with pytest.raises(PqswarmError, match="all visitors"):
        Upload(tmp_path, ONE, "a.csv", 1, 1000)
    (tmp_path / "5" / "filler.csv").unlink()
    Upload(tmp_path, ONE, "a.csv", 1, 1000).drop()


def test_what_nobody_used_for_a_month_is_removed(tmp_path):
    paths = [tmp_path / name for name in ("uploads/new", "uploads/old", "verdicts/new.json", "verdicts/old.json")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if path.suffix == "" else path.write_text("{}")
        if path.suffix == "":
            (path / "a.csv").write_text("1")
        os.utime(path, (0, 0))
    for path in paths[::2]:
        touch(path)
    remove_old(tmp_path)
    assert [path.exists() for path in paths] == [True, False, True, False]


def test_only_uploads_can_be_removed_and_parts_of_dead_servers_go(tmp_path, pair):
    parts = tmp_path / ".parts"
    parts.mkdir()
    for name in ("999999999-ab", f"{os.getppid()}-cd", "strange"):
        (parts / name).write_bytes(b"1")
    clean_parts(tmp_path)
    assert [path.name for path in parts.iterdir()] == [f"{os.getppid()}-cd"]
    clean_parts(tmp_path / "nowhere")
    with pytest.raises(PqswarmError):
        clean_name("a.exe")
