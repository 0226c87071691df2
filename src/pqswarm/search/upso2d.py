"""2D-UPSO, the paper's algorithm: unified particle swarm optimisation with learning in two dimensions."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.learning2d import adaptive_weight, neighborhood_best
from pqswarm.search.swarm import VelocityParameters, VelocitySwarm


class UPSO2DParameters(VelocityParameters):
    """Parameters of 2D-UPSO."""

    inertia: float = parameter("weight of the old velocity", default=1.0, low=0, high=10, symbol="w")
    refresh_gap: int = parameter(
        "iterations without a better personal best after which a velocity is redrawn", default=30, low=1, symbol="RG"
    )
    clip_negative: bool = parameter(
        "whether negative likelihoods are clipped to zero when a cardinality is drawn", default=False
    )
    cognitive: float = parameter("weight of a particle's personal best", default=2.0, low=0, high=100, symbol="c_1")
    social: float = parameter("weight of the bests of other particles", default=2.0, low=0, high=100, symbol="c_2")
    unification: float = parameter(
        "weight of the global best relative to the neighbours' best", default=0.9, low=0, high=1, symbol="u"
    )
    neighbors: int = parameter("neighbours on each side of a particle, on a ring", default=1, low=1)


class UPSO2D(VelocitySwarm):
    r"""Unified particle swarm optimisation with learning in two dimensions (Algorithm 3 of the paper).

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 (u \mathcal{L}_{soc,1} + (1 - u) \mathcal{L}_{soc,2}) + \Delta_i \mathcal{L}_i

    These are the paper's equations 3 to 5 combined. The ring of neighbours, and random numbers r_1, r_2 per element of
    the velocity, are our choice.

    References
    ----------
    F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two
    dimensional (2D) particle swarms", Applied Soft Computing 81 (2019).
    """

    name = "2d-upso"
    title = "2D-UPSO"
    Parameters = UPSO2DParameters
    parameters: UPSO2DParameters
    may_ask_empty = False
    state_fields = (*VelocitySwarm.state_fields, "weights", "stagnation")

    def _start(self) -> None:
        super()._start()
        count = self.parameters.swarm_size
        self.velocities = self.rng.random((count, 2, self.n_features))
        self.weights: FloatArray = np.zeros(count)
        self.stagnation = np.zeros(count, dtype=np.int64)

    def _move(self) -> BoolArray:
        from pqswarm.search._kernels import likeliest_features, spin_cardinality_wheels

        self._refresh()
        self.velocities = self._learned_velocities()
        likelihoods = self.velocities
        count = len(self.velocities)
        if self.parameters.clip_negative:
            likelihoods = likelihoods.copy()
            rho = likelihoods[:, 0]
            np.maximum(rho, 0.0, out=rho, where=(rho > 0).any(axis=1, keepdims=True))
        r = self.rng.random(count) * likelihoods[:, 0].sum(axis=1)
        xi = spin_cardinality_wheels(likelihoods, 0, r) if self.size is None else np.full(count, self.size)
        return np.asarray(likeliest_features(likelihoods, 1, xi))

    def _refresh(self) -> None:
        """Redraw the velocity of particles that have not improved for too long."""
        if self.stagnation.max() >= self.parameters.refresh_gap:
            stale = self.stagnation >= self.parameters.refresh_gap
            self.velocities[stale] = self.rng.random((int(stale.sum()), 2, self.n_features))
            self.stagnation[stale] = 0

    def _learned_velocities(self) -> FloatArray:
        from pqswarm.search._kernels import learn_2d_velocities

        p = self.parameters
        bests = self.pbest, self.gbest, self.pbest[neighborhood_best(self.pbest_errors, p.neighbors)]
        r1, r2 = self._random_numbers(), self._random_numbers()
        rates = float(p.inertia), float(p.cognitive), float(p.social), float(p.unification)
        velocities = learn_2d_velocities(self.velocities, self.positions, *bests, r1, r2, self.weights, *rates)
        return np.asarray(velocities)

    def _notice(self, errors: FloatArray, better: BoolArray, improved: bool) -> None:  # noqa: ARG002
        if self.iteration > 0:
            self.weights = adaptive_weight(errors, self.errors)
            self.stagnation = self.stagnation + ~better
