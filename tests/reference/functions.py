"""The paper's eleven functions and the wavelet transform, slow and obvious."""

import math

import numpy as np
import pywt


def functions(coefficients, rounding=0.0):
    """f1 ... f11 of a list of numbers, sums without rounding; what is at most `rounding` counts as zero."""
    c = [float(value) for value in coefficients]
    n = len(c)
    ordered = sorted(c)
    median = ordered[n // 2] if n % 2 else 0.5 * (ordered[n // 2 - 1] + ordered[n // 2])
    energy = math.fsum(value**2 for value in c)
    mean = math.fsum(c) / n
    probabilities = [value**2 / energy for value in c] if energy > 0 else []
    entropy = -math.fsum(p * math.log(p) for p in probabilities if p > 0)
    deviations = [value - mean for value in c]
    variance = math.fsum(d**2 for d in deviations) / (n - 1)
    sigma = math.sqrt(variance)
    flat = max(abs(d) for d in deviations) <= rounding
    if max(abs(value) for value in c) <= rounding:
        entropy = 0.0
    skewness = 0.0 if flat else math.fsum(d**3 for d in deviations) / ((n - 1) * sigma**3)
    kurtosis = 0.0 if flat else math.fsum(d**4 for d in deviations) / ((n - 1) * sigma**4)
    mean_deviation = math.fsum(abs(d) for d in deviations) / n
    return [min(c), max(c), median, energy, mean, entropy, skewness, sigma, mean_deviation, variance, kurtosis]


def tolerances(coefficients):
    """How far rounding alone may move each function: sums that cancel are exact only to their largest term."""
    c = np.asarray(coefficients, dtype=float)
    size = float(np.abs(c).max())
    return 1e-13 * np.array([size, size, size, size**2, size, 10.0, 10.0, size, size, size**2, 10.0])


def decompose(signal, level):
    """Bands D1 ... A by convolution with the filters, symmetric continuation, and taking every second value."""
    low, high = pywt.Wavelet("sym6").dec_lo, pywt.Wavelet("sym6").dec_hi
    bands, rest = [], list(map(float, signal))
    for _ in range(level):
        n, width = len(rest), len(low)

        def at(i, rest=rest, n=n):
            i = i % (2 * n)
            return rest[i] if i < n else rest[2 * n - 1 - i]

        places = range(1, n + width - 1, 2)
        bands.append([math.fsum(high[j] * at(p - j) for j in range(width)) for p in places])
        rest = [math.fsum(low[j] * at(p - j) for j in range(width)) for p in places]
    return [*bands, rest]


def features(signal, level):
    return [value for band in decompose(signal, level) for value in functions(band)]
