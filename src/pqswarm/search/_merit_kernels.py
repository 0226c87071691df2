"""The model of MERIT and its candidates, with sums in the order of the formulas.

Subsets are lists of features: `places` holds those of all subsets, subset r from `ends[r]` up to `ends[r + 1]`.
"""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def fit_slopes(places, ends, rows, errors, slopes, shrinkage, steps):
    """Improve the slopes of a ridge regression of errors on features by some steps of conjugate gradients.

    Good subsets weigh more. Return the standard deviation of the residuals, and that of each slope.
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
    noise = np.sqrt(squares / total)
    for j in range(n):
        diagonal[j] = noise / np.sqrt(diagonal[j] + ridge)
    return noise, diagonal


@njit(cache=True, nogil=True)
def _first_of(scores, mask, inside):
    """The feature with the highest finite score among those inside or outside of the subset; -1 if there is none."""
    best, highest = -1, -np.inf
    for j in range(mask.size):
        score = scores[j] if mask[j] == inside else -np.inf  # selected without a branch, which could not be predicted
        if score > highest:
            best, highest = j, score
    return best


@njit(cache=True, nogil=True)
def _take_step(mask, scores, kind, size):
    """Add, drop or exchange the features with the highest scores, once each; return the size."""
    come = _first_of(scores, mask, False) if kind < 0.3 or kind >= 0.6 or size < 2 else -1
    gone = _first_of(scores, mask, True) if kind >= 0.3 and (size > 1 or come >= 0) else -1
    if come >= 0:
        mask[come], scores[come], size = True, -np.inf, size + 1
    if gone >= 0:
        mask[gone], scores[gone], size = False, -np.inf, size - 1
    return size


@njit(cache=True, nogil=True)
def breed_candidates(elites, likely, slopes, deviations, draws, picks):
    """Return candidates, four per row of `draws`.

    They are drawn by frequencies; crossed from two elites with one random step; one to three random steps from an
    elite; one to three steps from an elite that are best by slopes drawn from their distribution.
    """
    rows, n = draws.shape
    count = elites.shape[0]
    out, scores = np.empty((4 * rows, n), np.bool_), np.empty(n)
    for c in range(4 * rows):
        draw, pick, mask, kind = draws[c % rows], picks[c], out[c], c // rows
        one = elites[np.int64(min(pick[0], pick[1]) * count)]
        other = elites[np.int64(min(pick[2], pick[3]) * count)]
        size = 0
        for j in range(n):
            u = draw[j]
            if kind == 0:
                mask[j] = u < likely[j]
            elif kind == 1:
                second = u >= 0.5
                mask[j] = (second & other[j]) | ((not second) & one[j])
                scores[j] = u - 0.5 * second
            elif kind == 2:
                mask[j], scores[j] = one[j], u
            else:
                value = slopes[j] + deviations[j] * (u - 0.5) * 3.4641016151377544
                mask[j], scores[j] = one[j], value * (2.0 * one[j] - 1.0)
            size += mask[j]
        steps = 0 if kind == 0 else (1 if kind == 1 else 1 + np.int64(3 * pick[4]))
        for step in range(steps):
            size = _take_step(mask, scores, pick[5 + step], size)
    return out


@njit(cache=True, nogil=True)
def predict_errors(masks, slopes):
    """Return the sums of the slopes of each subset, and its size."""
    sums, sizes = np.zeros(masks.shape[0]), np.zeros(masks.shape[0])
    for i in range(masks.shape[0]):
        for j in range(masks.shape[1]):
            if masks[i, j]:
                sums[i] += slopes[j]
                sizes[i] += 1.0
    return sums, sizes
