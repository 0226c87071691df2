"""One level of the wavelet transform: compiled code, arrays in, arrays out.

Sums run in a fixed order and are not contracted, so that the bands do not depend on the processor; the C code of
PyWavelets is compiled to fused products where a processor always has them, as on ARM.
"""

import numpy as np
from numba import njit

__all__ = ["analyse"]

_BLOCK = 256  # so many values at a time, which stay in the fastest memory


@njit(cache=True, nogil=True, error_model="numpy")
def analyse(signals, places, low_pass, approximations, details):
    """Filter each row of `signals`, float64[m, n], low and high, and keep every second value.

    `places`, int64[2 (length + taps / 2 - 1)], says which sample stands where the filters look, -1 for none, which is
    zero: it continues the signal at its ends. `low_pass`, float64[taps], begins with the newest sample.
    `approximations` and `details`, float64[m, length], are filled.
    """
    length, half = approximations.shape[1], low_pass.size // 2
    taps = low_pass.size
    even, odd = np.empty(length + half - 1), np.empty(length + half - 1)
    for row in range(signals.shape[0]):
        signal = signals[row]
        for i in range(even.size):
            before, after = places[2 * i], places[2 * i + 1]
            even[i] = signal[before] if before >= 0 else 0.0
            odd[i] = signal[after] if after >= 0 else 0.0
        for first in range(0, length, _BLOCK):
            last = min(first + _BLOCK, length)
            low, high = approximations[row, first:last], details[row, first:last]
            low[:] = 0.0
            high[:] = 0.0
            for k in range(half):
                newer = odd[first + half - 1 - k : last + half - 1 - k]
                older = even[first + half - 1 - k : last + half - 1 - k]
                a, b = low_pass[2 * k], low_pass[2 * k + 1]
                c, d = low_pass[taps - 1 - 2 * k], low_pass[taps - 2 - 2 * k]
                for i in range(last - first):
                    low[i] = low[i] + a * newer[i] + b * older[i]
                    high[i] = high[i] - c * newer[i] + d * older[i]
