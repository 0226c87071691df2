"""The subsets that a search has already asked for."""

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray


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
        self._rows = {key: row for row, key in enumerate(_mask_keys(packed))}

    @property
    def errors(self) -> FloatArray:
        """Their errors, shape (m,)."""
        return self._errors[: self._count]

    @errors.setter
    def errors(self, errors: FloatArray) -> None:
        self._errors = errors

    def find(self, masks: BoolArray) -> FloatArray:
        """Return the error of each subset, NaN if unknown."""
        rows = np.array([self._rows.get(key, -1) for key in _mask_keys(np.packbits(masks, axis=1))], dtype=np.int64)
        errors = np.full(len(rows), np.nan)
        errors[rows >= 0] = self._errors[rows[rows >= 0]]
        return errors

    def is_new(self, masks: BoolArray) -> BoolArray:
        """Return which subsets are unknown; of duplicates, only the first."""
        first: dict[bytes, int] = {}
        for row, key in enumerate(_mask_keys(np.packbits(masks, axis=1))):
            if key not in self._rows:
                first.setdefault(key, row)
        new = np.zeros(len(masks), dtype=np.bool_)
        new[list(first.values())] = True
        return new

    def add(self, masks: BoolArray, errors: FloatArray) -> None:
        """Add new subsets and their errors."""
        packed = np.packbits(masks, axis=1)
        end = self._count + len(masks)
        if end > len(self._packed):  # double the capacity: amortised constant time
            self._packed = np.concatenate([self.packed, np.zeros((end, packed.shape[1]), dtype=np.uint8)])
            self._errors = np.concatenate([self.errors, np.empty(end)])
        self._packed[self._count : end] = packed
        self._errors[self._count : end] = errors
        self._rows.update(zip(_mask_keys(packed), range(self._count, end), strict=True))
        self._count = end


def _mask_keys(packed: AnyArray) -> list[bytes]:
    """The rows of an array of bytes."""
    keys: list[bytes] = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel().tolist()
    return keys
