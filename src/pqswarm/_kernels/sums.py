"""A sum of squares in the order of np.sum.

Up to 128 numbers are added in eight partial sums; longer arrays are the sum of two halves.
"""

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES, load, store

_PAIRED = 128  # longer arrays are halved


@njit(cache=True, nogil=True, error_model="numpy")
def squared_distance(a, b, sums):
    """Sum of (a - b)^2; `sums`, float64[8], is scratch."""
    n = a.size
    if n > _PAIRED:
        half = n // 2 // LANES * LANES
        return squared_distance(a[:half], b[:half], sums) + squared_distance(a[half:], b[half:], sums)
    total = 0.0
    if n >= LANES:
        difference = load(a, 0) - load(b, 0)
        eight = difference * difference
        for i in range(1, n // LANES):
            difference = load(a, i) - load(b, i)
            eight = eight + difference * difference
        store(eight, sums, 0)
        total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(n // LANES * LANES, n):
        total += (a[i] - b[i]) * (a[i] - b[i])
    return total
