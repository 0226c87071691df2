"""The time column of a table, with interpolation of missing times."""

from collections.abc import Iterable, Iterator

import numpy as np

from pqswarm._base.typing import FloatArray

_MAX_HELD = 1_000_000  # rows without a time, after which the last time is repeated


class TimeColumn:
    """The times of rows, in pieces; missing ones are interpolated: the position of a row determines its time."""

    def __init__(self, found: Iterable[FloatArray], unit: float) -> None:
        self.found = found
        self.unit = unit
        self.first = self.last = np.nan
        self.n_times = self.n_missing = 0

    def pieces(self) -> Iterator[FloatArray]:
        """Times of the rows of data [s]."""
        last = np.nan
        held = 0
        begun = False
        for numbers in self.found:
            times = numbers * self.unit
            finite = np.isfinite(times)
            self.n_times += int(finite.sum())
            self.n_missing += int((~finite).sum())
            if not begun and times.size:
                self.first = float(times[0])
                begun = True
            if held or not finite.all():
                places = np.flatnonzero(finite) + held
                if not places.size:
                    held += times.size
                    if held > _MAX_HELD and np.isfinite(last):
                        yield np.full(held, last)
                        held = 0
                    continue
                known = times[finite]
                if np.isfinite(last):
                    places = np.append(-1, places)
                    known = np.append(last, known)
                size = held + times.size
                end = int(places[-1]) + 1
                times = np.interp(np.arange(end), places, known)
                held = size - end
            if times.size:
                last = self.last = float(times[-1])
                yield times
        if held and np.isfinite(last):
            yield np.full(held, last)
