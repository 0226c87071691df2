"""How long a search will take, before it begins."""

import time
import warnings
from typing import Any

from pqswarm._random import stream

__all__ = ["estimate_seconds", "warn_if_slow"]

_SLOW = 60.0  # seconds: a search that takes longer is worth a warning
_LONG_ENOUGH = 0.5  # seconds: a measurement of that length is believed
_MOST = 64


def estimate_seconds(evaluator: Any, evaluations: int, n_jobs: int) -> float:
    """Return about how many seconds so many evaluations take, from a few random subsets of half the features.

    The first subsets are as many as there are threads. Only if they promise more than a minute, and took so little
    time that it may have been that of loading compiled code, more are measured.
    """
    generator, count = stream(0, ()), n_jobs
    while True:
        masks = generator.random((count, evaluator.n_features)) < 0.5
        masks[:, 0] |= ~masks.any(axis=1)
        began = time.perf_counter()
        evaluator.errors(masks)
        took = time.perf_counter() - began
        seconds = took / count * evaluations
        if seconds <= _SLOW or count >= _MOST or (count > n_jobs and took >= _LONG_ENOUGH) or took >= 4 * _LONG_ENOUGH:
            return seconds
        count = min(4 * count, _MOST)


def warn_if_slow(evaluator: Any, evaluations: int, n_jobs: int) -> None:
    """Warn of a search that will take more than a minute, and say what can be done."""
    seconds = estimate_seconds(evaluator, evaluations, n_jobs)
    if seconds <= _SLOW:
        return
    length = f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min" if seconds < 36000 else f"{seconds / 3600:.0f} h"
    warnings.warn(
        f"the search will take about {length}: {evaluations} evaluations at {seconds / evaluations:.2g} s each. Limit "
        f"it by max_time or patience, lower max_evaluations, use more n_jobs, or take a faster estimator; Ctrl-C keeps "
        f"the best subset found. No warning is given if max_time or verbose is set.",
        stacklevel=4,
    )
