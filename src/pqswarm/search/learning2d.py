r"""Learning in two dimensions: the number of features, and the features (Algorithms 1 and 2 of the paper).

The velocity of a particle is a 2 x n matrix of selection likelihoods: row 0 for each cardinality 1 ... n
(:math:`\rho`), row 1 for each feature (:math:`\sigma`). The functions accept one particle or any stack: masks have
shape (..., n), velocities and learning sets (..., 2, n).

:func:`learning_set`, :func:`self_learning_set` and :func:`ranks` are the definition of what the kernels of the searches
compute in one pass; tests compare them to the last bit. The others call those kernels.
"""

import numpy as np

from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray


def learning_set(exemplar: BoolArray, particle: BoolArray) -> FloatArray:
    r"""Return the learning set of a particle from an exemplar: its size, and the features that the particle lacks.

    Algorithm 1: :math:`\mathcal{L}_\alpha = [\varphi_\alpha; \alpha \wedge \overline{\beta_i}]`, zeros and ones. The
    two masks broadcast.

    Examples
    --------
    >>> learning_set(np.array([1, 1, 1, 0, 1], dtype=bool), np.array([1, 1, 0, 1, 0], dtype=bool)).astype(int).tolist()
    [[0, 0, 0, 1, 0], [0, 0, 1, 0, 1]]
    """
    exemplar, particle = np.broadcast_arrays(exemplar, particle)
    return _learning_set_with_size(exemplar, exemplar & ~particle)


def self_learning_set(particle: BoolArray) -> FloatArray:
    r"""Return the learning set of a particle from itself: its size and its features.

    Algorithm 1: :math:`\mathcal{L}_i = [\varphi_i; \beta_i]`, zeros and ones.

    Examples
    --------
    >>> self_learning_set(np.array([1, 1, 0, 1, 0], dtype=bool)).astype(int).tolist()
    [[0, 0, 1, 0, 0], [1, 1, 0, 1, 0]]
    """
    return _learning_set_with_size(particle, particle)


def _learning_set_with_size(mask: BoolArray, features: BoolArray) -> FloatArray:
    """Put the one-hot size of `mask` above `features`; an empty mask has no size."""
    learned = np.empty((*mask.shape[:-1], 2, mask.shape[-1]))
    learned[..., 0, :] = mask.sum(axis=-1, keepdims=True) == np.arange(1, mask.shape[-1] + 1)
    learned[..., 1, :] = features
    return learned


def adaptive_weight(errors: FloatArray, previous: FloatArray, swarm: FloatArray | None = None) -> FloatArray:
    r"""Return the self-confidence of each particle, from its current and previous error.

    :math:`\Delta_i = \pm(1 - f_i / \max F)`, plus if the particle's error fell, else minus. `swarm` are the errors F,
    by default the current ones; if none of them is positive, all weights are 0.

    Examples
    --------
    >>> adaptive_weight(np.array([0.1, 0.2, 0.4]), np.array([0.2, 0.2, 0.1])).tolist()
    [0.75, -0.5, 0.0]
    """
    from pqswarm.search._kernels import self_confidence

    return np.asarray(self_confidence(errors, previous, errors if swarm is None else swarm))


def cardinality(rho: FloatArray, r: FloatArray) -> IntArray:
    """Spin the roulette wheel: return the first cardinality whose cumulative likelihood reaches `r` (Algorithm 2).

    `rho`, (..., n), holds the likelihood of each cardinality 1 ... n, `r`, (...), random numbers from 0 to its sum.
    Likelihoods may be negative; if the sum is not positive, the likeliest cardinality is returned.

    Examples
    --------
    >>> int(cardinality(np.array([0.82, 2.53, 2.22, 0.28, 0.95]), np.array(3.1)))
    2
    """
    from pqswarm.search._kernels import spin_cardinality_wheels

    rows, each = _stack_by_particle(rho, r, np.float64)
    return np.asarray(spin_cardinality_wheels(rows, 0, each).reshape(rho.shape[:-1]))


def ranks(sigma: FloatArray) -> IntArray:
    """Rank features by likelihood: 1 is the likeliest; ties by index (Algorithm 2).

    Examples
    --------
    >>> ranks(np.array([1.61, 1.88, 0.80, 1.33, 2.88])).tolist()
    [3, 2, 5, 4, 1]
    """
    order = np.argsort(-sigma, axis=-1, kind="stable")
    ranked = np.empty_like(order)
    np.put_along_axis(ranked, order, np.broadcast_to(np.arange(1, sigma.shape[-1] + 1), order.shape), axis=-1)
    return ranked


def position(sigma: FloatArray, xi: IntArray) -> BoolArray:
    r"""Select the :math:`\xi` likeliest features, by the likelihood `sigma` of each (Algorithm 2).

    Examples
    --------
    >>> position(np.array([1.61, 1.88, 0.80, 1.33, 2.88]), np.array(2)).astype(int).tolist()
    [0, 1, 0, 0, 1]
    """
    from pqswarm.search._kernels import likeliest_features

    rows, each = _stack_by_particle(sigma, xi, np.int64)
    return np.asarray(likeliest_features(rows, 0, each).reshape(sigma.shape))


def _stack_by_particle(likelihoods: FloatArray, numbers: ArrayLike, kind: type) -> tuple[FloatArray, AnyArray]:
    """A row of likelihoods per particle of a stack, (m, 1, n), and a number per particle, (m,)."""
    rows = np.ascontiguousarray(likelihoods, dtype=np.float64).reshape(-1, 1, likelihoods.shape[-1])
    each: AnyArray = np.broadcast_to(np.asarray(numbers, dtype=kind), likelihoods.shape[:-1]).copy()
    return rows, each.reshape(-1)


def neighborhood_best(pbest_errors: FloatArray, neighbors: int = 1) -> IntArray:
    """Return, for each particle on a ring, the one with the best position among it and `neighbors` on each side.

    Ties go to the lowest index.

    Examples
    --------
    >>> neighborhood_best(np.array([0.3, 0.2, 0.2, 0.4, 0.3])).tolist()
    [1, 1, 1, 2, 0]
    """
    from pqswarm.search._kernels import best_on_ring

    return np.asarray(best_on_ring(pbest_errors, neighbors))
