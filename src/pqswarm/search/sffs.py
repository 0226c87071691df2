"""SFFS: sequential forward floating search."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import Search, SearchParameters

__all__ = ["SFFS", "SFFSParameters"]


@parameters
class SFFSParameters(SearchParameters):
    """Parameters of SFFS; `size` is the size of the subset that is wanted."""

    overshoot: int = option(default=0, meaning="how far the search goes beyond the wanted size", low=0)


class SFFS(Search):
    """Sequential forward floating search.

    Add the best feature; then, as long as that beats the best subset of its size, remove the one least missed. Of
    equals the feature with the lowest index is taken. It draws nothing, and ends by itself at `size` (plus
    `overshoot`), or when all features are in. Without a size its front is what it is run for: the best subsets by size.

    References
    ----------
    P. Pudil, J. Novovicova, J. Kittler, "Floating search methods in feature selection", Pattern Recognition
    Letters 15 (1994).
    """

    name = "sffs"
    title = "SFFS"
    Parameters: ClassVar[type[SearchParameters]] = SFFSParameters
    parameters: SFFSParameters
    may_ask_empty = False
    equivariant = deterministic = runs_once = needs_size = True
    state_fields: ClassVar[tuple[str, ...]] = ("current", "records", "removing")

    def _start(self) -> None:
        self.current: BoolArray = np.zeros(self.n_features, dtype=np.bool_)
        self.records: FloatArray = np.full(self.n_features + 1, np.inf)  # least error of each size
        self.removing = np.array(False)

    @property
    def done(self) -> bool:
        """Whether the wanted size is reached."""
        wanted = self.n_features if self.size is None else self.size + self.parameters.overshoot
        return not self.removing and int(self.current.sum()) >= min(wanted, self.n_features)

    @property
    def least_evaluations(self) -> int:
        """Evaluations until the wanted size is reached, if nothing is ever removed."""
        return 1 if self.size is None else sum(self.n_features - size for size in range(self.size))

    def _next(self) -> BoolArray:
        changes = np.flatnonzero(self.current == bool(self.removing))
        masks = np.tile(self.current, (changes.size, 1))
        masks[np.arange(changes.size), changes] ^= True
        return masks

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        best = int(errors.argmin())
        size = int(masks[best].sum())
        better = bool(errors[best] < self.records[size])
        if better:
            self.records[size] = errors[best]
        if better or not self.removing:
            self.current = masks[best].copy()
        # Removing goes on after each success, and begins after each addition.
        self.removing = np.array((better or not self.removing) and int(self.current.sum()) >= 2)
