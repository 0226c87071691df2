"""Cross-validations: partitions of the samples into folds, and any other pairs of training and test sets."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any, Self

import numpy as np

from pqswarm._base.checks import check_integer
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import AnyArray, ArrayLike, FloatArray, IntArray
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
    def n_rows(self) -> int:
        """Number of predictions: the test samples of all folds."""
        return int(self.sizes.sum())

    @property
    def row_samples(self) -> IntArray:
        """The sample of each prediction, (n_rows,): the test samples of all folds, in turn."""
        return np.concatenate([self.test(fold) for fold in range(self.n_folds)])

    @property
    def row_folds(self) -> IntArray:
        """The fold of each prediction, (n_rows,)."""
        return np.repeat(np.arange(self.n_folds), self.sizes)

    @cached_property
    def by_fold(self) -> IntArray:
        """The places of all predictions, those of the first fold first, shape (n_rows,)."""
        return np.argsort(self.row_folds, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Where the places of each fold start in `by_fold`, and where the last ones end, shape (n_folds + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def rows(self, fold: int) -> IntArray:
        """Return the places of a fold's test samples among all predictions."""
        return self.by_fold[self.starts[fold] : self.starts[fold + 1]]

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
        n_folds : int, default=10
            Number of folds; no class may have fewer samples.
        seed : int, default=0
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
            An object with a method ``split(X, y)``, an iterable, or a number of folds.
        X, y : array_like
            The data to split.
        groups : array_like, default=None
            Groups of samples, for splitters that use them.

        Returns
        -------
        Folds
            The same test sets.
        """
        partitions = Splits.from_cv(splitter, X, y, groups).partitions()
        if partitions is None or len(partitions) != 1:
            raise PqswarmError(
                "the splitter does not make a partition, in which each sample is tested once and all others are "
                "training samples: use a k-fold one, or Splits.from_cv."
            )
        return partitions[0]

    @cached_property
    def sizes(self) -> IntArray:
        """Samples in each fold."""
        return np.bincount(self.test_fold)

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


class Splits(CrossValidation):
    """Any sequence of training and test sets.

    Test sets may overlap and omit samples; training sets are arbitrary. scikit-learn accepts it as `cv`.

    Parameters
    ----------
    pairs : iterable of (train, test)
        Indices of the training and test samples of each split, or masks over all samples.
    n_samples : int
        Number of samples.
    name : str, default="the given list"
        The source of the splits, for messages.

    Examples
    --------
    >>> splits = Splits([([0, 1, 2], [3]), ([1, 2, 3], [0, 3])], n_samples=4)
    >>> splits.n_folds, splits.sizes.tolist(), splits.partitions() is None
    (2, [1, 2], True)
    """

    def __init__(
        self, pairs: Iterable[tuple[ArrayLike, ArrayLike]], n_samples: int, name: str = "the given list"
    ) -> None:
        self.n_samples = n_samples
        self.name = name
        self._tests: list[IntArray] = []
        self._trains: list[IntArray | None] = []  # None: all other samples, ascending
        self._complementary: list[bool] = []
        for number, pair in enumerate(pairs):
            try:
                given_train, given_test = pair
            except (TypeError, ValueError):
                raise PqswarmError(
                    f"split {number} must be a pair of training and test indices, not {pair!r}."
                ) from None
            train = self._checked(given_train, f"the training set of split {number}")
            test = self._checked(given_test, f"the test set of split {number}")
            rest = np.delete(np.arange(n_samples), test)
            unique = np.unique(test).size == test.size
            self._complementary.append(unique and np.array_equal(np.sort(train), rest))
            self._tests.append(test)
            self._trains.append(None if np.array_equal(train, rest) else train)
        if not self._tests:
            raise PqswarmError(f"{name} has no splits: give at least one pair of training and test indices.")

    def _checked(self, given: ArrayLike, what: str) -> IntArray:
        """The indices of a set of samples."""
        indices = np.asarray(given)
        if indices.dtype == np.bool_ and indices.shape == (self.n_samples,):
            indices = np.flatnonzero(indices)
        if indices.ndim != 1 or indices.size == 0:
            raise PqswarmError(f"{what} must be a list of samples that is not empty.")
        if indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= self.n_samples:
            raise PqswarmError(f"{what} must hold indices from 0 to {self.n_samples - 1}.")
        return indices.astype(np.int64)

    @classmethod
    def from_cv(
        cls, cv: Any, X: ArrayLike, y: ArrayLike, groups: Any = None, *, classifier: bool = False, **params: Any
    ) -> "Splits":
        """Make the splits of scikit-learn's `cv`.

        Parameters
        ----------
        cv : int, splitter, iterable or None
            As in scikit-learn: a number of folds, an object with a method ``split``, or (train, test) indices.
        X, y : array_like
            The data to split.
        groups : array_like, default=None
            Groups of samples, for splitters that use them.
        classifier : bool, default=False
            Whether a number means stratified folds.
        **params
            Other arguments of a splitter's ``split``.

        Returns
        -------
        Splits
            The same training and test sets, in the same order.

        Examples
        --------
        >>> from sklearn.model_selection import RepeatedKFold
        >>> cv = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
        >>> splits = Splits.from_cv(cv, np.zeros((20, 1)), np.arange(20))
        >>> splits.n_folds, len(splits.partitions())
        (15, 3)
        """
        from sklearn.model_selection import check_cv

        splitter = cv if isinstance(cv, CrossValidation) else check_cv(cv, y, classifier=classifier)
        name = "the given list" if type(splitter).__name__.startswith("_") else type(splitter).__name__
        return cls(splitter.split(X, y, groups, **params), len(np.asarray(y)), name)

    @property
    def sizes(self) -> IntArray:
        """Test samples of each split."""
        return np.array([test.size for test in self._tests], dtype=np.int64)

    def __len__(self) -> int:
        return self.n_samples

    def train(self, fold: int) -> IntArray:
        """Return the training samples of a split, in the given order."""
        given = self._trains[fold]
        return np.delete(np.arange(self.n_samples), self._tests[fold]) if given is None else given

    def test(self, fold: int) -> IntArray:
        """Return the test samples of a split, in the given order."""
        return self._tests[fold]

    def partitions(self) -> tuple[Folds, ...] | None:
        """Return the partitions that the splits form, one per repetition, or None if they are not partitions.

        In a partition each sample is tested once, and each training set is the rest. Exact evaluators compute all folds
        of a partition together.
        """
        if not all(self._complementary):
            return None
        complete = []
        fold = np.full(self.n_samples, -1, dtype=np.int64)
        number = 0
        for test in self._tests:
            if (fold[test] >= 0).any():
                return None
            fold[test] = number
            number += 1
            if (fold >= 0).all():
                complete.append(Folds(fold))
                fold = np.full(self.n_samples, -1, dtype=np.int64)
                number = 0
        return tuple(complete) if number == 0 else None
