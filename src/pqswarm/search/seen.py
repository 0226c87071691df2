"""What a search has asked for already."""

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray

__all__ = ["Seen"]


class Seen:
    """A memory of subsets and their errors, in the order in which they came.

    Its arrays `packed` and `errors` are all that it knows: put back, they make the same memory.

    Parameters
    ----------
    n_features : int
        Width of a mask.

    Examples
    --------
    >>> seen = Seen(3)
    >>> seen.add(np.array([[True, False, True]]), np.array([0.2]))
    >>> seen.find(np.array([[True, False, True], [True, True, True]]))
    array([0.2, nan])
    """

    def __init__(self, n_features: int) -> None:
        self.packed: AnyArray = np.zeros((0, (n_features + 7) // 8), dtype=np.uint8)
        self.errors: FloatArray = np.empty(0)

    def __len__(self) -> int:
        """Return how many subsets it holds."""
        return self._count

    @property
    def packed(self) -> AnyArray:
        """The subsets, eight features to a byte, shape (m, bytes)."""
        return self._packed[: self._count]

    @packed.setter
    def packed(self, packed: AnyArray) -> None:
        self._packed, self._count = packed, len(packed)
        self._rows = {key: row for row, key in enumerate(_keys(packed))}

    @property
    def errors(self) -> FloatArray:
        """Their errors, shape (m,)."""
        return self._errors[: self._count]

    @errors.setter
    def errors(self, errors: FloatArray) -> None:
        self._errors = errors

    def find(self, masks: BoolArray) -> FloatArray:
        """Return the error of each subset, NaN of those that it does not hold."""
        rows = np.array([self._rows.get(key, -1) for key in _keys(np.packbits(masks, axis=1))], dtype=np.int64)
        errors = np.full(len(rows), np.nan)
        errors[rows >= 0] = self._errors[rows[rows >= 0]]
        return errors

    def is_new(self, masks: BoolArray) -> BoolArray:
        """Return which subsets it does not hold; of those that are the same among them, the first."""
        first: dict[bytes, int] = {}
        for row, key in enumerate(_keys(np.packbits(masks, axis=1))):
            if key not in self._rows:
                first.setdefault(key, row)
        new = np.zeros(len(masks), dtype=np.bool_)
        new[list(first.values())] = True
        return new

    def add(self, masks: BoolArray, errors: FloatArray) -> None:
        """Take subsets, each of which is new, and their errors."""
        packed, end = np.packbits(masks, axis=1), self._count + len(masks)
        if end > len(self._packed):  # room for as many again, so that adding takes the same time however many there are
            self._packed = np.concatenate([self.packed, np.zeros((end, packed.shape[1]), dtype=np.uint8)])
            self._errors = np.concatenate([self.errors, np.empty(end)])
        self._packed[self._count : end], self._errors[self._count : end] = packed, errors
        self._rows.update(zip(_keys(packed), range(self._count, end), strict=True))
        self._count = end


def _keys(packed: AnyArray) -> list[bytes]:
    """The rows of an array of bytes."""
    keys: list[bytes] = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel().tolist()
    return keys
