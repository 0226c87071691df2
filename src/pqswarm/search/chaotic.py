"""Chaotic BPSO: the inertia follows the logistic map."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.search.bpso import BinarySwarm, BinarySwarmParameters

_FIXED = (0.25, 0.5, 0.75)  # from these, as from 0 and 1, the map reaches a fixed point


class ChaoticParameters(BinarySwarmParameters):
    """Parameters of chaotic BPSO."""

    initial_inertia: float = parameter(
        "weight of the old velocity in the first step; not 0.25, 0.5 or 0.75",
        default=0.48,
        low=1e-6,
        high=0.999999,
        symbol="w_0",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.initial_inertia in _FIXED:
            raise PqswarmError(f"initial_inertia must not be {self.initial_inertia}: it leads to a fixed point.")


class ChaoticBPSO(BinarySwarm):
    """Binary particle swarm optimization with an inertia that follows the logistic map, one step per iteration.

    The paper names the map; its initial value is our choice.

    References
    ----------
    L.-Y. Chuang, C.-H. Yang, J.-C. Li, "Chaotic maps based on binary particle swarm optimization for feature
    selection", Applied Soft Computing 11 (2011).
    """

    name = "chbpso"
    title = "chBPSO"
    Parameters = ChaoticParameters
    parameters: ChaoticParameters
    state_fields = (*BinarySwarm.state_fields, "inertia")

    def _start(self) -> None:
        super()._start()
        self.inertia = np.array(self.parameters.initial_inertia)

    def _inertia(self) -> float:
        return float(self.inertia)

    def _move(self) -> BoolArray:
        positions = super()._move()
        self.inertia = np.array(4.0 * float(self.inertia) * (1.0 - float(self.inertia)))
        return positions
