"""The compiled sum of sines against NumPy's sine."""

import numpy as np
import pytest

from pqswarm.events import Grid
from pqswarm.events._wave_kernels import sum_of_sines


@pytest.mark.parametrize("largest", [1.0, 10.0, 3000.0, 1e6])
def test_sine_to_the_last_digits(largest):
    angle = np.concatenate([np.linspace(-largest, largest, 100_001), np.arange(-50, 51) * np.pi / 2])
    found = np.empty_like(angle)
    sum_of_sines(angle, np.array([1.0]), np.array([1.0]), np.array([0.0]), found)
    np.testing.assert_allclose(found, np.sin(angle), rtol=0, atol=5e-16)


def test_wave_is_the_printed_sum():
    t = np.arange(15_000) / 25_000
    grid = Grid(49.7, 1.05, 0.4, ((3, 0.02, 1.0), (5, 0.01, -2.0)))
    series = {1: 0.9, 5: 0.1, 13: 0.05}
    angle = 2 * np.pi * 49.7 * t + 0.4
    expected = sum(size * np.sin(k * angle) for k, size in series.items())
    expected += 0.02 * np.sin(3 * angle + 1.0) + 0.01 * np.sin(5 * angle - 2.0)
    np.testing.assert_allclose(grid.wave(t, series), 1.05 * expected, atol=2e-15)


def test_wave_starts_at_exactly_zero():
    assert Grid().wave(np.zeros(1))[0] == 0.0
