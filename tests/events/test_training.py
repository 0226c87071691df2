"""Events of many kinds: the same seed gives the same event, classes are what they are called."""

from math import inf

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES
from pqswarm.events.training import TRAINING_CLASSES, record_event


def half_cycle_rms(event):
    step = round(event.sampling_rate / event.frequency / 2)
    blocks = event.signal[: event.signal.size // step * step].reshape(-1, step)
    return np.sqrt(2 * np.mean(blocks**2, axis=1))


@pytest.mark.parametrize("event_class", TRAINING_CLASSES)
def test_same_seed_same_event(event_class):
    width = max(16.0, EVENT_CLASSES[event_class].requirements.bandwidth)
    one, again, other = (record_event(event_class, seed, (width, 2 * width), 40.0) for seed in (1, 1, 2))
    assert one.label == event_class
    assert one.kind
    np.testing.assert_array_equal(one.signal, again.signal)
    assert one.signal.shape != other.signal.shape or not np.allclose(one.signal, other.signal)
    assert 2 * width <= one.sampling_rate / one.frequency <= 4 * width
    assert 2.9 < one.signal.size / one.sampling_rate * one.frequency < 30.7
    assert np.isfinite(one.signal).all()
    assert np.abs(one.signal).max() < 6


@pytest.mark.parametrize("seed", range(12))
def test_sizes_are_those_of_the_class(seed):
    wide = (62.5, 125.0)
    assert half_cycle_rms(record_event("pure_sinusoid", seed, wide)).min() > 0.87
    assert half_cycle_rms(record_event("sag", seed, wide)).min() < 1.02
    assert half_cycle_rms(record_event("interruption", seed, wide)).min() < 0.2
    assert half_cycle_rms(record_event("swell", seed, wide)).max() > 0.97
    small = half_cycle_rms(record_event("voltage_change", seed, wide))
    assert np.median(small) * 0.85 < small.min()
    assert small.max() < np.median(small) * 1.15


def test_harmonics_can_be_seen():
    """At 16 samples per cycle too: what is above the recorder's half rate does not count."""
    for seed in range(30):
        event = record_event("harmonics", seed, (8.0, 15.0), cycles=(10.0, 10.01))
        t = np.arange(event.signal.size) / event.sampling_rate
        # Least squares at the true orders, frequency by the largest line: a slow twin of the measures.
        best = inf
        for frequency in event.frequency * np.linspace(0.99, 1.01, 41):
            angles = 2 * np.pi * frequency * np.outer(t, np.arange(1, 8))
            design = np.hstack([np.sin(angles), np.cos(angles), np.ones((t.size, 1))])
            found, rest, *_ = np.linalg.lstsq(design, event.signal, rcond=None)
            if rest.size and rest[0] < best:
                best, size = rest[0], np.hypot(found[:7], found[7:14])
        assert np.sqrt((size[1:] ** 2).sum()) / size[0] > 0.02


def test_rates_and_unknown_classes():
    assert record_event("sag", 3, rate=3200.0).sampling_rate == 3200.0
    with pytest.raises(PqswarmError, match="did you mean 'sag'"):
        record_event("sags", 1)
