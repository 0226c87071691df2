"""The compiled functions against their slow twin."""

import os
import subprocess
import sys

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.reference import functions as slow

from pqswarm._kernels.lanes import LANES
from pqswarm.events import PRESETS, add_noise, generate, noise_stream
from pqswarm.features import FUNCTIONS, decompose, extract, feature_names
from pqswarm.features._kernels import band_functions


def fast(band, rounding=0.0):
    """The functions of the band, which has others beside it: no lane may see what is in another."""
    n = len(band)
    lanes = np.random.default_rng(n).permuted(np.tile(np.asarray(band, dtype=float)[:, np.newaxis], LANES), axis=0)
    lanes[:, 3:5] = np.arange(n)[:, np.newaxis] % 3
    lanes[:, 2] = band
    out = np.empty((LANES, 11))
    scratch, sample = np.empty(LANES * max(n, 64)), np.empty(max(LANES * 128, n))
    band_functions(lanes.ravel(), n, np.full(LANES, rounding), scratch, sample, out)
    return out[2]


def assert_same(fast_values, band, rounding):
    expected = np.array(slow.functions(band, rounding))
    allowed = 1e-9 * np.abs(expected) + slow.tolerances(band)
    wrong = np.abs(fast_values - expected) > allowed
    assert not wrong.any(), {
        name: (f, e) for name, f, e, w in zip(FUNCTIONS, fast_values, expected, wrong, strict=True) if w
    }


@pytest.mark.parametrize("event_class", PRESETS["paper"].classes)
@pytest.mark.parametrize("snr", [float("inf"), 20.0])
def test_every_class_with_and_without_noise(event_class, snr):
    signal = add_noise(generate(event_class, 1).signal, snr, noise_stream(1, snr))
    row = extract(signal, 25_000)[0].reshape(9, 11)
    for values, band in zip(row, decompose(signal[np.newaxis], 8), strict=True):
        assert_same(values, band[0], rounding=1e-10)


def test_whole_pipeline_against_the_slow_twin():
    """Filters, borders and order of the bands too: nothing of the product is used on the slow side."""
    signal = generate("sag_with_transient", 5).signal
    row = extract(signal, 25_000)[0]
    bands = slow.decompose(signal, 8)
    expected = np.array([slow.functions(band) for band in bands])
    allowed = 1e-9 * np.abs(expected) + np.array([slow.tolerances(band) for band in bands])
    # Coefficients of smooth signals are differences of much larger samples: rounding there is not of the band's size.
    allowed[:, [0, 1, 2, 4, 7, 8]] += 1e-13
    assert (np.abs(row.reshape(9, 11) - expected) <= allowed).all()


# The slow formulas underflow for numbers below 1e-60; test_scale covers those.
sizes = st.floats(1e-60, 1e6)
numbers = sizes | sizes.map(lambda x: -x) | st.sampled_from([0.0, 1.0, -1.0, 0.5])


@settings(max_examples=25 * DEPTH)
@given(hnp.arrays(np.float64, st.integers(2, 80), elements=numbers))
def test_any_numbers(band):
    rounding = 1e-12 * np.abs(band).max()
    assert_same(fast(band, rounding), band, rounding)


@settings(max_examples=15 * DEPTH)
@given(st.integers(1000, 3000), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_median_of_long_bands_with_ties(n, distinct, seed):
    band = np.random.default_rng(seed).integers(0, distinct, n).astype(float)
    assert fast(band)[2] == np.median(band)


@pytest.mark.parametrize("n", [1023, 1024, 1025, 4096, 7505])
@pytest.mark.parametrize("shape", ["sorted", "reversed", "spike", "periodic", "normal", "organ"])
def test_median_of_hard_orders(n, shape):
    """The sample that brackets the median can be misled; the result may not."""
    i = np.arange(n, dtype=float)
    band = {
        "sorted": i,
        "reversed": -i,
        "spike": np.where(i % (n // 128) == 0, 1e9, -i),
        "periodic": np.sin(2 * np.pi * i / (n // 128)),
        "normal": np.random.default_rng(n).standard_normal(n),
        "organ": np.minimum(i, n - i),
    }[shape]
    assert fast(band)[2] == np.median(band)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1.0, 1e30, 1e140])
def test_scale(scale):
    """Shape functions do not depend on the unit; the others follow it."""
    band = np.random.default_rng(0).standard_normal(1000)
    power = np.array([1, 1, 1, 2, 1, 0, 0, 1, 1, 2, 0])
    np.testing.assert_allclose(fast(band * scale), fast(band) * scale**power, rtol=1e-12)


def test_logarithm_over_its_whole_range():
    from pqswarm.features._kernels import _entropy_terms

    x = np.concatenate([np.logspace(-300, 0, 20_001), np.linspace(1e-3, 1, 20_001), [0.5, 0.25, 1.0]])
    out = np.empty_like(x)
    _entropy_terms(x, out)
    np.testing.assert_allclose(out, x * np.log(x), rtol=1e-15, atol=1e-300)


def test_same_numbers_without_compilation():
    """With numba's compiler off the kernels are plain Python, and must say the same."""
    program = (
        "import numpy as np; from pqswarm.features import extract; from pqswarm.events import generate;"
        "print(extract(generate('sag', 0, sampling_rate=3200, cycles=12).signal, 3200).tobytes().hex());"
        "print(generate('harmonics', 0, source='bench', cycles=1).signal.tobytes().hex())"
    )
    with_jit, without = (
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_DISABLE_JIT": value},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for value in ("0", "1")
    )
    for a, b in zip(with_jit, without, strict=True):
        first, second = (np.frombuffer(bytes.fromhex(text)) for text in (a, b))
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def test_names():
    names = feature_names()
    assert len(names) == len(set(names)) == 99
    assert names[:12] == (*(f"D1.{function}" for function in FUNCTIONS), "D2.minimum")
    assert {"D3.entropy", "A8.kurtosis"} <= set(names)
    assert len(feature_names(5)) == 66
    assert feature_names(5)[-1] == "A5.kurtosis"
