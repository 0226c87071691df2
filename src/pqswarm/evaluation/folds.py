"""Partitions of the samples into folds; each fold is tested by a classifier trained on the others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import check_integer
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError


class CrossValidation(ABC):
    """Pairs of training and test samples; scikit-learn accepts it as `cv`."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples, not of folds."""

    @property
    @abstractmethod
    def sizes(self) -> IntArray:
        """Test samples of each fold."""

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.sizes.size

    @abstractmethod
    def train(self, fold: int) -> IntArray:
        """Return the training samples of a fold."""

    @abstractmethod
    def test(self, fold: int) -> IntArray:
        """Return the test samples of a fold."""

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:  # noqa: ARG002
        """Yield (train, test) indices of each fold; the arguments are ignored."""
        for fold in range(self.n_folds):
            yield self.train(fold), self.test(fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds; the arguments are ignored."""
        return self.n_folds

    @property
    def row_samples(self) -> IntArray:
        """The sample of each prediction, (n_rows,): the test samples of all folds, in turn."""
        return np.concatenate([self.test(fold) for fold in range(self.n_folds)])

    @property
    def row_folds(self) -> IntArray:
        """The fold of each prediction, (n_rows,)."""
        return np.repeat(np.arange(self.n_folds), self.sizes)

    def rows(self, fold: int) -> IntArray:
        """Return the places of a fold's test samples among all predictions."""
        return np.flatnonzero(self.row_folds == fold)

    @abstractmethod
    def partitions(self) -> "tuple[Folds, ...] | None":
        """Return the partitions that the folds form, in order, or None if they are not partitions."""

    def mean_rates(self, counts: IntArray) -> FloatArray:
        """Return the mean over the folds of the fraction of counted samples, shape (m,), from counts, (m, n_folds).

        Equal counts in folds of equal size give equal rates to the last bit: integers are summed, then divided once.
        """
        weights, whole = self._rate_weights
        return np.asarray((counts.astype(weights.dtype) @ weights) / whole, dtype=np.float64)

    @cached_property
    def _rate_weights(self) -> tuple[AnyArray, int]:
        """The integer weight of a sample of each fold, and the total weight."""
        sizes = [int(size) for size in self.sizes]
        whole = lcm(*sizes) * len(sizes)
        # Python integers, slower, where doubles would not be exact.
        kind = np.int64 if whole < 2**53 else np.object_
        return np.array([lcm(*sizes) // size for size in sizes], dtype=kind), whole


@dataclass(frozen=True, eq=False)
class Folds(CrossValidation):
    """A partition of n samples into folds.

    scikit-learn accepts it as `cv`.

    Parameters
    ----------
    test_fold : ndarray of shape (n,)
        The fold in which each sample is tested, 0 to n_folds - 1.

    Examples
    --------
    >>> folds = Folds.stratified(np.repeat([0, 1], 20), n_folds=10, seed=0)
    >>> folds.n_folds, folds.sizes.tolist()
    (10, [4, 4, 4, 4, 4, 4, 4, 4, 4, 4])
    """

    test_fold: IntArray

    def __post_init__(self) -> None:
        given = np.asarray(self.test_fold)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise PqswarmError("test_fold must be a list of integers, one per sample.")
        fold = given.astype(np.int64)
        sizes = np.bincount(fold) if fold.min() >= 0 else np.zeros(1)
        if sizes.size < 2 or not sizes.all():
            raise PqswarmError(
                "test_fold must number at least two folds 0, 1, 2 ..., each with a sample, "
                f"not {np.unique(fold)[:12].tolist()}."
            )
        fold.setflags(write=False)
        object.__setattr__(self, "test_fold", fold)

    def __reduce__(self) -> tuple[type[Self], tuple[IntArray]]:
        # Rebuilt in another process: unpickled arrays are writable, and kernels would be compiled again for them.
        return type(self), (self.test_fold,)

    @classmethod
    def stratified(cls, y: ArrayLike, n_folds: int = 10, seed: int = 0) -> "Folds":
        """Distribute the samples of each class over the folds at random, as evenly as possible.

        Parameters
        ----------
        y : array_like of shape (n,)
            Labels.
        n_folds : int
            Number of folds; no class may have fewer samples.
        seed : int
            The same seed gives the same folds.

        Returns
        -------
        Folds
            Folds whose sizes and class counts differ by at most one.
        """
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.size == 0:
            raise PqswarmError(f"y must hold one label per sample, shape (n,), not {labels.shape}.")
        check_integer("n_folds", n_folds, 2)
        classes, coded, counts = np.unique(labels, return_inverse=True, return_counts=True)
        rare = int(counts.argmin())
        if counts[rare] < n_folds:
            raise PqswarmError(
                f"class {classes[rare]!r} has {counts[rare]} samples, fewer than the {n_folds} folds: "
                f"add samples of it, leave it out, or use fewer folds."
            )
        generator = stream(checked_seed(seed), (0,))
        dealt = np.concatenate([generator.permutation(np.flatnonzero(coded == c)) for c in range(classes.size)])
        fold = np.empty(labels.size, dtype=np.int64)
        fold[dealt] = np.arange(labels.size) % n_folds
        return cls(fold)

    @classmethod
    def from_splitter(cls, splitter: Any, X: ArrayLike, y: ArrayLike, groups: Any = None) -> "Folds":
        """Return the folds of a scikit-learn splitter, or of an iterable of (train, test) indices.

        The test sets must be a partition, and each training set must be all other samples.

        Parameters
        ----------
        splitter : object
            An object with a method ``split(X, y)``, or an iterable.
        X, y : array_like
            The data to split.
        groups : array_like, optional
            Groups of samples, for splitters that use them.

        Returns
        -------
        Folds
            The same test sets.
        """
        n = len(np.asarray(y))
        fold = np.full(n, -1, dtype=np.int64)
        splits = splitter.split(X, y, groups) if hasattr(splitter, "split") else splitter
        if not hasattr(splits, "__iter__"):
            raise PqswarmError(f"splitter must be scikit-learn's or a list of (train, test), not {splitter!r}.")
        for number, (train, test) in enumerate(splits):
            if (fold[test] >= 0).any() or np.unique(test).size != len(test):
                raise PqswarmError(
                    f"the splitter tests a sample twice (fold {number}): use one that makes a partition."
                )
            if len(np.union1d(train, test)) != n or len(train) + len(test) != n:
                raise PqswarmError(f"the splitter does not train fold {number} on all other samples: use a k-fold one.")
            fold[test] = number
        if (fold < 0).any():
            raise PqswarmError(
                f"the splitter never tests sample {int(np.argmin(fold))}: use one that makes a partition."
            )
        return cls(fold)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.test_fold.max()) + 1

    @property
    def sizes(self) -> IntArray:
        """Samples in each fold."""
        return np.bincount(self.test_fold).astype(np.int64)

    def __len__(self) -> int:
        return self.test_fold.size

    def train(self, fold: int) -> IntArray:
        """Return the samples outside a fold, ascending."""
        return np.flatnonzero(self.test_fold != fold)

    def test(self, fold: int) -> IntArray:
        """Return the samples of a fold, ascending."""
        return np.flatnonzero(self.test_fold == fold)

    @property
    def row_samples(self) -> IntArray:
        """All samples, each predicted once."""
        return np.arange(self.test_fold.size)

    @property
    def row_folds(self) -> IntArray:
        """The fold of each sample."""
        return self.test_fold

    def partitions(self) -> "tuple[Folds, ...]":
        """Return this partition."""
        return (self,)
