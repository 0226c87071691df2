"""Sine, cosine, exponential, logarithm and normal numbers with the same bits on every processor.

NumPy and the C library choose among several versions of these functions by processor, and their last bits differ. This
module uses only sums, products, quotients and bit operations, which IEEE 754 defines exactly. Without fast-math, LLVM
neither contracts nor reorders them, at any vector width. There are no calls and no branches, so loops vectorize.
"""

import numpy as np

from pqswarm._kernels.compiling import njit

_ROUND = 1.5 * 2.0**52  # x + _ROUND holds the integer nearest to x in its last bits
_PER_PI = 0.3183098861837907
_PI_1 = 3.1415926218032836914  # pi in three parts; large multiples of the first two are exact
_PI_2 = 3.1786509424591713469e-08
_PI_3 = 1.2246467991473532e-16
_SINE = tuple(1.0 / (k * (k + 1)) for k in range(20, 2, -2))  # ratios of successive terms of the series
_TWO_PI = 6.283185307179586
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490  # ln 2 in two parts; multiples of the first are exact
_LN2_LOW = 1.90821492927058770002e-10
_EXPONENTIAL = tuple(1.0 / k for k in range(14, 2, -1))
_ONE = 0x3FF0000000000000  # bits of 1,
_SQRT_HALF = 0x3FE6A09E667F3BCD  # of the square root of 1/2,
_INTEGER = 0x4330000000000000  # and of 2^52, whose fraction can hold an integer
_FRACTION = 0x000FFFFFFFFFFFFF  # mask of the fraction
_SMALLEST = 2.0**-1022  # the smallest normal number


@njit(cache=True, nogil=True, error_model="numpy")
def _sine_near_zero(r, sign):
    """The sine of `r` within a quarter turn, by its series; negative if the last bit of `sign` is set."""
    z = r * r
    series = 1.0
    for factor in _SINE:
        series = 1.0 - z * factor * series
    value = r - r * (z * (1.0 / 6.0) * series)
    return np.int64(np.float64(value).view(np.int64) ^ (sign << 63)).view(np.float64)


@njit(cache=True, nogil=True, error_model="numpy")
def sine(x):
    """sin(x), with an error below 2.5e-16 for |x| up to 1e8; the error grows beyond."""
    shifted = x * _PER_PI + _ROUND
    turns = shifted - _ROUND
    r = ((x - turns * _PI_1) - turns * _PI_2) - turns * _PI_3
    return _sine_near_zero(r, np.float64(shifted).view(np.int64))


@njit(cache=True, nogil=True, error_model="numpy")
def cosine(x):
    """cos(x), as exact as :func:`sine`: the sine of the remainder after half turns and a quarter turn."""
    shifted = x * _PER_PI - 0.5 + _ROUND
    turns = shifted - _ROUND + 0.5
    r = ((x - turns * _PI_1) - turns * _PI_2) - turns * _PI_3
    return _sine_near_zero(r, np.float64(shifted).view(np.int64) + 1)


@njit(cache=True, nogil=True, error_model="numpy")
def exponential(x):
    """exp(x), to 1 unit in the last place: 2^k exp(r) with |r| <= 0.35, by the series to the 14th power."""
    bounded = min(max(x, -746.0), 710.0)
    shifted = bounded * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (bounded - k * _LN2_HIGH) - k * _LN2_LOW
    series = 1.0
    for factor in _EXPONENTIAL:
        series = 1.0 + r * factor * series
    value = 1.0 + (r + r * (r * 0.5 * series))
    # 2^k in two factors: neither leaves the range of normal numbers.
    half = np.float64(k * 0.5 + _ROUND).view(np.int64)
    rest = np.float64(shifted).view(np.int64) - half
    value *= np.int64((half << 52) + _ONE).view(np.float64)
    value *= np.int64((rest << 52) + _ONE).view(np.float64)
    return x if np.isnan(x) else value


@njit(cache=True, nogil=True, error_model="numpy")
def logarithm_of_normal(x):
    """log(x) of a positive normal number, to 1 unit in the last place.

    x = 2^k (1 + f) with 1 + f from 0.707 to 1.414; log(1 + f) by the polynomial of fdlibm (Sun Microsystems, 1993).
    """
    bits = np.float64(x).view(np.int64) + (_ONE - _SQRT_HALF)
    k = np.int64(((bits >> 52) & 0x7FF) | _INTEGER).view(np.float64) - (2.0**52 + 1023.0)
    f = np.int64((bits & _FRACTION) + _SQRT_HALF).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = 1.818357216161805012e-01 + w * 1.479819860511658591e-01
    odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * odd))
    square = 0.5 * f * f
    return s * (square + (odd + even)) + k * _LN2_LOW - square + f + k * _LN2_HIGH


@njit(cache=True, nogil=True, error_model="numpy")
def logarithm(x):
    """log(x), to 1 unit in the last place; -inf below the smallest normal number."""
    value = logarithm_of_normal(x)
    value = value if x < np.inf else x
    return value if not x < _SMALLEST else (-np.inf if x >= 0.0 else np.nan)


@njit(cache=True, nogil=True, error_model="numpy")
def sines(x):
    """The sine of each element of an array."""
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = sine(x[i])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def exponentials(x):
    """The exponential of each element of an array."""
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = exponential(x[i])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def logarithms(x):
    """The logarithm of each element of an array."""
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = logarithm(x[i])
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def sum_of_sines(angle, orders, sizes, phases, total):
    """total[i] = sum over h of sizes[h] sin(orders[h] angle[i] + phases[h])."""
    total[:] = 0.0
    for h in range(orders.size):
        for i in range(angle.size):
            total[i] += sizes[h] * sine(orders[h] * angle[i] + phases[h])


@njit(cache=True, nogil=True, error_model="numpy")
def make_normal(values):
    """Turn an even count of uniform numbers in [0, 1) into standard normal ones, in place (Box and Muller)."""
    for i in range(values.size // 2):
        radius = np.sqrt(-2.0 * logarithm_of_normal(1.0 - values[2 * i]))
        angle = _TWO_PI * values[2 * i + 1]
        values[2 * i] = radius * cosine(angle)
        values[2 * i + 1] = radius * sine(angle)
