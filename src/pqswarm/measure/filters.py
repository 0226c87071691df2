"""Recursive filters in sections of second order: to import `scipy.signal` takes longer than to analyze a recording."""

from collections.abc import Sequence

import numpy as np

from pqswarm._base.typing import FloatArray

_Past = list[tuple[FloatArray, FloatArray]]
"""The last two inputs and outputs of each section, (n_channels, 2) each."""


def bilinear_section(numerator: Sequence[float], denominator: Sequence[float], sampling_rate: float) -> FloatArray:
    """Return a section, (6,), for a ratio of polynomials in s, the coefficients of s^2 first; by bilinear transform."""
    rate = 2 * sampling_rate
    is_first_order = numerator[0] == denominator[0] == 0
    halves = []
    for square, line, level in (numerator, denominator):
        if is_first_order:
            half = [line * rate + level, level - line * rate, 0.0]
        else:
            high, middle = square * rate**2, line * rate
            half = [high + middle + level, 2 * (level - high), high - middle + level]
        halves.append(np.array(half))
    return np.asarray(np.concatenate(halves) / halves[1][0])


def butterworth_sections(order: int, corner: float, sampling_rate: float, *, high: bool = False) -> FloatArray:
    """Return the sections, (n, 6), of a low-pass, or of a high-pass, with a corner frequency [Hz]."""
    omega = 2 * sampling_rate * np.tan(np.pi * corner / sampling_rate)
    sections = []
    for k in range(order // 2):
        denominator = (1.0, 2 * omega * np.sin(np.pi * (2 * k + 1) / (2 * order)), omega**2)
        numerator = (1.0, 0.0, 0.0) if high else (0.0, 0.0, omega**2)
        sections.append(bilinear_section(numerator, denominator, sampling_rate))
    if order % 2:
        numerator = (0.0, 1.0, 0.0) if high else (0.0, 0.0, omega)
        sections.append(bilinear_section(numerator, (0.0, 1.0, omega), sampling_rate))
    return np.array(sections)


def response_at(sections: FloatArray, frequency: float, sampling_rate: float) -> float:
    """Return the gain of sections at a frequency [Hz]."""
    delays = np.exp(-2j * np.pi * frequency / sampling_rate * np.arange(3))
    return float(np.abs(np.prod(sections[:, :3] @ delays / (sections[:, 3:] @ delays))))


def steady_filter_state(sections: FloatArray, level: FloatArray) -> _Past:
    """Return the state of sections whose input has always been this, (n_channels,)."""
    past: _Past = []
    for section in sections:
        output = level * section[:3].sum() / section[3:].sum()
        past.append((np.repeat(level[:, None], 2, axis=1), np.repeat(output[:, None], 2, axis=1)))
        level = output
    return past


def filter_sections(sections: FloatArray, signals: FloatArray, past: _Past) -> tuple[FloatArray, _Past]:
    """Filter signals, (n_channels, n), after their past; also return the past of what follows.

    The recursion of a section is a triangular system of three bands, whose first two unknowns are the past outputs: so
    the sizes of the pieces do not matter.
    """
    from scipy.linalg.lapack import dtbtrs

    if not signals.shape[1]:
        return signals, past
    later: _Past = []
    for (b0, b1, b2, _, a1, a2), (inputs, outputs) in zip(sections, past, strict=True):
        known = np.concatenate([inputs, signals], axis=1)
        driven = b0 * known[:, 2:] + b1 * known[:, 1:-1] + b2 * known[:, :-2]
        right = np.concatenate([outputs, driven], axis=1)
        bands = np.repeat([[1.0], [a1], [a2]], right.shape[1], axis=1)
        bands[1, 0] = 0.0  # the first two are known
        solved = dtbtrs(bands, right.T, uplo="L", diag="U")[0].T
        signals = solved[:, 2:]
        later.append((known[:, -2:], solved[:, -2:]))
    return signals, later
