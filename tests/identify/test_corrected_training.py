"""Corrected events are found again, learned, and followed; a new event class of the type of sags is trained."""

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.identify.conftest import NAMES
from tests.identify.invented import event, with_label

from pqswarm._base.text import json_text
from pqswarm.datasets import make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, PRESETS, EventClass, Parameter, Uniform, generate, get_preset
from pqswarm.identify import (
    BANDWIDTHS,
    Archive,
    Correction,
    EventResult,
    compute_features,
    identify,
    identify_file,
    possible_labels,
    train,
)
from pqswarm.identify.archive.files import look_at_file
from pqswarm.identify.features import FEATURES
from pqswarm.identify.folder.batch import find_batch_candidate
from pqswarm.identify.training import (
    TRAINING_SNR,
    CorrectedEvent,
    find_corrected_events,
    make_corrected_features,
    make_training_events,
    merge_corrections,
    read_corrections,
)
from pqswarm.recordings import Channel, Recording, Site, read, write_comtrade

RATE = 25_000.0
FEW = ("pure_sinusoid", "sag", "harmonics", "oscillatory_transient")


def correction_of(analysis, event, label, by):
    digest = find_batch_candidate(analysis.path).digest()
    found = EventResult.of(json.loads(json_text(event.as_dict())))  # as it is read back
    return Correction(analysis.path, digest, analysis.source, found, label, by, "2026-06-30T12:00:00+00:00")


def telegram(start=0.2, amplitude=0.15, phase=0.0):
    """A signal of ripple control, which the bundled model calls no disturbance."""
    t = np.arange(round(0.8 * RATE)) / RATE
    tone = amplitude * np.sin(2 * np.pi * 217 * t + phase) * ((t > start) & (t < start + 0.4))
    return Recording((Channel("UA", "V", "A", 325.27 * (np.sin(2 * np.pi * 50 * t) + tone)),), RATE, 50.0)


@pytest.fixture(autouse=True)
def _one_bandwidth(monkeypatch):
    """To save time."""
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS[:1])


@pytest.fixture(scope="module")
def june(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "june"
    folder.mkdir()
    write_comtrade(telegram(), folder / "ripple.cfg", "BINARY")
    return folder


@pytest.fixture(scope="module")
def analysis(june):
    (found,) = identify_file(june / "ripple.cfg")
    return found


def store(archive, path, found):
    file = look_at_file(find_batch_candidate(path))
    archive.files.register([file])
    archive.files.claim(file.content)
    archive.finish(file, [found])


@pytest.fixture
def archive(june, analysis, tmp_path):
    """The folder of an archive with one correction."""
    with Archive(tmp_path / "archive") as made:
        store(made, june / "ripple.cfg", analysis)
        made.correct(1, 0, "oscillatory_transient", "Eve")
    return tmp_path / "archive"


@cache
def generated():
    """The events of all small models."""
    return make_training_events(get_preset("field").with_classes(FEW), 10, TRAINING_SNR, 0, minimum=10)


def small(corrections):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pqswarm.identify.training.make_training_events", lambda *_, **__: generated())
        return train(get_preset("field").with_classes(FEW), 10, subset=NAMES, corrections=corrections, n_jobs=1)


@pytest.mark.slow
def test_a_corrected_event_is_followed_and_others_like_it_are_too(analysis, archive):
    assert analysis.events[0].model_label != "oscillatory_transient"
    model = train(get_preset("field").with_classes(FEW), 10, corrections=archive, n_jobs=1)
    assert model.origin["corrections"] == model.origin["corrections_followed"] == 1
    (event, *_) = identify(telegram(), model).events
    assert event.label == "oscillatory_transient"
    another = telegram(start=0.25, amplitude=0.14, phase=1.0)
    assert identify(another).events[0].model_label != "oscillatory_transient"
    assert identify(another, model).events[0].label == "oscillatory_transient"


def test_the_site_of_a_station_applies_to_its_corrections(june, tmp_path):
    """The site names the channel of the corrected event; without it there would be no such event."""
    text = '[channels.UA]\nname = "L1"\n'
    with Archive(tmp_path) as archive:
        store(archive, june / "ripple.cfg", *identify_file(june / "ripple.cfg", site=Site.read(text)))
        archive.set_site(read(june / "ripple.cfg").station, text, "Eve")
        archive.correct(1, 0, "harmonics", "Eve")
    (one,) = read_corrections(tmp_path)
    assert one.found.event.channels == ("L1",)
    (found,) = find_corrected_events([one], FEW)
    assert found.correction is one


def test_features_are_those_of_identify(analysis, june, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS)
    (one,) = find_corrected_events([correction_of(analysis, analysis.events[0], "harmonics", "Eve")], FEW)
    recording = read(june / "ripple.cfg")
    first, stop = (round(moment * RATE) for moment in analysis.events[0].window)
    result = analysis.references[0]
    capture = recording.channels[0].samples[first:stop] / (np.sqrt(2) * result.volts)
    frequency = analysis.frequency
    (row, *others) = one.features(0, 3, seed=1, wavelet=False)
    np.testing.assert_array_equal(row, compute_features(capture, RATE, frequency, wavelet=False))
    assert all((other != row).any() for other in others)
    assert one.features(4, 2, seed=1, wavelet=False).shape == (2, len(FEATURES))


def test_how_much_a_corrected_event_weighs(analysis, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS)
    (one,) = find_corrected_events([correction_of(analysis, analysis.events[0], "harmonics", "Eve")], FEW)
    monkeypatch.setattr(CorrectedEvent, "features", lambda *args, **_: np.zeros((args[2], len(FEATURES))))

    def count(events, bandwidth, learned=(0, 1, 2, 3)):
        rows, labels = make_corrected_features(events, FEW, learned, 100, 0, bandwidth=bandwidth, wavelet=False)
        assert len(rows) == len(labels)
        assert set(labels.tolist()) <= {FEW.index("harmonics")}
        return len(labels)

    assert [count([one], i) for i in range(len(BANDWIDTHS))] == [5, 2, 2, 2, 2, 2, 2]
    slow = replace(one, sampling_rate=RATE / 10)
    assert [count([slow], i) for i in range(len(BANDWIDTHS))] == [0, 0, 0, 0, 5, 2, 2]
    assert count([one], 0, learned={0, 1}) == 0  # a class that cannot be seen at this bandwidth
    assert count(40 * [one], 0) == 40  # half of a class, or one each


@pytest.mark.slow
def test_the_same_corrections_in_any_order_give_the_same_model(analysis, tmp_path):
    first, second = (correction_of(analysis, one, "oscillatory_transient", "Eve") for one in analysis.events[:2])
    withdrawn = [replace(second, label="pure_sinusoid"), replace(second, at="2026-06-30T12:00:00+00:00", by="Ann")]

    def content(corrections):
        return small(corrections).save(tmp_path / "model.npz").read_bytes()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether they are followed is not asked here
        once = content([first, second])
        assert content([*withdrawn, first]) == once
        assert content(first) != once


def test_what_cannot_be_used_is_named_and_the_rest_is_trained(june, analysis):
    used = correction_of(analysis, analysis.events[0], "oscillatory_transient", "Eve")
    gone = replace(used, path=str(june / "gone\x1b[2J.cfg"), digest=64 * "0")
    changed = replace(used, digest=64 * "1")
    moved = replace(used, found=replace(used.found, event=replace(used.found.event, start=0.5)))
    measured = replace(used, found=analysis.events[1], label="sag")
    elsewhere = replace(used, source="ripple.cfg, observation 3")
    with pytest.warns(UserWarning, match="left out") as said:
        model = small([used, gone, changed, moved, measured, elsewhere])
    assert model.origin["corrections"] == 1
    texts = [str(one.message).removeprefix(str(june)).lstrip("/") for one in said]
    left_out = sorted(text.removesuffix("; left out of the training.") for text in texts if "left out" in text)
    at = "transient at {:.3f} s on UA:"
    assert left_out == [
        "gone\\x1b[2J.cfg: is not there, or is not a regular file",
        f"ripple.cfg, observation 3, {at.format(used.found.event.start)} the file has no such recording",
        f"ripple.cfg, {at.format(0.5)} there is no such event (was it analyzed with another site file?)",
        f"ripple.cfg, {at.format(measured.found.event.start)} 'sag' contradicts the measurements (possible: "
        "no disturbance, harmonics, oscillatory transient)",
        "ripple.cfg: has changed since it was corrected",
    ]
    with pytest.warns(UserWarning, match="has no class 'notching'"), pytest.raises(PqswarmError, match="none of the"):
        small(replace(used, label="notching"))
    with pytest.raises(PqswarmError, match="no corrections to train with"):
        small([replace(one, label="") for one in (used, changed, moved, measured, elsewhere, gone)])


def test_whatever_happens_with_a_recording_is_named(analysis, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training._find_corrected_in_recording", lambda *_: 1 / 0)
    used = correction_of(analysis, analysis.events[0], "oscillatory_transient", "Eve")
    with (
        pytest.warns(UserWarning, match=r"ripple\.cfg: could not be analyzed: ZeroDivisionError"),
        pytest.raises(PqswarmError, match="none of the corrections can be used"),
    ):
        find_corrected_events([used], FEW)


def test_labels_that_the_standard_leaves_open(analysis):
    labels = possible_labels(analysis, analysis.events[0])
    assert "oscillatory_transient" in labels
    assert not {"sag", "swell", "interruption"} & set(labels)
    assert possible_labels(analysis, replace(analysis.events[0], probabilities={})) == ()
    assert possible_labels(analysis, analysis.events[0], FEW) == ("pure_sinusoid", "harmonics", "oscillatory_transient")


def test_the_last_one_of_an_event_wins_and_an_empty_label_withdraws():
    def correction(start=0.2, label="sag_with_harmonics", source="a.cfg"):
        found = with_label(event(start=start))
        return Correction(source, 64 * "a", source, found, label, "Eve", "2026-06-30T12:00:00+00:00")

    corrections = [correction(), correction(start=0.7), correction(label="sag_with_transient", source="b.cfg")]
    merged = [(one.found.event.start, one.label) for one in merge_corrections(corrections)]
    assert merged == [(0.2, "sag_with_transient"), (0.7, "sag_with_harmonics")]
    withdrawn = merge_corrections([*corrections, correction(label="", start=0.7)])
    assert [one.found.event.start for one in withdrawn] == [0.2]


def sag_with_jump(t, *, grid, depth, start, duration, jump):
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


def test_a_new_class_is_drawn_trained_and_offered_to_events_of_its_type(preset):
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
