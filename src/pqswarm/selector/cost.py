"""How long a search will take, before it begins."""

import time
import warnings

from pqswarm._base.random import stream
from pqswarm.evaluation import Choice

__all__ = ["warn_if_slow"]

_SLOW = 60.0  # seconds: a search that takes longer is worth a warning
_BATCH = 32  # subsets, as many as searches ask for at once
_QUICK = 0.05  # seconds: of subsets that take no longer, a batch can be tried


def warn_if_slow(choice: Choice, evaluations: int, n_jobs: int) -> None:
    """Warn of a search that will take more than a minute, by the time of a few subsets, and say what can be done."""
    each = choice.measure() if evaluations else 0.0
    if each * evaluations > _SLOW:  # alone; several at once may be faster
        each = _time_batch(choice) if each <= _QUICK else each / n_jobs
    seconds = each * evaluations
    if seconds > _SLOW:
        warnings.warn(
            f"the search will take about {seconds:.0f} s{_in_words(seconds)}: {evaluations} evaluations at "
            f"{each:.2g} s each. Limit it by max_time or patience, lower max_evaluations, use more n_jobs, or take a "
            f"faster estimator; Ctrl-C keeps the best subset found. No warning with max_time or verbose.",
            stacklevel=4,
        )


def _time_batch(choice: Choice) -> float:
    """Seconds of a subset, in a batch of random ones."""
    masks = stream(0, ()).random((_BATCH, choice.evaluator.n_features)) < 0.5
    began = time.perf_counter()
    choice.evaluator.errors(masks)
    return (time.perf_counter() - began) / _BATCH


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return ""
    return f" ({seconds / 60:.0f} minutes)" if seconds < 7200 else f" ({seconds / 3600:.0f} hours)"
