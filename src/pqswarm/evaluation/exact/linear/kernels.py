"""Batches of positive definite systems of equal size."""

import numpy as np

from pqswarm._kernels.compiling import njit


@njit(cache=True, nogil=True)
def gather_linear_products(table, selected, scale, out):
    """Set out[f] to the selected rows and columns of table[f], times scale[f]."""
    for f in range(table.shape[0]):
        for i in range(selected.size):
            row = table[f, selected[i]]
            for j in range(selected.size):
                out[f, i, j] = row[selected[j]] * scale[f]


@njit(cache=True, nogil=True)
def _copy_linear_matrix(matrix, out):
    """Copy a matrix; an assignment to a slice takes numba seconds to compile, for the text of its error."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = matrix[i, j]


@njit(cache=True, nogil=True)
def factorize_linear_systems(matrices, upper, inverse, traces):
    """Set upper[f] to the transposed Cholesky factor of matrices[f], and inverse[f] to its inverse, also upper.

    The trace of the inverse of the matrix goes to traces[f]; it is infinite if the matrix is not positive definite.
    An empty `inverse` is not computed; the traces of regular matrices are then 0.
    """
    for f in range(matrices.shape[0]):
        _copy_linear_matrix(matrices[f], upper[f])
        traces[f] = np.inf
        if _factorize_linear_system(upper[f]):
            traces[f] = invert_linear_factor(upper[f], inverse[f]) if inverse.size else 0.0


@njit(cache=True, nogil=True)
def _factorize_linear_system(u):
    """Turn a matrix into its transposed Cholesky factor, by four rows; return whether it is positive definite."""
    p = u.shape[0]
    for i in range(0, p, 4):
        end = min(i + 4, p)
        for r in range(i, end):
            for s in range(i, r):
                factor = u[s, r]
                for k in range(r, p):
                    u[r, k] -= factor * u[s, k]
            if not u[r, r] > 0.0:
                return False
            u[r, r] = np.sqrt(u[r, r])
            one = 1.0 / u[r, r]
            for k in range(r + 1, p):
                u[r, k] *= one
            for k in range(r):
                u[r, k] = 0.0
        for j in range(end, p):  # four rows, if any are left
            a = u[i, j]
            b = u[i + 1, j]
            c = u[i + 2, j]
            d = u[i + 3, j]
            for k in range(j, p):
                u[j, k] -= (a * u[i, k] + b * u[i + 1, k]) + (c * u[i + 2, k] + d * u[i + 3, k])
    return True


@njit(cache=True, nogil=True)
def invert_linear_factor(u, v):
    """Set v to the inverse of the upper triangle u, and return the sum of its squares."""
    p = u.shape[0]
    total = 0.0
    for i in range(p - 1, -1, -1):  # each row is a combination of those below it
        row = v[i]
        row[:] = 0.0
        j = i + 1
        while j + 4 <= p:
            a = u[i, j]
            b = u[i, j + 1]
            c = u[i, j + 2]
            d = u[i, j + 3]
            for k in range(j, p):
                row[k] -= (a * v[j, k] + b * v[j + 1, k]) + (c * v[j + 2, k] + d * v[j + 3, k])
            j += 4
        while j < p:
            a = u[i, j]
            for k in range(j, p):
                row[k] -= a * v[j, k]
            j += 1
        one = 1.0 / u[i, i]
        row[i] = 1.0
        for k in range(i, p):
            row[k] *= one
            total += row[k] * row[k]
    return total


@njit(cache=True, nogil=True)
def solve_linear_systems(upper, right, out):
    """Set out[f], of shape (p, m), to the solution for the columns of right[f], by the transposed Cholesky factor."""
    _, p, m = right.shape
    for f in range(upper.shape[0]):
        u = upper[f]
        x = out[f]
        _copy_linear_matrix(right[f], x)
        for i in range(p):
            one = 1.0 / u[i, i]
            for c in range(m):
                x[i, c] *= one
            for j in range(i + 1, p):
                factor = u[i, j]
                for c in range(m):
                    x[j, c] -= factor * x[i, c]
        for i in range(p - 1, -1, -1):
            row = x[i]
            for j in range(i + 1, p):
                factor = u[i, j]
                for c in range(m):
                    row[c] -= factor * x[j, c]
            one = 1.0 / u[i, i]
            for c in range(m):
                row[c] *= one


@njit(cache=True, nogil=True)
def solve_linear_rows(upper, which, rows):
    """Replace each row by the solution of the system of upper[which]."""
    p = rows.shape[1]
    for r in range(rows.shape[0]):
        u = upper[which[r]]
        x = rows[r]
        for i in range(p):
            x[i] /= u[i, i]
            factor = x[i]
            for j in range(i + 1, p):
                x[j] -= factor * u[i, j]
        for i in range(p - 1, -1, -1):
            total = x[i]
            for j in range(i + 1, p):
                total -= u[i, j] * x[j]
            x[i] = total / u[i, i]


@njit(cache=True, nogil=True)
def predict_linear(samples, selected, slopes, offsets, out):
    """Set out[f, i] to offsets[f] plus the product of slopes[f] with the selected features of samples[f, :, i]."""
    for f in range(samples.shape[0]):
        out[f, :] = offsets[f]
        for j in range(selected.size):
            row = samples[f, selected[j]]
            slope = slopes[f, j]
            for i in range(out.shape[1]):
                out[f, i] += slope * row[i]


@njit(cache=True, nogil=True)
def deflate_linear_systems(matrices, directions, limit, parts, residuals, out):
    """Refine directions[f] to eigenvectors of small eigenvalues, and give them the eigenvalue 1 in out[f].

    The directions start as guesses. parts[f] becomes the matrix in their basis, residuals[f] their distance from
    invariance; iteration stops when that is at most `limit`, or no longer shrinks.
    """
    p = matrices.shape[1]
    m = directions.shape[1]
    image = np.empty((m, p))
    step = np.empty((1, p, m))
    upper = np.empty((1, p, p))
    for f in range(matrices.shape[0]):
        a = matrices[f]
        q = directions[f]
        g = parts[f]
        residuals[f] = np.inf
        orthonormalize_linear_basis(q)
        _copy_linear_matrix(a, out[f])
        for i in range(m):
            for r in range(p):
                factor = q[i, r]
                for c in range(p):
                    out[f, r, c] += factor * q[i, c]
        _copy_linear_matrix(out[f], upper[0])
        if not _factorize_linear_system(upper[0]):
            continue
        for _ in range(10):
            for i in range(m):
                image[i, :] = 0.0
                for r in range(p):
                    factor = q[i, r]
                    for c in range(p):
                        image[i, c] += factor * a[r, c]
            largest = 0.0
            for i in range(m):
                for j in range(m):
                    total = 0.0
                    for c in range(p):
                        total += image[i, c] * q[j, c]
                    g[i, j] = total
                total = 0.0
                for c in range(p):
                    rest = image[i, c]
                    for j in range(m):
                        rest -= g[i, j] * q[j, c]
                    step[0, c, i] = rest
                    total += rest * rest
                largest = max(largest, np.sqrt(total))
            stuck = largest > 0.5 * residuals[f]
            residuals[f] = largest
            if largest <= limit or stuck:
                break
            solve_linear_systems(upper, step.copy(), step)
            for i in range(m):
                for c in range(p):
                    q[i, c] -= step[0, c, i]
            orthonormalize_linear_basis(q)
        _copy_linear_matrix(a, out[f])
        for i in range(m):
            for r in range(p):
                factor = q[i, r]
                for j in range(m):
                    factor -= g[i, j] * q[j, r]
                for c in range(p):
                    out[f, r, c] += factor * q[i, c]


@njit(cache=True, nogil=True)
def orthonormalize_linear_basis(rows):
    """Orthonormalize the rows in order, twice: nearly parallel rows leave rounding errors the first time."""
    for _ in range(2):
        for i in range(rows.shape[0]):
            for j in range(i):
                total = 0.0
                for c in range(rows.shape[1]):
                    total += rows[i, c] * rows[j, c]
                for c in range(rows.shape[1]):
                    rows[i, c] -= total * rows[j, c]
            total = 0.0
            for c in range(rows.shape[1]):
                total += rows[i, c] * rows[i, c]
            one = 1.0 / np.sqrt(total)
            for c in range(rows.shape[1]):
                rows[i, c] *= one


@njit(cache=True, nogil=True)
def find_linear_winners(samples, selected, slopes, constants, sizes, rates, offsets, winners, doubtful):
    """Set winners[f, i] to the first class of the highest score of sample i of fold f.

    Scores are constants[f] plus the products of the selected features, samples[f, selected, i], with the columns of
    slopes[f]. doubtful[f, i] is whether the lead is at most rates[f] times the length of the selected features plus
    offsets[f]; only the first sizes[f] samples count. Return the number of doubtful samples.
    """
    p = selected.size
    k = slopes.shape[2]
    width = samples.shape[2]
    scores = np.empty((k, width))
    length = np.empty(width)
    second = np.empty(width)
    count = 0
    for f in range(samples.shape[0]):
        length[:] = 0.0
        for c in range(k):
            scores[c, :] = constants[f, c]
        for j in range(0, p - p % 4, 4):  # four features at a time, which saves loads and stores
            one = samples[f, selected[j]]
            two = samples[f, selected[j + 1]]
            three = samples[f, selected[j + 2]]
            four = samples[f, selected[j + 3]]
            for c in range(k):
                row = scores[c]
                a = slopes[f, j, c]
                b = slopes[f, j + 1, c]
                d = slopes[f, j + 2, c]
                e = slopes[f, j + 3, c]
                for i in range(width):
                    row[i] += (a * one[i] + b * two[i]) + (d * three[i] + e * four[i])
            for i in range(width):
                length[i] += (one[i] * one[i] + two[i] * two[i]) + (three[i] * three[i] + four[i] * four[i])
        for j in range(p - p % 4, p):
            one = samples[f, selected[j]]
            for c in range(k):
                row = scores[c]
                a = slopes[f, j, c]
                for i in range(width):
                    row[i] += a * one[i]
            for i in range(width):
                length[i] += one[i] * one[i]
        high = scores[0]
        winner = winners[f]
        for i in range(width):
            second[i] = -np.inf
            winner[i] = 0
        for c in range(1, k):
            row = scores[c]
            for i in range(width):
                value = row[i]
                best = high[i]
                second[i] = max(second[i], min(value, best))
                winner[i] = c if value > best else winner[i]
                high[i] = max(value, best)
        for i in range(width):
            doubtful[f, i] = i < sizes[f] and not high[i] - second[i] > rates[f] * np.sqrt(length[i]) + offsets[f]
            count += doubtful[f, i]
    return count
