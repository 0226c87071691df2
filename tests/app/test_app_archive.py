"""The archive over HTTP: pages, filters, counts, stations, corrections of causes, notes, and what others analyzed."""

import gzip
import json
import shutil

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import OTHER, analyzed_before, ask, get, open_page, send
from tests.waiting import wait_until

from pqswarm.identify import Archive


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server on an archive that another command filled; the file of one recording is elsewhere."""
    root = tmp_path_factory.mktemp("archive")
    home = root / "grid"
    for number, (station, residual) in enumerate([("North", 0.3), ("South", 0.5), ("South", 0.7)]):
        write_pair(home / f"r{number}.cfg", seconds=0.6, sag=(0.2, 0.3), residual=residual, station=station)
    write_pair(root / "elsewhere" / "gone.cfg", seconds=0.6, sag=(0.2, 0.3), residual=0.2, station="East")
    with analyzed_before(root, home, root / "elsewhere", moved=(root / "elsewhere", root / "away")) as process:
        yield process


def test_what_another_command_analysed_is_there_at_once(served):
    found = get(served, "/api/recordings")
    assert {one["state"] for one in found["recordings"]} == {"analyzed"}
    assert sorted(one["name"] for one in found["recordings"]) == ["gone.cfg", "r0.cfg", "r1.cfg", "r2.cfg"]
    assert not found["analyzing"]
    assert found["facets"]["types"] == {"sag": 4}
    gone = next(one for one in found["recordings"] if one["name"] == "gone.cfg")["id"]
    assert get(served, f"/api/recordings/{gone}/analysis")["events"][0]["type"] == "sag"
    header = get(served, f"/api/recordings/{gone}")
    assert (header["is_kept"], header["station"]) == (True, "East")
    assert [one["phase"] for one in header["channels"]] == list("ABC")
    kept = get(served, f"/api/recordings/{gone}/view?from=0&to=1")
    assert (kept["channels"][0]["index"], kept["from"] < 0.2, kept["to"] > 0.3) == (0, True, True)
    status, content = ask(served, f"/api/recordings/{gone}/raw.csv")
    assert status == 400
    assert "no longer where it was" in json.loads(content)["error"]


def test_a_deleted_recording_says_which_of_its_file_it_is(tmp_path):
    for name in ("grid/r0", "pairs/r1", "pairs/r2"):
        write_pair(tmp_path / f"{name}.cfg", seconds=0.6, sag=(0.2, 0.3), station=name)
    shutil.make_archive(tmp_path / "elsewhere" / "two", "zip", tmp_path / "pairs")
    folders = tmp_path / "grid", tmp_path / "elsewhere"
    with analyzed_before(tmp_path, *folders, moved=(folders[1], tmp_path / "away")) as process:
        listed = get(process, "/api/recordings")["recordings"]
        shown = [get(process, f"/api/recordings/{one['id']}")["name"] for one in listed]
        names = ["r0.cfg", "two.zip, r1.cfg", "two.zip, r2.cfg"]
        assert sorted(shown) == sorted(one["name"] for one in listed) == names


def test_a_recording_of_another_folder_opens_while_it_is_the_same(served):
    root = served.folder.parent
    name = next(one for one in get(served, "/api/recordings")["recordings"] if one["name"] == "gone.cfg")["id"]
    shutil.copytree(root / "away", root / "elsewhere")
    assert get(served, f"/api/recordings/{name}")["name"] == "gone.cfg"
    assert len(get(served, f"/api/recordings/{name}/view?from=0&to=0.1")["channels"]) > 0
    write_pair(root / "elsewhere" / "gone.cfg", seconds=0.6, residual=0.9)  # another recording took its place
    assert get(served, f"/api/recordings/{name}")["is_kept"]
    status, content = ask(served, f"/api/recordings/{name}/raw.csv")
    assert status == 400
    assert str(root) not in content.decode()
    shutil.rmtree(root / "elsewhere")


def test_pages_and_filters(served):
    first = get(served, "/api/events?order=worst&limit=2")
    assert (first["total"], [row["magnitude"] for row in first["rows"]]) == (4, [0.2, 0.3])
    second = get(served, f"/api/events?order=worst&limit=2&after={first['next']}")
    assert ([row["magnitude"] for row in second["rows"]], second["next"]) == ([0.5, 0.7], "")
    stations = {one["name"]: one["id"] for one in get(served, "/api/recordings")["facets"]["stations"]}
    assert get(served, f"/api/events?station={stations['South']}&station={stations['North']}")["total"] == 3
    assert get(served, "/api/events?text=r1+south&type=sag")["total"] == 1
    assert get(served, "/api/events?severity=1.0")["total"] < 4
    assert get(served, "/api/archive?text=r2")["recordings"][0]["name"] == "r2.cfg"
    wrong = "order=best limit=0 after=x from=yesterday station=x severity=high recording=000000000000000000000000"
    for query in wrong.split():
        assert ask(served, f"/api/events?{query}")[0] in (400, 404), query


def test_counts(served):
    assert sum(one["total"] for one in get(served, "/api/months")["months"]) in (0, 4)  # a recorder may have no clock
    assert [len(line) for line in get(served, "/api/hours")["hours"]] == [24] * 7
    assert get(served, "/api/sarfi")["rows"] is not None
    assert get(served, "/api/scatter?type=notching")["total"] == 0
    scatter = get(served, "/api/scatter?type=sag")
    assert sorted(round(one["percent"]) for one in scatter["points"]) == [20, 30, 50, 70]
    assert {one["name"] for one in scatter["curves"]} == {"itic", "semi"}
    one = scatter["points"][0]["recording"]
    (alone,) = get(served, f"/api/scatter?recording={one}")["points"]
    assert (alone["recording"], alone["event"], scatter["bins"]) == (one, 0, [])
    assert isinstance(get(served, f"/api/recordings/{one}/others?seconds=3600")["events"], list)
    lines = ask(served, "/api/table.csv?separator=;&decimal=,")[1].decode().splitlines()
    assert len(lines) == 5
    assert ";0,3;pu;" in "".join(lines)


def test_answers_are_compressed(served):
    status, content = ask(served, "/api/recordings", headers={"Accept-Encoding": "gzip"})
    assert status == 200
    assert len(content) < len(gzip.decompress(content)) / 3


def test_a_site_is_used_when_it_is_asked_for(served):
    north = next(one for one in get(served, "/api/stations")["stations"] if one["name"] == "North")
    place = f"/api/stations/{north['id']}"
    assert send(served, place, {"site": "nominal = 3", "by": "Eve"}, "PUT")[0] == 400
    site = {"nominal_voltage": {"phase_to_neutral": 460}, "reference": "nominal"}
    status, answer = send(served, place, {"site": site, "by": "Eve"}, "PUT")
    assert (status, answer["recordings"], answer["station"]["by"]) == (200, 1, "Eve")
    before = get(served, f"/api/events?station={north['id']}")["rows"]
    assert before[0]["magnitude"] == 0.3  # nothing is analyzed again by itself
    assert send(served, "/api/again", {"station": north["id"]})[1] == {"files": 1}
    with open_page(served):
        get(served, "/api/recordings")
        listed = f"/api/events?station={north['id']}&order=worst"
        wait_until(lambda: get(served, listed)["rows"][0]["reference_volts"] == 460)
        assert send(served, place, {"site": "", "by": "Eve"}, "PUT")[0] == 200  # as it was, for other tests
        assert send(served, "/api/again", {"station": north["id"]})[1] == {"files": 1}
        wait_until(lambda: get(served, listed)["rows"][0]["reference_volts"] == before[0]["reference_volts"])


def test_causes_notes_and_what_is_no_event(served):
    row = next(one for one in get(served, "/api/events")["rows"] if one["path"] == "r1.cfg")
    about = {"recording": row["recording"], "event": row["event"], "by": "Eve"}
    assert send(served, "/api/corrections", {**about, "what": "cause", "label": "lightning"})[0] == 200
    assert get(served, "/api/events?cause=lightning")["total"] == 1
    assert send(served, "/api/corrections", {**about, "label": "not an event"})[0] == 200
    assert "r1.cfg" not in {one["path"] for one in get(served, "/api/events")["rows"]}
    assert "r1.cfg" in {one["path"] for one in get(served, "/api/events?hidden=1")["rows"]}
    log = get(served, "/api/corrections", OTHER)["corrections"]
    assert [one["label"] for one in log[:2]] == ["not an event", "lightning"]
    assert send(served, "/api/corrections", {**about, "label": ""})[1]["row"]["by_hand"] == ""
    notes = f"/api/recordings/{row['recording']}/notes"
    (note,) = send(served, notes, {"text": "a tree", "by": "Eve"})[1]["notes"]
    for wrong in ({"text": " "}, {"start": 1}, {"start": 2, "end": 1}, {"start": "0", "end": 1}):
        assert send(served, notes, {"text": "a tree", "by": "Eve", **wrong})[0] == 400
    assert json.loads(ask(served, f"{notes}?number={note['number']}&by=Ann", "DELETE")[1]) == {"notes": []}
    with Archive(served.archive, read_only=True) as archive:
        assert archive.database.rows("SELECT text FROM notes") == [("a tree",)]  # the log keeps it
