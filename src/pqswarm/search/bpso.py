"""BPSO: binary particle swarm optimisation."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import SearchParameters
from pqswarm.search.swarm import VelocityParameters, VelocitySwarm


def binary_velocity(
    velocity: FloatArray, position: BoolArray, pbest: BoolArray, gbest: BoolArray, r1: FloatArray, r2: FloatArray, *,
    inertia: float, cognitive: float, social: float, limit: float,
) -> FloatArray:  # fmt: skip
    r"""Return the velocities after one step, clipped to plus and minus `limit`.

    .. math:: v \leftarrow \omega v + c_1 r_1 (pbest - x) + c_2 r_2 (gbest - x)

    All arrays have shape (m, n), except `gbest` (n,).
    """
    from pqswarm.search._move_kernels import binary_move_velocities

    same = velocity.shape == position.shape == pbest.shape == r1.shape == r2.shape
    if not same or gbest.shape != velocity.shape[1:]:
        raise PqswarmError("position, pbest, r1 and r2 must have the shape of velocity, and gbest that of its rows.")
    weights = float(inertia), float(cognitive), float(social), float(limit)
    return np.asarray(binary_move_velocities(velocity, position, pbest, gbest, r1, r2, *weights))


def take_probability(velocity: FloatArray) -> FloatArray:
    """Return the probability of each feature, 1 / (1 + exp(-velocity)), with the same bits on every processor."""
    from pqswarm._kernels.math import exponentials

    return np.asarray(1.0 / (1.0 + exponentials(-velocity.ravel()).reshape(velocity.shape)))


class BinarySwarmParameters(VelocityParameters):
    """Parameters of all binary swarms."""

    cognitive: float = parameter("acceleration towards the personal best", default=2.0, low=0, high=100, symbol="c_1")
    social: float = parameter("acceleration towards the global best", default=2.0, low=0, high=100, symbol="c_2")
    velocity_limit: float = parameter("limit of the absolute velocity", default=6.0, low=0, high=500, symbol="v_max")


class BinarySwarm(VelocitySwarm):
    """Particles whose velocity is the log-odds of each feature; a variant sets the inertia."""

    Parameters: ClassVar[type[SearchParameters]] = BinarySwarmParameters
    parameters: BinarySwarmParameters
    may_ask_empty = True

    def _start(self) -> None:
        super()._start()
        self.velocities = np.zeros(self.positions.shape)

    @abstractmethod
    def _inertia(self) -> float:
        """Return the weight of the old velocity."""

    def _move(self) -> BoolArray:
        p, particles = self.parameters, (self.velocities, self.positions, self.pbest, self.gbest)
        r1, r2, inertia = self._random_numbers(), self._random_numbers(), self._inertia()
        self.velocities = binary_velocity(
            *particles, r1, r2, inertia=inertia, cognitive=p.cognitive, social=p.social, limit=p.velocity_limit
        )
        return self._resize(self.rng.random(self.positions.shape) < take_probability(self.velocities))


class BPSOParameters(BinarySwarmParameters):
    """Parameters of BPSO."""

    inertia: float = parameter("weight of the old velocity", default=1.0, low=0, high=10, symbol="w")


class BPSO(BinarySwarm):
    """Binary particle swarm optimisation.

    References
    ----------
    J. Kennedy, R. C. Eberhart, "A discrete binary version of the particle swarm algorithm", IEEE International
    Conference on Systems, Man, and Cybernetics (1997).
    """

    name = "bpso"
    title = "BPSO"
    Parameters: ClassVar[type[SearchParameters]] = BPSOParameters
    parameters: BPSOParameters

    def _inertia(self) -> float:
        return self.parameters.inertia
