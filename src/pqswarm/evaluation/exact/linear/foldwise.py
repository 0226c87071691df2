"""The common part of evaluators that work fold by fold: samples, sums of products, fits by scikit-learn."""

from collections.abc import Callable

import numpy as np

from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.evaluation.base import Evaluator
from pqswarm.evaluation.estimators import refit_fold
from pqswarm.evaluation.memory import MAX_SOLVED_BYTES

EPSILON = float(np.finfo(np.float64).eps)
_TABLE = 2**25  # maximum size of a table of products; larger ones are computed on demand

Columns = IntArray | slice


class Foldwise:
    """The scaled training and test samples of each fold, and the fallback to scikit-learn."""

    def __init__(self, evaluator: Evaluator, target: AnyArray) -> None:
        self._evaluator = evaluator
        self._views = evaluator.fold_views()
        self._folds = evaluator.folds
        # Training samples are not stored: with one fold per sample, that would take quadratic memory.
        self.tests = [self._folds.test(fold) for fold in range(self._folds.n_folds)]
        self.rows = [self._folds.rows(fold) for fold in range(self._folds.n_folds)]
        self.n_rows = sum(test.size for test in self.tests)
        self.target = target
        # The largest value of each feature: rounding errors are proportional to it.
        self._largest = [np.abs(view).max(axis=0) for view in self._views]

    def train(self, fold: int) -> IntArray:
        """Return the training samples of a fold."""
        return self._folds.train(fold)

    def class_counts(self, n_classes: int) -> IntArray:
        """Return the training samples of each fold and class."""
        folds = range(len(self.tests))
        return np.array([np.bincount(self.target[self.train(fold)], minlength=n_classes) for fold in folds])

    def take(self, fold: int, samples: IntArray, features: Columns) -> FloatArray:
        """Return some features of some samples, scaled for the fold, without copying others."""
        view = self.view(fold)
        return view[samples] if isinstance(features, slice) else np.asarray(view[samples[:, np.newaxis], features])

    def view(self, fold: int) -> FloatArray:
        """Return all samples, scaled for the fold."""
        return self._views[fold % len(self._views)]

    def largest(self, fold: int) -> FloatArray:
        """Return the largest absolute value of each feature."""
        return np.asarray(self._largest[fold % len(self._largest)])

    def fit(self, fold: int, selected: IntArray) -> AnyArray:
        """Return scikit-learn's predictions for the test samples of the fold; a refused subset raises a SubsetError."""
        return refit_fold(self._evaluator, fold, selected, data=self.view(fold), target=self.target)


class FoldwiseProducts:
    """Products of some columns of matrices, which `columns(part, which)` returns; computed once if their table fits."""

    def __init__(self, columns: Callable[[int, Columns], FloatArray], n_parts: int, width: int) -> None:
        self._columns = columns
        self._table = np.empty((n_parts, width, width)) if n_parts * width**2 <= _TABLE else None
        if self._table is not None:
            for part, products in enumerate(self._table):
                matrix = columns(part, slice(None))
                np.matmul(matrix.T, matrix, out=products)

    def all(self, selected: IntArray, scale: FloatArray, first: int = 0) -> FloatArray:
        """Return the products of the selected columns of each matrix from `first` on, times its `scale`."""
        from pqswarm.evaluation.exact.linear.kernels import gather

        products = np.empty((scale.size, selected.size, selected.size))
        if self._table is not None:
            gather(self._table[first : first + scale.size], selected, scale, products)
        else:
            for part in range(scale.size):
                products[part] = self.of(first + part, selected) * scale[part]
        return products

    def of(self, part: int, selected: IntArray) -> FloatArray:
        """Return the products of the selected columns of one matrix."""
        if self._table is not None:
            return np.asarray(self._table[part][selected[:, np.newaxis], selected])
        matrix = self._columns(part, selected)
        return np.asarray(matrix.T @ matrix)


def can_be_solved(n_folds: int, size: int) -> bool:
    """Return whether the systems of all folds, with factors and inverses, fit into memory; else scikit-learn fits."""
    return 8 * 8 * n_folds * size**2 <= MAX_SOLVED_BYTES


def foldwise_product_error(n: int, p: int) -> float:
    """Return the rounding error of a p x p matrix of mean products of n standardised samples, with a safety factor."""
    return float(2.0 * EPSILON * np.sqrt(p * (1.0 + n / 64.0)))
