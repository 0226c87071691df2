"""Queries of an archive, as plain Python answers them; tables, SQL."""

import csv
import json
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

import numpy as np
import pytest
from tests.identify.invented import add, analysis, event, with_label

from pqswarm.errors import PqswarmError
from pqswarm.identify import Archive, ArchiveQueries, EventFilter
from pqswarm.identify.archive.export import check_archive, export_archive, export_query, export_table_cell
from pqswarm.identify.archive.queries import MAX_POINTS
from pqswarm.identify.show.page.html import ListedRecording, list_events, page_sarfi
from pqswarm.identify.tolerance import rank_event
from pqswarm.measure.event import EVENT_TYPES as ALL_TYPES
from pqswarm.measure.incidents.stages import Incident, IncidentStage

EVENT_TYPES = ("sag", "sag", "interruption", "swell", "transient", "flicker", "harmonics")


def drawn_verdict(random, number):
    """An analysis on a recording of a station with events of several kinds."""
    start = datetime(2024, 11, 1) + timedelta(seconds=float(random.uniform(0, 90 * 86_400)))
    events = []
    for _ in range(random.integers(0, 4)):
        kind = str(random.choice(EVENT_TYPES))
        magnitude = {"interruption": 0.02, "swell": random.uniform(1.1, 1.5)}.get(kind, random.uniform(0.1, 0.89))
        phases = str(random.choice(["A", "BC", "ABC"]))
        length, first = float(random.uniform(0.01, 2)), float(random.uniform(0, 300))
        one = event(kind, float(magnitude), length, first, phases, system=str(random.choice(["", "20 kV"])))
        events.append(with_label(one, str(random.choice(["sag", "swell_with_harmonics"]))))
    found = analysis(*events, path=f"{number}.cfg")
    causes = [str(random.choice(["fault", "motor start", "unknown"])) for _ in events]
    stages = (IncidentStage(0, 1, "x"),)
    incidents = [Incident(cause, 0.8, ("because",), stages, (i,), 0, 1) for i, cause in enumerate(causes)]
    station = f"Station {number % 5}" if number % 7 else ""
    return replace(found, start=start if number % 11 else None, station=station, incidents=tuple(incidents))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """An archive of 120 recordings, and the analyses by name."""
    random = np.random.default_rng(5)
    archive = Archive(tmp_path_factory.mktemp("archive"))
    found = {}
    for number in range(120):
        one = drawn_verdict(random, number)
        add(archive, one, f"{number}.cfg", f"{number:064x}"[::-1])
        found[f"/data/{number}.cfg"] = one
    yield archive, found
    archive.close()


def rows_of(filled):
    """Every event as plain values, in the order of the numbers."""
    rows = []
    for path, one in filled[1].items():
        for position, found in enumerate(one.events):
            incident = one.incident_of(position)
            at = found.event.at(one.start)
            rows.append((path, one, found, "" if incident is None else incident.cause, at))
    return rows


def test_verdicts_come_back_as_they_were(filled):
    archive, found = filled
    for number, (path, one) in enumerate(found.items()):
        (stored,) = archive.results(f"{number:064x}"[::-1], path)
        assert stored == replace(one, path=path)
        assert json.dumps(stored.rows()) == json.dumps(replace(one, path=path).rows())


def pages(ask):
    page = ask("")
    yield page
    while page["next"]:
        page = ask(page["next"])
        yield page


@pytest.mark.parametrize("order", ["newest", "oldest", "worst"])
def test_a_list_is_ordered_and_paged(filled, order):
    queries = ArchiveQueries(filled[0])
    rows = []
    for page in pages(lambda after: queries.page(EventFilter(), order, after, limit=17)):
        assert page["position"] == len(rows)
        rows += page["rows"]
    expected = rows_of(filled)
    assert len({row["number"] for row in rows}) == len(rows) == page["total"] == len(expected)
    if order == "worst":
        sizes = [rank_event(found.event) for _, _, found, _, _ in expected]
        by_place = {(path, found.event.start): rank_event(found.event) for path, _, found, _, _ in expected}
        listed = [by_place[row["path"], row["start"]] for row in rows]
        assert [round(one[1], 4) for one in listed] == [round(one[1], 4) for one in sorted(sizes, reverse=True)]
    else:
        times = [row["when"] or "" for row in rows]
        known = [one for one in times if one]
        assert known == sorted(known, reverse=order == "newest")
        assert sorted(times) == sorted("" if at is None else to_text(at) for *_, at in expected)
    page = queries.page(EventFilter(), order, limit=5)
    kinds = Counter(found.event.type for _, _, found, _, _ in expected)
    assert list(page["types"].values()) == [kinds[name] for name in ALL_TYPES if name in kinds]


def to_text(at):
    late = at + timedelta(microseconds=500)
    return late.replace(microsecond=late.microsecond // 1000 * 1000).isoformat(timespec="milliseconds")


SELECTED = [
    (EventFilter(start="2024-12"), lambda one, found, cause, at: at is not None and at >= datetime(2024, 12, 1)),
    (
        EventFilter(start="2024-11-20T06:00", end="2024-12-25"),
        lambda one, found, cause, at: at is not None and datetime(2024, 11, 20, 6) <= at < datetime(2024, 12, 25),
    ),
    (EventFilter(types=("swell", "flicker")), lambda one, found, cause, at: found.event.type in ("swell", "flicker")),
    (EventFilter(labels=("sag",)), lambda one, found, cause, at: found.label == "sag"),
    (EventFilter(causes=("motor start",)), lambda one, found, cause, at: cause == "motor start"),
    (
        EventFilter(severity=0.7),
        lambda one, found, cause, at: rank_event(found.event)[0] == 2 and rank_event(found.event)[1] >= 0.7,
    ),
    (EventFilter(text="STATION fault"), lambda one, found, cause, at: bool(one.station) and cause == "fault"),
    (EventFilter(text="swell with"), lambda one, found, cause, at: found.label == "swell_with_harmonics"),
    (EventFilter(text="100%"), lambda one, found, cause, at: False),
    (EventFilter(text="_"), lambda one, found, cause, at: False),
]


@pytest.mark.parametrize(("chosen", "is_chosen"), SELECTED)
def test_selections(filled, chosen, is_chosen):
    queries = ArchiveQueries(filled[0])
    expected = {
        (path, found.event.start) for path, one, found, c, at in rows_of(filled) if is_chosen(one, found, c, at)
    }
    page = queries.page(chosen, limit=500)
    assert {(row["path"], row["start"]) for row in page["rows"]} == expected
    assert page["total"] == len(expected)
    assert sum(len(part) for part in queries.numbers(chosen)) == len(expected)


def test_months_and_hours(filled):
    queries = ArchiveQueries(filled[0])
    times = [at for *_, at in rows_of(filled) if at is not None]
    months = queries.months(EventFilter())
    assert {one["month"]: one["total"] for one in months} == Counter(f"{at:%Y-%m}" for at in times)
    assert all(sum(one["types"].values()) == one["total"] for one in months)
    hours = queries.hours(EventFilter())
    expected = Counter((at.weekday(), at.hour) for at in times)
    assert [[expected[day, hour] for hour in range(24)] for day in range(7)] == hours
    assert queries.months(EventFilter(text="nowhere")) == []


def test_sarfi_is_that_of_the_page(filled):
    """Of a year and a station, with the implementation of the page as reference."""
    queries = ArchiveQueries(filled[0])
    stations = {one["name"]: one["id"] for one in queries.facets()["stations"] if one["name"]}
    for (name, number), year in product(stations.items(), (2024, 2025)):
        of_the_year = [
            one.only([i for i, found in enumerate(one.events) if found.event.at(one.start).year == year])
            for one in filled[1].values()
            if one.station == name and one.start is not None
        ]
        total = Counter()
        for row in page_sarfi(list_events([ListedRecording.of(one) for one in of_the_year if one.events])):
            if row.pop("site") != "all sites":
                total += Counter(row)
        found = [one for one in queries.sarfi(EventFilter(stations=(number,))) if one["year"] == year]
        counted = {k: v for one in found for k, v in one.items() if k == "events" or k.startswith("SARFI")}
        assert {k: v for k, v in counted.items() if v} == dict(+total)


def test_events_that_follow_each_other_for_minutes(empty):
    """Groups of a minute from the first event, not from the one before."""
    starts = [0.0, 40.0, 59.0, 61.0, 100.0, 122.0, 300.0]
    add(empty, replace(analysis(*(event("sag", 0.5, 0.1, at) for at in starts)), station="x"), "a.cfg")
    (row,) = ArchiveQueries(empty).sarfi(EventFilter())
    assert row["events"] == row["SARFI-90"] == 4  # from 0, 61, 122 and 300 s


def test_magnitude_against_duration(filled, monkeypatch):
    queries = ArchiveQueries(filled[0])
    points = queries.scatter(EventFilter(types=("sag",)))
    expected = Counter(
        (round(found.event.duration, 3), round(100 * found.event.magnitude, 1))
        for _, _, found, _, _ in rows_of(filled)
        if found.event.type == "sag"
    )
    found = Counter((round(one["seconds"], 3), round(one["percent"], 1)) for one in points["points"])
    assert found == expected
    assert points["total"] == len(points["points"]) <= MAX_POINTS
    monkeypatch.setattr("pqswarm.identify.archive.queries.MAX_POINTS", 3)
    bins = queries.scatter(EventFilter(types=("sag",)))
    assert not bins["points"]
    assert sum(one["n"] for one in bins["bins"]) == points["total"]
    for one in bins["bins"]:
        inside = [
            n
            for (seconds, percent), n in expected.items()
            if one["seconds"][0] <= seconds < one["seconds"][1] and one["percent"][0] <= percent < one["percent"][1]
        ]
        assert sum(inside) == pytest.approx(one["n"], abs=1)  # single precision at an edge


def test_what_others_saw(empty):
    start = datetime(2026, 3, 4, 5, 0, 0)
    one = analysis(event("sag", 0.5, 0.2, 0.4))
    for name, station, after in (("a", "North", 0), ("b", "South", 2), ("c", "North", 3), ("d", "South", 60)):
        add(empty, replace(one, station=station, start=start + timedelta(seconds=after)), name)
    found = ArchiveQueries(empty).others(1, 5.0)
    assert [(one["path"], one["same_station"], one["delay"]) for one in found] == [
        ("/data/b", False, 2.4),
        ("/data/c", True, 3.4),
    ]


def test_sql_can_only_read_and_ends_in_time(filled):
    archive = Archive(filled[0].folder, read_only=True)
    names, *rows = export_query(archive, "SELECT type, count(*) AS n FROM events GROUP BY type", 10)
    assert names == ("type", "n")
    assert dict(rows) == Counter(found.event.type for one in filled[1].values() for found in one.events)
    wrong = ["DELETE FROM events", "PRAGMA query_only = OFF", "ATTACH 'x' AS y", "SELECT 1; SELECT 2", "nonsense"]
    for statement in wrong:
        with pytest.raises(PqswarmError, match="cannot be run"):
            list(export_query(archive, statement, 10))
    endless = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    with pytest.raises(PqswarmError, match="longer than"):
        list(export_query(archive, endless, 0.05))
    ((_,), (text,)) = export_query(archive, "SELECT printf('%*s', 900000000, 'a')", 10)
    assert text is None  # one instruction would take memory and time without a limit
    ((_,), (path,)) = export_query(archive, "SELECT CAST('/data/ä.cfg' AS BLOB)", 10)
    assert export_table_cell(path, ".") == "/data/ä.cfg"
    archive.close()


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), ("\t", ",")])
def test_tables_to_export(filled, tmp_path, separator, decimal):
    count = export_archive(filled[0], tmp_path / "events.csv", separator, decimal)
    text = (tmp_path / "events.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(), delimiter=separator))
    expected = rows_of(filled)
    assert len(rows) == count == len(expected)
    for row, (path, _, found, _, _) in zip(rows, expected, strict=True):
        assert row["path"] == path
        assert float(row["magnitude"].replace(decimal, ".")) == float(f"{found.event.magnitude:.4g}")
    assert [text for is_damage, text in check_archive(filled[0]) if is_damage] == []


def test_parquet_needs_its_package(filled, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PqswarmError, match="pyarrow"):
        export_archive(filled[0], tmp_path / "events.parquet")
    assert not list(tmp_path.iterdir())


def test_parquet_holds_what_csv_holds(filled, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    count = export_archive(filled[0], tmp_path / "events.parquet")
    assert export_archive(filled[0], tmp_path / "events.csv") == count
    table = parquet.read_table(tmp_path / "events.parquet")
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    found = [{name: str(export_table_cell(value, ".")) for name, value in row.items()} for row in table.to_pylist()]
    assert found == expected
    assert len(found) == count
    kinds = {field.name: str(field.type) for field in table.schema}
    assert [kinds[name] for name in ("magnitude", "incident", "hidden", "station")] == [
        *("double", "int64", "bool", "string")
    ]


def test_recordings_are_listed_in_pages(filled):
    archive, found = filled
    listed = []
    for page in pages(lambda after: archive.recordings(limit=13, after=after)):
        listed += page["recordings"]
    assert page["total"] == len({one["number"] for one in listed}) == len(listed) == len(found)
    starts = [one["start"] or "" for one in listed]
    assert starts == sorted(starts, reverse=True)
    assert {one["name"] for one in archive.recordings(text="7.cfg", limit=200)["recordings"]} == {
        name for name in found if name.endswith("7.cfg")
    }
