"""Uploads: whole or not at all, bounded, and each visitor's own."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import ONE, OTHER, access, ask, connect, get, open_page, recording, send, upload, wait_analyzed
from tests.waiting import PATIENCE, wait_until

from pqswarm.app.recordings.queue import RecordingFiles, upload_folder_name
from pqswarm.app.recordings.uploads import (
    StoredUploads,
    Upload,
    clean_upload_folder,
    clean_upload_name,
    clean_upload_parts,
)
from pqswarm.app.workbench import mark_workbench_file_used, remove_unused_workbench_files
from pqswarm.errors import PqswarmError
from pqswarm.identify import Archive


@pytest.fixture
def app(writable):
    return writable


@pytest.fixture
def state(writable):
    return writable.state


def read_pair(path):
    return path.read_bytes(), path.with_suffix(".dat").read_bytes()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return read_pair(write_pair(tmp_path_factory.mktemp("pair") / "fault.cfg"))


def upload_pair(app, name, pair):
    """Send both parts; the ID of the recording."""
    upload(app, f"{name}.dat", pair[1])
    return upload(app, f"{name}.cfg", pair[0])[1]["recording"]


def remove(app, recording, visitor=ONE):
    assert ask(app, f"/api/recordings/{recording}", "DELETE", visitor=visitor)[0] == 200


def stored(state):
    return sorted(path.name for path in state.rglob("*") if path.is_file())


def test_a_pair_is_analysed_once_both_parts_are_there(app, pair):
    with open_page(app) as page:
        status, answer = upload(app, "fault.dat", pair[1])
        assert (status, answer["reason"]) == (200, "waiting for its .cfg")
        page.wait(lambda message: message["state"] == "changed")
        upload(app, "alone.cfg", pair[0])
        assert recording(app, "alone.cfg")["reason"] == "waiting for its .dat"
        status, answer = upload(app, "fault.cfg", pair[0])
        assert status == 200
        message = page.wait(lambda message: message["state"] == "analyzed")
    assert message["id"] == answer["recording"]
    (row,) = get(app, f"/api/events?recording={answer['recording']}")["rows"]
    assert (row["type"], row["path"]) == ("sag", "uploads/fault.cfg")
    (one,) = [one for one in get(app, "/api/recordings")["recordings"] if one["name"].startswith("fault")]
    assert (one["name"], one["upload"], one["state"]) == ("fault.cfg", True, "analyzed")
    assert get(app, f"/api/recordings/{one['id']}/view")["channels"]


def test_others_do_not_see_it(app, pair):
    one = upload_pair(app, "fault", pair)
    found = get(app, "/api/recordings", OTHER)
    assert "fault.cfg" not in {one["name"] for one in found["recordings"]}
    assert "uploads/fault.cfg" not in {row["path"] for row in get(app, "/api/events?limit=500", OTHER)["rows"]}
    for more in ("", "/view", "/analysis", "/cursor?t=0", "/page.html", "/raw.csv"):
        assert ask(app, f"/api/recordings/{one}{more}", visitor=OTHER)[0] == 404
    assert ask(app, f"/api/recordings/{one}", "DELETE", visitor=OTHER)[0] == 404
    correction = json.dumps({"recording": one, "event": 0, "label": "", "by": "Eve"})
    assert ask(app, "/api/corrections", "POST", correction, visitor=OTHER)[0] == 404
    assert b"fault.cfg" not in ask(app, "/api/table.csv", visitor=OTHER)[1]
    with open_page(app, name="e" * 32, visitor=OTHER) as page:
        upload(app, "more.cfg", pair[0])
        upload(app, "others.cfg", pair[0], visitor=OTHER)
        told = page.wait(lambda message: "revision" not in message)  # which comes of what all see
        assert told == {"about": "recordings", "id": "", "state": "changed"}
        own = [one["name"] for one in get(app, "/api/recordings", OTHER)["recordings"] if one["upload"]]
        assert own == ["others.cfg"]


def test_a_file_of_the_folder_is_no_second_recording(app):
    config, data = read_pair(write_pair(app.folder / "known.cfg", residual=0.47))  # no other test has these samples
    known = wait_until(lambda: recording(app, "known.cfg"))
    wait_analyzed(app)
    total = get(app, "/api/events")["total"]
    upload(app, "copy.cfg", config)
    _, answer = upload(app, "copy.dat", data)
    assert (answer["recording"], answer["name"], answer["is_known"]) == (known["id"], "known.cfg", True)
    assert get(app, "/api/events")["total"] == total
    assert "copy.cfg" not in [one["name"] for one in get(app, "/api/recordings")["recordings"]]


def test_the_station_of_an_upload_is_private(app, tmp_path):
    upload_pair(app, "s", read_pair(write_pair(tmp_path / "s.cfg", station="Secret place")))
    wait_analyzed(app)
    stations = [get(app, "/api/recordings", who)["facets"]["stations"] for who in (ONE, OTHER)]
    assert ["Secret place" in {station["name"] for station in some} for some in stations] == [True, False]
    assert "Secret place" not in {station["name"] for station in get(app, "/api/stations", OTHER)["stations"]}


def test_an_upload_can_be_removed(app, state, pair):
    one = upload_pair(app, "gone", pair)
    wait_analyzed(app)
    status, content = ask(app, f"/api/recordings/{one}", "DELETE")
    assert (status, json.loads(content)) == (200, {"removed": ["gone.cfg", "gone.dat"]})
    assert ask(app, f"/api/recordings/{one}")[0] == 404
    assert not list(state.rglob("gone.*"))
    assert one not in {row["recording"] for row in get(app, "/api/events?limit=500")["rows"]}


def test_an_upload_that_replaces_a_removed_one_is_analysed_anew(app, tmp_path):
    found = []
    for residual in (0.5, 0.7):
        one = upload_pair(app, "again", read_pair(write_pair(tmp_path / "again.cfg", residual=residual)))
        wait_analyzed(app)
        get(app, f"/api/recordings/{one}/view")
        found += [row["magnitude"] for row in get(app, "/api/events?limit=500")["rows"] if row["recording"] == one]
        remove(app, one)
    assert found == [pytest.approx(0.5, abs=0.01), pytest.approx(0.7, abs=0.01)]


def test_a_correction_of_an_upload_stays_with_its_visitor(app, pair):
    """Even if the same file is in the folder."""
    (app.folder / "shared.dat").write_bytes(pair[1])  # first: the list never lacks the samples
    (app.folder / "shared.cfg").write_bytes(pair[0])
    for suffix, content in zip((".cfg", ".dat"), pair, strict=True):
        upload(app, f"copy{suffix}", content)
    shared = wait_until(lambda: recording(app, "shared.cfg"))["id"]
    own = recording(app, "copy.cfg")["id"]
    wait_analyzed(app)

    def correct(name, label, by, visitor):
        correction = {"recording": name, "event": 0, "label": label, "by": by}
        assert send(app, "/api/corrections", correction, visitor=visitor)[0] == 200

    def corrected_by(visitor):
        rows = {row["recording"]: row for row in get(app, "/api/events?limit=500", visitor)["rows"]}
        return [rows[name]["correction"][13:16] for name in (shared, own) if name in rows]

    correct(shared, "sag_with_harmonics", "Eve", OTHER)
    correct(own, "sag_with_transient", "Ann", ONE)
    assert (corrected_by(ONE), corrected_by(OTHER)) == (["Eve", "Ann"], ["Eve"])
    labels = [[one["label"] for one in get(app, "/api/corrections", who)["corrections"]] for who in (ONE, OTHER)]
    assert [labels[0][:2], labels[1][:1]] == [["sag_with_transient", "sag_with_harmonics"], ["sag_with_harmonics"]]
    assert ONE.encode() not in (app.archive / "archive.sqlite").read_bytes()  # the ID of a visitor is a secret
    correct(own, "", "Ann", ONE)
    assert corrected_by(ONE) == ["Eve", ""]
    correct(shared, "", "Eve", OTHER)


def begin_upload(app, name, length, body=b""):
    """The connection of an upload of which only a part is sent so far."""
    host, _, port = app.home.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    headers = {"Host": f"{host}:{port}", **access(app), "Content-Length": length}
    lines = [f"PUT /api/uploads/{name} HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    return connection


def test_a_gigabyte_is_refused_before_anything_is_stored(app, state):
    before = stored(state)
    with begin_upload(app, "huge.csv", 1_000_000_000) as connection, connection.makefile("rb") as answer:
        assert b" 413 " in answer.readline()
    status, content = upload(app, "large.csv", b"0" * 1_000_001)
    assert status == 413
    assert "1 MB" in content["error"]
    assert stored(state) == before


def test_a_body_of_unknown_length_is_counted(app, state):
    before = stored(state)
    connection = connect(app)
    chunks = (b"1,2\n" * 25_000 for _ in range(15))
    headers = access(app) | {"Transfer-Encoding": "chunked"}
    connection.request("PUT", "/api/uploads/endless.csv", chunks, headers, encode_chunked=True)
    with connection.getresponse() as answer:
        assert answer.status == 413
    connection.close()
    assert stored(state) == before


def test_a_broken_upload_leaves_nothing(app, state):
    before = stored(state)
    with begin_upload(app, "half.csv", 5000, b"1,2\n"):
        wait_until(lambda: stored(state) != before)
    wait_until(lambda: stored(state) == before)


def test_a_disconnect_at_the_end_leaves_a_whole_file_or_none(app, state):
    body = b"1,2\n" * 1000
    for number in range(10):
        begin_upload(app, f"cut{number}.csv", len(body), body).close()
    assert upload(app, "last.csv", b"1")[0] == 200  # the server has seen the others
    wait_until(lambda: not [path for path in state.rglob(".parts/*") if path.is_file()])
    assert {path.read_bytes() for path in state.rglob("cut*.csv")} <= {body}


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
def test_names_that_are_not_recordings(app, name, expected):
    status, content = upload(app, name, b"1")
    assert status == expected
    assert content["error"].endswith(".")


def test_the_answer_gives_the_stored_name(app):
    status, content = upload(app, "day/.a.csv.", b"1")
    assert (status, content["name"]) == (200, "a.csv")


@pytest.mark.parametrize(
    ("first", "second"), [("day1/f.csv", "day2/f.csv"), ("a?1.csv", "a1.csv"), ("ß.csv", "SS.csv")]
)
def test_uploads_of_one_name_are_two(app, first, second):
    before, after, again = (upload(app, one, text)[1] for one, text in ((first, b"1"), (second, b"2"), (second, b"2")))
    assert before["recording"] != after["recording"] == again["recording"]


def test_recordings_of_one_name_keep_their_parts_together(app, state, pair, tmp_path):
    for cfg, dat in (pair, read_pair(write_pair(tmp_path / "WAVE0001.cfg", residual=0.7))):
        upload(app, "WAVE0001.cfg", cfg)
        one = upload(app, "WAVE0001.dat", dat)[1]["recording"]
    upload(app, "WAVE0001.cfg", cfg)  # the second again
    assert upload(app, "WAVE0001.dat", dat)[1]["recording"] == one
    assert len(list(state.rglob("WAVE0001.dat"))) == 2
    wait_analyzed(app)
    rows = {row["path"]: row for row in get(app, "/api/events?text=WAVE0001")["rows"]}
    assert {path: row["magnitude"] for path, row in rows.items()} == {
        "uploads/WAVE0001.cfg": pytest.approx(0.5, abs=0.01),
        "uploads/2/WAVE0001.cfg": pytest.approx(0.7, abs=0.01),
    }
    assert rows["uploads/2/WAVE0001.cfg"]["recording"] == one
    for row in rows.values():
        remove(app, row["recording"])
    assert not list(state.rglob("WAVE0001.*"))


@pytest.mark.parametrize(
    ("given", "folder"), [("../..", "."), ("a/b/c/d", "b/c/d"), ("x<y>/CON", "x_y_/_CON"), ("C:", "C_")]
)
def test_folders_are_cleaned(given, folder):
    assert clean_upload_folder(given) == Path(folder)


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
    assert clean_upload_name(given) == name


def test_there_is_a_quota(app, state):
    third = "d" * 32
    large = [upload(app, f"large{i}.csv", b"1" * 999_999, third)[1]["recording"] for i in range(4)]
    status, content = upload(app, "more.csv", b"1" * 900_000, third)
    assert status == 429
    assert "remove some first" in content["error"]
    for one in large:
        remove(app, one, third)
    status, content = upload(app, "more.csv", b"1" * 900_000, third)
    assert status == 200
    remove(app, content["recording"], third)
    assert not list(state.rglob(f"*{third}*"))  # only their secret IDs separate visitors


def store(stored, name, content, visitor=ONE, sender=""):
    """Upload a file of at most 1000 bytes, without a server; its path."""
    one = Upload(stored, visitor, name, len(content), 1000, sender)
    one.write(content)
    return one.finish()


def test_an_upload_costs_the_same_however_many_there_are(tmp_path, monkeypatch):
    """Of one name or of different ones: nothing lists, reads or measures all of them each time."""
    stored = StoredUploads(tmp_path / "uploads")
    with Archive(tmp_path / "archive") as archive:
        files = RecordingFiles(tmp_path / "folder", stored.folder, archive)

        def send(name, content):
            path = store(stored, name, content)
            return path, files.add(path, ONE, stored.beside(path))

        for number in range(3):
            send("same.csv", b"%d" % number)
            send(f"other{number}.csv", b"1")
            send(f"pair{number}.cfg", b"1")
        for function in ("scandir", "walk", "listdir"):
            monkeypatch.setattr(os, function, lambda *_: pytest.fail("lists a folder"))
        path, found = send("SAME.csv", b"new")
        assert path.relative_to(tmp_path / "uploads" / upload_folder_name(ONE)) == Path("4/SAME.csv")
        assert send("same.csv", b"1")[1] in files.visible_to(ONE)
        send("third.csv", b"1")
        assert send("pair1.dat", b"1")[1].parts[0].name == "pair1.cfg"
        assert len(files.visible_to(ONE)) == 11
        monkeypatch.undo()
        files.update(ONE, now=True)
        assert len(files.visible_to(ONE)) == 11
        assert found in files.visible_to(ONE)
        again = StoredUploads(stored.folder)
        assert (again.n_files, again.n_bytes) == (stored.n_files, stored.n_bytes)


def test_uploads_at_the_same_time_do_not_replace_each_other(tmp_path):
    stored = StoredUploads(tmp_path)
    some = [Upload(stored, ONE, "same.csv", 1, 1000) for _ in range(20)]
    for number, one in enumerate(some):
        one.write(b"%d" % number)
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(Upload.finish, some))) == 20
    store(StoredUploads(tmp_path), "new.csv", b"x")  # of another server
    store(stored, "new.csv", b"y")
    assert sorted(path.read_bytes() for path in tmp_path.rglob("new.csv")) == [b"x", b"y"]


def test_a_pair_stays_together_when_the_first_of_its_name_was_removed(tmp_path):
    stored = StoredUploads(tmp_path)
    first = [store(stored, "a.cfg", b"1"), store(stored, "a.dat", b"1")]
    second = store(stored, "a.cfg", b"2")
    for path in first:
        path.unlink()
    stored.look(now=True)
    assert store(stored, "a.dat", b"2").parent == second.parent


def test_all_visitors_of_an_address_have_a_quota(tmp_path):
    stored, content = StoredUploads(tmp_path), b"x" * 900
    for number in range(11):
        store(stored, "a.csv", content, f"{number:032x}", "eve")
    with pytest.raises(PqswarmError, match="from your address"):
        store(stored, "a.csv", content, f"{11:032x}", "eve")
    store(stored, "a.csv", content, f"{12:032x}", "bob")


def test_all_visitors_together_have_a_quota(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}").mkdir()
        with (tmp_path / f"{number}" / "filler.csv").open("wb") as file:
            file.truncate(3_400)
    with pytest.raises(PqswarmError, match="all visitors"):
        Upload(StoredUploads(tmp_path), ONE, "a.csv", 1, 1000)
    (tmp_path / "5" / "filler.csv").unlink()
    Upload(StoredUploads(tmp_path), ONE, "a.csv", 1, 1000).drop()


def test_what_was_not_used_for_a_month_is_removed(tmp_path):
    new, old = (tmp_path / "uploads" / name for name in ("new", "old"))
    for path in (new, old):
        path.mkdir(parents=True)
        (path / "a.csv").write_text("1")
        os.utime(path, (0, 0))
    mark_workbench_file_used(new)
    remove_unused_workbench_files(tmp_path)
    assert (new.exists(), old.exists()) == (True, False)


@pytest.mark.slow
def test_only_uploads_can_be_removed_and_parts_of_dead_servers_go(tmp_path):
    parts = tmp_path / ".parts"
    parts.mkdir()
    for name in ("999999999-ab", f"{os.getppid()}-cd", "strange"):
        (parts / name).write_bytes(b"1")
    clean_upload_parts(tmp_path)
    assert [path.name for path in parts.iterdir()] == [f"{os.getppid()}-cd"]
    clean_upload_parts(tmp_path / "nowhere")
    with pytest.raises(PqswarmError):
        clean_upload_name("a.exe")
