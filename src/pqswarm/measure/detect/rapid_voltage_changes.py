"""Rapid voltage changes: steps of Urms(1/2) that stay within the sag and swell thresholds.

As in IEC 61000-4-30:2015, 5.11, a change starts where Urms(1/2) leaves the mean of the second before it, and ends where
it is steady again. Our choices: a triggered capture may have a shorter past, and noise raises the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.spans import Span
from pqswarm.measure.event import ChannelEvent, ChannelEventMaker, any_channel

_MIN_VALUES = 3  # tuned
"""Values of Urms(1/2) before and after a change, and beyond the threshold."""
_BESIDE = 3  # tuned
"""Values beside a sag or swell that belong to it."""
_NOISE = 5.0  # tuned
"""Times the noise of Urms(1/2) that a change must have."""


@dataclass(frozen=True)
class _VoltageChange:
    """First value of Urms(1/2) beyond the threshold, first steady one; level before, after, and farthest between."""

    first: int
    stop: int
    before: float
    after: float
    extreme: float
    open_end: bool


def find_voltage_changes(
    urms: FloatArray,
    time: FloatArray,
    spans: Sequence[Span],
    frequency: float,
    threshold: float = 0.02,
    make: ChannelEventMaker = any_channel,
) -> list[ChannelEvent]:
    """Find changes of Urms(1/2) [pu] at `time` [s] outside other events; details are ``before`` and ``after`` [pu]."""
    quiet = np.isfinite(urms)
    for span in spans:
        quiet[max(span.first - _BESIDE, 0) : span.stop + _BESIDE] = False
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]])))
    window = max(round(2 * frequency), _MIN_VALUES)
    found: list[_VoltageChange] = []
    for first, stop in zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True):
        found += _voltage_changes(urms[first:stop], first, stop < urms.size, window, threshold)
    return [_change_part(one, time, make) for one in found]


def _change_part(change: _VoltageChange, time: FloatArray, make: ChannelEventMaker) -> ChannelEvent:
    start, end = float(time[change.first]), float(time[min(change.stop, time.size - 1)])
    return make(
        type="rapid voltage change",
        category="rapid voltage change",
        magnitude=100 * (change.extreme - change.before),
        start=start,
        end=end,
        duration=end - start,
        cut_end=change.open_end,
        details={"before": change.before, "after": change.after},
    )


def _voltage_changes(
    values: FloatArray, offset: int, goes_on: bool, window: int, threshold: float
) -> list[_VoltageChange]:
    """Changes in a stretch without events; `goes_on` if an event follows it."""
    if values.size < 2 * _MIN_VALUES + 1:
        return []
    noise = 1.4826 * float(np.median(np.abs(np.diff(values)))) / np.sqrt(2)
    limit = max(threshold * float(np.median(values)), _NOISE * noise)
    total = np.concatenate([[0.0], np.cumsum(values)])
    found = []
    begin = 0
    while begin + _MIN_VALUES < values.size:
        places = np.arange(begin + _MIN_VALUES, values.size)
        low = np.maximum(places - window, begin)
        mean = (total[places] - total[low]) / (places - low)
        beyond = np.abs(values[places] - mean) > limit
        # Some values together: one or two are the shadow of a transient.
        together = np.convolve(beyond, np.ones(_MIN_VALUES), "valid") >= _MIN_VALUES
        if not together.any():
            break
        at = int(together.argmax())
        first = int(places[at])
        before = float(mean[at])
        stop, after = _find_steady_again(values, first, window, limit / 2)
        body = values[first : max(stop, first + 1)]
        far = body[np.abs(body - before).argmax()]
        extreme = float(max((far, after), key=lambda level: abs(level - before)))
        open_end = stop >= values.size and not goes_on
        if abs(extreme - before) > limit:
            found.append(_VoltageChange(offset + first, offset + stop, before, after, extreme, open_end))
        begin = max(stop, first + 1)
    return found


def _find_steady_again(values: FloatArray, first: int, window: int, limit: float) -> tuple[int, float]:
    """First place from which on the values of a second, or all that are left, are steady; and their mean."""
    for place in range(first, values.size - _MIN_VALUES + 1):
        part = values[place : place + window]
        mean = float(part.mean())
        if np.abs(part - mean).max() <= limit:
            return place, mean
    return values.size, float(values[-_MIN_VALUES:].mean())
