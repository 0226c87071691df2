"""Features that stay, features that are left out, and groups that are chosen together: what a bit of a search means."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.checks import is_integer
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name

if TYPE_CHECKING:
    from pqswarm.search import SearchResult


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
    >>> groups = FeatureGroups.of(["age", "sex", "red", "green", "id"], ["age"], ["id"], {"colour": ["red", "green"]})
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
        fixed, excluded : iterable, optional
            Features in every subset, and in none.
        groups : mapping or iterable of iterables, optional
            Features that are chosen together; a fixed feature fixes its group, an excluded one excludes it.

        Returns
        -------
        FeatureGroups
            One bit for each group and each remaining feature, in the order of the features.
        """
        places = {name: place for place, name in enumerate(names)}
        stay, leave = (
            _find_features(what, given, places) for what, given in (("fixed", fixed), ("excluded", excluded))
        )
        given = groups.values() if isinstance(groups, Mapping) else [] if groups is None else groups
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise PqswarmError(f"groups must be lists of features, or a mapping to such lists, not {groups!r}.")
        units = np.arange(len(names))
        grouped: set[int] = set()
        for group in given:
            members = _find_features("groups", group, places)
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


def _find_features(what: str, given: Iterable[Any] | None, places: Mapping[Any, int]) -> list[int]:
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

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss rather than one minus a score."""
        return bool(self.evaluator.is_loss)

    def checked_masks(self, masks: ArrayLike) -> BoolArray:
        """Return the bits as a boolean matrix, or raise an error that says what is wrong."""
        bits = np.asarray(masks)
        if bits.ndim != 2 or bits.shape[1] != self.n_features:
            raise PqswarmError(f"masks must have {self.n_features} columns, one per bit, not shape {bits.shape}.")
        return np.ascontiguousarray(bits, dtype=np.bool_)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of the features that each row of bits selects."""
        return np.asarray(self.evaluator.errors(self.groups.expand(self.checked_masks(masks))))

    @property
    def blocks(self) -> tuple[int, ...]:
        """The folds of each block of :meth:`raced`."""
        return tuple(self.evaluator.blocks)

    def raced(self, masks: ArrayLike, first: AnyArray, limits: FloatArray) -> FloatArray:
        """Test the features in one block of folds after the other; see :meth:`Evaluator.raced`."""
        return np.asarray(self.evaluator.raced(self.groups.expand(self.checked_masks(masks)), first, limits))

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of these features in each fold, shape (m, n_folds)."""
        return np.asarray(self.evaluator.fold_errors(self.groups.expand(self.checked_masks(masks))))

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the prediction for each sample, for one row of bits."""
        return np.asarray(self.evaluator.predictions(self.groups.expand(np.asarray(mask, dtype=np.bool_))))
