"""BPSO: binary particle swarm optimization."""

from abc import abstractmethod

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.swarm import VelocityParameters, VelocitySwarm


def take_probability(velocity: FloatArray) -> FloatArray:
    """Return the probability of each feature, 1 / (1 + exp(-velocity)), with the same bits on every processor."""
    from pqswarm._kernels.math import exponentials

    return np.asarray(1.0 / (1.0 + exponentials(-velocity.ravel()).reshape(velocity.shape)))


class BinarySwarmParameters(VelocityParameters):
    """Parameters of all binary swarms."""

    cognitive: float = parameter("acceleration toward the personal best", default=2.0, low=0, high=100, symbol="c_1")
    social: float = parameter("acceleration toward the global best", default=2.0, low=0, high=100, symbol="c_2")
    velocity_limit: float = parameter("limit of the absolute velocity", default=6.0, low=0, high=500, symbol="v_max")


class BinarySwarm(VelocitySwarm):
    """Particles whose velocity is the log-odds of each feature; a variant sets the inertia."""

    Parameters = BinarySwarmParameters
    parameters: BinarySwarmParameters
    may_ask_empty = True

    def _start(self) -> None:
        super()._start()
        self.velocities = np.zeros(self.positions.shape)

    @abstractmethod
    def _inertia(self) -> float:
        """Return the weight of the old velocity."""

    def _move(self) -> BoolArray:
        from pqswarm.search._kernels import binary_swarm_velocities

        p = self.parameters
        self.velocities = binary_swarm_velocities(
            self.velocities,
            self.positions,
            self.pbest,
            self.gbest,
            self._random_numbers(),
            self._random_numbers(),
            float(self._inertia()),
            float(p.cognitive),
            float(p.social),
            float(p.velocity_limit),
        )
        return np.asarray(self.rng.random(self.positions.shape) < take_probability(self.velocities))


class BPSOParameters(BinarySwarmParameters):
    """Parameters of BPSO."""

    inertia: float = parameter("weight of the old velocity", default=1.0, low=0, high=10, symbol="w")


class BPSO(BinarySwarm):
    """Binary particle swarm optimization.

    References
    ----------
    J. Kennedy, R. C. Eberhart, "A discrete binary version of the particle swarm algorithm", IEEE International
    Conference on Systems, Man, and Cybernetics (1997).
    """

    name = "bpso"
    title = "BPSO"
    Parameters = BPSOParameters
    parameters: BPSOParameters

    def _inertia(self) -> float:
        return self.parameters.inertia
