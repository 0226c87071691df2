"""How sure a class is, given what the recording allows: noise, background distortion, bandwidth, nominal voltage."""

from collections.abc import Mapping

import numpy as np

from pqswarm.identify.tolerance import RMS
from pqswarm.measure import ChannelResult

# Fitted on 4320 events of another generator than the training events' (research/reliability.py), in the units of the
# terms below; tuned.
_BASE = 2.25
_MEASURED = 0.52
_MODEL = 0.63
_HARMONICS = 0.31
_TRANSIENT = -1.5
_INTERRUPTION = 2.64
_NOISE_MEASURED = 0.05
_NOISE_MODEL = -1.33
_LOUD_MEASURED = -1.2
_LOUD_MODEL = -0.22
_LOUD_NARROW = -0.9
_LOUD_FLICKER = -3.3
_NARROW = -0.41
_DISTORTED = -0.64
_GUESSED = -0.32
_LOUD = 0.3
"""Noise above which more of it counts more: 2 % of the peak, in decades above 1 %."""
_USUAL_NOISE = 0.005
"""Of a recording in which it could not be measured [pu of the peak]."""
_NARROW_SAMPLES = 80.0
"""Samples per cycle below which the bandwidth is narrow; half of that is very narrow."""
_BACKGROUND = (0.02, 0.06)
"""THD that may be taken for harmonics or not."""


def calibrate_shares(
    shares: Mapping[str, float], event_type: str, result: ChannelResult, samples_per_cycle: float
) -> dict[str, float]:
    """Return the probabilities of the classes of an event, calibrated for its recording.

    The class of a sag, swell or interruption is measured, and its raw probability is 1. The others keep their
    proportions.
    """
    best, raw = next(iter(shares.items()))
    thd = 0.0 if result.spectrum is None else result.spectrum.thd_above_noise
    noise = float(np.log10(np.clip(result.noise if result.noise == result.noise else _USUAL_NOISE, 1e-3, 0.1))) + 2
    loud = max(noise - _LOUD, 0.0)
    score = _BASE + _NARROW * (samples_per_cycle < _NARROW_SAMPLES)
    score += _LOUD_NARROW * loud * (samples_per_cycle < _NARROW_SAMPLES / 2)
    score += _GUESSED * (result.reference_source not in ("nominal", "given"))
    if event_type in RMS:
        score += (
            _MEASURED + _NOISE_MEASURED * noise + _LOUD_MEASURED * loud + _INTERRUPTION * (event_type == "interruption")
        )
        score += _HARMONICS * best.endswith("harmonics") + _TRANSIENT * best.endswith("transient")
    else:
        clipped = min(max(raw, 0.02), 0.995)
        score += _MODEL * float(np.log(clipped / (1 - clipped))) + _NOISE_MODEL * noise + _LOUD_MODEL * loud
        score += _DISTORTED * (_BACKGROUND[0] < thd < _BACKGROUND[1]) + _LOUD_FLICKER * loud * (event_type == "flicker")
    sure = float(1 / (1 + np.exp(-score)))
    others = (1 - sure) / (1 - raw) if raw < 1 else 0.0
    found = {name: sure if name == best else min(share * others, sure) for name, share in shares.items()}
    return {name: round(share, 6) for name, share in found.items()}
