"""Compiled steps of searches: moves of particles, populations and ants, and the model of MERIT.

NumPy would pass over the small arrays of a swarm twenty times per move; here each number is computed in one pass. Sums,
products and comparisons follow the formulas in the same order, so that results are identical to the last bit. Pairwise
sums and the exponential, where NumPy has its own order or approximation, are left to it. Only loops are used: array
functions would take seconds to compile.

For MERIT, subsets are lists of features: `places` holds those of all subsets, subset r from `ends[r]` up to
`ends[r + 1]`.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import logarithm

_MAGNITUDE = 0x7FFFFFFFFFFFFFFF  # all bits but the sign
_MERIT_STEPS = 4  # of a fit of the model


@njit(cache=True, nogil=True)
def binary_swarm_velocities(velocity, position, pbest, gbest, r1, r2, inertia, cognitive, social, limit):
    r"""Return the velocities, (m, n), of particles in the space of bits after one step, clipped to `limit`.

    .. math:: v \leftarrow \omega v + c_1 r_1 (pbest - x) + c_2 r_2 (gbest - x)
    """
    out = np.empty(velocity.shape)
    for i in range(velocity.shape[0]):
        for j in range(velocity.shape[1]):
            x = 1.0 * position[i, j]
            v = inertia * velocity[i, j] + cognitive * r1[i, j] * (pbest[i, j] - x)
            v += social * r2[i, j] * (gbest[j] - x)
            v = -limit if v < -limit else v
            out[i, j] = limit if v > limit else v
    return out


@njit(cache=True, nogil=True)
def _learned_velocity(v, own, leader, neighbor, itself, r1, r2, weight, inertia, cognitive, social, unification):
    """One element of a velocity after one step; each learning set is given by whether it holds the element."""
    others = unification * leader + (1 - unification) * neighbor
    return inertia * v + (cognitive * r1 * own + social * r2 * others) + weight * itself


@njit(cache=True, nogil=True)
def learn_2d_velocities(
    velocities, positions, pbest, gbest, nbest, r1, r2, weights, inertia, cognitive, social, unification
):
    """Return the velocities, (m, 2, n), after one step; learning sets hold the size and the features of the exemplar.

    `pbest` and `nbest`, (m, n), are the personal and the neighbors' best of each particle.
    """
    m, n = positions.shape
    out = np.empty(velocities.shape)
    gbest_size = gbest.sum()
    for i in range(m):
        x = positions[i]
        a = pbest[i]
        b = nbest[i]
        w = weights[i]
        x_size = x.sum()
        a_size = a.sum()
        b_size = b.sum()
        for j in range(n):
            size = j + 1
            out[i, 0, j] = _learned_velocity(
                velocities[i, 0, j],
                size == a_size,
                size == gbest_size,
                size == b_size,
                size == x_size,
                r1[i, 0, j],
                r2[i, 0, j],
                w,
                inertia,
                cognitive,
                social,
                unification,
            )
        for j in range(n):
            new = not x[j]
            out[i, 1, j] = _learned_velocity(
                velocities[i, 1, j],
                a[j] & new,
                gbest[j] & new,
                b[j] & new,
                x[j],
                r1[i, 1, j],
                r2[i, 1, j],
                w,
                inertia,
                cognitive,
                social,
                unification,
            )
    return out


@njit(cache=True, nogil=True)
def update_personal_bests(masks, errors, pbest, pbest_errors, all_better):
    """Replace improved personal bests, and return which particles improved."""
    better = np.empty(errors.size, np.bool_)
    for i in range(errors.size):
        better[i] = all_better or errors[i] < pbest_errors[i]
        if better[i]:
            pbest_errors[i] = errors[i]
            for j in range(masks.shape[1]):
                pbest[i, j] = masks[i, j]
    return better


@njit(cache=True, nogil=True)
def best_on_ring(errors, neighbors):
    """Return the position of the lowest error among each position on a ring and its neighbors; of equals the first."""
    count = errors.size
    best = np.empty(count, np.int64)
    for i in range(count):
        best[i] = i
        for step in range(-min(neighbors, count), min(neighbors, count) + 1):
            k = (i + step) % count
            if errors[k] < errors[best[i]] or (errors[k] == errors[best[i]] and k < best[i]):
                best[i] = k
    return best


@njit(cache=True, nogil=True)
def self_confidence(errors, previous, swarm):
    """Return the self-confidence of each particle, relative to the largest error of a swarm."""
    worst = 0.0
    out = np.zeros(errors.size)
    for error in swarm:
        worst = max(worst, error)
    for i in range(errors.size if worst > 0.0 else 0):
        fraction = errors[i] / worst if errors[i] < np.inf else 1.0
        weight = min(1.0 - fraction, 1.0)
        out[i] = (weight if errors[i] < previous[i] else -weight) + 0.0  # the sum turns -0 into 0
    return out


@njit(cache=True, nogil=True)
def spin_cardinality_wheels(velocities, row, r):
    """Spin the wheels of velocities[:, row]: return the first position whose cumulative sum reaches r."""
    m, _, n = velocities.shape
    xi = np.empty(m, np.int64)
    for i in range(m):
        rho = velocities[i, row]
        total = 0.0
        place = -1
        largest = 0
        for j in range(n):
            total += rho[j]
            if place < 0 and total >= r[i]:
                place = j
            if rho[j] > rho[largest]:
                largest = j
        if not total > 0.0:
            xi[i] = largest + 1
        else:
            xi[i] = n if place < 0 else place + 1  # rounding: r exceeds the sum
    return xi


@njit(cache=True, nogil=True)
def likeliest_features(velocities, row, xi):
    """Return the masks of the xi[i] largest of velocities[i, row], the first in ties, by bisection: no sorting."""
    m, _, n = velocities.shape
    masks = np.zeros((m, n), np.bool_)
    keys = np.empty(n, np.int64)
    for i in range(m):
        wanted = min(xi[i], n)
        if wanted < 1:
            continue
        low, high = np.int64(_MAGNITUDE), np.int64(-_MAGNITUDE)
        for j in range(n):
            bits = np.float64(velocities[i, row, j] + 0.0).view(np.int64)  # the sum is never -0
            keys[j] = bits ^ ((bits >> 63) & _MAGNITUDE)
            low, high = min(low, keys[j]), max(high, keys[j])
        low -= 1  # at least `wanted` numbers exceed `low`, fewer exceed `high`
        while high - low != 1:
            middle = (low & high) + ((low ^ high) >> 1)
            above = 0
            for j in range(n):
                above += keys[j] > middle
            if above >= wanted:
                low = middle
            else:
                high = middle
            if above == wanted:
                break
        ties = wanted
        for j in range(n):
            masks[i, j] = keys[j] > low
            ties -= masks[i, j]
        for j in range(n - 1, -1, -1):  # too many: of equals at the threshold the last are dropped
            if ties < 0 and keys[j] == high:
                masks[i, j] = False
                ties += 1
    return masks


@njit(cache=True, nogil=True)
def spin_roulette_wheel(weights, u):
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
def exchange_population_tails(children, cuts):
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
    chosen = spin_roulette_wheel(weights, draws[:m])
    pairs = m // 2
    children = np.empty((m, n), np.bool_)
    for i in range(m):
        for j in range(n):
            children[i, j] = population[chosen[i], j]
    cuts = np.empty(pairs, np.int64)
    for pair in range(pairs):
        crossed = draws[m + pair] < crossover_probability
        cuts[pair] = 1 + np.int64(draws[m + pairs + pair] * (n - 1)) if crossed else n
    exchange_population_tails(children, cuts)
    bits = draws[m + 2 * pairs :]
    for i in range(m):
        if each_bit:
            for j in range(n):
                children[i, j] ^= bits[i * n + j] < mutation_probability
        elif bits[m + i] < mutation_probability:
            children[i, np.int64(bits[i] * n)] ^= True
    return children


@njit(cache=True, nogil=True)
def deposit_pheromone(pheromone, paths, errors, factor, evaporation, low, high):
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


@njit(cache=True, nogil=True)
def fit_merit_slopes(places, ends, rows, weights, gains, slopes, shrinkage, scratch):
    """Improve the slopes of a weighted ridge regression of `gains` on features by some steps of conjugate gradients.

    The penalty is worth `shrinkage` subsets. Return the sum of the weighted squares of the residuals before.
    """
    n = slopes.size
    m = rows.size
    center = scratch[0]
    diagonal = scratch[1]
    residual = scratch[2]
    direction = scratch[3]
    image = scratch[4]
    total = 0.0
    for i in range(m):
        total += weights[i]
        for k in range(ends[rows[i]], ends[rows[i] + 1]):
            center[places[k]] += weights[i]
    ridge = 0.0
    for j in range(n):
        center[j] /= total
        diagonal[j] = total * center[j] * (1.0 - center[j])
        ridge += diagonal[j]
    ridge = shrinkage / total * ridge / n + 1e-9
    squares = 0.0
    before = 1.0
    for step in range(_MERIT_STEPS + 1):
        v = slopes if step == 0 else direction
        shift = 0.0
        common = 0.0
        for j in range(n):
            shift += center[j] * v[j]
            image[j] = 0.0
        for i in range(m):
            value = -shift
            for k in range(ends[rows[i]], ends[rows[i] + 1]):
                value += v[places[k]]
            value = weights[i] * (gains[i] - value if step == 0 else value)
            squares += value * value / weights[i] if step == 0 else 0.0
            common += value
            for k in range(ends[rows[i]], ends[rows[i] + 1]):
                image[places[k]] += value
        if step == 0:
            for j in range(n):
                residual[j] = image[j] - center[j] * common - ridge * slopes[j]
        else:
            curvature = 0.0
            for j in range(n):
                image[j] += ridge * direction[j] - center[j] * common
                curvature += direction[j] * image[j]
            if not curvature > 0.0:
                break
            length = before / curvature
            for j in range(n):
                slopes[j] += length * direction[j]
                residual[j] -= length * image[j]
        now = 0.0
        for j in range(n):
            now += residual[j] * residual[j] / (diagonal[j] + ridge)
        if not now > 0.0:
            break
        for j in range(n):
            again = now / before * direction[j] if step > 0 else 0.0
            direction[j] = residual[j] / (diagonal[j] + ridge) + again
        before = now
    return squares


@njit(cache=True, nogil=True)
def change_merit_elites(masks, kinds, draws, leaving, entering, keep_size):
    """Change subsets in place by one to three steps: 30 % add a feature, 30 % drop one, the others exchange one.

    `kinds`, (m, 4) or more, are uniform: number of steps, and what each does. `draws`, (m, n), are uniform, too, and
    select the features, each in proportion to its weight in `leaving` or `entering`, at most once; they are changed.
    """
    n = masks.shape[1]
    kept = np.bool_(True)  # with a literal, the function it is given to would be compiled twice
    for i in range(masks.shape[0]):
        size = 0
        for j in range(n):
            size += masks[i, j]
        for step in range(1 + np.int64(3 * kinds[i, 0])):
            kind = kinds[i, step + 1]
            adds = size < n and (kind < 0.3 or kind >= 0.6 or size < 2)
            drops = size > 1 and (kind >= 0.3 or not adds)
            if keep_size:
                adds = drops = size < n
            gone = _first_merit_feature(masks[i], kept, draws[i], leaving) if drops else -1
            come = _first_merit_feature(masks[i], not kept, draws[i], entering) if adds else -1
            if keep_size and (gone < 0 or come < 0):
                break
            if gone >= 0:
                masks[i, gone] = False
                draws[i, gone] = 1.0
                size -= 1
            if come >= 0:
                masks[i, come] = True
                draws[i, come] = 1.0
                size = size + 1


@njit(cache=True, nogil=True)
def _first_merit_feature(mask, kept, draws, weights):
    """The feature of a subset, or not of it, whose exponential waiting time ends first; -1 if none is left."""
    found, wait = -1, np.inf
    for j in range(mask.size):
        if (mask[j] == kept) & (draws[j] < wait * weights[j]):  # -log(1 - u) is at least u: few are computed
            ends = -logarithm(1.0 - draws[j]) / weights[j]
            if ends < wait:
                found, wait = j, ends
    return found
