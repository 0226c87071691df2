"""2D-UPSO, the paper's algorithm: unified particle swarm optimization with learning in two dimensions.

:class:`Swarm2D` is everything but what a particle learns from whom, for other swarms of this kind.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.search.learning2d import adaptive_weight, learning_set, neighborhood_best, self_learning_set
from pqswarm.search.swarm import VelocityParameters, VelocitySwarm


class Swarm2DParameters(VelocityParameters):
    """Parameters of all swarms with learning in two dimensions."""

    randomness: str = parameter(
        "random numbers r_1, r_2: one pair per element of the velocity, or per particle",
        default="particle",
        choices=("element", "particle"),
        symbol="r_1, r_2",
    )
    inertia: float = parameter("weight of the old velocity", default=1.0, low=0, high=10, symbol="w")
    cognitive: float = parameter("weight of a particle's personal best", default=2.0, low=0, high=100, symbol="c_1")
    social: float = parameter("weight of the bests of other particles", default=2.0, low=0, high=100, symbol="c_2")
    worst_error: str = parameter(
        "largest error in the weight of a particle's own position: of the current or of the previous swarm",
        default="current",
        choices=("current", "previous"),
        symbol="max(F)",
    )
    refresh_gap: int = parameter(
        "iterations without a better personal best after which a velocity is redrawn", default=30, low=1, symbol="RG"
    )
    clip_negative: bool = parameter(
        "whether negative likelihoods are clipped to zero when a cardinality is drawn", default=False
    )


class Swarm2D(VelocitySwarm):
    r"""Particles that learn how many features to select, and which (Section 3 of the paper).

    The velocity of a particle is a 2 x n matrix: the likelihood of each number of features, and of each feature. A
    variant says how it is learned, in :meth:`_likelihoods`. Stagnation, the weight of a particle's own position, the
    roulette wheel of sizes and the new position are here.

    Attributes
    ----------
    velocities : ndarray of shape (swarm_size, 2, n_features)
        The likelihoods before the move.
    positions, pbest : ndarray of bool, shape (swarm_size, n_features)
        Current and personal best subset of each particle.
    gbest : ndarray of bool, shape (n_features,)
        The best subset of all.
    errors, pbest_errors : ndarray of shape (swarm_size,)
        Errors of `positions` and `pbest`.
    weights : ndarray of shape (swarm_size,)
        The weight :math:`\Delta_i` of each particle's own position.
    stagnation : ndarray of int, shape (swarm_size,)
        Iterations without a better personal best since the velocity was drawn.

    Examples
    --------
    A swarm that learns from the global best alone:

    >>> class Followers(Swarm2D):
    ...     name = "followers"
    ...     title = "Followers"
    ...
    ...     def _likelihoods(self):
    ...         return self._learned((self.parameters.social * self._random_numbers(), self.gbest))
    >>> search = Followers(n_features=20, seed=1)
    >>> for _ in range(30):
    ...     masks = search.ask()
    ...     search.tell(masks, errors=(masks.sum(axis=1) - 3.0) ** 2)
    >>> int(search.gbest.sum())
    3
    """

    Parameters = Swarm2DParameters
    parameters: Swarm2DParameters
    state_fields: ClassVar[tuple[str, ...]] = (*VelocitySwarm.state_fields, "weights", "stagnation")

    def _start(self) -> None:
        super()._start()
        count = self.parameters.swarm_size
        self.velocities = self.rng.random((count, 2, self.n_features))
        self.weights: FloatArray = np.zeros(count)
        self.stagnation = np.zeros(count, dtype=np.int64)

    @abstractmethod
    def _likelihoods(self) -> FloatArray:
        """Return the next velocities, as a new array; most variants return :meth:`_learned` of their exemplars."""

    def _learned(self, *lessons: tuple[FloatArray, BoolArray]) -> FloatArray:
        r"""Return the velocities after learning from some exemplars, each with its weights.

        .. math:: \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + \sum w \mathcal{L} + \Delta_i \mathcal{L}_i

        A lesson is a pair: weights that broadcast to the velocities, such as ``c * self._random_numbers()``, and the
        exemplar of each particle, (swarm_size, n_features), or of all, (n_features,).
        """
        velocities = self.parameters.inertia * self.velocities
        for weights, exemplars in lessons:
            velocities += weights * learning_set(exemplars, self.positions)
        return velocities + self.weights[:, np.newaxis, np.newaxis] * self_learning_set(self.positions)

    def _move(self) -> BoolArray:
        from pqswarm.search._kernels import likeliest_features

        self._refresh()
        self.velocities = self._likelihoods()
        r = self.rng.random(len(self.velocities))
        xi = self._sizes(r) if self.size is None else np.full(len(r), self.size)
        return np.asarray(likeliest_features(self.velocities, 1, xi))

    def _refresh(self) -> None:
        """Redraw the velocity of particles that have not improved for too long."""
        if self.stagnation.max() >= self.parameters.refresh_gap:
            stale = self.stagnation >= self.parameters.refresh_gap
            self.velocities[stale] = self.rng.random((int(stale.sum()), 2, self.n_features))
            self.stagnation[stale] = 0

    def _sizes(self, r: FloatArray) -> IntArray:
        """Draw the number of features of each particle, by a random number from 0 to 1 for each."""
        from pqswarm.search._kernels import spin_cardinality_wheels

        likelihoods = self.velocities
        if self.parameters.clip_negative:
            likelihoods = likelihoods.copy()
            rho = likelihoods[:, 0]
            np.maximum(rho, 0.0, out=rho, where=(rho > 0).any(axis=1, keepdims=True))
        return np.asarray(spin_cardinality_wheels(likelihoods, 0, r * likelihoods[:, 0].sum(axis=1)))

    def _notice(self, errors: FloatArray, better: BoolArray, improved: bool) -> None:  # noqa: ARG002
        if self.iteration > 0:
            swarm = errors if self.parameters.worst_error == "current" else self.errors
            self.weights = adaptive_weight(errors, self.errors, swarm)
            self.stagnation = self.stagnation + ~better


class UPSO2DParameters(Swarm2DParameters):
    """Parameters of 2D-UPSO."""

    separate_draws: bool = parameter(
        "whether r_1 and r_2 are drawn separately for the velocities toward the global and the neighbors' best",
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
    r"""Unified particle swarm optimization with learning in two dimensions (Algorithm 3 of the paper).

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 (u \mathcal{L}_{soc,1} + (1 - u) \mathcal{L}_{soc,2}) + \Delta_i \mathcal{L}_i

    These are the paper's equations 3 to 5 combined, with one pair of random numbers r_1, r_2 per particle. The ring of
    neighbors is our choice. ``cardinality`` tests what the learning of sizes contributes. With "uniform" every size is
    equally likely, as it is before anything is learned. With "exemplar" the size is that of the personal, the global or
    the neighbors' best, drawn by their weights :math:`c_1, c_2 u, c_2 (1 - u)`; then -1, 0 or 1 is added at random,
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
        return self._sizes_of_exemplars(r) if p.cardinality == "exemplar" else super()._sizes(r)

    def _sizes_of_exemplars(self, r: FloatArray) -> IntArray:
        from pqswarm.search._kernels import spin_roulette_wheel

        p = self.parameters
        weights = np.array([p.cognitive, p.social * p.unification, p.social * (1 - p.unification)])
        leaders = np.broadcast_to(self.gbest, self.pbest.shape)
        sizes = np.stack([self.pbest, leaders, self.nbest]).sum(axis=2)
        drawn = sizes[spin_roulette_wheel(weights, r), np.arange(len(r))]
        steps = (3 * self.rng.random(len(r))).astype(np.int64) - 1
        return np.asarray(np.clip(drawn + steps, 1, self.n_features))
