"""Counts of events: SARFI after IEEE 1564, and the cells of residual voltage and duration of EN 50160."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import inf
from typing import Any

from pqswarm.identify.show.page.listing import ListedEvent, ListedRecording
from pqswarm.identify.tolerance import AGGREGATION, ITIC, RMS, SEMI, curve_point

_EPOCH = datetime(2000, 1, 1)
_LOW = ("sag", "interruption")
_HIGH = ("swell",)
_SARFI = [*(f"SARFI-{level}" for level in (90, 80, 70, 50, 10, 110, 120, 140)), "SARFI-ITIC", "SARFI-SEMI"]


def sarfi(rows: Sequence[ListedEvent], recordings: Sequence[ListedRecording] = ()) -> list[dict[str, Any]]:
    """Count the events of each site below or above each level: a row for each site, and one for all if several.

    Events of a site that start within a minute of the first count as one, with their minimum and maximum voltages. A
    site is a station, or a file if the station is unknown, and a three-phase system in it; those of `recordings`
    without events have zeros.
    """
    sites: dict[tuple[str, str], list[ListedEvent]] = {}
    for row in rows:
        if row.found.event.type in RMS:
            sites.setdefault((row.recording.site, row.found.event.system), []).append(row)
    quiet = {recording.site for recording in (*recordings, *(row.recording for row in rows))}
    quiet -= {station for station, _ in sites}
    sites |= {(station, ""): [] for station in quiet}
    table: list[dict[str, Any]] = []
    for site, events in sorted(sites.items()):
        groups = _aggregate_for_sarfi(events)
        table.append(
            {
                "site": ", ".join(filter(None, site)),
                "events": len(groups),
                **{name: _count_for_sarfi(groups, name) for name in _SARFI},
            }
        )
    if len(table) > 1:
        keys = ("events", *_SARFI)
        table.insert(0, {"site": "all sites", **{key: sum(row[key] for row in table) for key in keys}})
    return table


def _aggregate_for_sarfi(rows: Iterable[ListedEvent]) -> list[list[ListedEvent]]:
    """Group events in time: across recordings if dated, else within a recording."""
    timed = []
    for row in rows:
        analysis = row.recording.analysis
        when = row.found.event.at(analysis.start)
        key = ("", "") if when is not None else (analysis.path, analysis.source)
        second = (when.replace(tzinfo=None) - _EPOCH).total_seconds() if when is not None else row.found.event.start
        timed.append((key, second, row))
    groups: list[list[ListedEvent]] = []
    first: tuple[tuple[str, str], float] = (("", ""), -inf)
    for key, second, row in sorted(timed, key=lambda one: one[:2]):
        if groups and key == first[0] and second - first[1] < AGGREGATION:
            groups[-1].append(row)
        else:
            groups.append([row])
            first = key, second
    return groups


def _count_for_sarfi(groups: list[list[ListedEvent]], name: str) -> int:
    level = name.partition("-")[2]
    low = [_event_points_for_indices(group, _LOW) for group in groups]
    if level in ("ITIC", "SEMI"):
        curve = ITIC if level == "ITIC" else SEMI
        return sum(any(curve.place(u, t) == "below" for t, u in points) for points in low)
    bound = float(level)
    if bound < 100:
        return sum(any(u < bound for _, u in points) for points in low)
    return sum(any(u > bound for _, u in _event_points_for_indices(group, _HIGH)) for group in groups)


def _event_points_for_indices(rows: Iterable[ListedEvent], event_types: Sequence[str]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of the events of these types."""
    found = [row.found for row in rows if row.found.event.type in event_types]
    return [curve_point(one.event) or (0.0, 100 * one.event.magnitude) for one in found]


@dataclass(frozen=True)
class Cells:
    """A table of voltages (rows) and durations (columns): numbers of events, and of those too long for the table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    longer: int


def _merged_dips_for_indices(rows: Sequence[ListedEvent]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of dips: a sag that becomes an interruption, and a sag again, is one."""
    found: list[tuple[float, float]] = []
    before = None
    end = 0.0
    low = [row for row in rows if row.found.event.type in _LOW]
    for row in sorted(low, key=lambda one: (one.place, one.found.event.system, one.found.event.start)):
        ((length, voltage),) = _event_points_for_indices([row], _LOW)
        place = (row.place, row.found.event.system)
        start = row.found.event.start
        if place == before and start <= end + 1 / row.found.event.nominal_frequency:
            first = end - found[-1][0]
            end = max(end, start + length)
            found[-1] = (end - first, min(voltage, found[-1][1]))
        else:
            found.append((length, voltage))
            before = place
            end = start + length
    return found


def count_dips_for_indices(rows: Sequence[ListedEvent]) -> Cells:
    """Count dips and interruptions in the cells of EN 50160:2010, Table 2 (after IEC 61000-2-8)."""
    levels = ((inf, 80.0), (80.0, 70.0), (70.0, 40.0), (40.0, 5.0), (5.0, -inf))
    names = ("90 > u ≥ 80", "80 > u ≥ 70", "70 > u ≥ 40", "40 > u ≥ 5", "5 > u")
    found = _merged_dips_for_indices(rows)
    inside = [[length for length, voltage in found if low <= voltage < high] for high, low in levels]
    return _cells(names, inside, (0.2, 0.5, 1.0, 5.0, 60.0))


def count_swells_for_indices(rows: Sequence[ListedEvent]) -> Cells:
    """Count swells in the cells of EN 50160:2010, Table 3."""
    found = _event_points_for_indices(rows, _HIGH)
    inside = [[length for length, voltage in found if (voltage >= 120) == high] for high in (True, False)]
    return _cells(("u ≥ 120", "120 > u > 110"), inside, (0.5, 5.0, 60.0))


def _cells(names: Sequence[str], durations: Sequence[Sequence[float]], ends: Sequence[float]) -> Cells:
    """Durations [s] counted by interval; those shorter than 10 ms are in the first column."""
    columns = [f"{1000 * a:,g} to {1000 * b:,g}" for a, b in pairwise([0.01, *ends])]
    counts = tuple(
        (name, tuple(sum(a < value <= b for value in line) for a, b in pairwise([-inf, *ends])))
        for name, line in zip(names, durations, strict=True)
    )
    return Cells(tuple(columns), counts, sum(value > ends[-1] for line in durations for value in line))
