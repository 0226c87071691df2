"""The common part of all particle swarms: positions, errors, personal and global bests."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import Search, SearchParameters


class SwarmParameters(SearchParameters):
    """Parameters of all particle swarms."""

    swarm_size: int = parameter("particles", default=30, low=2, high=100_000, symbol="ps")
    start_probability: float = parameter(
        "probability of each feature in the first subsets", default=0.5, low=0.01, high=1.0
    )


class Swarm(Search):
    """Particles with synchronous updates; a best changes only for a strictly lower error: of equals the first stays."""

    Parameters = SwarmParameters
    equivariant = True
    parameters: SwarmParameters
    state_fields: ClassVar[tuple[str, ...]] = (
        "iteration",
        "positions",
        "errors",
        "pbest",
        "pbest_errors",
        "gbest",
        "gbest_error",
    )

    def _start(self) -> None:
        count = self.parameters.swarm_size
        n = self.n_features
        self.iteration = np.array(0)
        self.positions = self._random_subsets(count, self.parameters.start_probability)
        self.errors: FloatArray = np.full(count, np.inf)
        self.pbest: BoolArray = np.zeros((count, n), dtype=np.bool_)
        self.pbest_errors: FloatArray = np.full(count, np.inf)
        self.gbest: BoolArray = np.zeros(n, dtype=np.bool_)
        self.gbest_error = np.array(np.inf)

    def _next(self) -> BoolArray:
        if self.iteration > 0:
            self.positions = self._move()
        return self.positions

    @abstractmethod
    def _move(self) -> BoolArray:
        """Return the next positions as new arrays."""

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        from pqswarm.search._kernels import update_personal_bests

        first = bool(self.iteration == 0)
        better = update_personal_bests(masks, errors, self.pbest, self.pbest_errors, first)
        leader = self.pbest_errors.argmin()
        improved = bool(first or self.pbest_errors[leader] < self.gbest_error)
        if improved:
            self.gbest = self.pbest[leader].copy()
            self.gbest_error = np.array(self.pbest_errors[leader])
        self._notice(errors, better, improved)
        self.positions = masks
        self.errors = errors
        self.iteration = self.iteration + 1

    def _notice(self, errors: FloatArray, better: BoolArray, improved: bool) -> None:
        """Update counters from the new errors, the improved personal bests, and whether the global best improved."""


class VelocityParameters(SwarmParameters):
    """Parameters of swarms with velocities."""

    randomness: str = parameter(
        "random numbers r_1, r_2: one pair per element of the velocity, or per particle",
        default="element",
        choices=("element", "particle"),
        symbol="r_1, r_2",
    )


class VelocitySwarm(Swarm):
    """Particles with velocities of any shape (swarm_size, ...), which a variant sets at the start."""

    Parameters = VelocityParameters
    parameters: VelocityParameters
    velocities: FloatArray
    state_fields: ClassVar[tuple[str, ...]] = (*Swarm.state_fields, "velocities")

    def _random_numbers(self) -> FloatArray:
        """Draw r_1 or r_2, the random factors of one term of the velocities, in their shape."""
        count, *rest = shape = self.velocities.shape
        if self.parameters.randomness == "element":
            return self.rng.random(shape)
        return np.broadcast_to(self.rng.random((count, *[1] * len(rest))), shape).copy()
