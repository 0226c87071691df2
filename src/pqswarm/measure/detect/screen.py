"""A fast screening of a long signal for possible transients.

Comparing each sample with six other cycles costs a hundred times as much as reading it. A long recording is therefore
compared only where a sample differs from the one a cycle before by half of the threshold; our choice.
"""

import numpy as np

from pqswarm._base.typing import FloatArray

_SHARE = 0.5  # tuned
"""Fraction of the threshold."""
_USUAL = 1.6  # tuned
"""Multiple of the usual difference, in a noisy signal."""
_BEFORE, _AFTER = 7.0, 9.0  # tuned
"""Cycles around a suspect that are examined closely."""


def find_suspects(signal: FloatArray, cycle: float, threshold: float) -> list[tuple[int, int]]:
    """Stretches [samples] in which a transient of at least `threshold` could be; `cycle` is its length [samples]."""
    whole = int(cycle)
    part = cycle - int(cycle)
    later = signal[whole + 1 :]
    change = later - (1 - part) * signal[1 : 1 + later.size] - part * signal[: later.size]
    width = max(round(cycle / 4), 2)
    n_blocks = change.size // width
    if n_blocks < 8:
        return [(0, signal.size)]
    # What is slow, a change of the supply, is a straight line in a quarter of a cycle.
    blocks = change[: n_blocks * width].reshape(n_blocks, width)
    ramp = np.linspace(-1.0, 1.0, width)
    slope = np.einsum("ij,j->i", blocks, ramp) / float(ramp @ ramp)
    rest = blocks - blocks.mean(axis=1, keepdims=True)
    rest -= slope[:, np.newaxis] * ramp
    largest = np.abs(rest, out=rest).max(axis=1)
    limit = max(_SHARE * threshold, _USUAL * float(np.median(largest)))
    loud = np.flatnonzero(largest > limit)
    if not loud.size:
        return []
    before, after = round(_BEFORE * cycle), round(_AFTER * cycle)
    firsts = loud * width + whole + 1 - before
    stops = loud * width + whole + 1 + after
    cuts = np.flatnonzero(firsts[1:] > stops[:-1])
    return [
        (max(int(first), 0), min(int(stop), signal.size))
        for first, stop in zip(firsts[np.r_[0, cuts + 1]], stops[np.r_[cuts, loud.size - 1]], strict=True)
    ]
