"""Making data sets: same bytes, the paper's shape, streaming, mistakes."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from math import inf

import numpy as np
import pytest
from tests.memory import memory_below

from pqswarm.datasets import make_dataset
from pqswarm.datasets.dataset import event_specs
from pqswarm.errors import PqswarmError
from pqswarm.events import NOISE_LEVELS, PRESETS, SOURCES, Fixed, OneOf, Uniform, add_noise, generate, noise_stream
from pqswarm.features import extract, feature_names

PAPER = PRESETS["paper"]
MIXED = replace(PAPER, common={**PAPER.common, "sampling_rate": Uniform(3000.0, 25_000.0)}, bench={})
"""Rates with different numbers of bands."""


@cache
def small():
    return make_dataset(6, snr=(inf, 30.0), seed=3, n_jobs=1)


def test_shape_and_names():
    assert small().features.shape == (2, 84, 99)
    assert small().X().shape == small().X(30.0).shape == (84, 99)
    assert np.array_equal(small().y, np.repeat(np.arange(14), 6))
    assert small().class_names == PAPER.classes
    assert small().feature_names == feature_names()
    assert len(small()) == 84
    assert "84 events of 14 classes" in repr(small())


@pytest.mark.parametrize("n_jobs", [2, 5, None, -1, 10**6])
def test_same_bytes_whatever_the_number_of_threads(n_jobs):
    other = make_dataset(6, snr=(inf, 30.0), seed=3, n_jobs=n_jobs)
    for name in ("features", "y", "source", "seeds", "record", "parameters"):
        assert getattr(other, name).tobytes() == getattr(small(), name).tobytes()


def test_same_bytes_whatever_the_size_of_the_tasks(monkeypatch):
    for size in (1, 7, 1000):
        monkeypatch.setattr("pqswarm.datasets.dataset._EVENTS_PER_TASK", size)
        assert make_dataset(6, snr=(inf, 30.0), seed=3).features.tobytes() == small().features.tobytes()


def test_same_bytes_whatever_the_platform_threads():
    program = (
        "import hashlib; from pqswarm.datasets import make_dataset;"
        "print(hashlib.sha256(make_dataset(2, snr=[float('inf'), 20]).features.tobytes()).hexdigest())"
    )
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, "8")}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    here = make_dataset(2, snr=[inf, 20], n_jobs=1).features.tobytes()
    assert run.stdout.strip() == hashlib.sha256(here).hexdigest()


def test_levels_do_not_influence_each_other():
    """The same events at every level: adding levels changes nothing in the others."""
    alone = make_dataset(6, snr=30.0, seed=3)
    assert alone.X(30.0).tobytes() == small().X(30.0).tobytes()
    assert np.array_equal(alone.parameters, small().parameters, equal_nan=True)


def test_a_larger_data_set_starts_with_the_smaller_one():
    larger = make_dataset(9, snr=(inf, 30.0), seed=3)
    for label in range(14):
        assert np.array_equal(larger.X()[larger.y == label][:6], small().X()[small().y == label])


def test_seeds_give_different_events():
    assert not np.any(np.isin(make_dataset(6, snr=inf, seed=4).seeds, small().seeds))
    assert len(set(small().seeds.tolist())) == 84


def test_every_event_can_be_regenerated():
    for number in range(0, 84, 5):
        event = small().event(number)
        assert event.label == small().class_names[small().y[number]]
        again = generate(event.label, event.seed, source=event.source)
        assert again.signal.tobytes() == event.signal.tobytes()
        assert dict(again.parameters) == dict(event.parameters)
        assert extract(event.signal, 25_000)[0].tobytes() == small().X()[number].tobytes()
        noisy = add_noise(event.signal, 30.0, noise_stream(event.seed, 30.0))
        assert extract(noisy, 25_000)[0].tobytes() == small().X(30.0)[number].tobytes()


def test_a_tenth_comes_from_the_bench(paper_events):
    dataset = paper_events("paper")
    assert Counter(SOURCES[source] for source in dataset.source) == {"model": 3150, "bench": 350}
    per_class = Counter(dataset.class_names[label] for label in dataset.y[dataset.source == 1])
    sags = ("sag", "sag_with_harmonics", "sag_with_transient")
    assert per_class == dict.fromkeys(("harmonics", "oscillatory_transient", *sags), 70)
    assert np.isfinite(dataset.features).all()


def test_field_preset_makes_features_of_short_captures():
    dataset = make_dataset(4, snr=inf, preset="field")
    assert dataset.features.shape == (1, 56, 99)
    assert set(dataset.record[:, 1]) == {50.0, 60.0}
    assert dataset.record[:, 2].min() < 8
    number = int(dataset.record[:, 2].argmin())
    event = dataset.event(number)
    assert event.signal.tobytes() == generate(event.label, event.seed, "field", source=event.source).signal.tobytes()


def test_your_own_preset():
    mine = replace(PAPER, name="mine", common={**PAPER.common, "cycles": OneOf((31.0, 40.0))}, bench={})
    dataset = make_dataset(3, snr=inf, preset=mine)
    assert set(dataset.record[:, 2]) == {31.0, 40.0}
    assert dataset.preset["name"] == "mine"
    assert not dataset.source.any()


def test_other_sampling_rates_have_other_features():
    slow = replace(PAPER, name="slow", common={**PAPER.common, "sampling_rate": Fixed(6400.0)})
    assert make_dataset(2, snr=inf, preset=slow).feature_names == feature_names(7)


def test_progress_is_reported_to_the_end():
    seen = []
    make_dataset(2, snr=inf, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (28, 28)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_waveforms_are_not_stored():
    """500 events of 120 kB each pass by; only features stay."""
    make_dataset(1, snr=inf)
    with memory_below(20e6):
        make_dataset(36, snr=inf, n_jobs=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"events_per_class": 2.5}, "events_per_class must be an integer"),
        ({"events_per_class": True}, "events_per_class must be an integer"),
        ({"snr": []}, "snr must name at least one noise level"),
        ({"snr": [30, 30]}, "each once"),
        ({"snr": "quiet"}, "snr must be a number of decibels"),
        ({"snr": "30"}, "snr must be a number of decibels of at least -300, or inf for no noise, not '30'"),
        ({"snr": b"30"}, "snr must be a number of decibels"),
        ({"preset": "fild"}, "unknown preset 'fild': did you mean 'field'"),
        ({"n_jobs": 1.5}, "n_jobs must be"),
        ({"preset": MIXED, "events_per_class": 2}, "different numbers of features"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(PqswarmError, match=message):
        make_dataset(**{"events_per_class": 1, **arguments})


def test_missing_level_and_event():
    with pytest.raises(PqswarmError, match=r"no noise level 42 dB; it has inf, 30\.0"):
        small().X(42)
    for number in (84, -1, 1.5, "1"):
        with pytest.raises(PqswarmError, match="events 0 to 83, not"):
            small().event(number)


def test_levels_are_those_of_the_paper_or_any_array():
    assert make_dataset(1).snr == NOISE_LEVELS
    assert make_dataset(1, snr=np.array(30.0)).snr == (30.0,)
    assert make_dataset(1, snr=np.array([30, 20])).snr == (30.0, 20.0)


def test_a_noisy_event_of_a_preset_without_noise():
    """As training asks for it, also on the presets of the paper."""
    clean, noisy = (event_specs(PAPER, 1, 0, snr=snr)[2].make().signal for snr in ((), (20.0,)))
    noise = noisy - clean
    assert 10 * np.log10((clean**2).mean() / (noise**2).mean()) == pytest.approx(20.0, abs=0.2)
