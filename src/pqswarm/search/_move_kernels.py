"""The moves of particles.

NumPy would pass over the small arrays of a swarm twenty times per move; here each number is computed in one pass. Sums,
products and comparisons follow the formulas in the same order, so that results are identical to the last bit. Pairwise
sums and the exponential, where NumPy has its own order or approximation, are left to it.
"""

import numpy as np

from pqswarm._kernels.compiling import njit

_MAGNITUDE = 0x7FFFFFFFFFFFFFFF  # all bits but the sign


@njit(cache=True, nogil=True)
def binary_move_velocities(velocity, position, pbest, gbest, r1, r2, inertia, cognitive, social, limit):
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
def _learn_element(v, own, leader, neighbour, itself, r1, r2, weight, inertia, cognitive, social, unification):
    """One element of a velocity after one step; each learning set is given by whether it holds the element."""
    others = unification * leader + (1 - unification) * neighbour
    return inertia * v + (cognitive * r1 * own + social * r2 * others) + weight * itself


@njit(cache=True, nogil=True)
def learn_in_two_dimensions(
    velocities, positions, pbest, gbest, nbest, r1, r2, weights, inertia, cognitive, social, unification
):
    """Return the velocities, (m, 2, n), after one step; learning sets hold the size and the features of the exemplar.

    `pbest` and `nbest`, (m, n), are the personal and the neighbours' best of each particle.
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
            out[i, 0, j] = _learn_element(
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
            out[i, 1, j] = _learn_element(
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
def notice_better(masks, errors, pbest, pbest_errors, all_better):
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
def best_around(errors, neighbors):
    """Return the position of the lowest error among each position on a ring and its neighbours; of equals the first."""
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
def trust(errors, previous):
    """Return the self-confidence of each particle."""
    worst = 0.0
    out = np.zeros(errors.size)
    for error in errors:
        worst = max(worst, error)
    for i in range(errors.size if worst > 0.0 else 0):
        fraction = errors[i] / worst if worst < np.inf else 1.0 * (errors[i] == np.inf)
        weight = min(1.0 - fraction, 1.0)
        out[i] = (weight if errors[i] < previous[i] else -weight) + 0.0  # the sum turns -0 into 0
    return out


@njit(cache=True, nogil=True)
def spin(velocities, row, r):
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
def likeliest(velocities, row, xi):
    """Return the masks of the xi[i] largest of velocities[i, row], of equals the first, by bisection: no sorting."""
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
