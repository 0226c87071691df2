"""Steady disturbances of a channel: harmonics, offset, notching, flicker."""

from collections.abc import Sequence

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.recordings._char_rms import Span
from pqswarm.recordings.characterisation import Thresholds
from pqswarm.recordings.harmonics import Spectrum, count_notches, find_flicker

__all__ = ["find_flags"]

_MOST_FLICKER_VALUES = 800


def find_flags(
    where: str,
    wave: FloatArray,
    urms: FloatArray,
    spans: Sequence[Span],
    spectrum: Spectrum,
    reference: float,
    sampling_rate: float,
    frequency: float,
    thresholds: Thresholds,
) -> list[tuple[str, float, str]]:
    """Kind, value and sentence of each; `wave` is in pu of the peak, `urms` in pu of the RMS of the `reference` [V]."""
    flags: list[tuple[str, float, str]] = []
    if spectrum.thd > thresholds.thd:
        order = int(np.argmax(spectrum.harmonics)) + 2
        text = f"harmonics on {where}, THD {100 * spectrum.thd:.1f} %"
        flags.append(
            ("harmonics", spectrum.thd, f"{text}, most of order {order} ({100 * max(spectrum.harmonics):.1f} %)")
        )
    offset = spectrum.dc / (np.sqrt(2) * reference)
    if abs(offset) > thresholds.dc:
        flags.append(("DC offset", offset, f"DC offset on {where}, {offset:.3f} pu"))
    notches = count_notches(wave, sampling_rate, frequency, spectrum.start, spectrum.cycles, least=thresholds.notch)
    if notches:
        flags.append(("notching", float(notches), f"notching on {where}, {notches} per cycle"))
    flicker = find_flicker(_quiet(urms, spans), frequency, least=thresholds.flicker)
    if flicker:
        text = f"flicker on {where}, {100 * flicker[1]:.1f} % deep at {flicker[0]:.1f} Hz"
        flags.append(("flicker", flicker[1], text))
    return flags


def _quiet(urms: FloatArray, spans: Sequence[Span]) -> FloatArray:
    """The longest stretch of Urms(1/2) without an event or an unknown value."""
    calm = np.isfinite(urms)
    for span in spans:
        calm[max(span.first - 3, 0) : span.stop + 3] = False
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], calm, [False]])))
    if not bounds.size:
        return np.empty(0)
    first, stop = max(zip(bounds[::2], bounds[1::2], strict=True), key=lambda pair: int(pair[1] - pair[0]))
    if spans and 2 * (stop - first) < urms.size:  # a swinging grid is no flicker
        return np.empty(0)
    return urms[first : min(stop, first + _MOST_FLICKER_VALUES)]
