"""A progress bar."""

from typing import Any

from pqswarm._base.text import count_text
from pqswarm.search.driver import Progress


class ProgressBar:
    """A callback that shows the progress of a search: evaluations, lowest error, subset size, time left.

    Use it in a ``with`` statement, or close it when the search is over.

    Parameters
    ----------
    title : str
        Text before the bar.
    console : rich.console.Console, optional
        Where to show it; standard error by default.

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

    def __init__(self, title: str = "searching", console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}"),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._bars.add_task(title, total=None, found="")

    def __enter__(self) -> "ProgressBar":
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop updating the bar."""
        self._bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the progress of a search."""
        self._bars.start()
        self._bars.update(
            self._task,
            completed=progress.n_evaluations,
            total=progress.max_evaluations,
            found=f"{progress.best_text}, {count_text(progress.size, 'feature')}",
        )
