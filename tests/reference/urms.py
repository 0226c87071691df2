"""Urms(1/2) of IEC 61000-4-30, slow and obvious: many thin slices of the broken line through the samples."""

import numpy as np

SLICES = 200  # per sample


def half_cycle_rms(samples, sampling_rate, frequency):
    """Centers [s] and RMS of windows of one cycle, each half a cycle after the last, from half a sample early."""
    cycle = sampling_rate / frequency
    centers, values = [], []
    begin = -0.5
    while begin + cycle <= len(samples) - 0.5 + 1e-6:
        places = begin + (np.arange(round(cycle * SLICES)) + 0.5) * cycle / round(cycle * SLICES)
        total = 0.0
        for place in places:
            left = int(np.floor(place))
            part = place - left
            a = samples[max(left, 0)] ** 2
            b = samples[min(left + 1, len(samples) - 1)] ** 2
            total += a + part * (b - a)
        values.append(np.sqrt(total / len(places)))
        centers.append((begin + cycle / 2) / sampling_rate)
        begin += cycle / 2
    return np.array(centers), np.array(values)
