"""How sure a class is, given what the recording allows: noise, background distortion, bandwidth, nominal voltage."""

from collections.abc import Mapping

import numpy as np

from pqswarm.identify.show.curves import RMS
from pqswarm.measure import ChannelResult

# Fitted on 5760 events of another generator than the training events', in the units of the terms below; tuned.
_BASE, _MEASURED, _MODEL = 1.01, 1.27, 0.67
_HARMONICS, _TRANSIENT, _INTERRUPTION, _NOTHING = 0.72, -1.5, 2.99, -0.85
_NOISE_MEASURED, _NOISE_MODEL, _NOISE_NOTHING = -0.67, -0.42, -0.44
_NARROW, _DISTORTED, _GUESSED = -0.25, -0.73, -0.06
_NARROW_SAMPLES = 80.0
"""Samples per cycle below which the bandwidth is narrow."""
_BACKGROUND = (0.02, 0.06)
"""THD that may be taken for harmonics or not."""


def calibrate_shares(
    shares: Mapping[str, float], kind: str, result: ChannelResult, samples_per_cycle: float
) -> dict[str, float]:
    """Return the probabilities of the classes of an event, calibrated for its recording.

    The class of a sag, swell or interruption is measured, and its raw probability is 1. The others keep their
    proportions.
    """
    best, raw = next(iter(shares.items()))
    thd, noise = (0.0, 0.0) if result.spectrum is None else (result.spectrum.thd, _noise(result.spectrum.least_thd))
    score = _BASE + _NARROW * (samples_per_cycle < _NARROW_SAMPLES)
    score += _GUESSED * (result.reference_source not in ("nominal", "given"))
    if kind in RMS:
        score += _MEASURED + _NOISE_MEASURED * noise + _INTERRUPTION * (kind == "interruption")
        score += _HARMONICS * best.endswith("harmonics") + _TRANSIENT * best.endswith("transient")
    else:
        clipped = min(max(raw, 0.02), 0.995)
        score += _MODEL * float(np.log(clipped / (1 - clipped))) + _NOISE_MODEL * noise
        score += _DISTORTED * (_BACKGROUND[0] < thd < _BACKGROUND[1])
        score += (_NOTHING + _NOISE_NOTHING * noise) * (kind == "none")
    sure = float(1 / (1 + np.exp(-score)))
    others = (1 - sure) / (1 - raw) if raw < 1 else 0.0
    found = {name: sure if name == best else min(share * others, sure) for name, share in shares.items()}
    return {name: round(share, 6) for name, share in found.items()}


def _noise(least_thd: float) -> float:
    """Noise in decades above that which alone would show a THD of 1 %, from -1 to 1."""
    return float(np.log10(np.clip(least_thd, 1e-3, 0.1))) + 2
