"""Drawn incidents: what they say of themselves is what the record shows."""

import numpy as np
import pytest
from research.network import INCIDENT_CAUSES, draw_incident
from tests.depth import DEPTH

from pqswarm.errors import PqswarmError

pytestmark = pytest.mark.skipif(DEPTH == 1, reason="a tool of benchmarks, which takes long to compile: make deep")

N = 128  # samples per cycle


def draw(cause, seed, **options):
    return draw_incident(cause, np.random.default_rng(seed), **options)


def levels(incident):
    """RMS of whole cycles [pu], phases x cycles."""
    cycles = incident.voltages[:, : incident.voltages.shape[1] // N * N].reshape(3, -1, N)
    return np.sqrt((cycles**2).mean(axis=2)) / incident.nominal


def harmonic(rows, order, start, cycles=5):
    """Size of a harmonic of each row from a cycle on, over the fundamental."""
    lines = abs(np.fft.rfft(rows[:, start * N : (start + cycles) * N]))
    return lines[:, order * cycles] / lines[:, cycles]


@pytest.mark.parametrize("cause", INCIDENT_CAUSES)
def test_a_seed_is_an_incident(cause):
    first, again, other = draw(cause, 3, duration=0.5), draw(cause, 3, duration=0.5), draw(cause, 4, duration=0.5)
    assert first.stages == again.stages
    np.testing.assert_array_equal(first.voltages, again.voltages)
    np.testing.assert_array_equal(first.currents, again.currents)
    assert not np.array_equal(first.voltages, other.voltages)


@pytest.mark.parametrize("cause", INCIDENT_CAUSES)
def test_nothing_happens_before_the_first_stage(cause):
    for seed in range(4):
        incident = draw(cause, seed)
        assert incident.cause == cause
        assert incident.voltages.shape == incident.currents.shape == (3, 6400)
        assert np.isfinite(incident.voltages).all()
        assert np.isfinite(incident.currents).all()
        assert all(0.1 < time < 1 for time, _ in incident.stages)
        before = levels(incident)[:, : int(incident.stages[0][0] * 50)]
        assert np.ptp(before) < 0.02
        assert 0.85 < before.min() < before.max() < 1.1
        assert bool(incident.phases) == (cause == "fault")


def test_faults_are_seen_while_they_last():
    seen = set()
    for seed in range(8):
        incident = draw("fault", seed)
        rms = levels(incident)
        assert abs(rms / rms[:, :1] - 1).max() >= 0.08
        named = [what.removeprefix("fault ") for _, what in incident.stages if what[-1] in "ABCG"]
        assert named[-1].strip("G") == incident.phases
        assert ("G" in named[-1]) == incident.grounded
        seen |= {what.split()[0] for _, what in incident.stages}
    assert seen == {"fault", "breaker"}


def test_a_motor_start_is_balanced_and_recovers_as_it_accelerates():
    recovered = 0
    for seed in range(5):
        incident = draw("motor start", seed)
        rms, start = levels(incident), int(incident.stages[0][0] * 50)
        dip = 1 - rms[:, start + 3 : start + 6].mean(axis=1) / rms[:, 2]
        assert 0.04 < dip.min() <= dip.max() < 0.35
        assert np.ptp(dip) < 0.02
        steps = np.diff(rms[0, start + 3 :])
        assert steps.min() > -0.01
        recovered += rms[0, -1] > rms[0, 2] - 0.4 * dip[0]
    assert recovered >= 3


def test_an_energised_transformer_dips_unequally_with_decaying_even_harmonics():
    for seed in range(5):
        incident = draw("transformer energising", seed, thd=0.02)
        rms, start = levels(incident), int(incident.stages[0][0] * 50) + 2
        assert np.ptp(rms[:, start]) > 0.01
        second = harmonic(incident.voltages, 2, start).max()
        assert second > 5 * harmonic(incident.voltages, 2, 1).max()
        assert harmonic(incident.voltages, 2, 44).max() < 0.8 * second
        assert rms[:, -1].min() > rms[:, start].min()


def test_background_distortion_is_that_asked_for():
    incident = draw("load switching", 1, thd=0.04)
    size = np.sqrt(sum(harmonic(incident.voltages, k, 0) ** 2 for k in (5, 7, 11, 13)))
    np.testing.assert_allclose(size, 0.04, rtol=0.35)  # the network amplifies or damps it


def test_rates_frequencies_and_mistakes():
    incident = draw("load switching", 2, sample_rate=3840.0, frequency=60.0, duration=0.6, snr=np.inf)
    assert incident.voltages.shape == (3, 2304)
    lines = abs(np.fft.rfft(incident.voltages[0, :384]))
    assert lines.argmax() == 6
    for options in ({"cause": "lightning"}, {"duration": 0.1}, {"sample_rate": -1.0}):
        with pytest.raises(PqswarmError):
            draw(**{"cause": "fault", "seed": 1} | options)
