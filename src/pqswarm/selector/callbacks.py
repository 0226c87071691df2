"""Ready-made callbacks of a selector: early stopping, and a log as CSV."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pqswarm._base.checks import check_integer
from pqswarm._base.text import disarm
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.selector.searching import SelectorProgress


class EarlyStopping:
    """Stop at a score, or after evaluations that raised it by less than a tolerance.

    Parameters
    ----------
    score : float, optional
        Stop when the best score reaches this.
    patience : int, optional
        Stop when the score has risen by less than `tolerance` over this many evaluations of all runs together.
    tolerance : float
        Smallest rise that counts.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm import SwarmSelector
    >>> selector = SwarmSelector(callback=[EarlyStopping(score=0.95)], random_state=0).fit(*load_wine(return_X_y=True))
    >>> selector.stop_reason_
    'callback'
    """

    def __init__(self, score: float | None = None, patience: int | None = None, tolerance: float = 0.0) -> None:
        if score is None and patience is None:
            raise PqswarmError("give a score or a patience: without both nothing stops early.")
        self.score, self.tolerance = score, tolerance
        self.patience = None if patience is None else check_integer("patience", patience, 1)
        self._best, self._since = -float("inf"), 0

    def __call__(self, progress: "SelectorProgress") -> bool:
        """Return whether to stop."""
        if progress.n_evaluations < self._since or progress.score > self._best + self.tolerance:
            self._best, self._since = progress.score, progress.n_evaluations
        idle = self.patience is not None and progress.n_evaluations - self._since >= self.patience
        return idle or (self.score is not None and progress.score >= self.score)


class CsvLog:
    """Append a row to a CSV file after each batch: evaluations, seconds, score, size, features.

    Parameters
    ----------
    path : str or Path
        The file; a new one starts with a header.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm import SwarmSelector
    >>> with TemporaryDirectory() as folder:
    ...     log = CsvLog(Path(folder, "log.csv"))
    ...     selector = SwarmSelector(callback=log, max_evaluations=100).fit(*load_wine(return_X_y=True))
    ...     print(Path(folder, "log.csv").read_text().splitlines()[0])
    evaluations,seconds,score,size,features
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __call__(self, progress: "SelectorProgress") -> None:
        """Append a row."""
        features = "; ".join(str(disarm(str(name))) for name in progress.features)
        row = (progress.n_evaluations, round(progress.elapsed, 3), progress.score, progress.size, features)
        is_new = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(["evaluations", "seconds", "score", "size", "features"])
            writer.writerow(row)
