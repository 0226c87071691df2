"""The recordings section over HTTP: list, views, measurements, analyses, corrections."""

import base64
import csv
import io
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.app.recordings import RATE, write_pair, write_steady
from tests.app.requests import OTHER, ask, get, open_page, recording, send, wait_analyzed
from tests.waiting import wait_until

from pqswarm.identify import Archive, identify_file
from pqswarm.measure import measure_at
from pqswarm.recordings import open_recordings


@pytest.fixture(scope="module")
def listed(app, recordings):
    return wait_analyzed(app)


@pytest.fixture(scope="module")
def sag(listed):
    return next(one["id"] for one in listed["recordings"] if one["name"] == "day/sag.cfg")


@pytest.fixture(scope="module")
def source(recordings):
    return open_recordings(recordings / "day" / "sag.cfg")[0]


@pytest.fixture(scope="module")
def analysis(recordings):
    return next(iter(identify_file(recordings / "day" / "sag.cfg")))


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_the_list_is_that_of_identify(app, listed, analysis):
    assert listed["folder"] == "grid"
    found = {one["name"]: one for one in listed["recordings"]}
    assert set(found) >= {"day/sag.cfg", "hostile <b>&.cfg", "broken.cfg", "alone.cfg"}
    assert not {"events.csv", "link.csv", "folder/secret.csv"} & set(found)
    assert (found["alone.cfg"]["state"], found["alone.cfg"]["reason"]) == ("waiting", "waiting for its .dat")
    assert found["broken.cfg"]["state"] == "failed"
    assert found["broken.cfg"]["reason"].endswith(".")
    one = found["day/sag.cfg"]
    assert (one["state"], one["station"], one["n_channels"], one["upload"]) == ("analyzed", "North", 4, False)
    assert one["seconds"] == pytest.approx(1.5)
    own = get(app, f"/api/events?recording={one['id']}")["rows"]
    assert [row["sentence"] for row in own] == [row["sentence"] for row in analysis.rows()]
    assert own[0]["path"] == "day/sag.cfg"
    assert own[0]["type"] == "sag"
    assert own[0]["start"] == pytest.approx(0.5, abs=0.01)
    assert own[0]["point"] == [pytest.approx(0.1, abs=0.02), pytest.approx(50, abs=1)]


def test_several_recordings_of_a_file_have_ids_of_their_own(listed, app):
    found = sorted(
        (one for one in listed["recordings"] if one["name"].startswith("two.cfg")), key=lambda one: one["id"]
    )
    assert len(found) == 2
    assert [one["id"][24:] for one in found] == ["", "-2"]
    header = get(app, f"/api/recordings/{found[1]['id']}")
    assert header["siblings"] == [one["id"] for one in found]
    assert header["name"] == found[1]["name"] != found[0]["name"]
    for strange in ("-1", "-0", "-3", "-02"):
        assert ask(app, f"/api/recordings/{found[0]['id']}{strange}")[0] == 404


def test_no_answer_reveals_where_the_folder_is(app, listed):
    broken = recording(app, "broken.cfg")["id"]
    pages = [
        f"/api/recordings/{one['id']}{more}" for one in listed["recordings"] for more in ("", "/analysis", "/view")
    ]
    texts = [ask(app, path)[1] for path in ("/api/recordings", "/api/table.csv", "/api/corrections", *pages)]
    assert ask(app, f"/api/recordings/{broken}")[0] == 400
    assert not any(str(app.folder.parent).encode() in text for text in texts)


def test_the_header(app, sag):
    header = get(app, f"/api/recordings/{sag}")
    assert header["path"] == "day/sag.cfg"
    assert (header["n_samples"], header["sampling_rate"]) == (9600, RATE)
    assert [one["kind"] for one in header["channels"]] == ["voltage"] * 3 + ["current"]
    assert header["status"] == [{"name": "52a", "changes": [[0.0, 1], [pytest.approx(0.6), 0]]}]


def test_views_are_the_samples_or_their_minima_and_maxima(app, sag, source):
    samples = source.read().channels[1].samples
    cycle = get(app, f"/api/recordings/{sag}/view?from=0.7&to=0.72&points=1000")
    assert cycle["exact"]
    first = round(cycle["from"] * RATE)
    values = floats(cycle["channels"][1]["low"])
    assert len(values) == cycle["n"]
    np.testing.assert_allclose(values, samples[first : first + len(values)], atol=0.05)
    whole = get(app, f"/api/recordings/{sag}/view?points=100")
    assert not whole["exact"]
    assert whole["fraction"] == 1
    step = round(whole["step"] * RATE)
    low, high = (floats(whole["channels"][1][name]) for name in ("low", "high"))
    parts = samples[: len(samples) // step * step].reshape(-1, step)
    np.testing.assert_allclose(low[: len(parts)], parts.min(axis=1), atol=0.05)
    np.testing.assert_allclose(high[: len(parts)], parts.max(axis=1), atol=0.05)
    urms = whole["urms"]
    assert [one["index"] for one in urms["channels"]] == [0, 1, 2]
    assert floats(urms["channels"][0]["low"]).min() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("query", ["from=x", "points=0", "points=1e9", "to=nan", "from=inf", "points=1.5"])
def test_wrong_views(app, sag, query):
    status, content = ask(app, f"/api/recordings/{sag}/view?{query}")
    assert status == 400
    assert json.loads(content)["error"].endswith(".")


def test_the_cursor_is_measured_by_the_library(app, sag, source):
    found = get(app, f"/api/recordings/{sag}/cursor?t=0.55&t2=0.9")["moments"]
    for moment, one in zip((0.55, 0.9), found, strict=True):
        measured = json.loads(json.dumps(measure_at(source, moment, side="before").as_dict()))
        for own, other in zip(one.pop("channels"), measured.pop("channels"), strict=True):
            spectrum, whole = own.pop("spectrum"), other.pop("spectrum")
            assert own == other
            assert spectrum["thd"] == whole["thd"]
            assert spectrum["orders"] == pytest.approx(whole["orders"], rel=1e-3)
        assert one == measured
    (few,) = get(app, f"/api/recordings/{sag}/cursor?t=0.55&channels=1,3")["moments"]
    assert [own["name"] for own in few["channels"]] == ["UB", "IA"]
    assert "error" in get(app, f"/api/recordings/{sag}/cursor?t=99")["moments"][0]


def test_the_analysis(app, sag, analysis):
    found = get(app, f"/api/recordings/{sag}/analysis")
    assert found["state"] == "analyzed"
    assert found["thresholds"]["sag"] == 0.9
    assert [one["channel"] for one in found["references"]] == ["UA", "UB", "UC"]
    assert found["events"][0]["probabilities"] == analysis.events[0].as_dict()["probabilities"]
    assert found["events"][0]["start"] < found["events"][0]["worst_end"] <= found["events"][0]["end"] + 0.02
    assert (found["events"][0]["recording"], found["events"][0]["reference_source"]) == (sag, "pre-event")
    listed = get(app, f"/api/events?recording={sag}")["rows"]
    assert [one | event for one, event in zip(listed, found["events"], strict=True)] == found["events"]


def test_tables_and_pages_to_save(app, sag):
    status, content = ask(app, "/api/table.csv")
    table = list(csv.DictReader(io.StringIO(content.decode())))
    assert status == 200
    assert {row["type"] for row in table} >= {"sag"}
    assert not any(cell.startswith(("=", "@")) for row in table for cell in row.values())
    status, content = ask(app, f"/api/recordings/{sag}/raw.csv?from=0.1&to=0.11")
    lines = content.decode().splitlines()
    assert lines[0] == "time [s],UA [V],UB [V],UC [V],IA [A]"
    assert len(lines) == 65
    status, content = ask(app, f"/api/recordings/{sag}/page.html")
    assert status == 200
    assert b"1 event in 1 recording" in content


def test_the_first_requests_come_together(writable):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(writable, "/api/recordings"), range(8)))
    assert {status for status, _ in answers} == {200}


def test_a_correction_is_stored_in_the_archive_and_published(writable):
    write_pair(writable.folder / "sag.cfg", residual=0.55)  # no other test has these samples
    sag = wait_until(lambda: recording(writable, "sag.cfg"))["id"]
    wait_analyzed(writable)
    with open_page(writable) as page:
        status, answer = send(
            writable, "/api/corrections", {"recording": sag, "event": 0, "label": "sag_with_harmonics", "by": "Eve"}
        )
        assert status == 200, answer
        assert answer["row"]["by_hand"] == "sag_with_harmonics"
        message = page.wait(lambda message: message.get("state") == "corrected")
        assert (message["id"], message["event"], message["row"]["label"]) == (sag, 0, "sag_with_harmonics")
    with Archive(writable.archive, read_only=True) as archive:
        (kept,) = archive.class_corrections()
    assert (kept.label, kept.by, kept.found.event.type) == ("sag_with_harmonics", "Eve", "sag")
    row = get(writable, f"/api/events?recording={sag}&order=oldest")["rows"][0]
    assert row["correction"].startswith("corrected by Eve on 20")
    assert get(writable, "/api/corrections")["corrections"][0]["path"] == "sag.cfg"
    wrong = [
        {"label": "tsunami", "by": "Eve"},
        {"label": "sag", "by": " "},
        {"label": 3, "by": "Eve"},
        {"label": "sag", "by": "Eve", "event": 77},
        {"label": "sag", "by": "Eve", "event": True},
        {"label": "sag", "by": "Eve", "recording": "../x"},
    ]
    for one in wrong:
        assert send(writable, "/api/corrections", {"recording": sag, "event": 0} | one)[0] in (400, 404)
    withdrawn = send(writable, "/api/corrections", {"recording": sag, "event": 0, "label": "", "by": "Eve"})[1]
    assert (withdrawn["row"]["by_hand"], withdrawn["row"]["correction"]) == ("", "")
    log = get(writable, "/api/corrections")["corrections"]
    assert [one["label"] for one in log[:2]] == ["", "sag_with_harmonics"]


def test_new_files_are_found_on_request(writable):
    get(writable, "/api/recordings")
    write_pair(writable.folder / "later.cfg")
    with open_page(writable, visitor=OTHER) as page:
        one = wait_until(lambda: recording(writable, "later.cfg"))
        assert one["state"] in ("waiting", "working", "analyzed")
        page.wait(lambda message: message["state"] == "changed")
    assert ask(writable, f"/api/recordings/{one['id']}", "DELETE")[0] == 403
    assert (writable.folder / "later.cfg").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")  # noqa: PTH110
def test_closing_the_page_stops_the_work(writable):
    for seconds in (400, 1600, 6400):  # longer, where its analysis ends before the page is closed
        write_steady(writable.folder / f"{seconds}.cfg", seconds)
        assert wait_until(lambda: recording(writable, f"{seconds}.cfg"))["state"] == "waiting"  # noqa: B023
        with open_page(writable) as page:
            get(writable, "/api/recordings")
            page.wait(lambda message: message["state"] == "analyzed" or message.get("fraction", 0) > 0)
        wait_until(lambda: not get(writable, "/api/recordings")["analyzing"])
        state = recording(writable, f"{seconds}.cfg")["state"]
        if state == "waiting":
            break
    assert state == "waiting"
    wait_until(lambda: is_idle(writable.pid))


def is_idle(process):
    used = cpu_seconds(process)
    time.sleep(0.3)
    return cpu_seconds(process) - used < 0.1


def cpu_seconds(process):
    with open(f"/proc/{process}/stat") as file:  # noqa: PTH123
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def test_a_view_has_the_channels_that_are_asked_for(app, sag):
    whole = get(app, f"/api/recordings/{sag}/view?points=500")
    found = get(app, f"/api/recordings/{sag}/view?points=500&channels=3,0")
    assert [one["index"] for one in found["channels"]] == [0, 3]
    assert found["channels"][1] == whole["channels"][3]
    assert [one["index"] for one in found["urms"]["channels"]] == [0]
    for wrong in ("4", "x", "-1"):
        assert ask(app, f"/api/recordings/{sag}/view?channels={wrong}")[0] == 400


def test_the_sheet_of_an_incident(app, sag):
    status, content = ask(app, f"/api/recordings/{sag}/sheet.pdf?event=0")
    assert (status, content[:5]) == (200, b"%PDF-")
    assert ask(app, f"/api/recordings/{sag}/sheet.pdf?event=99")[0] == 404
