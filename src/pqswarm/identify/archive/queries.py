"""Queries of an archive of a million events: lists, counts over time, SARFI, magnitude against duration, other meters.

All events are held in memory as one NumPy table (64 bytes each), read in one pass and kept up to date by revision.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.typing import BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.archive import records
from pqswarm.identify.archive.reader import EventReader
from pqswarm.identify.archive.records import BELOW_ITIC, BELOW_SEMI, HIDDEN, KIND_NAMES, NO_TIME, PACKED
from pqswarm.identify.show.page.indices import AGGREGATION
from pqswarm.identify.verdict import EventVerdict

if TYPE_CHECKING:
    from pqswarm.identify.archive.store import ArchiveStore

ORDERS = ("newest", "oldest", "worst")
MAX_POINTS = 2000
"""Events of a selection up to which each one is a point; larger selections are binned."""
_SECOND = 1_000_000
"""Microseconds."""
_SOME = 500
"""Rows that are looked up at a time."""
_LEVELS = (90, 80, 70, 50, 10)
_HIGH_LEVELS = (110, 120, 140)
_COLUMNS, _ROWS = 72, 48
"""Bins of durations, twelve for each decade from 0.1 ms to 100 s, and of voltages, 5 % each."""


@dataclass(frozen=True)
class Selection:
    """Which events: by time (ISO 8601, from inclusive, to exclusive), station, kind, class, cause, severity and text.

    Empty values select everything. Each word of `text` must occur in the station, the file name, the kind, the class or
    the cause. `severity` is the least severity after IEEE 1564 (1 is on the SEMI F47 curve). `owner` is a visitor whose
    uploads are included. With `hidden`, events that a person called none are included.
    """

    start: str = ""
    end: str = ""
    stations: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    severity: float = 0.0
    text: str = ""
    owner: str = ""
    hidden: bool = False
    recording: int = 0


@dataclass
class _Table:
    """All events, ordered by time and by severity, as of a revision."""

    events: Any = field(default_factory=lambda: np.empty(0, PACKED))
    newest: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    worst: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    revision: int = -1
    deleted: int = 0


class ArchiveQueries:
    """Answers questions about the events of an archive; callable from any thread."""

    def __init__(self, archive: "ArchiveStore") -> None:
        self.archive = archive
        self._lock = Lock()
        self._table = _Table()

    def table(self) -> _Table:
        """Return all events, up to date."""
        with self._lock:
            database, known = self.archive.database, self._table
            revision = self.archive.revision()
            if revision == known.revision:
                return known
            query = "SELECT id, packed FROM recordings WHERE revision > ? ORDER BY id"
            changed = database.rows(query, known.revision)
            parts = []
            for number, packed in changed:
                if len(packed) % PACKED.itemsize:
                    raise database.damaged(f"the events of recording {number} have a wrong length")
                parts.append(packed)
            new = np.frombuffer(b"".join(parts), PACKED)
            if new.size and (new["kind"].max() >= len(KIND_NAMES) or min(new[n].min() for n in _IDS) < 0):
                raise database.damaged("an event has values that are none")
            events = np.concatenate([self._without(known, {number for number, _ in changed}), new])
            newest = np.lexsort((events["number"], events["start"]))[::-1]
            worst = np.lexsort((events["number"], events["severity"], events["tier"]))[::-1]
            self._table = _Table(events, newest, worst, revision)
            return self._table

    def _without(self, known: _Table, changed: set[int]) -> Any:
        """The known events without those of changed or removed recordings."""
        if known.revision < 0:
            return known.events
        present = self.archive.database.rows("SELECT id FROM recordings")
        kept = np.setdiff1d(np.fromiter((n for (n,) in present), np.int64), np.fromiter(changed, np.int64))
        return known.events[np.isin(known.events["recording"], kept)]

    # Selections

    def mask(self, table: _Table, chosen: Selection) -> BoolArray:
        """Return which events are selected."""
        events = table.events
        mask: BoolArray = np.ones(events.size, bool)
        owners = [0, *self._word_ids([chosen.owner])] if chosen.owner else [0]
        mask &= np.isin(events["owner"], owners)
        if not chosen.hidden:
            mask &= events["flags"] & HIDDEN == 0
        for name, text in (("start", chosen.start), ("end", chosen.end)):
            if text:
                moment = read_moment(text)
                mask &= events["start"] >= moment if name == "start" else events["start"] < moment
        if chosen.end:
            mask &= events["start"] != NO_TIME
        if chosen.stations:
            mask &= np.isin(events["station"], chosen.stations)
        if chosen.kinds:
            mask &= np.isin(events["kind"], [KIND_NAMES.index(kind) for kind in chosen.kinds if kind in KIND_NAMES])
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

    def _has_word(self, events: Any, word: str) -> BoolArray:
        like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self.archive.database.rows
        words = rows("SELECT id FROM words WHERE replace(text, '_', ' ') LIKE ? ESCAPE '\\'", like)
        stations = rows("SELECT id FROM stations WHERE name LIKE ? ESCAPE '\\'", like)
        named = rows("SELECT id FROM recordings WHERE name LIKE ? ESCAPE '\\'", like)
        kinds = [number for number, kind in enumerate(KIND_NAMES) if word in kind.casefold()]
        found: BoolArray = np.isin(events["kind"], kinds)
        for name, ids in (("class", words), ("cause", words), ("station", stations), ("recording", named)):
            if ids:
                found |= _is_one_of(events[name], np.fromiter((n for (n,) in ids), np.int64))
        return found

    # Answers

    def page(self, chosen: Selection, order: str = "newest", after: str = "", limit: int = 100) -> dict[str, Any]:
        """Return a page of the events: their rows, the total, the numbers by kind, and the key of the next page."""
        table = self.table()
        mask = self.mask(table, chosen)
        places = table.worst if order == "worst" else table.newest[:: -1 if order == "oldest" else 1]
        places = places[mask[places]]
        first = 0
        if after:
            number = int(after) if after.isdigit() else -1
            at = np.flatnonzero(table.events["number"][places] == number)
            if not at.size:
                raise PqswarmError("The list has changed: load it again.")
            first = int(at[0]) + 1
        shown = places[first : first + limit]
        numbers = [int(one) for one in table.events["number"][shown]]
        rows = EventReader(self.archive).rows(numbers)
        more = first + limit < places.size
        return {
            "total": int(places.size),
            "position": first,
            "next": str(numbers[-1]) if more and numbers else "",
            "kinds": self.kinds(table, mask),
            "rows": [rows[number] for number in numbers if number in rows],
        }

    def numbers(self, chosen: Selection, size: int = _SOME) -> Iterator[list[int]]:
        """Yield the numbers of the selected events, the newest first, some at a time."""
        table = self.table()
        places = table.newest[self.mask(table, chosen)[table.newest]]
        for start in range(0, places.size, size):
            yield [int(one) for one in table.events["number"][places[start : start + size]]]

    def event(self, number: int) -> EventVerdict:
        """Return an event by its number."""
        rows = self.archive.database.rows("SELECT record FROM event_records WHERE number = ?", number)
        try:
            return EventVerdict.of(json.loads(rows[0][0]))
        except (ValueError, IndexError) as error:
            raise self.archive.database.damaged(error) from error

    def rows_of(self, recording: int) -> list[dict[str, Any]]:
        """Return the rows of all events of a recording, also hidden ones and that of one without events."""
        return list(EventReader(self.archive).read(f"recordings.id = {int(recording)} ORDER BY events.position"))

    def kinds(self, table: _Table, mask: BoolArray) -> dict[str, int]:
        """Return the number of events of each kind."""
        counts = np.bincount(table.events["kind"][mask], minlength=len(KIND_NAMES))
        return {kind: int(n) for kind, n in zip(KIND_NAMES, counts, strict=True) if n}

    def months(self, chosen: Selection) -> list[dict[str, Any]]:
        """Return the number of events of each month, by kind; months without events between others are included."""
        events = self._timed(chosen)
        if not events.size:
            return []
        months = events["start"].astype("M8[us]").astype("M8[M]").astype(np.int64)
        first, n_kinds = int(months.min()), len(KIND_NAMES)
        if int(months.max()) - first > 12 * 200:  # a clock that was never set
            months, first = np.unique(months, return_inverse=True)[1], 0
            return self._sparse_months(events, months)
        counts = np.bincount((months - first) * n_kinds + events["kind"])
        counts = np.pad(counts, (0, -counts.size % n_kinds)).reshape(-1, n_kinds)
        return [_month(np.datetime64(first + i, "M"), line) for i, line in enumerate(counts)]

    def _sparse_months(self, events: Any, places: IntArray) -> list[dict[str, Any]]:
        names = np.unique(events["start"].astype("M8[us]").astype("M8[M]"))
        n_kinds = len(KIND_NAMES)
        counts = np.bincount(places * n_kinds + events["kind"], minlength=names.size * n_kinds).reshape(-1, n_kinds)
        return [_month(name, line) for name, line in zip(names, counts, strict=True)]

    def hours(self, chosen: Selection) -> list[list[int]]:
        """Return the number of events by weekday (Monday first) and hour of the day, 7 lists of 24."""
        events = self._timed(chosen)
        hours = events["start"] // (3600 * _SECOND)
        weekday = (hours // 24 + 3) % 7  # 1970-01-01 was a Thursday
        counts = np.bincount(weekday * 24 + hours % 24, minlength=168).reshape(7, 24)
        found: list[list[int]] = counts.tolist()
        return found

    def _timed(self, chosen: Selection) -> Any:
        table = self.table()
        events = table.events[self.mask(table, chosen)]
        return events[events["start"] != NO_TIME]

    def sarfi(self, chosen: Selection) -> list[dict[str, Any]]:
        """Return SARFI counts after IEEE 1564 of each station and year, with the stations without events.

        Events of a three-phase system of a station that start within a minute of the first count as one.
        """
        events = self._timed(chosen)
        kinds = events["kind"]
        events = events[
            (kinds == KIND_NAMES.index("sag")) | (kinds == KIND_NAMES.index("interruption")) | _swells(events)
        ]
        events = events[np.lexsort((events["start"], events["system"], events["station"]))]
        groups = _aggregate(events)
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        if not events.size:
            return []
        percent = np.where(np.isnan(events["percent"]), 100 * events["magnitude"], events["percent"])
        high = _swells(events)
        lowest = np.minimum.reduceat(np.where(high, np.inf, percent), starts)
        highest = np.maximum.reduceat(np.where(high, percent, -np.inf), starts)
        flags = np.bitwise_or.reduceat(events["flags"], starts)
        first = events[starts]
        years = first["start"].astype("M8[us]").astype("M8[Y]").astype(np.int64) + 1970
        columns = {"events": np.ones(starts.size, bool)}
        columns |= {f"SARFI-{level}": lowest < level for level in _LEVELS}
        columns |= {f"SARFI-{level}": highest > level for level in _HIGH_LEVELS}
        columns |= {"SARFI-ITIC": flags & BELOW_ITIC > 0, "SARFI-SEMI": flags & BELOW_SEMI > 0}
        keys, places = np.unique(np.stack([first["station"].astype(np.int64), years], 1), axis=0, return_inverse=True)
        counted = {name: np.bincount(places.ravel(), values, len(keys)) for name, values in columns.items()}
        names = self.stations_by_id()
        return [
            {"station": names.get(int(station), ""), "station_id": int(station), "year": int(year)}
            | {name: int(values[i]) for name, values in counted.items()}
            for i, (station, year) in enumerate(keys)
        ]

    def scatter(self, chosen: Selection) -> dict[str, Any]:
        """Return duration [s] against voltage [%] of the selected events: as points, or if they are many as bins."""
        table = self.table()
        events = table.events[self.mask(table, chosen)]
        events = events[~np.isnan(events["seconds"])]
        answer: dict[str, Any] = {"total": int(events.size), "points": [], "bins": []}
        if events.size <= MAX_POINTS:
            numbers = [int(one) for one in events["number"]]
            rows = EventReader(self.archive).places(numbers)
            answer["points"] = [
                {"seconds": round(float(one["seconds"]), 6), "percent": round(float(one["percent"]), 2)}
                | {"kind": KIND_NAMES[one["kind"]], **rows[int(one["number"])]}
                for one in events
                if int(one["number"]) in rows
            ]
            return answer
        x = np.clip(np.floor(12 * (np.log10(np.maximum(events["seconds"], 1e-9)) + 4)), 0, _COLUMNS - 1).astype(int)
        y = np.clip(events["percent"] // 5, 0, _ROWS - 1).astype(int)
        n_kinds = len(KIND_NAMES)
        counts = np.bincount((x * _ROWS + y) * n_kinds + events["kind"], minlength=_COLUMNS * _ROWS * n_kinds)
        for place in np.flatnonzero(counts.reshape(-1, n_kinds).any(1)):
            here = counts.reshape(-1, n_kinds)[place]
            column, row = divmod(int(place), _ROWS)
            answer["bins"].append(
                {
                    "seconds": [10 ** (column / 12 - 4), 10 ** ((column + 1) / 12 - 4)],
                    "percent": [5 * row, 5 * row + 5],
                    "n": int(here.sum()),
                    "kind": KIND_NAMES[int(here.argmax())],
                }
            )
        return answer

    def others(self, recording: int, seconds: float = 5.0, owner: str = "", limit: int = 200) -> list[dict[str, Any]]:
        """Return the events of other recordings that overlap a recording, or are at most so many seconds away.

        Those of other stations first, then by time.
        """
        database = self.archive.database
        own = database.rows("SELECT start, seconds, station FROM recordings WHERE id = ?", recording)
        if not own or own[0][0] is None:
            return []
        start, length, station = own[0]
        low, high = start - int(seconds * _SECOND), start + int((length + seconds) * _SECOND)
        table = self.table()
        events = table.events
        mask = (events["start"] <= high) & (events["start"] + (events["duration"] * _SECOND).astype(np.int64) >= low)
        mask &= (events["start"] != NO_TIME) & (events["recording"] != recording)
        mask &= self.mask(table, Selection(owner=owner))
        near = events[mask]
        near = near[np.lexsort((near["start"], near["station"] == station))][:limit]
        numbers = [int(one) for one in near["number"]]
        rows = EventReader(self.archive).rows(numbers)
        return [
            rows[int(one["number"])]
            | {"same_station": bool(one["station"] == station), "delay": (int(one["start"]) - start) / _SECOND}
            for one in near
            if int(one["number"]) in rows
        ]

    def stations_by_id(self) -> dict[int, str]:
        """Return the names of the stations."""
        return dict(self.archive.database.rows("SELECT id, name FROM stations"))

    def facets(self, owner: str = "") -> dict[str, Any]:
        """Return what can be selected: stations, kinds, classes and causes with their numbers of events, and dates."""
        table = self.table()
        events = table.events[self.mask(table, Selection(owner=owner))]
        words = dict(self.archive.database.rows("SELECT id, text FROM words"))
        answer: dict[str, Any] = {
            "total": int(events.size),
            "kinds": self.kinds(table, self.mask(table, Selection(owner=owner))),
        }
        names = self.stations_by_id()
        numbers = np.bincount(events["station"], minlength=1) if events.size else np.zeros(1, int)
        answer["stations"] = [
            {"id": i, "name": name, "n": int(numbers[i]) if i < numbers.size else 0}
            for i, name in sorted(names.items(), key=lambda one: one[1])
        ]
        for name, key in (("classes", "class"), ("causes", "cause")):
            ids, counts = np.unique(events[key], return_counts=True)
            answer[name] = {words.get(int(i), ""): int(n) for i, n in zip(ids, counts, strict=True)}
        timed = events["start"][events["start"] != NO_TIME]
        edges = (int(timed.min()), int(timed.max())) if timed.size else (None, None)
        answer["first"], answer["last"] = map(records.from_microseconds, edges)
        return answer


_IDS = ("recording", "owner", "station", "class", "cause", "system")


def _is_one_of(values: Any, ids: IntArray) -> BoolArray:
    """Whether each ID is one of some."""
    among = np.zeros(int(max(values.max(initial=0), ids.max(initial=0))) + 1, bool)
    among[ids] = True
    found: BoolArray = among[values]
    return found


def _swells(events: Any) -> BoolArray:
    found: BoolArray = events["kind"] == KIND_NAMES.index("swell")
    return found


def _month(name: Any, line: IntArray) -> dict[str, Any]:
    return {
        "month": str(name),
        "total": int(line.sum()),
        "kinds": {k: int(n) for k, n in zip(KIND_NAMES, line, strict=True) if n},
    }


def _aggregate(events: Any) -> IntArray:
    """Number of the group of each event, in order of site and time; a group lasts a minute from its first event."""
    start, minute = events["start"], int(AGGREGATION * _SECOND)
    same_site = (np.diff(events["station"]) == 0) & (np.diff(events["system"]) == 0)
    begins = np.concatenate([[True], ~same_site | (np.diff(start) >= minute)])[: start.size]
    edges = np.append(np.flatnonzero(begins), start.size)
    spans = start[edges[1:] - 1] - start[edges[:-1]] if start.size else np.empty(0, np.int64)
    for i in np.flatnonzero(spans >= minute):  # events that follow each other for longer than a minute
        first, last = int(edges[i]), int(edges[i + 1])
        while (first := first + int(np.searchsorted(start[first:last], start[first] + minute))) < last:
            begins[first] = True
    numbers: IntArray = np.cumsum(begins)
    return numbers


def read_moment(text: str) -> int:
    """Return a time of a selection, such as ``2026-03`` or ``2026-03-02T10:15``, in microseconds."""
    try:
        padded = f"{text}-01-01"[:10] if len(text) in (4, 7) else text
        found = records.to_microseconds(datetime.fromisoformat(padded))
    except ValueError:
        raise PqswarmError(f"{text[:40]!r} is not a date such as 2026-03-02.") from None
    return found or 0
