"""A progress bar."""

import sys
import time
from typing import TextIO

from pqswarm._base.text import count_text
from pqswarm.search.driver import Progress

_WIDTH = 30  # characters of the bar
_PAUSE = 0.1  # minimum seconds between two updates


class ProgressBar:
    """A callback that shows the progress of a search on one line: evaluations, lowest error, subset size, time left.

    Use it in a ``with`` statement, or close it when the search is over; it also ends its line when the budget is spent.

    Parameters
    ----------
    title : str, default="searching"
        Text before the bar.
    file : text stream, default=None
        Where to show it. If None, use standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> from pqswarm.search import minimize
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> with ProgressBar() as bar:
    ...     result = minimize("bpso", evaluator, max_evaluations=120, callback=bar)
    """

    def __init__(self, title: str = "searching", file: TextIO | None = None) -> None:
        self.title = title
        self._file = sys.stderr if file is None else file
        self._began = time.monotonic()
        self._due = 0.0
        self._shown = ""

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the line of the bar."""
        if self._shown:
            self._file.write("\n")
            self._file.flush()
        self._shown = ""

    def __call__(self, progress: Progress) -> None:
        """Show the progress of a search."""
        now = time.monotonic()
        if not self._shown:
            self._began = now
        done = progress.n_evaluations
        is_last = done >= progress.max_evaluations
        if now < self._due and not is_last:
            return
        self._due = now + _PAUSE
        filled = _WIDTH * done // progress.max_evaluations
        left = (now - self._began) / done * (progress.max_evaluations - done)
        text = (
            f"{self.title} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{progress.max_evaluations}, "
            f"{progress.best_text}, {count_text(progress.size, 'feature')}, {left:.0f} s left"
        )
        self._file.write("\r" + text.ljust(len(self._shown)))
        self._file.flush()
        self._shown = text
        if is_last:
            self.close()
