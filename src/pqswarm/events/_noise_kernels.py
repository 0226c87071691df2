"""Noise of a given power: compiled code, arrays in, arrays out."""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES
from pqswarm._kernels.math import exponential, make_normal
from pqswarm._kernels.sums import sum_of_squares


@njit(cache=True, nogil=True, error_model="numpy")
def add_noise_of_power(signal, log_ratio, noise):
    """Turn uniform numbers of [0, 1), `noise`, into the `signal`, float64[n], with normal noise.

    Its power over the signal's is the exponential of `log_ratio`. `noise` is of an even length, n or n + 1.
    """
    make_normal(noise)
    n = signal.size
    sums = np.empty(LANES)
    wanted = sum_of_squares(signal, sums) * exponential(log_ratio)
    factor = np.sqrt(wanted / sum_of_squares(noise[:n], sums))
    for i in range(n):
        noise[i] = noise[i] * factor + signal[i]
