"""SARFI after IEEE 1564, event by event."""

from datetime import datetime
from math import inf

from pqswarm.identify.show.curves import ITIC, RMS, SEMI
from pqswarm.identify.show.rows import row_curve_point

AGGREGATION = 60.0  # s

_EPOCH = datetime(2000, 1, 1)
_LOW, _HIGH = ("sag", "interruption"), ("swell",)
_SARFI = [*(f"SARFI-{level}" for level in (90, 80, 70, 50, 10, 110, 120, 140)), "SARFI-ITIC", "SARFI-SEMI"]


def sarfi(rows):
    """Count the events of each site below or above each level: a row for each site, and one for all if several.

    Events of a site that start within a minute of the first count as one, with their minimum and maximum voltages. A
    site is a station and a three-phase system in it.
    """
    sites = {}
    for row in rows:
        if row.found.event.kind in RMS:
            sites.setdefault((row.recording.verdict.station, row.found.event.system), []).append(row)
    quiet = {row.recording.verdict.station for row in rows} - {station for station, _ in sites}
    sites |= {(station, ""): [] for station in quiet}
    table = []
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


def _aggregate_for_sarfi(rows):
    """Group events in time: across recordings if dated, else within a recording."""
    timed = []
    for row in rows:
        verdict = row.recording.verdict
        when = row.found.event.at(verdict.start)
        key = ("", "") if when is not None else (verdict.path, verdict.source)
        second = (when.replace(tzinfo=None) - _EPOCH).total_seconds() if when is not None else row.found.event.start
        timed.append((key, second, row))
    groups = []
    first = (("", ""), -inf)
    for key, second, row in sorted(timed, key=lambda one: one[:2]):
        if groups and key == first[0] and second - first[1] < AGGREGATION:
            groups[-1].append(row)
        else:
            groups.append([row])
            first = key, second
    return groups


def _count_for_sarfi(groups, name):
    level = name.partition("-")[2]
    low = [_event_points_for_indices(group, _LOW) for group in groups]
    if level in ("ITIC", "SEMI"):
        curve = ITIC if level == "ITIC" else SEMI
        return sum(any(curve.place(u, t) == "below" for t, u in points) for points in low)
    bound = float(level)
    if bound < 100:
        return sum(any(u < bound for _, u in points) for points in low)
    return sum(any(u > bound for _, u in _event_points_for_indices(group, _HIGH)) for group in groups)


def _event_points_for_indices(rows, kinds):
    """Duration [s] and voltage [%] of the events of these kinds."""
    found = [row.found for row in rows if row.found.event.kind in kinds]
    return [row_curve_point(one) or (0.0, 100 * one.event.magnitude) for one in found]
