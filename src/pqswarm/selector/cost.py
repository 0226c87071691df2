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

    The first subsets, as many as there are threads, may have had to wait for compiled code: only if they promise less
    than a minute they are believed. Else others are measured, and more of them until that takes long enough.
    """
    generator, count, first = stream(0, ()), n_jobs, True
    while True:
        masks = generator.random((count, evaluator.n_features)) < 0.5
        masks[:, 0] |= ~masks.any(axis=1)
        began = time.perf_counter()
        evaluator.errors(masks)
        took = time.perf_counter() - began
        seconds = took / count * evaluations
        if seconds <= _SLOW or (not first and (took >= _LONG_ENOUGH or count >= _MOST)):
            return seconds
        count, first = count if first else 4 * count, False


def warn_if_slow(evaluator: Any, evaluations: int, n_jobs: int) -> None:
    """Warn of a search that will take more than a minute, and say what can be done."""
    seconds = estimate_seconds(evaluator, evaluations, n_jobs) if evaluations else 0.0
    if seconds > _SLOW:
        warnings.warn(
            f"the search will take about {seconds:.0f} s{_in_words(seconds)}: {evaluations} evaluations at "
            f"{seconds / evaluations:.2g} s each. Limit it by max_time or patience, lower max_evaluations, use more "
            f"n_jobs, or take a faster estimator; Ctrl-C keeps the best subset found. With max_time or verbose this "
            f"warning is not given.",
            stacklevel=4,
        )


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return ""
    return f" ({seconds / 60:.0f} minutes)" if seconds < 7200 else f" ({seconds / 3600:.0f} hours)"
