"""Evaluators of evaluators: several partitions, splits or targets as one, a cache of errors, and groups of features."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.checks import check_integer, is_integer
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator
from pqswarm.evaluation.folds import CrossValidation

if TYPE_CHECKING:
    from pqswarm.search import SearchResult


class RepeatedEvaluator(Evaluator):
    """The mean error over the folds of several partitions of the samples.

    Parameters
    ----------
    parts : sequence of Evaluator
        One per partition, on the same data.
    splits : CrossValidation
        The folds of all partitions, in the same order.
    X : array_like of shape (n_samples, n_features), default=None
        The features of all samples, if each part is of the samples of one split, whose test set is its second fold.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from pqswarm.evaluation import GaussianNBEvaluator, Splits
    >>> X, y = load_wine(return_X_y=True)
    >>> splits = Splits.from_cv(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0), X, y)
    >>> parts = [GaussianNBEvaluator(X, y, folds) for folds in splits.partitions()]
    >>> RepeatedEvaluator(parts, splits).error_counts(np.ones((1, 13), dtype=bool)).shape
    (1, 10)
    """

    takes_splits = True
    folds: Any

    def __init__(self, parts: Sequence[Evaluator], splits: CrossValidation, X: Any = None) -> None:
        self._first = 0 if X is None else 1
        if not parts or sum(part.folds.n_folds - self._first for part in parts) != splits.n_folds:
            raise PqswarmError("parts must be one evaluator for each partition of the splits.")
        data = parts[0].data if X is None else X
        super().__init__(data, splits, scaling=parts[0].scaling, n_jobs=parts[0].n_jobs)
        self.parts = tuple(parts)
        self.counts_errors = all(part.counts_errors for part in parts)
        self.is_loss = parts[0].is_loss

    def error_counts(self, masks: ArrayLike) -> IntArray:
        """Return the misclassified samples of each fold; see :class:`ClassificationEvaluator`."""
        parts = [part for part in self.parts if isinstance(part, ClassificationEvaluator)]
        if len(parts) < len(self.parts):
            raise PqswarmError("error counts exist only for classifiers: use errors.")
        return np.concatenate([part.error_counts(masks)[:, self._first :] for part in parts], axis=1)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over all folds of all partitions."""
        if isinstance(self.parts[0], ClassificationEvaluator):
            return np.asarray(self.folds.mean_rates(self.error_counts(masks)))
        return np.array([np.mean(row) for row in self.fold_errors(masks)])

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold of each partition, shape (m, n_folds)."""
        return np.concatenate([part.fold_errors(masks)[:, self._first :] for part in self.parts], axis=1)

    def predictions(self, mask: ArrayLike) -> AnyArray:  # noqa: ARG002
        """Raise an error: each sample is predicted once in each partition; use one of `parts`."""
        raise PqswarmError("each sample is predicted once in each partition: use one of the evaluators in parts.")


class TargetsEvaluator(Evaluator):
    """The mean error over targets, a part for each, of a regressor that fits each alone, as in scikit-learn."""

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        super().__init__(parts[0].data, parts[0].folds, scaling=parts[0].scaling, n_jobs=parts[0].n_jobs)
        self.parts = tuple(parts)
        self.is_loss = parts[0].is_loss

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the mean error over the targets of each subset in each fold, shape (m, n_folds)."""
        return np.asarray(np.mean([part.fold_errors(masks) for part in self.parts], axis=0))

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the predictions for each sample when its fold is tested, shape (n_samples, n_targets)."""
        return np.column_stack([part.predictions(mask) for part in self.parts])


_ENTRY = 170  # bytes per cached subset, plus one bit per feature


class CachedEvaluator:
    """Cache the errors of evaluated subsets: late in a search the same ones recur.

    A cached subset still counts as an evaluation. All else is that of the evaluator.

    Parameters
    ----------
    evaluator : Evaluator
        Evaluates the subsets that are not cached.
    max_entries : int, default=1_000_000
        Maximum number of cached subsets, at least 2. After half as many new ones, those not requested in the meantime
        are dropped.
    max_bytes : int, default=2 ** 28
        Maximum memory, estimated: with many features, fewer subsets are cached.

    Attributes
    ----------
    n_evaluations, n_hits : int
        Subsets requested by `errors`, and how many were cached.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = CachedEvaluator(GaussianNBEvaluator(X, y, Folds.stratified(y)))
    >>> errors = evaluator.errors(np.ones((5, 13), dtype=bool))
    >>> evaluator.n_evaluations, evaluator.n_hits
    (5, 4)
    """

    def __init__(self, evaluator: Evaluator, max_entries: int = 1_000_000, max_bytes: int = 2**28) -> None:
        max_entries = check_integer("max_entries", max_entries, 2)
        max_bytes = check_integer("max_bytes", max_bytes, 1)
        self.evaluator = evaluator
        self.max_entries = max(2, min(max_entries, max_bytes // (_ENTRY + evaluator.n_features // 8)))
        self.n_evaluations = 0
        self.n_hits = 0
        self._recent: dict[bytes, float] = {}  # at most half of the entries, as in
        self._older: dict[bytes, float] = {}  # `_older`: not requested since `_recent` was started
        self._lock = Lock()  # several runs may share the cache

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset; see :meth:`Evaluator.errors`."""
        checked = self.evaluator.checked_masks(masks)
        packed = np.packbits(checked, axis=1)
        keys: list[bytes] = packed.view(f"V{packed.shape[1]}").ravel().tolist()
        with self._lock:
            errors = self._recall(keys)
        unknown = [row for row, error in enumerate(errors) if error is None]
        new: dict[bytes, float] = {}
        if unknown:
            rows = {keys[row]: row for row in unknown}  # equal subsets are evaluated once
            new = dict(zip(rows, self.evaluator.errors(checked[list(rows.values())]).tolist(), strict=True))
            for row in unknown:
                errors[row] = new[keys[row]]
        with self._lock:
            self.n_evaluations += len(keys)
            self.n_hits += len(keys) - len(new)
            self._keep(new)
        return np.array(errors, dtype=np.float64)

    def _recall(self, keys: list[bytes]) -> list[float | None]:
        """The cached errors, which become recent, and None for other subsets."""
        errors = list(map(self._recent.get, keys))
        if self._older:
            again = {
                key: self._older[key]
                for key, error in zip(keys, errors, strict=True)
                if error is None and key in self._older
            }
            if again:
                errors = [again.get(key) if error is None else error for key, error in zip(keys, errors, strict=True)]
                self._keep(again)
        return errors

    def _keep(self, new: dict[bytes, float]) -> None:
        """Add entries, and drop those older than half of the capacity."""
        half = self.max_entries // 2
        if len(self._recent) + len(new) > half:
            self._older = self._recent
            self._recent = {}
        self._recent.update(new if len(new) <= half else list(new.items())[-half:])

    def __getattr__(self, name: str) -> Any:
        """Return what else the evaluator has, which is not cached."""
        if name == "evaluator":  # not set yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.evaluator, name)


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """The features that each bit of a search selects.

    A search proposes bits; a bit selects one feature or a group of them. Fixed features are in every subset, excluded
    ones in none.

    Attributes
    ----------
    owner : ndarray of int, shape (n_features,)
        The bit of each feature; `n_bits` if it is fixed, `n_bits` + 1 if it is excluded.
    n_bits : int
        Number of bits.

    Examples
    --------
    >>> groups = FeatureGroups.of(["age", "sex", "red", "green", "id"], ["age"], ["id"], {"color": ["red", "green"]})
    >>> groups.n_bits, groups.expand(np.array([[True, False], [False, True]])).astype(int).tolist()
    (2, [[1, 1, 0, 0, 0], [1, 0, 1, 1, 0]])
    """

    owner: IntArray
    n_bits: int

    @classmethod
    def of(
        cls,
        names: Sequence[Any],
        fixed: Iterable[Any] | None = None,
        excluded: Iterable[Any] | None = None,
        groups: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]] | None = None,
    ) -> "FeatureGroups":
        """Return the meaning of bits, given features by name or position.

        Parameters
        ----------
        names : sequence
            The names of all features; positions if they have none.
        fixed, excluded : iterable, default=None
            Features in every subset, and in none.
        groups : mapping or iterable of iterables, default=None
            Features that are chosen together; a fixed feature fixes its group, an excluded one excludes it.

        Returns
        -------
        FeatureGroups
            One bit for each group and each remaining feature, in the order of the features.
        """
        places = {name: place for place, name in enumerate(names)}
        stay, leave = (
            _find_grouped_features(what, given, places) for what, given in (("fixed", fixed), ("excluded", excluded))
        )
        given = groups.values() if isinstance(groups, Mapping) else [] if groups is None else groups
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise PqswarmError(f"groups must be lists of features, or a mapping to such lists, not {groups!r}.")
        units = np.arange(len(names))
        grouped: set[int] = set()
        for group in given:
            members = _find_grouped_features("groups", group, places)
            if grouped & set(members):
                twice = names[min(grouped & set(members))]
                raise PqswarmError(f"groups holds {twice!r} twice: put each feature into one group.")
            grouped |= set(members)
            units[members] = min(members, default=0)
        is_fixed = np.isin(units, units[stay])
        is_out = np.isin(units, units[leave])
        if (is_fixed & is_out).any():
            both = names[int(np.argmax(is_fixed & is_out))]
            raise PqswarmError(f"{both!r}, or its group, is both fixed and excluded: decide for one.")
        free = np.flatnonzero(~is_fixed & ~is_out)
        bits, numbered = np.unique(units[free], return_inverse=True)
        if not bits.size:
            raise PqswarmError("every feature is fixed or excluded, so there is nothing to search: leave some free.")
        owner = np.where(is_fixed, bits.size, bits.size + 1)
        owner[free] = numbered
        return cls(owner, int(bits.size))

    @property
    def fixed(self) -> BoolArray:
        """The features in every subset."""
        return np.asarray(self.owner == self.n_bits)

    @property
    def used(self) -> BoolArray:
        """The features in any subset."""
        return np.asarray(self.owner <= self.n_bits)

    @property
    def is_plain(self) -> bool:
        """Whether the bits are the used features, one by one."""
        return np.array_equal(self.owner[self.used], np.arange(self.n_bits))

    def expand(self, bits: BoolArray) -> BoolArray:
        """Return bits, (..., n_bits), as masks over all features."""
        ends = np.broadcast_to(np.array([True, False]), (*bits.shape[:-1], 2))
        return np.asarray(np.concatenate([bits, ends], axis=-1)[..., self.owner])

    def contract(self, mask: BoolArray) -> BoolArray:
        """Return the bits that select the features of one mask."""
        return np.isin(np.arange(self.n_bits), self.owner[mask])

    def keep(self, features: BoolArray) -> "FeatureGroups":
        """Return the meaning of bits if only those with one of the given features are kept."""
        kept = np.unique(self.owner[features & (self.owner < self.n_bits)])
        number = np.full(self.n_bits + 2, kept.size + 1)
        number[kept] = np.arange(kept.size)
        number[self.n_bits] = kept.size
        return FeatureGroups(number[self.owner], int(kept.size))

    def among_used(self) -> "FeatureGroups":
        """Return the same with the used features as all features."""
        return FeatureGroups(self.owner[self.used], self.n_bits)

    def rank_bits(self, features: Iterable[int]) -> tuple[int, ...]:
        """Return the bits in the order of a ranking of features."""
        return tuple(dict.fromkeys(int(bit) for bit in self.owner[list(features)] if bit < self.n_bits))

    def expand_result(self, result: "SearchResult") -> "SearchResult":
        """Return the result of a search with masks over all features; its front keeps what no smaller mask beats."""
        masks = result.front_masks
        errors = result.front_errors
        if masks is not None and errors is not None:
            masks = self.expand(masks)
            order = np.lexsort((errors, masks.sum(axis=1)))
            lowest = np.minimum.accumulate(errors[order])
            order = order[np.append(True, lowest[1:] < lowest[:-1])[: order.size]]
            masks = masks[order]
            errors = errors[order]
        improvements = result.improvements + np.array([0, 0, self.fixed.sum()])  # sizes count a group as one
        return dataclasses.replace(
            result, mask=self.expand(result.mask), improvements=improvements, front_masks=masks, front_errors=errors
        )


def _find_grouped_features(what: str, given: Iterable[Any] | None, places: Mapping[Any, int]) -> list[int]:
    """The positions of features given by name or position."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise PqswarmError(f"{what} must be a list of feature names or positions, not {given!r}.")
    found = []
    for one in given:
        place = places.get(one)
        if place is None and is_integer(one) and 0 <= one < len(places):
            place = int(one)
        if place is None:
            if is_integer(one):
                raise PqswarmError(f"{what} holds {one}, but features have positions 0 to {len(places) - 1}.")
            raise unknown_name(f"feature in {what}", one, [str(name) for name in places])
        found.append(place)
    return found


class GroupedEvaluator:
    """An evaluator of the bits of a search, for features that are fixed, excluded or grouped.

    Parameters
    ----------
    evaluator : Evaluator
        Evaluates masks over all features.
    groups : FeatureGroups
        What the bits select.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> X, y = load_wine(return_X_y=True)
    >>> groups = FeatureGroups.of(range(13), fixed=[0], groups=[[3, 4]])
    >>> GroupedEvaluator(GaussianNBEvaluator(X, y, Folds.stratified(y)), groups).n_features
    11
    """

    def __init__(self, evaluator: Any, groups: FeatureGroups) -> None:
        self.evaluator = evaluator
        self.groups = groups
        self.n_features = groups.n_bits
        self.is_loss = bool(evaluator.is_loss)
        self.blocks: tuple[int, ...] = tuple(getattr(evaluator, "blocks", ()))  # the folds of each block of `raced`

    def checked_masks(self, masks: ArrayLike) -> BoolArray:
        """Return the bits as a boolean matrix, or raise an error that says what is wrong."""
        bits = np.asarray(masks)
        if bits.ndim != 2 or bits.shape[1] != self.n_features:
            raise PqswarmError(f"masks must have {self.n_features} columns, one per bit, not shape {bits.shape}.")
        return np.ascontiguousarray(bits, dtype=np.bool_)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of the features that each row of bits selects."""
        return np.asarray(self.evaluator.errors(self.groups.expand(self.checked_masks(masks))))

    def raced(self, masks: ArrayLike, first: AnyArray, limits: FloatArray) -> FloatArray:
        """Test the features in one block of folds after the other; see :meth:`Evaluator.raced`."""
        return np.asarray(self.evaluator.raced(self.groups.expand(self.checked_masks(masks)), first, limits))

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of these features in each fold, shape (m, n_folds)."""
        return np.asarray(self.evaluator.fold_errors(self.groups.expand(self.checked_masks(masks))))
