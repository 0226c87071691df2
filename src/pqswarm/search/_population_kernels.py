"""Steps of populations and ants, with sums in the order of the formulas.

Only loops are used: array functions would take seconds to compile.
"""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def spin_wheel(weights, u):
    """Spin a wheel with these weights for each number in `u`; equal weights if none is positive."""
    equal = True
    for weight in weights:
        equal = equal and weight == 0.0
    wheel = np.empty(weights.size)
    total = 0.0
    for k in range(weights.size):
        total += 1.0 if equal else weights[k]
        wheel[k] = total
    last = weights.size - 1  # the last with a positive weight
    while last > 0 and wheel[last - 1] == total:
        last -= 1
    chosen = np.empty(u.size, np.int64)
    for i in range(u.size):
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if wheel[middle] > u[i] * total:
                high = middle
            else:
                low = middle + 1
        chosen[i] = low
    return chosen


@njit(cache=True, nogil=True)
def exchange_tails(children, cuts):
    """Exchange the tails of each pair of rows from its cut on."""
    for pair in range(cuts.size):
        for j in range(cuts[pair], children.shape[1]):
            first = children[2 * pair, j]
            children[2 * pair, j] = children[2 * pair + 1, j]
            children[2 * pair + 1, j] = first


@njit(cache=True, nogil=True)
def breed_population(population, weights, draws, crossover_probability, mutation_probability, each_bit):
    """Return the children of a population, (m, n): roulette selection, tails exchanged, bits flipped.

    `draws` are uniform numbers: m for the wheel, twice m // 2 for pairs (whether they are crossed, and where), and one
    for each bit; or, if not `each_bit`, twice m (which bit of a chromosome may be flipped, and whether it is).
    """
    m, n = population.shape
    chosen = spin_wheel(weights, draws[:m])
    pairs = m // 2
    children = np.empty((m, n), np.bool_)
    for i in range(m):
        for j in range(n):
            children[i, j] = population[chosen[i], j]
    cuts = np.empty(pairs, np.int64)
    for pair in range(pairs):
        crossed = draws[m + pair] < crossover_probability
        cuts[pair] = 1 + np.int64(draws[m + pairs + pair] * (n - 1)) if crossed else n
    exchange_tails(children, cuts)
    bits = draws[m + 2 * pairs :]
    for i in range(m):
        if each_bit:
            for j in range(n):
                children[i, j] ^= bits[i * n + j] < mutation_probability
        elif bits[m + i] < mutation_probability:
            children[i, np.int64(bits[i] * n)] ^= True
    return children


@njit(cache=True, nogil=True)
def deposit_on_paths(pheromone, paths, errors, factor, evaporation, low, high):
    r"""Return the pheromone, (2, n), after evaporation and the deposits of ants on their paths, (m, n).

    .. math:: \tau \leftarrow \mathrm{clip}((1 - \rho) \tau + \frac{1}{a} \sum (1 - J), \tau_{min}, \tau_{max})

    Row 0 is to take, row 1 to leave a feature. The sum is over the ants whose subset, a row of `paths`, used the edge;
    their `errors` J are at most 1.
    """
    out = np.zeros(pheromone.shape)
    for ant in range(paths.shape[0]):
        for j in range(paths.shape[1]):
            out[0, j] += paths[ant, j] * (1.0 - errors[ant])
            out[1, j] += (not paths[ant, j]) * (1.0 - errors[ant])
    for row in range(2):
        for j in range(paths.shape[1]):
            total = (1.0 - evaporation) * pheromone[row, j] + out[row, j] / factor
            out[row, j] = min(max(total, low), high)
    return out
