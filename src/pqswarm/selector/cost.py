"""How long a search will take, before it begins."""

import warnings

from pqswarm.evaluation import Choice

__all__ = ["warn_if_slow"]

_SLOW = 60.0  # seconds: a search that takes longer is worth a warning


def warn_if_slow(choice: Choice, evaluations: int, n_jobs: int) -> None:
    """Warn of a search that will take more than a minute, by the time of a few subsets, and say what can be done."""
    if not evaluations:
        return
    each = choice.measure() / (n_jobs if choice.name == "GenericEvaluator" else 1)
    seconds = each * evaluations
    if seconds > _SLOW:
        warnings.warn(
            f"the search will take about {seconds:.0f} s{_in_words(seconds)}: {evaluations} evaluations at "
            f"{each:.2g} s each. Limit it by max_time or patience, lower max_evaluations, use more n_jobs, or take a "
            f"faster estimator; Ctrl-C keeps the best subset found. No warning with max_time or verbose.",
            stacklevel=4,
        )


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return ""
    return f" ({seconds / 60:.0f} minutes)" if seconds < 7200 else f" ({seconds / 3600:.0f} hours)"
