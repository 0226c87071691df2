"""The time column of a table: numbers or dates, some of which may be missing."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.recordings.text import stamp

__all__ = ["Clock", "TimeColumn"]

_SECONDS = re.compile(r"[0-5]?\d(?:[.,]\d{1,12})?")
_MICROSECOND = timedelta(microseconds=1)
_HALF_A_DAY = timedelta(hours=12)
_MOST_HELD = 1_000_000  # rows without a time, after which the last one is held


class TimeColumn:
    """The times of rows, in pieces; those that are missing are interpolated.

    Rows without a time are kept: they are samples, and their place tells their time.
    """

    def __init__(self, found: Iterable[FloatArray], unit: float) -> None:
        self.found = found
        self.unit = unit
        self.first = self.last = np.nan
        self.n_times = self.n_missing = 0

    def pieces(self) -> Iterator[FloatArray]:
        """Times of the rows of data [s]."""
        last, held, begun = np.nan, 0, False
        for numbers in self.found:
            times = numbers * self.unit
            finite = np.isfinite(times)
            self.n_times += int(finite.sum())
            self.n_missing += int((~finite).sum())
            if not begun and times.size:
                self.first, begun = float(times[0]), True
            if held or not finite.all():
                places = np.flatnonzero(finite) + held
                if not places.size:
                    held += times.size
                    if held > _MOST_HELD and np.isfinite(last):
                        yield np.full(held, last)
                        held = 0
                    continue
                known = times[finite]
                if np.isfinite(last):
                    places, known = np.append(-1, places), np.append(last, known)
                size, end = held + times.size, int(places[-1]) + 1
                times, held = np.interp(np.arange(end), places, known), size - end
            if times.size:
                last = self.last = float(times[-1])
                yield times
        if held and np.isfinite(last):
            yield np.full(held, last)


class Clock:
    """Dates and times of day as seconds from the first one.

    `date` is that of the first, where it stands in a column of its own; without dates, midnight is found from the
    times of day.
    """

    def __init__(self, date: str = "") -> None:
        self.date = date
        self.zero: datetime | None = None
        self.last: datetime | None = None
        self.days = 0
        self.dated = True
        self.minute, self.begin = "", 0  # text of the last one up to its minute, and that minute [µs]

    def seconds(self, text: str) -> float:
        """Seconds from the first time to that in a field; NaN if there is none."""
        minute, _, rest = text.rpartition(":")
        if minute == self.minute and _SECONDS.fullmatch(rest):  # as almost all, and ten times as fast
            whole, _, part = rest.replace(",", ".").partition(".")
            return (self.begin + int(whole) * 1_000_000 + int(part.ljust(6, "0")[:6])) / 1_000_000
        found = stamp(text)
        if found is None:
            found = stamp(self.date or "2000-01-01", text) if ":" in text else None
            if found is None:
                return np.nan
            self.dated = bool(self.date)
            if self.last is not None and self.last - found > _HALF_A_DAY:
                self.days += 1
            self.last = found
            found += timedelta(days=self.days)
        if self.zero is None:
            self.zero = found
        if minute.count(":") == 1 and _SECONDS.fullmatch(rest):
            begin = found.replace(second=0, microsecond=0) - self.zero
            self.minute, self.begin = minute, begin // _MICROSECOND
        return (found - self.zero).total_seconds()

    @property
    def first(self) -> datetime | None:
        """The first time, if its date is known."""
        return self.zero if self.dated else None
