"""The small steps of populations and ants: compiled code, arrays in, arrays out, sums in the order of the formulas."""

import numpy as np
from numba import njit

__all__ = ["deposit", "exchange_tails", "spin_wheel"]


@njit(cache=True, nogil=True)
def spin_wheel(weights, u):
    """Return where a wheel with such shares stops, for each number of `u`."""
    wheel = np.cumsum(weights if weights.any() else np.ones(weights.size))
    last = np.searchsorted(wheel, wheel[-1])  # that has a share
    chosen = np.searchsorted(wheel, u * wheel[-1], "right")
    return np.minimum(chosen, last)


@njit(cache=True, nogil=True)
def exchange_tails(parents, cuts):
    """Return the rows with those of each pair exchanged from its cut on."""
    children = parents.copy()
    for pair in range(cuts.size):
        for j in range(cuts[pair], parents.shape[1]):
            children[2 * pair, j] = parents[2 * pair + 1, j]
            children[2 * pair + 1, j] = parents[2 * pair, j]
    return children


@njit(cache=True, nogil=True)
def deposit(pheromone, paths, errors, factor, evaporation, low, high):
    """Return the pheromone, (2, n), after evaporation and after ants have walked their paths, (m, n)."""
    left = np.zeros(pheromone.shape)
    for ant in range(paths.shape[0]):
        for j in range(paths.shape[1]):
            left[0, j] += paths[ant, j] * (1.0 - errors[ant])
            left[1, j] += (not paths[ant, j]) * (1.0 - errors[ant])
    total = (1.0 - evaporation) * pheromone + left / factor
    return np.minimum(np.maximum(total, low), high)
