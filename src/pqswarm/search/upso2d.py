"""2D-UPSO, the paper's algorithm: unified particle swarm optimization with learning in two dimensions."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.search.learning2d import neighborhood_best
from pqswarm.search.swarm2d import Swarm2D, Swarm2DParameters


class UPSO2DParameters(Swarm2DParameters):
    """Parameters of 2D-UPSO."""

    separate_draws: bool = parameter(
        "whether r_1 and r_2 are drawn separately for the velocities towards the global and the neighbors' best",
        default=False,
    )
    unification: float = parameter(
        "weight of the global best relative to the neighbors' best", default=0.9, low=0, high=1, symbol="u"
    )
    neighbors: int = parameter("neighbors on each side of a particle, on a ring", default=1, low=1)
    cardinality: str = parameter(
        "sizes of the next subsets: learned likelihoods, an exemplar's size at most one off, or all equally likely",
        default="learned",
        choices=("learned", "exemplar", "uniform"),
        symbol="xi",
    )


class UPSO2D(Swarm2D):
    r"""Unified particle swarm optimisation with learning in two dimensions (Algorithm 3 of the paper).

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 (u \mathcal{L}_{soc,1} + (1 - u) \mathcal{L}_{soc,2}) + \Delta_i \mathcal{L}_i

    These are the paper's equations 3 to 5 combined, with one pair of random numbers r_1, r_2 per particle. The ring of
    neighbours is our choice. ``cardinality`` tests what the learning of sizes contributes. With "uniform" every size is
    equally likely, as it is before anything is learned. With "exemplar" the size is that of the personal, the global or
    the neighbours' best, drawn by their weights :math:`c_1, c_2 u, c_2 (1 - u)`; then -1, 0 or 1 is added at random,
    because a swarm that only copied sizes would never leave those of its first subsets.

    References
    ----------
    F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two
    dimensional (2D) particle swarms", Applied Soft Computing 81 (2019).
    """

    name = "2d-upso"
    title = "2D-UPSO"
    Parameters = UPSO2DParameters
    parameters: UPSO2DParameters

    def _likelihoods(self) -> FloatArray:
        self.nbest = self.pbest[neighborhood_best(self.pbest_errors, self.parameters.neighbors)]
        u = self.parameters.unification
        if self.parameters.separate_draws:
            return u * self._velocities_towards(1.0) + (1 - u) * self._velocities_towards(0.0)
        return self._velocities_towards(u)

    def _velocities_towards(self, unification: float) -> FloatArray:
        """Return the next velocities by one draw of r_1 and r_2."""
        from pqswarm.search._kernels import learn_2d_velocities

        p = self.parameters
        velocities = learn_2d_velocities(
            self.velocities,
            self.positions,
            self.pbest,
            self.gbest,
            self.nbest,
            self._random_numbers(),
            self._random_numbers(),
            self.weights,
            float(p.inertia),
            float(p.cognitive),
            float(p.social),
            float(unification),
        )
        return np.asarray(velocities)

    def _sizes(self, r: FloatArray) -> IntArray:
        p = self.parameters
        if p.cardinality == "uniform":
            return 1 + (r * self.n_features).astype(np.int64)
        if p.cardinality == "exemplar":
            return self._sizes_of_exemplars(r)
        return super()._sizes(r)

    def _sizes_of_exemplars(self, r: FloatArray) -> IntArray:
        from pqswarm.search._kernels import spin_roulette_wheel

        p = self.parameters
        weights = np.array([p.cognitive, p.social * p.unification, p.social * (1 - p.unification)])
        sizes = np.stack([self.pbest, np.broadcast_to(self.gbest, self.pbest.shape), self.nbest]).sum(axis=2)
        drawn = sizes[spin_roulette_wheel(weights, r), np.arange(len(r))]
        steps = (3 * self.rng.random(len(r))).astype(np.int64) - 1
        return np.asarray(np.clip(drawn + steps, 1, self.n_features))
