"""Drive one run, or many in lockstep: ask, evaluate, tell, until the budget is spent; and show the progress."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import Search, SearchParameters, checked_errors
from pqswarm.search.registry import search_class
from pqswarm.search.run import Run, SearchResult

_WIDTH = 30  # characters of a progress bar
_PAUSE = 0.1  # minimum seconds between two of its updates


class Evaluates(Protocol):
    """The part of an evaluator that a search uses."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def errors(self, masks: BoolArray) -> FloatArray:
        """Return the error of each subset."""


@dataclass(frozen=True, repr=False)
class Progress:
    """Progress of runs, for callbacks; it prints as a sentence.

    Attributes
    ----------
    runs : tuple of Run
        The runs, for details.
    n_evaluations, max_evaluations : int
        Evaluated subsets and budget, over all runs.
    """

    runs: tuple[Run, ...]
    n_evaluations: int
    max_evaluations: int

    @property
    def leader(self) -> Run:
        """The run with the lowest error so far."""
        return min(self.runs, key=lambda run: run.best_error)

    @property
    def error(self) -> float:
        """Lowest error so far."""
        return self.leader.best_error

    @property
    def mask(self) -> BoolArray:
        """The subset with that error."""
        return self.leader.best.copy()

    @property
    def size(self) -> int:
        """Number of features of that subset."""
        return int(self.mask.sum())

    @property
    def best_text(self) -> str:
        """The best value so far, such as ``"error 0.02"``."""
        return f"error {self.error:.4g}"

    def __repr__(self) -> str:
        done = f"{self.n_evaluations} of {self.max_evaluations} evaluations"
        return f"{done}: {self.best_text} with {count_text(self.size, 'feature')}"


Callback = Callable[[Progress], object]
"""Called after each batch of evaluations; the search stops if it returns True."""


def advance_runs(runs: Iterable[Run], evaluator: Evaluates) -> None:
    """Advance every active run by one batch, with one call of the evaluator.

    Parameters
    ----------
    runs : iterable of Run
        Runs that share the evaluator.
    evaluator : Evaluator
        Evaluates the subsets.
    """
    active = [run for run in runs if not run.done]
    for group in ([run for run in active if not run.blocks], [run for run in active if run.blocks]):
        if not group:
            continue
        batches = [run.next_masks() for run in group]
        errors = evaluate_batches(group, batches, evaluator)
        end = 0
        for run, batch in zip(group, batches, strict=True):
            start = end
            end += len(batch)
            run.take(batch, errors[start:end], batch.sum(axis=1))


def evaluate_batches(runs: Sequence[Run], batches: Sequence[BoolArray], evaluator: Any) -> FloatArray:
    """Return the checked errors of a batch of each run, or the outcome of a race by the limits of each search."""
    masks = np.concatenate(batches)
    raced = bool(runs[0].blocks)
    if raced:
        rules = [run.search.race_limits() for run in runs]
        lengths = [len(batch) for batch in batches]
        first = np.repeat([block for block, _ in rules], lengths)
        outcome = evaluator.raced(masks, first, np.repeat([limits for _, limits in rules], lengths, axis=0))
    else:
        outcome = evaluator.errors(masks)
    shape = np.shape(outcome)
    if shape != ((len(masks), 4) if raced else (len(masks),)):
        raise PqswarmError(f"the evaluator returned errors of shape {shape} for {len(masks)} masks.")
    return checked_errors(outcome, len(masks), raced=raced)


def evaluations_of(runs: Iterable[Run]) -> int:
    """Return the evaluations of runs so far."""
    return sum(run.n_evaluations for run in runs)


def budget_of(runs: Iterable[Run]) -> int:
    """Return the evaluations that runs will have at their end: a search that has finished needs no more."""
    return sum(run.n_evaluations if run.done else run.max_evaluations for run in runs)


def minimize(
    algorithm: str | type[Search],
    evaluator: Evaluates,
    max_evaluations: int = 6000,
    seed: int = 0,
    callback: Callback | None = None,
    *,
    parameters: SearchParameters | Mapping[str, Any] | None = None,
) -> SearchResult:
    """Search for the feature subset with the lowest error.

    Parameters
    ----------
    algorithm : str or type
        A name in :data:`ALGORITHMS`, a subclass of :class:`Search`, or its import path, ``"my_module:MySearch"``.
    evaluator : Evaluator
        Any object with `n_features` and ``errors(masks)``. MERIT also uses `blocks` and `raced` of an evaluator.
    max_evaluations : int, default=6000
        Exact number of subsets to evaluate, unless the algorithm finishes earlier; see :class:`Run`.
    seed : int, default=0
        The same seed gives the same result.
    callback : callable, default=None
        Called with :class:`Progress` after each batch; the search stops if it returns True.
    parameters : SearchParameters, mapping or None, default=None
        Parameters of the algorithm; the others keep their defaults.

    Returns
    -------
    SearchResult
        The best evaluated subset.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, KNNEvaluator, CachedEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = CachedEvaluator(KNNEvaluator(X, y, Folds.stratified(y)))
    >>> result = minimize("2d-upso", evaluator, max_evaluations=300, parameters={"swarm_size": 20})
    >>> result.n_evaluations, result.error < 0.03
    (300, True)
    """
    return minimize_many(algorithm, evaluator, [seed], max_evaluations, callback, parameters=parameters)[0]


def minimize_many(
    algorithm: str | type[Search],
    evaluator: Evaluates,
    seeds: Iterable[int],
    max_evaluations: int = 6000,
    callback: Callback | None = None,
    *,
    parameters: SearchParameters | Mapping[str, Any] | None = None,
) -> list[SearchResult]:
    """Search several times in lockstep, with joint batches of evaluations.

    The results are those of :func:`minimize` with each seed.

    Parameters
    ----------
    algorithm, evaluator, max_evaluations, callback, parameters
        See :func:`minimize`; the budget is per run.
    seeds : iterable of int
        The seed of each run.

    Returns
    -------
    list of SearchResult
        One result per seed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> len(minimize_many("ga", evaluator, seeds=[0, 1, 2], max_evaluations=60))
    3
    """
    search = search_class(algorithm)
    blocks = tuple(getattr(evaluator, "blocks", ()))
    runs = tuple(Run(search(evaluator.n_features, seed, parameters), max_evaluations, blocks) for seed in seeds)
    while not all(run.done for run in runs):
        advance_runs(runs, evaluator)
        if callback is not None:
            stop = callback(Progress(runs, evaluations_of(runs), budget_of(runs)))
            if isinstance(stop, bool | np.bool_) and stop:
                break
    return [run.result() for run in runs]


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
