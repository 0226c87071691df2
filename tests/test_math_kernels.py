"""The functions that are the same on every processor, against extended precision."""

import numpy as np
import pytest
from scipy import stats

from pqswarm._kernels.math import (
    cosine,
    exponential,
    exponentials,
    logarithm,
    logarithms,
    make_normal,
    sine,
    sines,
    sum_of_sines,
)
from pqswarm.events import Grid

NUMBERS = np.random.default_rng(0)
EXTENDED = np.longdouble
pytestmark = pytest.mark.skipif(np.finfo(EXTENDED).nmant < 60, reason="no extended precision on this platform")


def last_places(found, exact):
    """Largest error in units of the last place."""
    return float((np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float64))).max())


@pytest.mark.parametrize("largest", [1.0, 10.0, 3000.0, 1e6, 1e8])
def test_sine_and_cosine(largest):
    x = np.concatenate([NUMBERS.uniform(-largest, largest, 20_000), np.linspace(-largest, largest, 1001)])
    exact, exact_cosine = np.sin(x.astype(EXTENDED)), np.cos(x.astype(EXTENDED))
    assert last_places(sines(x), exact) < 2.5
    assert np.abs(sines(x) - exact).max() < 2.5e-16
    assert last_places(np.array([cosine(value) for value in x]), exact_cosine) < 2.5
    assert sine(x[0]) == sines(x)[0]


def test_sine_and_cosine_next_to_their_zeros():
    x = np.arange(-1000, 1001) * (np.pi / 2)
    np.testing.assert_allclose(sines(x), np.sin(x.astype(EXTENDED)).astype(np.float64), rtol=1e-12)
    found = np.array([cosine(value) for value in x])
    np.testing.assert_allclose(found, np.cos(x.astype(EXTENDED)).astype(np.float64), rtol=1e-12)
    assert sine(0.0) == 0.0
    assert cosine(0.0) == 1.0


@pytest.mark.parametrize(("low", "high"), [(-1e-8, 1e-8), (-1, 1), (-745, -700), (-700, 709)])
def test_exponential(low, high):
    x = NUMBERS.uniform(low, high, 20_000)
    assert last_places(exponentials(x), np.exp(x.astype(EXTENDED))) < 1.0


def test_exponential_beyond_the_range():
    x = np.array([0.0, -1e9, -np.inf, -745.13, 709.79, 1e300, np.inf, np.nan])
    expected = [1.0, 0.0, 0.0, 5e-324, np.inf, np.inf, np.inf, np.nan]
    np.testing.assert_array_equal(exponentials(x), expected)
    assert exponential(x[3]) == 5e-324


@pytest.mark.parametrize(("low", "high"), [(-700, 700), (-1e-3, 1e-3), (-0.5, 0.5)])
def test_logarithm(low, high):
    x = np.exp(NUMBERS.uniform(low, high, 20_000))
    assert last_places(np.array([logarithm(value) for value in x]), np.log(x.astype(EXTENDED))) < 1.0
    assert last_places(logarithms(x), np.log(x.astype(EXTENDED))) < 1.0


def test_logarithm_beyond_the_range():
    assert (logarithms(np.array([0.0, 1.0])) == [-np.inf, 0.0]).all()
    found = [logarithm(x) for x in (1.0, 0.0, np.inf, -1.0, np.nan)]
    np.testing.assert_array_equal(found, [0.0, -np.inf, np.inf, np.nan, np.nan])


def test_normal_numbers():
    uniforms = NUMBERS.random(200_000)
    uniforms[:4] = 0.0, 0.0, 1.0 - 2.0**-53, 0.25
    found = uniforms.copy()
    make_normal(found)
    fewer = uniforms[:1000].copy()
    make_normal(fewer)
    assert found[:2].tolist() == [0.0, 0.0]
    assert found[3] == pytest.approx(np.sqrt(2 * 53 * np.log(2)))
    assert stats.kstest(found, "norm").pvalue > 0.01
    assert abs(np.corrcoef(found[::2], found[1::2])[0, 1]) < 0.01
    assert np.array_equal(fewer, found[:1000])
    expected = np.sqrt(-2 * np.log1p(-uniforms[4::2])) * np.cos(2 * np.pi * uniforms[5::2])
    np.testing.assert_allclose(found[4::2], expected, atol=5e-15)


def test_wave_is_the_printed_sum():
    t = np.arange(15_000) / 25_000
    grid = Grid(49.7, 1.05, 0.4, ((3, 0.02, 1.0), (5, 0.01, -2.0)))
    series = {1: 0.9, 5: 0.1, 13: 0.05}
    angle = 2 * np.pi * 49.7 * t + 0.4
    expected = sum(size * np.sin(k * angle) for k, size in series.items())
    expected += 0.02 * np.sin(3 * angle + 1.0) + 0.01 * np.sin(5 * angle - 2.0)
    np.testing.assert_allclose(grid.wave(t, series), 1.05 * expected, atol=2e-15)
    total = np.empty(t.size)
    sum_of_sines(angle, np.ones(1), np.ones(1), np.zeros(1), total)
    assert np.array_equal(total, sines(angle))


def test_wave_starts_at_exactly_zero():
    assert Grid().wave(np.zeros(1))[0] == 0.0
