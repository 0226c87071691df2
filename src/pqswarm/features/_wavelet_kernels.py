"""One level of the wavelet transform: compiled code, arrays in, arrays out.

Sums run in a fixed order and are not contracted, so that the bands do not depend on the processor; the C code of
PyWavelets is compiled to fused products where a processor always has them, as on ARM.
"""

import numpy as np
from numba import njit

__all__ = ["analyse"]

# The low pass filter of sym6.
_LOW = (
    0.015404109327027373, 0.0034907120842174702, -0.11799011114819057, -0.048311742585633,
    0.4910559419267466, 0.787641141030194, 0.3379294217276218, -0.07263752278646252,
    -0.021060292512300564, 0.04472490177066578, 0.0017677118642428036, -0.007800708325034148,
)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def analyse(signals, approximations, details):
    """Filter each row of `signals`, float64[m, n], continued symmetrically, low and high, and keep every second value.

    `approximations` and `details`, float64[m, (n + 11) // 2], are filled.
    """
    n, length = signals.shape[1], approximations.shape[1]
    even, odd = np.empty(length + 5), np.empty(length + 5)
    for row in range(signals.shape[0]):
        signal = signals[row]
        for i in range(length + 5):
            # Half-point symmetric: -1 is 0 again, and n is n - 1.
            at = 2 * i - 10
            before, after = at if at >= 0 else -1 - at, at + 1 if at + 1 >= 0 else -2 - at
            even[i] = signal[before if before < n else 2 * n - 1 - before]
            odd[i] = signal[after if after < n else 2 * n - 1 - after]
        low, high = approximations[row], details[row]
        for i in range(length):
            a = b = 0.0
            for k in range(6):
                x, y = odd[i + 5 - k], even[i + 5 - k]
                a += _LOW[2 * k] * x
                a += _LOW[2 * k + 1] * y
                b -= _LOW[11 - 2 * k] * x
                b += _LOW[10 - 2 * k] * y
            low[i], high[i] = a, b
