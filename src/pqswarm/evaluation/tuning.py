"""The paper's grid search for the hyperparameters of both classifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.base import Evaluator, Scaling
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.knn import METRICS, KNNEvaluator
from pqswarm.evaluation.naive_bayes import KernelNBEvaluator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["GridSearch", "tune_kernel_nb", "tune_knn"]

DEFAULT_METRICS = (*METRICS, "cosine")
DEFAULT_WIDTHS = tuple(sorted({*(float(f"{width:.2g}") for width in np.logspace(-4, 0, 21)), 0.004}))


@dataclass(frozen=True, eq=False)
class GridSearch:
    """The mean accuracy over the folds, of all features, at each point of a grid.

    Attributes
    ----------
    names : tuple of str
        The hyperparameters.
    points : tuple of tuple
        Their values.
    accuracies : ndarray of shape (n_points,)
        Mean accuracy over the folds at each point.
    """

    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]
    accuracies: FloatArray

    @property
    def best(self) -> dict[str, Any]:
        """The hyperparameters of the highest accuracy, the first of equals."""
        return dict(zip(self.names, self.points[int(self.accuracies.argmax())], strict=True))

    def table(self) -> list[dict[str, Any]]:
        """Return one row per point: the hyperparameters and the accuracy."""
        return [
            {**dict(zip(self.names, point, strict=True)), "accuracy": float(accuracy)}
            for point, accuracy in zip(self.points, self.accuracies, strict=True)
        ]

    def plot(self) -> "Figure":
        """Draw accuracy against the number of neighbours, a line per distance, or against the kernel width."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.0, 4.0), layout="constrained")
        axis = figure.subplots()
        lines = dict.fromkeys(point[0] if len(point) > 1 else "" for point in self.points)
        for name in lines:
            chosen = [i for i, point in enumerate(self.points) if len(point) == 1 or point[0] == name]
            x = [self.points[i][-1] for i in chosen]
            axis.plot(x, 100 * self.accuracies[chosen], marker="o", ms=4, lw=1.2, label=name or None)
        best = int(self.accuracies.argmax())
        axis.plot(self.points[best][-1], 100 * self.accuracies[best], "o", ms=13, mfc="none", mec="black", label="best")
        if self.names[-1] == "width":
            axis.set_xscale("log")
            axis.set_xlabel("kernel width")
        else:
            axis.set_xlabel("neighbours")
            axis.set_xticks(sorted({point[-1] for point in self.points}))
        axis.set_ylabel("mean accuracy over the folds [%]")
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
        return figure


def tune_knn(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    folds: Folds,
    n_neighbors: Sequence[int] = tuple(range(1, 16)),
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    scaling: Scaling = "once",
    n_jobs: int | None = None,
) -> GridSearch:
    """Search the number of neighbours and the distance of a k-NN classifier, with all features.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`Evaluator`.
    n_neighbors : sequence of int
        Numbers of neighbours to try.
    metrics : sequence of str
        Distances to try: those of :data:`METRICS` at full speed, others that scikit-learn knows at its own.

    Returns
    -------
    GridSearch
        With ``.best``, ``.table()`` and ``.plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> search = tune_knn(X, y, Folds.stratified(y), n_neighbors=(1, 5), metrics=("manhattan",))
    >>> search.best["metric"], len(search.table())
    ('manhattan', 2)
    """
    from sklearn.neighbors import VALID_METRICS

    for metric in metrics:
        if metric not in METRICS and metric not in VALID_METRICS["brute"]:
            raise unknown_name("metric", metric, sorted({*METRICS, *VALID_METRICS["brute"]}))
    points = tuple((metric, k) for metric in metrics for k in n_neighbors)

    def evaluator(metric: str, k: int) -> Evaluator:
        if metric in METRICS:
            return KNNEvaluator(X, y, folds, k, metric, scaling=scaling, n_jobs=n_jobs)
        from sklearn.neighbors import KNeighborsClassifier

        model = KNeighborsClassifier(k, metric=metric)
        return GenericEvaluator(X, y, folds, model, scaling=scaling, n_jobs=n_jobs)

    return _searched(("metric", "n_neighbors"), points, evaluator)


def tune_kernel_nb(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    folds: Folds,
    widths: Sequence[float] = DEFAULT_WIDTHS,
    *,
    scaling: Scaling = "once",
    n_jobs: int | None = None,
) -> GridSearch:
    """Search the kernel width of a naive Bayes classifier, with all features.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`Evaluator`.
    widths : sequence of float
        Widths to try, in units of the scaled features.

    Returns
    -------
    GridSearch
        With ``.best``, ``.table()`` and ``.plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> tune_kernel_nb(X, y, Folds.stratified(y), widths=(1e-4, 0.05)).best
    {'width': 0.05}
    """
    points = tuple((float(width),) for width in widths)
    return _searched(
        ("width",), points, lambda width: KernelNBEvaluator(X, y, folds, width, scaling=scaling, n_jobs=n_jobs)
    )


def _searched(names: tuple[str, ...], points: tuple[tuple[Any, ...], ...], evaluator: Any) -> GridSearch:
    if not points:
        raise PqswarmError(f"the grid of {' and '.join(names)} is empty: give at least one value of each.")
    accuracies = []
    for point in points:
        judge = evaluator(*point)
        accuracies.append(1.0 - judge.errors(np.ones((1, judge.n_features), dtype=np.bool_))[0])
    return GridSearch(names, points, np.array(accuracies))
