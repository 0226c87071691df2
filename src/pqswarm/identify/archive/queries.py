"""Queries of an archive of a million events: lists, counts over time, SARFI, magnitude against duration, other meters.

All events are held in memory as NumPy columns (63 bytes each, twice), read in one pass and kept up to date by revision.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import EventResult
from pqswarm.identify.archive import records
from pqswarm.identify.archive.database import reading
from pqswarm.identify.archive.reader import EventReader
from pqswarm.identify.archive.records import BELOW_ITIC, BELOW_SEMI, HIDDEN, NO_TIME, PACKED, TYPE_NAMES, read_moment
from pqswarm.identify.show.page.indices import AGGREGATION

if TYPE_CHECKING:
    from pqswarm.identify.archive.store import ArchiveStore

ORDERS = ("newest", "oldest", "worst")
MAX_POINTS = 2000
"""Events of a selection up to which each one is a point; larger selections are binned."""
_SECOND = 1_000_000
"""Microseconds."""
_SOME = 500
"""Rows that are looked up at a time."""
_SWELL = TYPE_NAMES.index("swell")
"""Kinds up to this one have an RMS voltage."""
_DAYS = (-25_567, 84_005)
"""From 1900 to 2199, in days since 1970."""
_LONGEST = 3600
"""Events that began earlier are not looked for when others saw something [s]."""
_COLUMNS, _ROWS = 72, 48
"""Bins of durations, twelve for each decade from 0.1 ms to 100 s, and of voltages, 5 % each."""


@dataclass(frozen=True)
class Selection:
    """Which events: by time (ISO 8601, from inclusive, to exclusive), station, type, class, cause, severity and text.

    Empty values select everything. Each word of `text` must occur in the station, the file name, the type, the class or
    the cause. `severity` is the least severity after IEEE 1564 (1 is on the SEMI F47 curve). `owner` is a visitor whose
    uploads are included. With `hidden`, events that a person called none are included.
    """

    start: str = ""
    end: str = ""
    stations: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    severity: float = 0.0
    text: str = ""
    owner: str = ""
    hidden: bool = False
    recording: int = 0


class EventColumns:
    """All events of an archive as columns of PACKED, as of a revision, and the names of files by recording."""

    def __init__(self, packed: Any, names: dict[int, str], revision: int) -> None:
        self.packed, self.names, self.revision, self.size = packed, names, revision, packed.size
        self._columns = {name: np.ascontiguousarray(packed[name]) for name in PACKED.names or ()}

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

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


class ArchiveQueries:
    """Answers questions about the events of an archive; callable from any thread."""

    def __init__(self, archive: "ArchiveStore") -> None:
        self.archive = archive
        self._lock = Lock()
        self._table = EventColumns(np.empty(0, PACKED), {}, -1)

    @reading
    def table(self) -> EventColumns:
        """Return all events, up to date."""
        with self._lock:
            database, known = self.archive.database, self._table
            revision = self.archive.revision()
            if revision == known.revision:
                return known
            query = (
                "SELECT id, name, packed FROM recordings JOIN recording_events ON recording = id "
                "WHERE revision > ? ORDER BY id"
            )
            changed = database.rows(query, known.revision)
            new = np.frombuffer(b"".join([packed for *_, packed in changed]), PACKED)
            if new.size and (new["type"].max() >= len(TYPE_NAMES) or min(new[n].min() for n in _IDS) < 0):
                raise database.damaged("an event has values that are none")
            kept = known.packed
            if known.size:
                present = {number for (number,) in database.rows("SELECT id FROM recordings")}
                present -= {number for number, *_ in changed}
                kept = kept[np.isin(kept["recording"], np.fromiter(present, np.int64))]
            names = known.names | {number: name.casefold() for number, name, _ in changed}
            self._table = EventColumns(np.concatenate([kept, new]) if kept.size else new, names, revision)
            return self._table

    # Selections

    def mask(self, events: EventColumns, chosen: Selection) -> BoolArray:
        """Return which events are selected."""
        mask: BoolArray = np.ones(events.size, bool)
        owners = [0, *self._word_ids([chosen.owner])] if chosen.owner else [0]
        mask &= np.isin(events["owner"], owners)
        if not chosen.hidden:
            mask &= events["flags"] & HIDDEN == 0
        if chosen.start:
            mask &= events["start"] >= read_moment(chosen.start)
        if chosen.end:
            mask &= (events["start"] < read_moment(chosen.end)) & (events["start"] != NO_TIME)
        if chosen.stations:
            mask &= np.isin(events["station"], chosen.stations)
        if chosen.types:
            mask &= np.isin(events["type"], [TYPE_NAMES.index(name) for name in chosen.types if name in TYPE_NAMES])
        for name, texts in (("class", chosen.classes), ("cause", chosen.causes)):
            if texts:
                mask &= np.isin(events[name], self._word_ids(texts))
        if chosen.severity > 0:
            mask &= (events["tier"] == 2) & (events["severity"] >= chosen.severity)
        if chosen.recording:
            mask &= events["recording"] == chosen.recording
        for word in chosen.text.casefold().split():
            mask &= self._has_word(events, word)
        return mask

    def _word_ids(self, texts: Sequence[str]) -> list[int]:
        marks = ",".join("?" * len(texts))
        found = self.archive.database.rows(f"SELECT id FROM words WHERE text IN ({marks})", *texts)
        return [number for (number,) in found] + [0] * ("" in texts)

    def _has_word(self, events: EventColumns, word: str) -> BoolArray:
        like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self.archive.database.rows
        words = rows("SELECT id FROM words WHERE replace(text, '_', ' ') LIKE ? ESCAPE '\\'", like)
        stations = rows("SELECT id FROM stations WHERE name LIKE ? ESCAPE '\\'", like)
        named = [(number,) for number, name in events.names.items() if word in name]
        numbers = [number for number, name in enumerate(TYPE_NAMES) if word in name.casefold()]
        found: BoolArray = np.isin(events["type"], numbers)
        for name, ids in (("class", words), ("cause", words), ("station", stations), ("recording", named)):
            if ids:
                found |= _is_one_of(events[name], np.fromiter((n for (n,) in ids), np.int64))
        return found

    # Answers

    @reading
    def page(self, chosen: Selection, order: str = "newest", after: str = "", limit: int = 100) -> dict[str, Any]:
        """Return a page of the events: their rows, the total, the numbers by type, and the key of the next page."""
        table = self.table()
        mask = self.mask(table, chosen)
        places = table.worst if order == "worst" else table.newest[:: -1 if order == "oldest" else 1]
        places = places[mask[places]]
        first = 0
        if after:
            number = int(after) if after.isdigit() else -1
            at = np.flatnonzero(table["number"][places] == number)
            if not at.size:
                raise PqswarmError("The list has changed: load it again.")
            first = int(at[0]) + 1
        shown = places[first : first + limit]
        numbers = [int(one) for one in table["number"][shown]]
        rows = EventReader(self.archive).rows(numbers)
        more = first + limit < places.size
        return {
            "total": int(places.size),
            "position": first,
            "next": str(numbers[-1]) if more and numbers else "",
            "types": self.types(table, mask),
            "rows": [rows[number] for number in numbers if number in rows],
        }

    def numbers(self, chosen: Selection, size: int = _SOME) -> Iterator[list[int]]:
        """Yield the numbers of the selected events, the newest first, some at a time."""
        table = self.table()
        places = table.newest[self.mask(table, chosen)[table.newest]]
        for start in range(0, places.size, size):
            yield [int(one) for one in table["number"][places[start : start + size]]]

    @reading
    def event(self, number: int) -> EventResult:
        """Return an event by its number."""
        rows = self.archive.database.rows("SELECT record FROM event_records WHERE number = ?", number)
        return EventResult.of(json.loads(rows[0][0]))

    @reading
    def rows_of(self, recording: int) -> list[dict[str, Any]]:
        """Return the rows of all events of a recording, also hidden ones."""
        return list(EventReader(self.archive).read(f"recordings.id = {int(recording)} ORDER BY events.position"))

    def types(self, table: EventColumns, mask: BoolArray) -> dict[str, int]:
        """Return the number of events of each type."""
        return {TYPE_NAMES[i]: int(n) for i, n in enumerate(np.bincount(table["type"][mask])) if n}

    @reading
    def months(self, chosen: Selection) -> list[dict[str, Any]]:
        """Return the number of events of each month, by type; months without events between others are included.

        Times before 1900 and after 2199 are of clocks that were never set, and are left out.
        """
        start, type_number = self._timed(chosen)
        days = start // (86_400 * _SECOND)
        usual = (days >= _DAYS[0]) & (days < _DAYS[1])
        days = days[usual]
        type_number = type_number[usual]
        if not days.size:
            return []
        first, n_types = int(days.min()), len(TYPE_NAMES)
        counts = np.bincount((days - first) * n_types + type_number, minlength=(int(days.max()) - first + 1) * n_types)
        months = (np.arange(first, int(days.max()) + 1).astype("M8[D]")).astype("M8[M]")
        edges = np.flatnonzero(np.diff(months.astype(np.int64), prepend=-(10**6)))
        lines = np.add.reduceat(counts.reshape(-1, n_types), edges)
        return [
            {"month": str(month), "total": int(line.sum())}
            | {"types": {name: int(n) for name, n in zip(TYPE_NAMES, line, strict=True) if n}}
            for month, line in zip(months[edges], lines, strict=True)
        ]

    @reading
    def hours(self, chosen: Selection) -> list[list[int]]:
        """Return the number of events by weekday (Monday first) and hour of the day, 7 lists of 24."""
        hours = self._timed(chosen)[0] // (3600 * _SECOND)
        found: list[list[int]] = np.bincount((hours + 3 * 24) % 168, minlength=168).reshape(7, 24).tolist()
        return found  # 1970-01-01 was a Thursday

    def _timed(self, chosen: Selection) -> tuple[Any, Any]:
        """Start and type of the selected events that have a time."""
        table = self.table()
        mask = self.mask(table, chosen) & (table["start"] != NO_TIME)
        return table["start"][mask], table["type"][mask]

    @reading
    def sarfi(self, chosen: Selection) -> list[dict[str, Any]]:
        """Return SARFI counts after IEEE 1564 of each station and year.

        Events of a three-phase system of a station that start within a minute of the first count as one.
        """
        table = self.table()
        places = table.by_site[self.mask(table, chosen)[table.by_site]]
        if not places.size:
            return []
        start, station = table["start"][places], table["station"][places]
        begins = _begin_groups(start, station, table["system"][places])
        groups = np.flatnonzero(begins)
        percent = table["percent"][places]
        percent = np.where(np.isnan(percent), 100 * table["magnitude"][places], percent)
        high = table["type"][places] == _SWELL
        lowest = np.minimum.reduceat(np.where(high, np.inf, percent), groups)
        highest = np.maximum.reduceat(np.where(high, percent, -np.inf), groups)
        flags = np.bitwise_or.reduceat(table["flags"][places], groups)
        columns = {"events": np.ones(groups.size, bool)}
        columns |= {f"SARFI-{level}": lowest < level for level in (90, 80, 70, 50, 10)}
        columns |= {f"SARFI-{level}": highest > level for level in (110, 120, 140)}
        columns |= {"SARFI-ITIC": flags & BELOW_ITIC > 0, "SARFI-SEMI": flags & BELOW_SEMI > 0}
        years = np.arange(*_DAYS).astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970
        keys = station[groups] * 1000 + years[start[groups] // (86_400 * _SECOND) - _DAYS[0]] - 1900
        counted = {name: np.bincount(keys, values) for name, values in columns.items()}
        names = self.stations_by_id()
        return [
            {"station": names.get(int(key) // 1000, ""), "station_id": int(key) // 1000}
            | {"year": 1900 + int(key) % 1000, **{name: int(values[key]) for name, values in counted.items()}}
            for key in np.flatnonzero(counted["events"])
        ]

    @reading
    def scatter(self, chosen: Selection) -> dict[str, Any]:
        """Return duration [s] against voltage [%] of the selected events: as points, or if they are many as bins."""
        table = self.table()
        places = np.flatnonzero(self.mask(table, chosen) & ~np.isnan(table["seconds"]))
        seconds, percent, type_number = (table[name][places] for name in ("seconds", "percent", "type"))
        answer: dict[str, Any] = {"total": int(places.size), "points": [], "bins": []}
        if places.size <= MAX_POINTS:
            numbers = [int(one) for one in table["number"][places]]
            rows = EventReader(self.archive).places(numbers)
            answer["points"] = [
                {"seconds": round(float(x), 6), "percent": round(float(y), 2), "type": TYPE_NAMES[k], **rows[number]}
                for x, y, k, number in zip(seconds, percent, type_number, numbers, strict=True)
                if number in rows
            ]
            return answer
        column = np.clip(np.floor(12 * np.log10(np.maximum(seconds, 1e-9)) + 48), 0, _COLUMNS - 1).astype(np.int64)
        row = np.clip(percent // 5, 0, _ROWS - 1).astype(np.int64)
        n_types = len(TYPE_NAMES)
        counts = np.bincount((column * _ROWS + row) * n_types + type_number, minlength=_COLUMNS * _ROWS * n_types)
        for place, here in enumerate(counts.reshape(-1, n_types)):
            if total := int(here.sum()):
                x, y = divmod(place, _ROWS)
                edges = {"seconds": [10 ** (x / 12 - 4), 10 ** ((x + 1) / 12 - 4)], "percent": [5 * y, 5 * y + 5]}
                answer["bins"].append({**edges, "n": total, "type": TYPE_NAMES[int(here.argmax())]})
        return answer

    @reading
    def others(self, recording: int, seconds: float = 5.0, owner: str = "", limit: int = 200) -> list[dict[str, Any]]:
        """Return the events of other recordings that overlap a recording, or are at most `seconds` away.

        Those of other stations first, then by time.
        """
        database = self.archive.database
        own = database.rows("SELECT start, seconds, station FROM recordings WHERE id = ?", recording)
        if not own or own[0][0] is None:
            return []
        start, length, station = own[0]
        low, high = start - int(seconds * _SECOND), start + int((length + seconds) * _SECOND)
        table = self.table()
        first, last = np.searchsorted(table["start"][table.newest[::-1]], [low - _LONGEST * _SECOND, high + 1])
        places = table.newest[::-1][first:last]
        ends = table["start"][places] + (np.nan_to_num(table["duration"][places]) * _SECOND).astype(np.int64)
        near = (ends >= low) & (table["recording"][places] != recording) & (table["start"][places] != NO_TIME)
        places = places[near & self.mask(table, Selection(owner=owner))[places]]
        is_same = table["station"][places] == station
        places = places[np.argsort(is_same, kind="stable")][:limit]
        rows = EventReader(self.archive).rows([int(one) for one in table["number"][places]])
        about = zip(table["number"][places], table["station"][places], table["start"][places], strict=True)
        return [
            rows[int(number)] | {"same_station": bool(where == station), "delay": (int(at) - start) / _SECOND}
            for number, where, at in about
            if int(number) in rows
        ]

    def stations_by_id(self) -> dict[int, str]:
        """Return the names of the stations."""
        return dict(self.archive.database.rows("SELECT id, name FROM stations"))

    @reading
    def facets(self, owner: str = "") -> dict[str, Any]:
        """Return what can be selected: stations, types, classes and causes with their numbers of events, and dates."""
        table = self.table()
        mask = self.mask(table, Selection(owner=owner))
        words = dict(self.archive.database.rows("SELECT id, text FROM words"))
        names = sorted(self.stations_by_id().items(), key=lambda one: one[1])
        counts = {name: np.bincount(table[name][mask]) for name in ("station", "class", "cause")}
        own = counts["station"]
        timed = table["start"][mask & (table["start"] != NO_TIME)]
        edges = (int(timed.min()), int(timed.max())) if timed.size else (None, None)
        first, last = map(records.from_microseconds, edges)
        return {
            "total": int(mask.sum()),
            "types": self.types(table, mask),
            "stations": [{"id": i, "name": name, "n": int(own[i])} for i, name in names if i < own.size and own[i]],
            "classes": {words.get(i, ""): int(n) for i, n in enumerate(counts["class"]) if n},
            "causes": {words.get(i, ""): int(n) for i, n in enumerate(counts["cause"]) if n},
            "first": first,
            "last": last,
        }


_IDS = ("recording", "owner", "station", "class", "cause", "system")


def _is_one_of(values: Any, ids: IntArray) -> BoolArray:
    """Whether each ID is one of some."""
    among = np.zeros(int(max(values.max(initial=0), ids.max(initial=0))) + 1, bool)
    among[ids] = True
    found: BoolArray = among[values]
    return found


def _begin_groups(start: Any, station: Any, system: Any) -> BoolArray:
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
