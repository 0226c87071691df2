"""Sampling rates of time stamps that are rounded or have gaps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray

_PIECE = 65536
"""Stamps processed together; the median of the first ones is the usual step."""


def find_rate_of_stamps(
    pieces: Iterable[FloatArray], notes: list[str], find_unit: Callable[[float], float] = lambda _: 1.0
) -> tuple[float, slice, float]:
    """Return the sampling rate [Hz] of time stamps [s], the longest section without a gap, and its first time [s].

    The rate is 0 if there is none; the time is counted from the first stamp. Rounded stamps are averaged over the
    section; a rate that is an integer within the rounding is rounded to it. Findings are added to the notes. If the
    unit is unknown, `find_unit` takes the samples per unit and returns the units per second.
    """
    stretches = _StampStretches()
    for piece in _stamps_in_pieces(pieces):
        stretches.take(piece)
    return stretches.rate(notes, find_unit)


@dataclass
class _StampStretch:
    """Stamps `first` to `stop` - 1, without a gap; `points` are some, the most uneven ones included."""

    first: int
    stop: int
    begin: float
    end: float
    points: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)

    def add(self, times: FloatArray) -> None:
        """Append stamps."""
        at = np.array([0, times.size - 1])
        if times.size > 2:
            line = times[0] + (times[-1] - times[0]) / (times.size - 1) * np.arange(times.size)
            at = np.append(at, [np.argmin(times - line), np.argmax(times - line)])
        self.points.append(((at + self.stop).astype(np.float64), times[at]))
        self.stop += times.size
        self.end = float(times[-1])


class _StampStretches:
    """State of the search after some stamps."""

    def __init__(self) -> None:
        self.n = self.n_gaps = 0
        self.first = self.last = self.typical = 0.0
        self.smallest = np.inf
        self.largest = -np.inf
        self.valid = True
        self.current: _StampStretch | None = None
        self.longest: _StampStretch | None = None

    def take(self, times: FloatArray) -> None:
        """Process the next stamps."""
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.diff(times) if self.n == 0 else np.diff(times, prepend=self.last)
        if not (self.valid and np.isfinite(times).all() and np.isfinite(steps).all()):
            self.valid = False
            self.n += times.size
            return
        if self.n == 0:
            self.first = float(times[0])
            self.typical = float(np.median(steps)) if steps.size else 0.0
        self.smallest = min(self.smallest, float(steps.min(initial=np.inf)))
        self.largest = max(self.largest, float(steps.max(initial=-np.inf)))
        is_gap = (steps > 2.5 * self.typical) | (steps < -0.5 * self.typical)
        gaps = np.flatnonzero(is_gap & (self.typical > 0)) + (self.n == 0)
        self.n_gaps += gaps.size
        edges = [0, *gaps.tolist(), times.size]
        lengths = np.diff(edges)
        # Of the stretches that begin and end here, the longest is enough.
        inner = [1 + int(lengths[1:-1].argmax())] if lengths.size > 2 else []
        for k in dict.fromkeys([0, *inner, lengths.size - 1]):
            if k:
                self._close()
            self._extend(times[edges[k] : edges[k + 1]], self.n + edges[k])
        self.n += times.size
        self.last = float(times[-1])

    def _extend(self, times: FloatArray, first: int) -> None:
        if times.size:
            if self.current is None:
                self.current = _StampStretch(first, first, float(times[0]), 0.0)
            self.current.add(times)

    def _close(self) -> None:
        stretches = [stretch for stretch in (self.longest, self.current) if stretch is not None]
        self.longest = max(stretches, key=lambda stretch: stretch.stop - stretch.first, default=None)
        self.current = None

    def rate(self, notes: list[str], find_unit: Callable[[float], float]) -> tuple[float, slice, float]:
        """Rate [Hz], the longest section, and its time from the first stamp [s]."""
        self._close()
        kept = self.longest
        nothing = 0.0, slice(0, self.n), 0.0
        if self.n < 2 or not self.valid or kept is None:
            return nothing
        if self.typical <= 0:
            # Stamps coarser than the sampling: many equal ones, then a step.
            mean = (self.last - self.first) / (self.n - 1)
            if mean <= 0 or self.smallest < 0 or self.largest > 100 * mean:
                return nothing
            notes.append("The time stamps are coarser than the sampling: the rate is their mean.")
        elif self.n_gaps:
            notes.append(
                f"The time stamps have {count_text(self.n_gaps, 'gap')}: of {self.n} samples, the longest section "
                f"without one, {kept.stop - kept.first}, is used."
            )
        span = kept.end - kept.begin
        count = kept.stop - kept.first - 1
        if count < 1 or not span > 0 or not np.isfinite(count / span):
            return nothing
        rate = count / span
        rounding = max(float(np.max(np.abs(t - kept.begin - (at - kept.first) / rate))) for at, t in kept.points)
        per_second = find_unit(rate)
        rate = rate * per_second
        span = span / per_second
        rounding = rounding / per_second
        tolerance = rate * (2 * rounding / span + 1e-9)
        # The roundest number within the rounding: 6400 rather than 6399; at least three digits are kept.
        for unit in (100.0, 10.0, 1.0, 0.1):
            nearest = round(rate / unit) * unit
            if rate >= 100 * unit and abs(nearest - rate) <= tolerance:
                rate = float(nearest)
                break
        if rounding > 0.6 / rate:
            notes.append("The time stamps are uneven: the rate is their mean.")
        return rate, slice(kept.first, kept.stop), (kept.begin - self.first) / per_second


def _stamps_in_pieces(pieces: Iterable[FloatArray]) -> Iterator[FloatArray]:
    """The stamps in pieces of one size: the result must not depend on how they arrive."""
    held = np.empty(0)
    for piece in pieces:
        held = np.append(held, piece)
        while held.size >= _PIECE:
            yield held[:_PIECE]
            held = held[_PIECE:]
    if held.size:
        yield held
