"""Early stopping, as a callback of a selector."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pqswarm._base.checks import check_integer, check_positive
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.search import Progress
    from pqswarm.selector.search_loop import SelectorProgress


class EarlyStopping:
    """Stop a search at a score, after evaluations that hardly raised it, or after some time.

    Parameters
    ----------
    score : float, default=None
        Stop when the best score reaches this.
    patience : int, default=None
        Stop when the score has risen by at most `tolerance` over this many evaluations.
    tolerance : float, default=0.0
        Rises of the score up to this do not count.
    max_time : float, default=None
        Seconds from the start of `fit` after which the search stops, within the time of one evaluation. At least one
        subset is evaluated.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm import SwarmSelector
    >>> selector = SwarmSelector(callbacks=EarlyStopping(score=0.95), random_state=0).fit(*load_wine(return_X_y=True))
    >>> selector.stop_reason_
    'callback'
    """

    def __init__(
        self,
        score: float | None = None,
        patience: int | None = None,
        tolerance: float = 0.0,
        max_time: float | None = None,
    ) -> None:
        if score is None and patience is None and max_time is None:
            raise PqswarmError("give a score, a patience or a max_time: without them nothing stops early.")
        self.score = score
        self.patience = None if patience is None else check_integer("patience", patience, 1)
        self.tolerance = tolerance
        self.max_time = None if max_time is None else check_positive("max_time", max_time, unit="of seconds")
        self._best = -float("inf")
        self._since = 0

    def __call__(self, progress: "SelectorProgress") -> bool:
        """Return whether to stop; the time is watched by the search."""
        if progress.n_evaluations < self._since or progress.score > self._best + self.tolerance:
            self._best = progress.score
            self._since = progress.n_evaluations
        idle = self.patience is not None and progress.n_evaluations - self._since >= self.patience
        return idle or (self.score is not None and progress.score >= self.score)


def check_callbacks(given: Any) -> "list[Callable[[Progress], object]]":
    """Return the callbacks of a selector as a list."""
    if given is None:
        return []
    callbacks = list(given) if isinstance(given, list | tuple) else [given]
    if not all(callable(callback) for callback in callbacks):
        raise PqswarmError(f"callbacks must be a function, a list of functions or None, not {given!r}.")
    return callbacks


def deadline_of(callbacks: Iterable[object]) -> float | None:
    """Return the time of ``time.monotonic`` at which the first `max_time` of the callbacks is over, from now on."""
    limits = [callback.max_time for callback in callbacks if isinstance(callback, EarlyStopping)]
    seconds = [limit for limit in limits if limit is not None]
    return time.monotonic() + min(seconds) if seconds else None
