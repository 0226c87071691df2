"""The time column of a table: numbers or dates, some of which may be missing."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.recordings.text import stamp

__all__ = ["Clock", "TimeColumn"]

_MOST_HELD = 1_000_000  # rows without a time, after which the last one is held


class TimeColumn:
    """The times of rows, in pieces; those that are missing are interpolated.

    Rows without a time are kept: they are samples, and their place tells their time.
    """

    def __init__(self, found: Iterable[FloatArray], unit: float) -> None:
        self.found = found
        self.unit = unit
        self.first = np.nan
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
                last = float(times[-1])
                yield times
        if held and np.isfinite(last):
            yield np.full(held, last)


class Clock:
    """Dates and times of day as seconds from the first one, which is `first` if all have a date."""

    def __init__(self) -> None:
        self.zero: datetime | None = None
        self.dated = True

    def seconds(self, text: str) -> float:
        """Seconds from the first time to that in a field; NaN if there is none."""
        found = stamp(text)
        if found is None:
            self.dated = False
            found = stamp("2000-01-01", text) if ":" in text else None
            if found is None:
                return np.nan
        if self.zero is None:
            self.zero = found
        return (found - self.zero).total_seconds()

    @property
    def first(self) -> datetime | None:
        """The first time, if it is a date."""
        return self.zero if self.dated else None
