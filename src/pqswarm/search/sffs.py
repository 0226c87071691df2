"""SFFS: sequential forward floating search."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import Search, SearchParameters


class SFFSParameters(SearchParameters):
    """Parameters of SFFS; `size` is the required subset size."""

    overshoot: int = parameter("number of features by which the search exceeds the required size", default=0, low=0)


class SFFS(Search):
    """Sequential forward floating search.

    Add the best feature; then remove the least useful one as long as that beats the best subset of its size. Ties go to
    the lowest index. The search is deterministic and ends at `size` (plus `overshoot`), or when all features are in.
    Without a size, its result is the front: the best subset of each size.

    References
    ----------
    P. Pudil, J. Novovicova, J. Kittler, "Floating search methods in feature selection", Pattern Recognition
    Letters 15 (1994).
    """

    name = "sffs"
    title = "SFFS"
    Parameters = SFFSParameters
    parameters: SFFSParameters
    equivariant = deterministic = runs_once = needs_size = True
    state_fields = ("current", "records", "removing")

    def _start(self) -> None:
        self.current: BoolArray = np.zeros(self.n_features, dtype=np.bool_)
        self.records: FloatArray = np.full(self.n_features + 1, np.inf)  # lowest error of each size
        self.removing = np.array(False)

    @property
    def done(self) -> bool:
        """Whether the required size is reached."""
        wanted = self.n_features if self.size is None else self.size + self.parameters.overshoot
        return not self.removing and int(self.current.sum()) >= min(wanted, self.n_features)

    @property
    def min_evaluations(self) -> int:
        """Evaluations until the required size is reached, if nothing is removed."""
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
        # Removal starts after each addition, and continues after each success.
        self.removing = np.array((better or not self.removing) and int(self.current.sum()) >= 2)
