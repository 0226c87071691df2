"""The common part of searches that never ask for a subset twice."""

from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.search.base import Search

_STEPS = 30  # random moves from a known subset before any new one is accepted
_FEW = 2**14  # up to this many subsets are enumerated


class VisitedSubsets:
    """Known subsets of `n_features` and their errors, in order of arrival.

    The arrays `packed` and `errors` are its whole state, and restore it.

    Examples
    --------
    >>> visited = VisitedSubsets(3)
    >>> visited.add(np.array([[True, False, True]]), np.array([0.2]))
    >>> visited.find(np.array([[True, False, True], [True, True, True]]))
    array([0.2, nan])
    """

    def __init__(self, n_features: int) -> None:
        self.packed: AnyArray = np.zeros((0, (n_features + 7) // 8), dtype=np.uint8)
        self.errors: FloatArray = np.empty(0)

    def __len__(self) -> int:
        """Return the number of subsets."""
        return self._count

    @property
    def packed(self) -> AnyArray:
        """The subsets, eight features per byte, shape (m, bytes)."""
        return self._packed[: self._count]

    @packed.setter
    def packed(self, packed: AnyArray) -> None:
        self._packed = packed
        self._count = len(packed)
        self._rows = {key: row for row, key in enumerate(_visited_keys(packed))}

    @property
    def errors(self) -> FloatArray:
        """Their errors, shape (m,)."""
        return self._errors[: self._count]

    @errors.setter
    def errors(self, errors: FloatArray) -> None:
        self._errors = errors

    def find(self, masks: BoolArray) -> FloatArray:
        """Return the error of each subset, NaN if unknown."""
        rows = np.array([self._rows.get(key, -1) for key in _visited_keys(np.packbits(masks, axis=1))], dtype=np.int64)
        errors = np.full(len(rows), np.nan)
        errors[rows >= 0] = self._errors[rows[rows >= 0]]
        return errors

    def is_new(self, masks: BoolArray) -> BoolArray:
        """Return which subsets are unknown; of duplicates, only the first."""
        first: dict[bytes, int] = {}
        for row, key in enumerate(_visited_keys(np.packbits(masks, axis=1))):
            if key not in self._rows:
                first.setdefault(key, row)
        new = np.zeros(len(masks), dtype=np.bool_)
        new[list(first.values())] = True
        return new

    def add(self, masks: BoolArray, errors: FloatArray) -> None:
        """Add new subsets and their errors."""
        packed = np.packbits(masks, axis=1)
        end = self._count + len(masks)
        if end > len(self._packed):  # double the capacity: amortized constant time
            self._packed = np.concatenate([self.packed, np.zeros((end, packed.shape[1]), dtype=np.uint8)])
            self._errors = np.concatenate([self.errors, np.empty(end)])
        self._packed[self._count : end] = packed
        self._errors[self._count : end] = errors
        self._rows.update(zip(_visited_keys(packed), range(self._count, end), strict=True))
        self._count = end


def _visited_keys(packed: AnyArray) -> list[bytes]:
    """The rows of an array of bytes."""
    keys: list[bytes] = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel().tolist()
    return keys


def move_subsets(masks: BoolArray, kinds: FloatArray, draws: FloatArray, *, keep_size: bool = False) -> BoolArray:
    """Return the subsets after one move each, by `kinds`, (m,): add below 0.3, drop below 0.6, else exchange.

    `draws`, (m, n), select the features: those with the largest numbers. With `keep_size` features are only exchanged.
    """
    rows = np.arange(len(masks))
    sizes = masks.sum(axis=1)
    can_add, can_drop = sizes < masks.shape[1], sizes > 1
    added = can_add & ((kinds < 0.3) | (kinds >= 0.6) | ~can_drop)
    dropped = (sizes > 0) & (kinds >= 0.3) & (added | can_drop) | (~can_add & can_drop)
    if keep_size:
        dropped = added = can_add
    moved = masks.copy()
    gone, come = np.where(masks, draws, -1.0).argmax(axis=1), np.where(masks, -1.0, draws).argmax(axis=1)
    moved[rows[dropped], gone[dropped]] = False
    moved[rows[added], come[added]] = True
    return moved


def flip_subsets(masks: BoolArray, flips: float, draws: FloatArray) -> BoolArray:
    """Return the subsets after `flips` flips on average, balanced between added and dropped features.

    A feature is flipped if its number in `draws`, uniform and of the shape of `masks`, is below its probability.
    """
    sizes = masks.sum(axis=1, keepdims=True)
    less, more = flips / 2 / np.maximum(sizes, 1), flips / 2 / np.maximum(masks.shape[1] - sizes, 1)
    return np.asarray(masks ^ (draws < np.where(masks, less, more)))


class DistinctSearch(Search):
    """A search that never asks for a subset twice.

    It ends when every subset is known. Derived classes call `_start` and `_learn`, and ask for the result of
    `_make_distinct`.
    """

    equivariant = prefers_small = True
    state_fields: ClassVar[tuple[str, ...]] = ("seen_masks", "seen_errors")
    growing_fields: ClassVar[tuple[str, ...]] = ("seen_masks", "seen_errors")

    def _start(self) -> None:
        self.seen = VisitedSubsets(self.n_features)
        self._n_subsets = 2**self.n_features - 1 if self.size is None else comb(self.n_features, self.size)

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        self.seen.add(masks, errors)

    @property
    def done(self) -> bool:
        """Whether every subset, or every one of the required size, is known."""
        return len(self.seen) >= self._n_subsets

    @property
    def seen_masks(self) -> AnyArray:
        """The requested subsets, eight features per byte."""
        return self.seen.packed

    @seen_masks.setter
    def seen_masks(self, packed: AnyArray) -> None:
        self.seen.packed = packed

    @property
    def seen_errors(self) -> FloatArray:
        """Their errors."""
        return self.seen.errors

    @seen_errors.setter
    def seen_errors(self, errors: FloatArray) -> None:
        self.seen.errors = errors

    def _sparse_subsets(self, count: int, limit: int) -> BoolArray:
        """Draw subsets of 1 to `limit` features, with equally likely sizes, or of the required size."""
        limit = min(limit, self.n_features)
        sizes = (
            1 + (self.rng.random(count) * limit).astype(np.int64) if self.size is None else np.full(count, self.size)
        )
        places = np.argsort(np.argsort(self.rng.random((count, self.n_features)), axis=1, kind="stable"), axis=1)
        return np.asarray(places < sizes[:, np.newaxis])

    def _make_distinct(self, masks: BoolArray) -> BoolArray:
        """Return the subsets; empty, known or repeated ones are moved at random until new, as far as there are any."""
        masks = self._resize(masks).copy()
        new = self.seen.is_new(masks) & masks.any(axis=1)
        for _ in range(_STEPS):
            if new.all():
                return masks
            old = np.flatnonzero(~new)
            kinds, draws = self.rng.random((old.size, 1))[:, 0], self.rng.random((old.size, self.n_features))
            masks[old] = move_subsets(masks[old], kinds, draws, keep_size=self.size is not None)
            new = self.seen.is_new(masks)
        return self._fill_up(masks[new], len(masks))

    def _fill_up(self, masks: BoolArray, count: int) -> BoolArray:
        """Add new subsets until there are `count`, or no more."""
        few = min(self._n_subsets, 2**62) * self.n_features <= _FEW * 14
        while len(masks) < count:
            others = self._all_subsets() if few else self._random_subsets(max(30, count))
            known = np.concatenate([masks, others])
            masks = known[self.seen.is_new(known)][:count]
            if few:
                break
        return masks

    def _all_subsets(self) -> BoolArray:
        """Every possible subset, in random order."""
        n = self.n_features
        if self.size is None:
            every = (np.arange(1, 2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.bool_)
        else:
            chosen = np.array(list(combinations(range(n), self.size)))
            every = np.zeros((len(chosen), n), dtype=np.bool_)
            np.put_along_axis(every, chosen, True, axis=1)
        return every[np.argsort((every * self.rng.random(n)).sum(axis=1), kind="stable")]


class DistinctPopulation(DistinctSearch):
    """A search that never asks for a subset twice, and learns from a population of the best."""

    state_fields = (*DistinctSearch.state_fields, "population", "errors")
    growing_fields = state_fields

    def _start(self) -> None:
        super()._start()
        self.population: BoolArray = np.zeros((0, self.n_features), dtype=np.bool_)  # best first
        self.errors: FloatArray = np.empty(0)
