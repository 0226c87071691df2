"""Names of earlier versions, which still work, with a warning."""

import warnings
from dataclasses import replace
from typing import Any

from pqswarm.evaluation.grid import GridSearchResult
from pqswarm.evaluation.registry import CLASSIFIERS

__all__ = ["__getattr__"]


def _tune_knn(X: Any, y: Any, folds: Any, n_neighbors: Any = None, metrics: Any = None, **more: Any) -> Any:
    classifier = CLASSIFIERS["k-nn"]
    given = {"metric": metrics, "n_neighbors": n_neighbors}
    grid = {name: classifier.grid[name] if values is None else values for name, values in given.items()}
    found: Any = classifier.search_grid(X, y, folds, grid=grid, **more)
    return found


def _tune_kernel_nb(X: Any, y: Any, folds: Any, widths: Any = None, **more: Any) -> Any:
    classifier = CLASSIFIERS["kernel-nb"]
    grid = classifier.grid if widths is None else {"bandwidth": widths}
    found: Any = classifier.search_grid(X, y, folds, grid=grid, **more)
    return replace(found, names=("width",))


_OLD = {
    "GridSearch": (GridSearchResult, "GridSearchResult"),
    "tune_knn": (_tune_knn, 'CLASSIFIERS["k-nn"].search_grid'),
    "tune_kernel_nb": (_tune_kernel_nb, 'CLASSIFIERS["kernel-nb"].search_grid'),
}


def __getattr__(name: str) -> Any:
    if name not in _OLD:
        raise AttributeError(f"module 'pqswarm.evaluation' has no attribute {name!r}")
    found, now = _OLD[name]
    warnings.warn(f"pqswarm.evaluation.{name} is deprecated: use {now}.", DeprecationWarning, stacklevel=2)
    return found
