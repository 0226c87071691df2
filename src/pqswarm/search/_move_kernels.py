"""The moves of particles: compiled code, arrays in, arrays out.

A swarm is small, and NumPy would go over its arrays twenty times in a move; here each number is made in one go. Sums,
products and comparisons are those of the formulas, in the same order, so that results are the same to the last bit.
What NumPy does in its own order or by its own approximation, pairwise sums and the exponential, is left to it.
"""

import numpy as np
from numba import njit

__all__ = ["binary_step", "learn_in_two_dimensions", "likeliest", "spin"]

_MAGNITUDE = 0x7FFFFFFFFFFFFFFF  # the bits of a number that are not its sign


@njit(cache=True, nogil=True)
def binary_step(velocity, position, pbest, gbest, r1, r2, inertia, cognitive, social, limit):
    """Return the velocities, (m, n), of particles in the space of bits after one step."""
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
def _learn(v, own, leader, neighbour, itself, r1, r2, weight, inertia, cognitive, social, unification):
    """One element of a velocity after one step; of each learning set, whether the element is in it."""
    others = unification * leader + (1 - unification) * neighbour
    return inertia * v + (cognitive * r1 * own + social * r2 * others) + weight * itself


@njit(cache=True, nogil=True)
def learn_in_two_dimensions(
    velocities, positions, own, gbest, nbest, r1, r2, weights, inertia, cognitive, social, unification
):
    """Return the velocities, (m, 2, n), after one step; learning sets hold the size of who teaches, and its features.

    `own` and `nbest`, (m, n), are the exemplar and the neighbours' best of each particle.
    """
    m, n = positions.shape
    out = np.empty(velocities.shape)
    gbest_size = gbest.sum()
    for i in range(m):
        x, a, b, w = positions[i], own[i], nbest[i], weights[i]
        x_size, a_size, b_size = x.sum(), a.sum(), b.sum()
        for j in range(n):
            size = j + 1
            out[i, 0, j] = _learn(
                *(velocities[i, 0, j], size == a_size, size == gbest_size, size == b_size, size == x_size),
                *(r1[i, 0, j], r2[i, 0, j], w, inertia, cognitive, social, unification),
            )
        for j in range(n):
            new = not x[j]
            out[i, 1, j] = _learn(
                *(velocities[i, 1, j], a[j] & new, gbest[j] & new, b[j] & new, x[j]),
                *(r1[i, 1, j], r2[i, 1, j], w, inertia, cognitive, social, unification),
            )
    return out


@njit(cache=True, nogil=True)
def spin(rho, r):
    """Return where the wheel of each row of `rho`, (m, n), stops: the first sum of its numbers that reaches r."""
    m, n = rho.shape
    xi = np.empty(m, np.int64)
    for i in range(m):
        total, place = 0.0, -1
        for j in range(n):
            total += rho[i, j]
            if place < 0 and total >= r[i]:
                place = j
        if not total > 0.0:
            xi[i] = rho[i].argmax() + 1
        else:
            xi[i] = n if place < 0 else place + 1  # rounding made r larger than the sum
    return xi


@njit(cache=True, nogil=True)
def likeliest(sigma, xi):
    """Return the masks of the xi[i] largest numbers of each row of `sigma`, (m, n); of equals the first.

    Numbers are compared as integers that have the same order, and a limit between those that are in and those that are
    not is found by bisection: counting is much faster than sorting, for it has no branches.
    """
    m, n = sigma.shape
    masks = np.zeros((m, n), np.bool_)
    keys = np.empty(n, np.int64)
    for i in range(m):
        wanted = min(xi[i], n)
        if wanted < 1:
            continue
        bits = (sigma[i] + 0.0).view(np.int64)  # the sum has no negative zero
        for j in range(n):
            keys[j] = bits[j] ^ ((bits[j] >> 63) & _MAGNITUDE)
        low, high = keys.min() - 1, keys.max()  # above `low` are `wanted` numbers or more, above `high` are fewer
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
        for j in range(n - 1, -1, -1):  # too many are above: of equals at the limit the last are left out
            if ties < 0 and keys[j] == high:
                masks[i, j] = False
                ties += 1
    return masks
