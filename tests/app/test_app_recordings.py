"""The room of recordings, by its addresses: what is listed, seen, measured, judged, kept and corrected."""

import base64
import csv
import io
import json
import os
import time
from html import escape

import numpy as np
import pytest
from tests.app.asking import OTHER, ask, get, open_page, recording, send, wait_judged
from tests.app.made import RATE, write_pair, write_steady
from tests.app.serving import running_app
from tests.recordings.builders import binary_dat, cfg, rows

from pqswarm.features import band_waveforms
from pqswarm.identify import identify_file, load_corrections
from pqswarm.measure import measure_at
from pqswarm.recordings import open_recordings

HOSTILE = "<img src=x onerror=alert(1)>\u202e=1+1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("private") / "grid"
    (home / "day").mkdir(parents=True)
    write_pair(home / "day" / "sag.cfg")
    write_pair(home / "hostile <b>&.cfg", names=(HOSTILE, "UB", "UC"), station="<script>alert(2)</script>")
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
    return home


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def app(folder, state):
    with running_app(folder, state=state) as process:
        yield process


@pytest.fixture(scope="module")
def listed(app):
    return wait_judged(app)


@pytest.fixture(scope="module")
def sag(listed):
    return next(one["id"] for one in listed["recordings"] if one["name"] == "day/sag.cfg")


@pytest.fixture(scope="module")
def source(folder):
    return open_recordings(folder / "day" / "sag.cfg")[0]


@pytest.fixture(scope="module")
def verdict(folder):
    return next(iter(identify_file(folder / "day" / "sag.cfg")))


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_the_list_is_that_of_identify(listed, verdict):
    assert listed["folder"] == "grid"
    found = {one["name"]: one for one in listed["recordings"]}
    assert set(found) >= {"day/sag.cfg", "hostile <b>&.cfg", "broken.cfg", "alone.cfg"}
    assert not {"events.csv", "link.csv", "folder/secret.csv"} & set(found)
    assert (found["alone.cfg"]["state"], found["alone.cfg"]["reason"]) == ("waiting", "waiting for its .dat")
    assert found["broken.cfg"]["state"] == "failed"
    assert found["broken.cfg"]["reason"].endswith(".")
    one = found["day/sag.cfg"]
    assert (one["state"], one["station"], one["n_channels"], one["upload"]) == ("judged", "North", 4, False)
    assert one["seconds"] == pytest.approx(1.5)
    own = [row for row in listed["rows"] if row["recording"] == one["id"]]
    assert [row["sentence"] for row in own] == [row["sentence"] for row in verdict.rows()]
    assert own[0]["path"] == "day/sag.cfg"
    assert own[0]["kind"] == "sag"
    assert own[0]["start"] == pytest.approx(0.5, abs=0.01)
    assert own[0]["point"] == [pytest.approx(0.1, abs=0.02), pytest.approx(50, abs=1)]


def test_several_recordings_of_a_file_have_ids_of_their_own(listed, app):
    found = [one for one in listed["recordings"] if one["name"].startswith("two.cfg")]
    assert len(found) == 2
    assert [one["id"][16:] for one in found] == ["", "-2"]
    header = get(app, f"/api/recordings/{found[1]['id']}")
    assert header["siblings"] == [one["id"] for one in found]
    assert header["name"] == found[1]["name"] != found[0]["name"]
    for strange in ("-1", "-0", "-3", "-02"):
        assert ask(app, f"/api/recordings/{found[0]['id']}{strange}")[0] == 404


def test_nothing_tells_where_the_folder_is(app, listed, folder):
    broken = recording(app, "broken.cfg")["id"]
    pages = [f"/api/recordings/{one['id']}{more}" for one in listed["recordings"] for more in ("", "/judged", "/view")]
    texts = [ask(app, path)[1] for path in ("/api/recordings", "/api/table.csv", "/api/corrections", *pages)]
    assert ask(app, f"/api/recordings/{broken}")[0] == 400
    assert not any(str(folder.parent).encode() in text for text in texts)


def test_the_header(app, sag):
    header = get(app, f"/api/recordings/{sag}")
    assert header["path"] == "day/sag.cfg"
    assert (header["n_samples"], header["sampling_rate"]) == (9600, RATE)
    assert [one["kind"] for one in header["channels"]] == ["voltage"] * 3 + ["current"]
    assert header["status"] == [{"name": "52a", "changes": [[0.0, 1], [pytest.approx(0.6), 0]]}]


def test_views_are_the_samples_or_their_least_and_greatest(app, sag, source):
    samples = source.read().channels[1].samples
    cycle = get(app, f"/api/recordings/{sag}/view?from=0.7&to=0.72&points=1000")
    assert cycle["exact"]
    first = round(cycle["from"] * RATE)
    values = floats(cycle["channels"][1]["low"])
    assert len(values) == cycle["n"]
    np.testing.assert_allclose(values, samples[first : first + len(values)], atol=0.05)
    whole = get(app, f"/api/recordings/{sag}/view?points=100")
    assert not whole["exact"]
    assert whole["share"] == 1
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
        assert one == json.loads(json.dumps(measure_at(source, moment, side="before").as_dict()))
    assert "error" in get(app, f"/api/recordings/{sag}/cursor?t=99")["moments"][0]


def test_wavelet_bands_on_demand(app, sag, source):
    found = get(app, f"/api/recordings/{sag}/bands?from=0.4&to=0.7&channel=0&points=4000")
    bands = band_waveforms(source.read(1280, 5760).channels[0].samples, RATE)
    assert [one["name"] for one in found["bands"]] == list(bands.names)
    np.testing.assert_allclose(floats(found["bands"][2]["low"]), bands.values[2][1280:3200], atol=1e-3)
    assert ask(app, f"/api/recordings/{sag}/bands?channel=9")[0] == 400


def test_what_was_judged(app, sag, verdict):
    found = get(app, f"/api/recordings/{sag}/judged")
    assert found["state"] == "judged"
    assert found["thresholds"]["sag"] == 0.9
    assert [one["name"] for one in found["references"]] == ["UA", "UB", "UC"]
    assert found["events"][0]["probabilities"] == verdict.events[0].as_dict()["probabilities"]
    assert "sag_with_harmonics" in found["events"][0]["possible"]
    assert found["events"][0]["row"]["recording"] == sag


def test_tables_and_pages_to_save(app, sag):
    status, content = ask(app, "/api/table.csv")
    table = list(csv.DictReader(io.StringIO(content.decode())))
    assert status == 200
    assert {row["kind"] for row in table} >= {"sag"}
    assert not any(cell.startswith(("=", "@")) for row in table for cell in row.values())
    status, content = ask(app, f"/api/recordings/{sag}/raw.csv?from=0.1&to=0.11")
    lines = content.decode().splitlines()
    assert lines[0] == "time [s],UA [V],UB [V],UC [V],IA [A]"
    assert len(lines) == 65
    status, content = ask(app, f"/api/recordings/{sag}/page.html")
    assert status == 200
    assert b"1 event in 1 recording" in content


def test_curves_lead_to_events(app, sag):
    charts = {one["name"]: one for one in get(app, f"/api/curves?recording={sag}")["charts"]}
    assert f'href="#/recordings/{sag}?event=0" data-row="{sag}:0"' in charts["itic"]["svg"]
    assert charts["itic"]["counts"].startswith("1 event")
    assert 'class="point"' not in get(app, "/api/curves?kind=swell")["charts"][0]["svg"]
    everything = get(app, "/api/curves")["charts"][0]["svg"]
    assert "<script>" not in everything
    assert escape("<script>") in everything


def test_hostile_names_stay_text(app, listed):
    one = recording(app, "hostile <b>&.cfg")
    header = get(app, f"/api/recordings/{one['id']}")
    assert header["channels"][0]["name"].startswith("<img src=x")
    status, content = ask(app, f"/api/recordings/{one['id']}/page.html")
    assert status == 200
    assert b"<img src=x" not in content
    assert b"<script>alert(2)" not in content


def test_a_correction_is_stored_beside_the_folder_and_told(app, sag, folder):
    with open_page(app) as page:
        status, answer = send(
            app, "/api/corrections", {"recording": sag, "event": 0, "label": "sag_with_harmonics", "by": "Eve"}
        )
        assert status == 200, answer
        assert answer["correction"]["label"] == "sag_with_harmonics"
        told = page.wait(lambda message: message.get("state") == "corrected")
        assert (told["id"], told["event"], told["correction"]["by"]) == (sag, 0, "Eve")
    (kept,) = load_corrections(folder.with_name("grid.corrections.jsonl"))
    assert (kept.label, kept.by, kept.kind) == ("sag_with_harmonics", "Eve", "sag")
    row = next(row for row in get(app, "/api/recordings")["rows"] if row["recording"] == sag)
    assert row["correction"]["at"]
    (listed,) = get(app, "/api/corrections")["corrections"]
    assert listed["path"] == "day/sag.cfg"
    wrong = [
        {"label": "swell", "by": "Eve"},
        {"label": "sag", "by": " "},
        {"label": 3, "by": "Eve"},
        {"label": "sag", "by": "Eve", "event": 77},
        {"label": "sag", "by": "Eve", "event": True},
        {"label": "sag", "by": "Eve", "recording": "../x"},
    ]
    for one in wrong:
        assert send(app, "/api/corrections", {"recording": sag, "event": 0} | one)[0] in (400, 404)
    assert send(app, "/api/corrections", {"recording": sag, "event": 0, "label": "", "by": "Eve"})[1] == {
        "correction": None
    }
    assert get(app, "/api/corrections")["corrections"] == []


def wait_until(is_so, seconds=20.0):
    """What was waited for, the first that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_new_files_are_found_when_somebody_asks(app, folder, listed):
    write_pair(folder / "later.cfg")
    with open_page(app, visitor=OTHER) as page:
        one = wait_until(
            lambda: next((one for one in get(app, "/api/recordings")["recordings"] if one["name"] == "later.cfg"), None)
        )
        assert one["state"] in ("waiting", "working", "judged")
        page.wait(lambda message: message["state"] == "changed")
    assert ask(app, f"/api/recordings/{one['id']}", "DELETE")[0] == 403
    assert (folder / "later.cfg").exists()
    (folder / "later.cfg").unlink()
    (folder / "later.dat").unlink()


def test_after_a_kill_all_rows_are_there_at_once(tmp_path):
    (tmp_path / "grid").mkdir()
    for name in ("sag", "damaged"):
        write_pair(tmp_path / "grid" / f"{name}.cfg")
    with running_app(tmp_path / "grid", state=tmp_path) as process:
        before = wait_judged(process)
        process.kill()
    ids = {one["name"]: one["id"] for one in before["recordings"]}
    (kept,) = tmp_path.rglob(f"verdicts/{ids['damaged.cfg']}.json")
    kept.write_text(kept.read_text().replace('"start":', '"strat":'))
    with running_app(tmp_path / "grid", state=tmp_path) as process:  # no page is open: nothing is judged
        found = get(process, "/api/recordings", OTHER)
    assert {one["name"]: one["state"] for one in found["recordings"]} == {
        "sag.cfg": "judged",
        "damaged.cfg": "waiting",
    }
    assert not found["judging"]
    assert found["rows"] == [row for row in before["rows"] if row["recording"] == ids["sag.cfg"]]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")  # noqa: PTH110
def test_closing_the_page_stops_the_work(tmp_path):
    (tmp_path / "long").mkdir()
    write_steady(tmp_path / "long" / "steady.cfg", 400)
    with running_app(tmp_path / "long", state=tmp_path) as app:
        assert recording(app, "steady.cfg")["state"] == "waiting"
        with open_page(app) as page:
            get(app, "/api/recordings")
            page.wait(lambda message: message.get("state") == "working" and message["share"] > 0)
        wait_until(lambda: not get(app, "/api/recordings")["judging"])
        assert recording(app, "steady.cfg")["state"] == "waiting"
        wait_until(lambda: is_idle(app.pid))


def is_idle(process):
    used = cpu_seconds(process)
    time.sleep(0.3)
    return cpu_seconds(process) - used < 0.1


def cpu_seconds(process):
    with open(f"/proc/{process}/stat") as file:  # noqa: PTH123
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
