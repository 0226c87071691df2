"""A new event class of the type of sags, from its preset to the analysis: a model, an EventClass and its ranges."""

from dataclasses import replace

import numpy as np
import pytest

from pqswarm.datasets import make_dataset
from pqswarm.events import EVENT_CLASSES, PRESETS, EventClass, Parameter, Uniform, generate
from pqswarm.identify import BANDWIDTHS, identify, possible_labels, train
from pqswarm.recordings import Channel, Recording


def sag_with_jump(t, *, grid, depth, start, duration, jump):
    """A sag whose phase jumps."""
    inside = (t >= start) & (t < start + duration)
    return grid.amplitude * np.where(inside, 1 - depth, 1.0) * np.sin(grid.angle(t) + np.where(inside, jump, 0.0))


@pytest.fixture
def preset(monkeypatch):
    monkeypatch.setattr(EVENT_CLASSES, "_members", dict(EVENT_CLASSES._members))
    jump = {"jump": Parameter("", "rad", "jump of the phase", -2, 2)}
    EVENT_CLASSES.register(EventClass("sag_with_jump", sag_with_jump, jump, type="sag"))
    field = PRESETS["field"]
    ranges = {**field.models["sag"], "jump": Uniform(0.8, 1.2)}
    some = replace(field, models={**field.models, "sag_with_jump": ranges})
    return replace(some.with_classes(["pure_sinusoid", "sag", "swell", "sag_with_jump"]), name="jumps")


def test_a_new_class_is_drawn_trained_and_offered_to_events_of_its_type(preset, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS[:1])
    events, before = make_dataset(3, preset=preset), make_dataset(3, preset="field")
    assert events.class_names == ("pure_sinusoid", "sag", "swell", "sag_with_jump")
    assert np.array_equal(events.seeds[events.y == 1], before.seeds[before.y == before.class_names.index("sag")])
    model = train(preset, 25, n_jobs=1)
    event = generate("sag_with_jump", 3, preset, depth=0.4, start=0.1, duration=0.1, jump=1.0, cycles=15, frequency=50)
    analysis = identify(Recording((Channel("U1", "V", "A", 325 * event.signal),), event.sampling_rate, 50.0), model)
    worst = max(analysis.events, key=lambda one: one.event.type == "sag")
    assert worst.event.type == "sag"
    assert possible_labels(analysis, worst, model.class_names) == ("sag", "sag_with_jump")
    assert {name for name, share in worst.probabilities.items() if share} <= {"sag", "sag_with_jump"}
    assert worst.label == "sag_with_jump"
    assert "cannot be compared" not in worst.agreement
