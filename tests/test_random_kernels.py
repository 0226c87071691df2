"""Streams and sums of compiled code are NumPy's, to the last bit."""

import numpy as np
import pytest

from pqswarm._base.random import stream
from pqswarm._kernels.random import fill_uniform
from pqswarm._kernels.sums import squared_distance
from pqswarm.events import add_noise, noise_stream
from pqswarm.events.noise import write_noisy

NUMBERS = np.random.default_rng(0)
SEEDS = (0, 1, 2**32 - 1, 2**32, 2**63 - 1, *NUMBERS.integers(0, 2**63, 20).tolist())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("key", [(0,), (1, 0), (1, 2**32), (2, 0x4049000000000000), (1, 2**64 - 1)])
def test_uniform_numbers(seed, key):
    for n in (0, 1, 2, 3, 4, 5, 31, 1000):
        out = np.empty(n)
        fill_uniform(np.uint64(seed), np.array(key, dtype=np.uint64), out)
        assert np.array_equal(out, stream(seed, key).random(n))


@pytest.mark.parametrize("n", [*range(1, 20), 127, 128, 129, 136, 257, 500, 1000, 14_999, 15_000])
def test_sums(n):
    sums = np.empty(8)
    # Older versions of NumPy add long arrays in blocks of another length.
    rounding = 1e-14 if n > 8192 and np.lib.NumpyVersion(np.__version__) < "2.4.0" else 0.0
    for scale in (1.0, 1e-200, 1e150):
        x, y = scale * NUMBERS.standard_normal(n), scale * NUMBERS.standard_normal(n)
        np.testing.assert_allclose(squared_distance(x, np.zeros(n), sums), np.square(x).sum(), rtol=rounding, atol=0)
        np.testing.assert_allclose(squared_distance(x, y, sums), np.square(x - y).sum(), rtol=rounding, atol=0)


@pytest.mark.parametrize("n", [1, 2, 99, 100])
@pytest.mark.parametrize("snr", [np.inf, 30.0, -5.0])
def test_noise_of_a_level(n, snr):
    wave, out = np.sin(np.arange(n)), np.empty(n)
    for signal in (wave, wave[::-1], np.zeros(n)):
        write_noisy(signal, snr, 7, out)
        assert np.array_equal(out, add_noise(signal, snr, noise_stream(7, snr)))
