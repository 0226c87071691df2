"""One level of the wavelet transform of several signals side by side: compiled code, arrays in, arrays out.

Sums run in a fixed order and are not contracted, so that the bands do not depend on the processor; the C code of
PyWavelets is compiled to fused products where a processor always has them, as on ARM.
"""

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES, fill, load, store


@njit(cache=True, nogil=True, error_model="numpy")
def join_wavelet_lanes(signals, places, lanes):
    """Fill the lanes with the values at `places` of up to eight `signals`, float64[m, n]; the last fills the rest."""
    last = signals.shape[0] - 1
    for i in range(places.size):
        place = places[i]
        for lane in range(LANES):
            lanes[LANES * i + lane] = signals[min(lane, last), place] if place >= 0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def split_wavelet_lanes(lanes, signals):
    """Fill up to eight `signals`, float64[m, n], from the lanes."""
    for lane in range(signals.shape[0]):
        for i in range(signals.shape[1]):
            signals[lane, i] = lanes[LANES * i + lane]


@njit(cache=True, nogil=True, error_model="numpy")
def prolong_wavelet_lanes(signals, places, prolonged):
    """Extend signals, the lanes `signals`, at their ends.

    `places`, int64[2 (length + taps / 2 - 1)], maps each filter input to a sample; -1 means zero.
    """
    for i in range(places.size):
        store(load(signals, places[i]) if places[i] >= 0 else fill(0.0), prolonged, i)


@njit(cache=True, nogil=True, error_model="numpy")
def analyze(prolonged, low_pass, length, approximations, details):
    """Apply the low-pass and high-pass filters to extended signals, and keep every second value.

    `low_pass`, float64[taps], starts with the newest sample. `approximations` and `details`, lanes of that `length` or
    more, are filled.
    """
    taps = low_pass.size
    for i in range(0, length, 2):
        j = min(i + 1, length - 1)  # two at a time: they are independent
        low_i = fill(0.0)
        high_i = fill(0.0)
        low_j = fill(0.0)
        high_j = fill(0.0)
        for tap in range(0, taps, 2):
            newest = taps - 1 - tap
            a = fill(low_pass[tap])
            b = fill(low_pass[tap + 1])
            c = fill(low_pass[newest])
            d = fill(low_pass[newest - 1])
            newer = load(prolonged, 2 * i + newest)
            older = load(prolonged, 2 * i + newest - 1)
            low_i = low_i + a * newer + b * older
            high_i = high_i - c * newer + d * older
            newer = load(prolonged, 2 * j + newest)
            older = load(prolonged, 2 * j + newest - 1)
            low_j = low_j + a * newer + b * older
            high_j = high_j - c * newer + d * older
        store(low_i, approximations, i)
        store(low_j, approximations, j)
        store(high_i, details, i)
        store(high_j, details, j)
