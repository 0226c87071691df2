"""Harmonics before and during a sag, a swell or a rapid voltage change."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.steady.harmonics import fit_harmonics
from pqswarm.measure.supply.survey import Supply
from pqswarm.recordings.recording import RecordingSource

_ORDERS = 13
"""Highest order."""
_CYCLES = 2
"""Cycles of a measurement."""
_BEFORE = -3.5  # tuned
_AFTER = 1.25  # tuned
_LATER = 4.25  # tuned
"""Starts of the measurements, from the start of the event [cycles]; off its edges."""
_EDGE = 0.25  # tuned
"""Least distance of a measurement from the end of the event [cycles]."""
_CERTAIN = 3.0
"""Standard deviations of noise beyond which harmonics are not noise."""
_MORE = 0.01  # tuned
"""Rise of the harmonics that is not that of a small fundamental [pu of 1 pu]."""


def rises_in_thd(details: Mapping[str, float], thd: float) -> bool:
    """Whether harmonics appear during an event: the THD rises above a limit, by harmonics that were not there before.

    If what was before is not known, harmonics over 1 pu count: those of the supply do not shrink with a sag.
    """
    during = details.get("distortion_during", 0.0)
    ratio = details.get("thd_during", 0.0)
    if "distortion_before" not in details:
        return during > thd
    return ratio > thd and during - details["distortion_before"] > _MORE


@dataclass(frozen=True, eq=False)
class Distortion:
    """Measures the harmonics of supply voltages at the start of events."""

    recording: RecordingSource
    supply: Supply

    def measure(self, i: int, start: float, end: float) -> dict[str, float]:
        """Harmonics of channel `i` before and during an event [pu of 1 pu], as far as there are enough cycles.

        ``thd_before``, ``thd_during`` are the RMS of the orders 2 to 13 over the fundamental, ``distortion_before``,
        ``distortion_during`` the same over 1 pu, and ``second_before``, ``second_during`` the second harmonic. During
        the event the lower of two measurements counts: what a step leaves decays.
        """
        cycle = 1 / self.supply.frequency
        before = self._at(i, start + _BEFORE * cycle)
        before = self._at(i, end + _EDGE * 2 * cycle) if before is None else before  # the record starts too late
        later = [self._at(i, start + offset * cycle, end - _EDGE * cycle) for offset in (_AFTER, _LATER)]
        during = [one for one in later if one is not None]
        details = {}
        lower = min(during, key=lambda one: float(one[1]), default=None)
        for name, sizes in (("before", before), ("during", lower)):
            if sizes is None:
                continue
            rest = float(np.sqrt(np.sum(sizes[1:] ** 2)))
            details[f"thd_{name}"] = rest / float(sizes[0]) if sizes[0] > 0 else 0.0
            details[f"distortion_{name}"] = rest
            details[f"second_{name}"] = float(sizes[1])
        return {name: round(value, 5) for name, value in details.items()}

    def _at(self, i: int, moment: float, end: float = np.inf) -> FloatArray | None:
        """Sizes of the orders 1, 2, ... in two cycles from a moment on [pu]; None if they are not all there."""
        rate = self.recording.sampling_rate
        cycle = self.recording.sampling_rate / self.supply.frequency
        orders = min(_ORDERS, int(0.45 * cycle))
        first = round(moment * rate)
        size = round(_CYCLES * cycle)
        if first < 0 or first + size > min(self.recording.n_samples, end * rate) or orders < 2:
            return None
        (samples,) = read_channels(self.recording, [self.supply.numbers[i]], first, first + size)
        volts = self.supply.references[i].volts
        if not np.isfinite(samples).all() or not volts > 0:
            return None
        _, phasors, noise = fit_harmonics(samples / (np.sqrt(2) * volts), cycle, orders, _CYCLES)
        squares = np.abs(phasors) ** 2
        by_noise = 4 * noise**2  # mean square of an amplitude that only noise makes
        if float(np.sum(squares[1:])) - (orders - 1) * by_noise < (_CERTAIN * np.sqrt(orders - 1) * by_noise):
            squares[1:] = 0.0
        return np.asarray(np.sqrt(np.maximum(squares - by_noise, 0.0)))
