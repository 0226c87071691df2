"""The model of MERIT, with sums in the order of the formulas.

Subsets are lists of features: `places` holds those of all subsets, subset r from `ends[r]` up to `ends[r + 1]`.
"""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def fit_slopes(places, ends, rows, errors, slopes, shrinkage, steps):
    """Improve the slopes of a ridge regression of errors on features by some steps of conjugate gradients.

    Good subsets weigh more. Return the standard deviation of the residuals.
    """
    n, m = slopes.size, rows.size
    weights, y, low, mean = np.empty(m), np.empty(m), np.inf, 0.0
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
    centre, total, level = np.zeros(n), 0.0, 0.0
    for i in range(m):
        weights[i] = half / (half + y[i])
        total += weights[i]
        level += weights[i] * y[i]
        for k in range(ends[rows[i]], ends[rows[i] + 1]):
            centre[places[k]] += weights[i]
    level /= total
    diagonal, ridge = np.empty(n), 0.0
    for j in range(n):
        centre[j] /= total
        diagonal[j] = total * centre[j] * (1.0 - centre[j])
        ridge += diagonal[j]
    ridge = shrinkage * ridge / n + 1e-9
    residual, direction, image, squares = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    before = 1.0
    for step in range(steps + 1):
        v = slopes if step == 0 else direction
        shift, common = 0.0, 0.0
        for j in range(n):
            shift += centre[j] * v[j]
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
                residual[j] = image[j] - centre[j] * common - ridge * slopes[j]
        else:
            curvature = 0.0
            for j in range(n):
                image[j] += ridge * direction[j] - centre[j] * common
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
