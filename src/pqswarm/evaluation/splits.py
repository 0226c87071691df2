"""Any cross-validation: repeated, shuffled, grouped, time series, hold-out, or your own list."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.typing import IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.folds import CrossValidation, Folds


class Splits(CrossValidation):
    """Any sequence of training and test sets.

    Test sets may overlap and omit samples; training sets are arbitrary. scikit-learn accepts it as `cv`.

    Parameters
    ----------
    pairs : iterable of (train, test)
        Indices of the training and test samples of each split, or masks over all samples.
    n_samples : int
        Number of samples.
    name : str
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
        groups : array_like, optional
            Groups of samples, for splitters that use them.
        classifier : bool
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
        found = []
        fold = np.full(self.n_samples, -1, dtype=np.int64)
        number = 0
        for test in self._tests:
            if (fold[test] >= 0).any():
                return None
            fold[test] = number
            number += 1
            if (fold >= 0).all():
                found.append(Folds(fold))
                fold = np.full(self.n_samples, -1, dtype=np.int64)
                number = 0
        return tuple(found) if number == 0 else None
