import numpy as np
import pytest
from tests.measure.waves import RATE, sine, with_level
from tests.reference.urms import half_cycle_rms as slow_half_cycle_rms

from pqswarm.measure import half_cycle_rms
from pqswarm.recordings.frequency import estimate_nominal, measure_frequency


@pytest.mark.parametrize(("rate", "frequency"), [(1000.0, 50.0), (1000.0, 59.3), (3200.0, 50.2), (2713.3, 60.0)])
def test_urms_is_the_slow_twin(rate, frequency):
    samples = np.random.default_rng(1).normal(size=round(3.3 * rate / frequency))
    time, values = half_cycle_rms(samples, rate, frequency)
    slow_time, slow_values = slow_half_cycle_rms(samples, rate, frequency)
    np.testing.assert_allclose(time, slow_time, atol=1e-12)
    np.testing.assert_allclose(values, slow_values, rtol=2e-3)


@pytest.mark.parametrize("rate", [600.0, 1000.0, 1237.0, 3200.0, 30707.2])
@pytest.mark.parametrize("frequency", [47.3, 50.0, 59.97, 63.0])
def test_urms_of_a_sine_at_any_rate(rate, frequency):
    _, values = half_cycle_rms(sine(8, rate, frequency), rate, frequency)
    np.testing.assert_allclose(values, 325 / np.sqrt(2), rtol=0.012 if rate < 1500 else 2e-3)


def test_urms_of_exactly_one_cycle_has_one_value():
    _, values = half_cycle_rms(sine(1), RATE, 50.0)
    np.testing.assert_allclose(values, [325 / np.sqrt(2)], rtol=1e-3)


def test_missing_samples_are_bridged_and_long_gaps_have_no_value():
    wave = sine(20)
    wave[1003:1030] = np.nan
    wave[2000:2500] = np.nan
    _, values = half_cycle_rms(wave, RATE, 50.0)
    assert np.isnan(values).sum() >= 3
    np.testing.assert_allclose(values[np.isfinite(values)], 325 / np.sqrt(2), rtol=2e-2)


@pytest.mark.parametrize("frequency", [45.6, 49.7, 50.0, 60.02, 64.0])
@pytest.mark.parametrize("rate", [800.0, 3200.0, 25_000.0])
def test_frequency_through_sags_and_transients(frequency, rate):
    wave = with_level(sine(12, rate, frequency), 0.08, 0.13, 0.3, rate)
    wave[round(0.05 * rate)] += 300
    nominal = 50.0 if frequency < 55 else 60.0
    assert measure_frequency([wave], rate, nominal) == pytest.approx(frequency, abs=0.15)


@pytest.mark.parametrize("frequency", [49.2, 50.0, 50.6, 59.5, 60.4])
def test_nominal_frequency_of_files_that_do_not_say_it(frequency):
    wave = with_level(sine(24, 4000.0, frequency), 0.08, 0.13, 0.3, 4000.0)
    wave[100] = np.nan
    noise = np.random.default_rng(0).normal(size=4000)
    for signal, nominal in ((wave, 50.0 if frequency < 55 else 60.0), (wave[:60], None), (noise, None)):
        assert estimate_nominal(lambda first, stop, x=signal: [x[first:stop]], signal.size, 4000.0) == nominal
