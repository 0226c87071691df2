"""The model of MERIT, with sums in the order of the formulas.

Subsets are lists of features: `places` holds those of all subsets, subset r from `ends[r]` up to `ends[r + 1]`.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import logarithm


@njit(cache=True, nogil=True)
def fit_slopes(places, ends, rows, errors, slopes, shrinkage, steps):
    """Improve the slopes of a ridge regression of errors on features by some steps of conjugate gradients.

    Good subsets weigh more; the penalty is worth `shrinkage` of them. Return the standard deviation of the residuals.
    """
    n, m = slopes.size, rows.size
    weights = np.empty(m)
    y = np.empty(m)
    low = np.inf
    mean = 0.0
    worst = -np.inf
    for i in range(m):
        low = min(low, errors[rows[i]])
        worst = max(worst, errors[rows[i]] if errors[rows[i]] < np.inf else -np.inf)
    low, worst = (low, worst) if worst > -np.inf else (0.0, 0.0)
    for i in range(m):
        y[i] = min(errors[rows[i]], worst) - low
        mean += y[i] / m
    spread = 0.0
    for i in range(m):
        spread += (y[i] - mean) * (y[i] - mean) / m
    half = 0.5 * np.sqrt(spread) + 1e-12
    center = np.zeros(n)
    total = 0.0
    level = 0.0
    for i in range(m):
        weights[i] = half / (half + y[i])
        total += weights[i]
        level += weights[i] * y[i]
        for k in range(ends[rows[i]], ends[rows[i] + 1]):
            center[places[k]] += weights[i]
    level /= total
    diagonal = np.empty(n)
    ridge = 0.0
    for j in range(n):
        center[j] /= total
        diagonal[j] = total * center[j] * (1.0 - center[j])
        ridge += diagonal[j]
    ridge = shrinkage / total * ridge / n + 1e-9
    residual = np.zeros(n)
    direction = np.zeros(n)
    image = np.zeros(n)
    squares = 0.0
    before = 1.0
    for step in range(steps + 1):
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
            value = weights[i] * (y[i] - level - value if step == 0 else value)
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
    return np.sqrt(squares / total)


@njit(cache=True, nogil=True)
def predict_errors(masks, slopes):
    """Return the sum of the slopes of each subset."""
    sums = np.zeros(masks.shape[0])
    for i in range(masks.shape[0]):
        for j in range(masks.shape[1]):
            sums[i] += slopes[j] if masks[i, j] else 0.0
    return sums


@njit(cache=True, nogil=True)
def change(masks, kinds, draws, leaving, entering, keep_size):
    """Change subsets in place by one to three steps: 30 % add a feature, 30 % drop one, the others exchange one.

    `kinds`, (m, 4) or more, are uniform: number of steps, and what each does. `draws`, (m, n), are uniform, too, and
    select the features, each in proportion to its weight in `leaving` or `entering`, at most once; they are changed.
    """
    n = masks.shape[1]
    for i in range(masks.shape[0]):
        size = 0
        for j in range(n):
            size += masks[i, j]
        for step in range(1 + int(3 * kinds[i, 0])):
            kind = kinds[i, step + 1]
            adds = size < n and (kind < 0.3 or kind >= 0.6 or size < 2)
            drops = size > 1 and (kind >= 0.3 or not adds)
            if keep_size:
                adds = drops = size < n
            gone = _first(masks[i], True, draws[i], leaving) if drops else -1
            come = _first(masks[i], False, draws[i], entering) if adds else -1
            if keep_size and min(gone, come) < 0:
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
def _first(mask, kept, draws, weights):
    """The feature of a subset, or not of it, whose exponential waiting time ends first; -1 if none is left."""
    found, wait = -1, np.inf
    for j in range(mask.size):
        if (mask[j] == kept) & (draws[j] < wait * weights[j]):  # -log(1 - u) is at least u: few are computed
            ends = -logarithm(1.0 - draws[j]) / weights[j]
            if ends < wait:
                found, wait = j, ends
    return found
