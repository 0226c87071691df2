"""Queries of an archive of a million events: lists, counts over time, SARFI, magnitude against duration, other meters.

The columns of the table of events are held in memory (77 bytes for each event), kept up to date by revision.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.archive.archive import Archive
from pqswarm.identify.archive.database import ArchiveDatabase, reads_archive
from pqswarm.identify.archive.events import from_event_microseconds, read_event_moment
from pqswarm.identify.tolerance import AGGREGATION, ITIC, SEMI, ToleranceCurve
from pqswarm.measure.event import EVENT_TYPES

ORDERS = ("newest", "oldest", "worst")
MAX_POINTS = 2000
"""Events of a filter up to which each one is a point; more are binned."""
NO_TIME = -(2**62)
"""Start of an event of a recorder without a clock [us]."""
TYPE_NAMES = tuple(EVENT_TYPES)
_TYPE_CODES = {name: code for code, name in enumerate(TYPE_NAMES)}
_SECOND = 1_000_000
"""Microseconds."""
_SOME = 500
"""Rows that are looked up at a time."""
_SWELL = TYPE_NAMES.index("swell")
"""Types up to this one have an RMS voltage."""
_DAYS = (-25_567, 84_005)
"""From 1900 to 2199, in days since 1970."""
_LONGEST = 3600
"""Events that began earlier are not looked for when others saw something [s]."""
_COLUMNS, _ROWS = 72, 48
"""Bins of durations, twelve for each decade from 0.1 ms to 100 s, and of voltages, 5 % each."""
_DTYPES: dict[str, Any] = {
    "start": np.int64,
    "number": np.int64,
    "recording": np.int32,
    "station": np.int32,
    "magnitude": np.float32,
    "duration": np.float32,
    "seconds": np.float64,
    "percent": np.float64,
    "severity": np.float32,
    "tier": np.uint8,
    "hidden": np.bool_,
    "owner": np.int32,
    "label": np.int32,
    "cause": np.int32,
    "system": np.int32,
    "type": np.uint8,
}
"""The columns held in memory; the texts of owner, label, cause and system as codes."""
_NUMBER = re.compile("[0-9]{1,18}")
_TEXTS = ("owner", "label", "cause", "system")
_SELECT = f"""
SELECT coalesce(events.start, {NO_TIME}) AS start, number, recording, station, magnitude, duration, events.seconds,
percent, severity, tier, hidden, owner, label, cause, system, type
FROM recordings JOIN events ON recording = id WHERE revision > ? ORDER BY id, events.position"""


@dataclass(frozen=True)
class EventFilter:
    """Which events: by time (ISO 8601, from inclusive, to exclusive), station, type, label, cause, severity and text.

    Empty values select everything. Each word of `text` must occur in the station, the file name, the type, the label or
    the cause. `severity` is the least severity after IEEE 1564 (1 is on the SEMI F47 curve). `owner` is a visitor whose
    uploads are included. With `hidden`, events that a person called none are included.
    """

    start: str = ""
    end: str = ""
    stations: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    severity: float = 0.0
    text: str = ""
    owner: str = ""
    hidden: bool = False
    recording: int = 0


class EventColumns:
    """All events of an archive as columns, as of a revision, and the names of files by recording."""

    def __init__(self, columns: dict[str, AnyArray], names: dict[int, str], revision: int) -> None:
        self._columns = columns
        self.names = names
        self.revision = revision
        self.size = columns["number"].size

    def __getitem__(self, name: str) -> AnyArray:
        return self._columns[name]

    def joined(self, kept: BoolArray, parts: list[dict[str, AnyArray]]) -> dict[str, AnyArray]:
        """Return the columns of some of the events, followed by those of `parts`."""
        return {
            name: np.concatenate([column[kept], *(part[name] for part in parts)])
            for name, column in self._columns.items()
        }

    @cached_property
    def newest(self) -> IntArray:
        """Places of the events, the newest first."""
        return np.argsort(self["start"], kind="stable")[::-1]

    @cached_property
    def worst(self) -> IntArray:
        """Places of the events, the worst first."""
        return np.argsort(1e6 * self["tier"] + np.clip(self["severity"], 0, 9e5), kind="stable")[::-1]

    @cached_property
    def by_site(self) -> IntArray:
        """Places of sags, interruptions and swells of 1900 to 2199, by station, system and time."""
        first, last = (day * 86_400 * _SECOND for day in _DAYS)
        places = np.flatnonzero((self["type"] <= _SWELL) & (self["start"] >= first) & (self["start"] < last))
        return places[np.lexsort([self[name][places] for name in ("start", "system", "station")])]

    @cached_property
    def voltage(self) -> FloatArray:
        """Voltage on a tolerance curve [%]; that of the event if it has no duration."""
        return np.asarray(np.where(np.isnan(self["percent"]), 100.0 * self["magnitude"], self["percent"]))

    def is_below(self, curve: ToleranceCurve, places: IntArray) -> BoolArray:
        """Return which events at some places are sags or interruptions below a tolerance curve."""
        ends, levels = (np.array(values) for values in zip(*curve.lower, strict=True))
        limits = levels[np.searchsorted(ends, np.nan_to_num(self["seconds"][places]))]
        return np.asarray((self["type"][places] < _SWELL) & (self.voltage[places] < limits))


class ArchiveQueries:
    """Answers questions about the events of an archive; callable from any thread."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._lock = Lock()
        self._codes = {"": 0}
        """Codes of texts, which only grow."""
        self._table = EventColumns({name: np.empty(0, dtype) for name, dtype in _DTYPES.items()}, {}, -1)

    @property
    def database(self) -> ArchiveDatabase:
        """The file of the archive."""
        return self.archive.database

    @reads_archive
    def table(self) -> EventColumns:
        """Return all events, up to date."""
        with self._lock:
            known = self._table
            revision = self.archive.revision()
            if revision == known.revision:
                return known
            changed = dict(self.database.rows("SELECT id, name FROM recordings WHERE revision > ?", known.revision))
            present = {number for (number,) in self.database.rows("SELECT id FROM recordings")}
            kept = np.isin(known["recording"], np.fromiter(present - changed.keys(), np.int64))
            parts = [self._read_columns(values) for values in self.database.columns(_SELECT, known.revision)]
            names = known.names | {number: name.casefold() for number, name in changed.items()}
            self._table = EventColumns(known.joined(kept, parts), names, revision)
            return self._table

    def _read_columns(self, values: list[tuple[Any, ...]]) -> dict[str, AnyArray]:
        """Some events as arrays; raises errors that a damaged file causes."""
        columns: dict[str, Any] = dict(zip(_DTYPES, values, strict=True))
        codes = self._codes
        for name in _TEXTS:
            columns[name] = [codes.setdefault(text, len(codes)) for text in columns[name]]
        columns["type"] = [_TYPE_CODES[name] for name in columns["type"]]
        with np.errstate(over="raise"):
            arrays = {name: np.array(columns[name], dtype) for name, dtype in _DTYPES.items()}
        if min(arrays["recording"].min(), arrays["station"].min()) < 0:
            raise ValueError("an event has values that are none")
        return arrays

    # Filters

    def mask(self, events: EventColumns, chosen: EventFilter) -> BoolArray:
        """Return which events are selected."""
        mask: BoolArray = np.isin(events["owner"], self._codes_of({"", chosen.owner}))
        if not chosen.hidden:
            mask &= ~events["hidden"]
        if chosen.start:
            mask &= events["start"] >= read_event_moment(chosen.start)
        if chosen.end:
            mask &= (events["start"] < read_event_moment(chosen.end)) & (events["start"] != NO_TIME)
        if chosen.stations:
            mask &= np.isin(events["station"], chosen.stations)
        if chosen.types:
            mask &= np.isin(events["type"], [_TYPE_CODES[name] for name in chosen.types if name in _TYPE_CODES])
        if chosen.labels:
            mask &= np.isin(events["label"], self._codes_of(chosen.labels))
        if chosen.causes:
            mask &= np.isin(events["cause"], self._codes_of(chosen.causes))
        if chosen.severity > 0:
            mask &= (events["tier"] == 2) & (events["severity"] >= chosen.severity)
        if chosen.recording:
            mask &= events["recording"] == chosen.recording
        for word in chosen.text.casefold().split():
            mask &= self._has_word(events, word)
        return mask

    def _codes_of(self, texts: Collection[str]) -> list[int]:
        return [self._codes[text] for text in texts if text in self._codes]

    def _has_word(self, events: EventColumns, word: str) -> BoolArray:
        texts = [code for text, code in self._codes.items() if word in text.replace("_", " ").casefold()]
        stations = [number for number, name in self.stations_by_id().items() if word in name.casefold()]
        recordings = [number for number, name in events.names.items() if word in name]
        types = [code for name, code in _TYPE_CODES.items() if word in name.casefold()]
        mask: BoolArray = np.isin(events["type"], types)
        for name, codes in (("label", texts), ("cause", texts), ("station", stations), ("recording", recordings)):
            mask |= np.isin(events[name], codes)
        return mask

    # Answers

    @reads_archive
    def page(self, chosen: EventFilter, order: str = "newest", after: str = "", limit: int = 100) -> dict[str, Any]:
        """Return a page of the events: their rows, the total, the numbers by type, and the key of the next page."""
        table = self.table()
        mask = self.mask(table, chosen)
        places = {"newest": table.newest, "oldest": table.newest[::-1], "worst": table.worst}[order]
        places = places[mask[places]]
        first = 0
        if after:
            number = int(after) if _NUMBER.fullmatch(after) else -1
            at = np.flatnonzero(table["number"][places] == number)
            if not at.size:
                raise PqswarmError("The list has changed: load it again.")
            first = int(at[0]) + 1
        numbers = table["number"][places[first : first + limit]].tolist()
        rows = self.archive.events.rows(numbers)
        more = first + limit < places.size
        return {
            "total": int(places.size),
            "position": first,
            "next": str(numbers[-1]) if more and numbers else "",
            "types": self.types(table, mask),
            "rows": list(rows.values()),
        }

    def numbers(self, chosen: EventFilter, size: int = _SOME) -> Iterator[list[int]]:
        """Yield the numbers of the selected events, the newest first, some at a time."""
        table = self.table()
        places = table.newest[self.mask(table, chosen)[table.newest]]
        for start in range(0, places.size, size):
            yield table["number"][places[start : start + size]].tolist()

    def types(self, table: EventColumns, mask: BoolArray) -> dict[str, int]:
        """Return the number of events of each type."""
        return {TYPE_NAMES[i]: int(n) for i, n in enumerate(np.bincount(table["type"][mask])) if n}

    @reads_archive
    def months(self, chosen: EventFilter) -> list[dict[str, Any]]:
        """Return the number of events of each month, by type; months without events between others are included.

        Times before 1900 and after 2199 are of clocks that were never set, and are left out.
        """
        start, types = self._timed(chosen)
        days = start // (86_400 * _SECOND)
        usual = (days >= _DAYS[0]) & (days < _DAYS[1])
        days = days[usual]
        types = types[usual].astype(np.int64)
        if not days.size:
            return []
        first = int(days.min())
        n_types = len(TYPE_NAMES)
        counts = np.bincount((days - first) * n_types + types, minlength=(int(days.max()) - first + 1) * n_types)
        months = (np.arange(first, int(days.max()) + 1).astype("M8[D]")).astype("M8[M]")
        edges = np.flatnonzero(np.diff(months.astype(np.int64), prepend=-(10**6)))
        lines = np.add.reduceat(counts.reshape(-1, n_types), edges)
        return [
            {"month": str(month), "total": int(line.sum())}
            | {"types": {name: int(n) for name, n in zip(TYPE_NAMES, line, strict=True) if n}}
            for month, line in zip(months[edges], lines, strict=True)
        ]

    @reads_archive
    def hours(self, chosen: EventFilter) -> list[list[int]]:
        """Return the number of events by weekday (Monday first) and hour of the day, 7 lists of 24."""
        hours = self._timed(chosen)[0] // (3600 * _SECOND)
        counts = np.bincount((hours + 3 * 24) % 168, minlength=168)  # 1970-01-01 was a Thursday
        week: list[list[int]] = counts.reshape(7, 24).tolist()
        return week

    def _timed(self, chosen: EventFilter) -> tuple[Any, Any]:
        """Start and type of the selected events that have a time."""
        table = self.table()
        mask = self.mask(table, chosen) & (table["start"] != NO_TIME)
        return table["start"][mask], table["type"][mask]

    @reads_archive
    def sarfi(self, chosen: EventFilter) -> list[dict[str, Any]]:
        """Return SARFI counts after IEEE 1564 of each station and year.

        Events of a three-phase system of a station that start within a minute of the first count as one.
        """
        table = self.table()
        places = table.by_site[self.mask(table, chosen)[table.by_site]]
        if not places.size:
            return []
        start = table["start"][places]
        station = table["station"][places]
        groups = np.flatnonzero(_begin_queried_groups(start, station, table["system"][places]))
        voltage = table.voltage[places]
        high = table["type"][places] == _SWELL
        lowest = np.minimum.reduceat(np.where(high, np.inf, voltage), groups)
        highest = np.maximum.reduceat(np.where(high, voltage, -np.inf), groups)
        columns = {
            "events": np.ones(groups.size, bool),
            **{f"SARFI-{level}": lowest < level for level in (90, 80, 70, 50, 10)},
            **{f"SARFI-{level}": highest > level for level in (110, 120, 140)},
            "SARFI-ITIC": np.logical_or.reduceat(table.is_below(ITIC, places), groups),
            "SARFI-SEMI": np.logical_or.reduceat(table.is_below(SEMI, places), groups),
        }
        years = np.arange(*_DAYS).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
        keys = station[groups] * 1000 + years[start[groups] // (86_400 * _SECOND) - _DAYS[0]] - 1900
        counted = {name: np.bincount(keys, values) for name, values in columns.items()}
        names = self.stations_by_id()
        return [
            {"station": names.get(int(key) // 1000, ""), "station_id": int(key) // 1000}
            | {"year": 1900 + int(key) % 1000, **{name: int(values[key]) for name, values in counted.items()}}
            for key in np.flatnonzero(counted["events"])
        ]

    @reads_archive
    def scatter(self, chosen: EventFilter) -> dict[str, Any]:
        """Return duration [s] against voltage [%] of the selected events: as points, or if they are many as bins."""
        table = self.table()
        places = np.flatnonzero(self.mask(table, chosen) & ~np.isnan(table["seconds"]))
        seconds = table["seconds"][places]
        percent = table["percent"][places]
        types = table["type"][places].astype(np.int64)
        answer: dict[str, Any] = {"total": int(places.size), "points": [], "bins": []}
        if places.size <= MAX_POINTS:
            numbers = table["number"][places].tolist()
            titles = self.archive.events.places(numbers)
            answer["points"] = [
                {"seconds": round(float(x), 6), "percent": round(float(y), 2), "type": TYPE_NAMES[k], **titles[number]}
                for x, y, k, number in zip(seconds, percent, types, numbers, strict=True)
                if number in titles
            ]
            return answer
        column = np.clip(np.floor(12 * np.log10(np.maximum(seconds, 1e-9)) + 48), 0, _COLUMNS - 1).astype(np.int64)
        row = np.clip(percent // 5, 0, _ROWS - 1).astype(np.int64)
        n_types = len(TYPE_NAMES)
        counts = np.bincount((column * _ROWS + row) * n_types + types, minlength=_COLUMNS * _ROWS * n_types)
        for place, here in enumerate(counts.reshape(-1, n_types)):
            if total := int(here.sum()):
                x, y = divmod(place, _ROWS)
                edges = {"seconds": [10 ** (x / 12 - 4), 10 ** ((x + 1) / 12 - 4)], "percent": [5 * y, 5 * y + 5]}
                answer["bins"].append({**edges, "n": total, "type": TYPE_NAMES[int(here.argmax())]})
        return answer

    @reads_archive
    def others(self, recording: int, seconds: float = 5.0, owner: str = "", limit: int = 200) -> list[dict[str, Any]]:
        """Return the events of other recordings that overlap a recording, or are at most `seconds` away.

        Those of other stations first, then by time.
        """
        query = "SELECT start, seconds, station FROM recordings WHERE id = ? AND start IS NOT NULL"
        rows = self.database.rows(query, recording)
        if not rows:
            return []
        start, length, station = rows[0]
        low = start - int(seconds * _SECOND)
        high = start + int((length + seconds) * _SECOND)
        table = self.table()
        oldest = table.newest[::-1]
        first, last = np.searchsorted(table["start"][oldest], [low - _LONGEST * _SECOND, high + 1])
        places = oldest[first:last]
        ends = table["start"][places] + (np.nan_to_num(table["duration"][places]) * _SECOND).astype(np.int64)
        near = (ends >= low) & (table["recording"][places] != recording) & (table["start"][places] != NO_TIME)
        places = places[near & self.mask(table, EventFilter(owner=owner))[places]]
        places = places[np.argsort(table["station"][places] == station, kind="stable")][:limit]
        place_of = dict(zip(table["number"][places].tolist(), places, strict=True))
        return [
            row
            | {
                "same_station": bool(table["station"][place_of[number]] == station),
                "delay": (int(table["start"][place_of[number]]) - start) / _SECOND,
            }
            for number, row in self.archive.events.rows(list(place_of)).items()
        ]

    def stations_by_id(self) -> dict[int, str]:
        """Return the names of the stations."""
        return dict(self.database.rows("SELECT id, name FROM stations"))

    @reads_archive
    def facets(self, owner: str = "") -> dict[str, Any]:
        """Return what can be selected: stations, types, classes and causes with their numbers of events, and dates."""
        table = self.table()
        mask = self.mask(table, EventFilter(owner=owner))
        texts = list(self._codes)
        counts = {name: np.bincount(table[name][mask]) for name in ("station", "label", "cause")}
        per_station = dict(enumerate(counts["station"].tolist()))
        stations = sorted(self.stations_by_id().items(), key=lambda item: item[1])
        timed = table["start"][mask & (table["start"] != NO_TIME)]
        return {
            "total": int(mask.sum()),
            "types": self.types(table, mask),
            "stations": [
                {"id": number, "name": name, "n": per_station[number]}
                for number, name in stations
                if per_station.get(number)
            ],
            "labels": {texts[code]: int(n) for code, n in enumerate(counts["label"]) if n},
            "causes": {texts[code]: int(n) for code, n in enumerate(counts["cause"]) if n},
            "first": from_event_microseconds(int(timed.min())) if timed.size else None,
            "last": from_event_microseconds(int(timed.max())) if timed.size else None,
        }


def _begin_queried_groups(start: Any, station: Any, system: Any) -> BoolArray:
    """Whether each event, in order of site and time, begins a group, which lasts a minute."""
    minute = int(AGGREGATION * _SECOND)
    same_site = (np.diff(station) == 0) & (np.diff(system) == 0)
    begins: BoolArray = np.concatenate([[True], ~same_site | (np.diff(start) >= minute)])
    edges = np.append(np.flatnonzero(begins), start.size)
    for i in np.flatnonzero(start[edges[1:] - 1] - start[edges[:-1]] >= minute):  # they follow each other for longer
        first, last = int(edges[i]), int(edges[i + 1])
        while (first := first + int(np.searchsorted(start[first:last], start[first] + minute))) < last:
            begins[first] = True
    return begins
