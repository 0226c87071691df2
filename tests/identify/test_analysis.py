"""Analyses on generated recordings."""

import json
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from tests.identify.invented import event
from tests.reference.disturbances import make

from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS, generate
from pqswarm.identify import COLUMNS, Analysis, EventResult, default_model, identify
from pqswarm.identify.agreement import describe_agreement, event_rule, in_words
from pqswarm.identify.archive.export import export_csv_table
from pqswarm.identify.classify import allowed_classes
from pqswarm.identify.show.figures import plot_event
from pqswarm.recordings import Channel, Recording


def recording(*events, names="ABC", **kwargs):
    channels = tuple(
        Channel(f"U{name}", "V", name, 325.27 * event.signal) for name, event in zip(names, events, strict=False)
    )
    return Recording(channels, events[0].sampling_rate, events[0].frequency, **kwargs)


def test_plain_values():
    analysis = identify(recording(generate("harmonics", seed=1), generate("swell", seed=2), generate("sag", seed=5)))
    again = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))
    assert [one["channel"] for one in again["references"]] == ["UA", "UB", "UC"]
    assert Analysis.of(again) == analysis
    assert Analysis.of(again).as_dict() == analysis.as_dict()
    assert [EventResult.of(one) for one in again["events"]] == list(analysis.events)
    rows = analysis.rows()
    assert [row["type"] for row in rows] == [one.event.type for one in analysis.events]
    assert {"harmonics", "swell", "sag"} == {row["type"] for row in rows}
    assert all(tuple(row) == COLUMNS for row in rows)
    assert export_csv_table(rows, columns=COLUMNS).count("\n") == len(rows) + 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": [0, None]},
        {"window": "ab"},
        {"probabilities": {"sag": 2}},
        {"probabilities": [1]},
        {"known": {}},
        {"parts": []},
        {"type": "storm"},
        {"start": None},
        {"agreement": None},
        {"magnitude": "x"},
        {"details": 3},
    ],
)
def test_what_is_no_verdict_is_refused(wrong):
    plain = identify(recording(generate("sag", seed=3))).as_dict()
    with pytest.raises(PqswarmError, match="not "):
        EventResult.of(plain["events"][0] | wrong)
    with pytest.raises(PqswarmError, match="not "):
        Analysis.of(plain | {"events": [plain["events"][0] | wrong]})
    for other in ({}, [], None, plain | {"sampling_rate": 0}, plain | {"start": "soon"}, plain | {"references": [{}]}):
        with pytest.raises(PqswarmError, match="not an analysis"):
            Analysis.of(other)


def test_no_formula_for_a_spreadsheet():
    odd = Recording((Channel("=cmd()", "V", "", 325 * generate("sag", seed=3).signal),), 25_000, 50)
    assert ",'=cmd()," in export_csv_table(identify(odd).rows(), columns=COLUMNS)


def test_short_capture_says_so():
    event = generate("oscillatory_transient", seed=2, preset="field", cycles=5, frequency=60, transient_amplitude=1.0)
    analysis = identify(recording(event))
    assert not any("extended to 30" in text for text in analysis.caveats)  # the bundled model needs no 30 cycles
    assert any("Time was scaled" in text for text in analysis.caveats)


def test_two_cycles_are_left_to_the_rules():
    t = np.arange(1000) / 25_000
    wave = 325 * np.sin(2 * np.pi * 50 * t) * np.where(t > 0.02, 0.5, 1.0)
    two_cycles = Recording((Channel("U1", "V", "A", wave),), 25_000, 50)
    analysis = identify(two_cycles, replace(default_model()), nominal_voltage=230.0)  # a model of the user's is asked
    assert analysis.main.label == ""
    assert "rules only" in analysis.text()
    json.dumps(analysis.as_dict(), allow_nan=False)


def test_dead_channel():
    event = generate("sag", seed=3)
    both = recording(event, replace(event, signal=0 * event.signal))
    analysis = identify(both)
    assert "sag" in [one.label for one in analysis.events]
    assert len(plot_event(both, analysis).axes) == 2


def test_a_slow_recorder_and_missing_samples():
    assert identify(recording(generate("sag", seed=3, sampling_rate=3200, depth=0.5))).main.label == "sag"
    wave = 325 * generate("sag", seed=3, depth=0.5).signal
    wave[2000:2050] = np.nan
    assert identify(Recording((Channel("U1", "V", "A", wave),), 25_000, 50)).main.label.startswith("sag")


def test_channels_and_reference():
    three = recording(generate("sag", seed=3), generate("pure_sinusoid", seed=1), generate("pure_sinusoid", seed=2))
    analysis = identify(three, channels=["B"], reference=230.0)
    assert [one.channel for one in analysis.references] == ["UB"]
    assert analysis.references[0].source == "given"
    with pytest.raises(PqswarmError, match="no single channel"):
        identify(three, channels=["Z"])


def test_agreement_in_words():
    measured = identify(recording(generate("sag", seed=3))).characterization

    def said(rule, label, known=PRESETS["paper"].classes):
        return describe_agreement(rule, label, known, measured.channels[0], measured)

    assert said("sag", "sag") == "agree"
    assert said("sag", "sag_with_harmonics").startswith("partly agree: rules say sag, the model sag with harmonics")
    assert said("sag", "swell").startswith("disagree: rules say sag, the model swell")
    assert said("oscillatory_transient", "notching").startswith("disagree: rules say oscillatory transient, the model")
    assert said("sag", "ferro_resonance") == (
        "cannot be compared: rules say sag, the model ferro resonance, which the rules do not know"
    )
    assert said("interruption", "swell", ["swell", "harmonics"]).startswith("cannot be compared: the model does not")
    assert said("sag_with_harmonics", "sag", ["sag", "swell"]).startswith("partly agree")
    assert in_words("") == ""


def test_two_channels_of_one_name():
    """Each analysis, and the figure, is of its own channel."""
    sag = generate("sag", seed=3, depth=0.6, start=0.2, duration=0.2).signal
    clean = generate("pure_sinusoid", seed=1, amplitude=1.0).signal
    both = Recording(tuple(Channel("U", "V", "", 325 * wave) for wave in (clean, sag)), 25_000, 50)
    analysis = identify(both)
    assert [one.number for one in analysis.references] == [0, 1]
    assert [one.event.worst.number for one in analysis.events] == [1]
    assert analysis.events[0].label == "sag"


@pytest.mark.parametrize("name", ["flicker", "flicker with harmonics", "notching"])
def test_the_last_bit_decides_nothing(name):
    for seed in range(3):
        wave, _ = make(name, np.random.default_rng(seed), sampling_rate=6400.0, snr=40.0, cycles=4.0)
        found = [
            identify(Recording((Channel("U1", "V", "A", scale * wave),), 6400.0, 50.0), nominal_voltage=230.0 * scale)
            for scale in (1.0, 1 + 2**-50)
        ]
        assert found[0].sentences == found[1].sentences
        for one, other in zip(found[0].events, found[1].events, strict=True):
            assert one.label == other.label
            assert one.probability == pytest.approx(other.probability, abs=1e-3)


RATE = 12_800.0
NAMES = (
    *("pure_sinusoid", "sag", "swell", "interruption", "flicker", "harmonics", "notching"),
    *("oscillatory_transient", "sag_with_harmonics", "swell_with_transient"),
)


def long_recording(**known):
    t = np.arange(round(4.0 * RATE)) / RATE
    waves = [325.27 * np.sin(2 * np.pi * 50 * t - 2 * np.pi * k / 3 + 0.4) for k in range(3)]
    rng = np.random.default_rng(0)
    waves[0][(t > 1.0) & (t <= 1.2)] *= 0.5
    waves[1][(t > 2.0) & (t <= 2.2)] *= 1.3
    for wave in waves:
        wave[(t > 3.0) & (t <= 3.2)] = 0.0
        wave += 0.5 * rng.standard_normal(t.size)
    channels = tuple(Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABC", waves, strict=True))
    return Recording(channels, RATE, 50.0, **known)


@pytest.fixture(scope="module")
def analysis():
    return identify(long_recording(start=datetime(2026, 3, 1, 23, 59, 58), station="Nord", path="a/b.cfg"))


def test_each_event_has_its_own_class_and_window(analysis):
    assert [one.event.type for one in analysis.events] == ["sag", "swell", "interruption"]
    assert [one.label for one in analysis.events] == ["sag", "swell", "interruption"]
    assert [one.rule_label for one in analysis.events] == ["sag", "swell", "interruption"]
    for one in analysis.events:
        assert one.probability > 0.8
        assert sum(one.probabilities.values()) <= 1
        assert one.window[0] + 0.05 < one.event.start < one.event.end < one.window[1] - 0.05
        assert one.window[1] - one.window[0] == pytest.approx(0.6, abs=0.01)
        assert one.agreement == "measured"
    assert any("30 cycles around" in text for text in analysis.caveats)


def test_rows_have_station_date_and_time(analysis):
    rows = analysis.rows()
    assert all(tuple(row) == COLUMNS for row in rows)
    assert [(row["date"], row["time"][:11]) for row in rows] == [
        ("2026-03-01", "23:59:59.00"),
        ("2026-03-02", "00:00:00.00"),
        ("2026-03-02", "00:00:01.00"),
    ]
    assert {(row["station"], row["path"]) for row in rows} == {("Nord", "a/b.cfg")}
    assert rows[0]["phases"] == "A"
    assert rows[0]["volts"] == pytest.approx(115, abs=1)
    assert rows[0]["duration_s"] == pytest.approx(0.2, abs=0.02)
    text = analysis.text().splitlines()
    assert text[0] == "a/b.cfg, Nord, 2026-03-01"
    assert "instantaneous sag on phase A" in " ".join(text)
    assert "pre-event" in " ".join(text)
    assert text[1].startswith("  23:59:59.00")
    assert "fault A" in text[1]
    assert "sag 9" in text[2]


def test_no_time_no_date():
    row = identify(long_recording()).rows()[0]
    assert (row["date"], row["time"]) == ("", "")
    assert row["offset_s"] == pytest.approx(1.0, abs=0.001)


@pytest.mark.parametrize(
    ("kind", "rule", "rate", "offered", "others"),
    [
        ("unbalance", "pure_sinusoid", 12_800, {"notching"}, set()),
        ("unbalance", "pure_sinusoid", 2000, set(), {"notching"}),  # that the capture cannot show
        ("notching", "notching", 2000, {"notching"}, set()),  # by the rules it is there
        ("interruption", "interruption", 12_800, {"interruption"}, set(NAMES) - {"interruption"}),
        ("sag", "sag", 12_800, {"sag", "sag_with_harmonics"}, set(NAMES) - {"sag", "sag_with_harmonics"}),
        ("transient", "oscillatory_transient", 12_800, set(), {"sag"}),
    ],
)
def test_classes_that_are_offered(kind, rule, rate, offered, others):
    allowed = allowed_classes(NAMES, kind, rule, rate, 50, 30)
    assert offered <= allowed
    assert not others & allowed


def test_what_no_class_describes_is_not_called_undisturbed():
    assert [event_rule(event(kind), ()) for kind in ("frequency", "unbalance")] == ["frequency", "unbalance"]


def test_a_phase_at_zero_is_an_interruption_whatever_the_model_thinks():
    t = np.arange(round(0.6 * RATE)) / RATE
    wave = 325 * np.sin(2 * np.pi * 50 * t) * ((t < 0.1) | (t > 0.5))
    wave[np.abs(t - 0.1) < 0.002] += 200.0
    (one,) = identify(Recording((Channel("U", "V", "A", wave),), RATE, 50.0)).events
    assert (one.event.type, one.label) == ("interruption", "interruption")


def test_the_window_leaves_out_the_neighbors():
    t = np.arange(round(2.0 * RATE)) / RATE
    wave = 325 * np.sin(2 * np.pi * 50 * t + 0.2)
    wave[(t > 1.0) & (t <= 1.1)] *= 0.5
    wave[(t > 1.2) & (t <= 1.3)] *= 1.4
    first, second = identify(Recording((Channel("U", "V", "A", wave),), RATE, 50.0)).events
    assert (first.label, second.label) == ("sag", "swell")
    assert first.window[1] < 1.2
    assert second.window[0] > 1.1


@pytest.mark.parametrize("onset", [0.0, 0.25])
def test_harmonics_are_judged_without_a_transient(onset):
    """It rings on below what the rules call a transient: the longest part without it is longer than ten cycles."""
    t = np.arange(5000) / RATE
    angle = 2 * np.pi * 60 * t
    ringing = 0.3 * (t >= onset) * np.exp(-np.maximum(t - onset, 0) / 0.016) * np.sin(2 * np.pi * 310 * (t - onset))
    wave = 325 * (np.sin(angle) + 0.1 * np.sin(5 * angle + 1) + ringing)
    analysis = identify(Recording((Channel("U", "V", "A", wave),), RATE, 60.0))
    by_type = {one.event.type: one for one in reversed(analysis.events)}
    steady, transient = by_type["harmonics"], by_type["transient"]
    assert (steady.label, steady.model_label) == ("harmonics", "harmonics")
    assert steady.window[0] > transient.event.end or steady.window[1] < transient.event.start
    assert steady.window[1] - steady.window[0] > 10 / 60


def test_nothing_found():
    t = np.arange(round(0.6 * RATE)) / RATE
    analysis = identify(Recording((Channel("U", "V", "A", 325 * np.sin(2 * np.pi * 50 * t)),), RATE, 50.0))
    assert (analysis.events, analysis.main, analysis.rows()) == ((), None, [])
    assert "no disturbance found" in analysis.text()
    assert Analysis.of(analysis.as_dict()) == analysis
    with pytest.raises(PqswarmError, match="no event to draw: no disturbance found"):
        plot_event(Recording((Channel("U", "V", "A", 325 * np.sin(2 * np.pi * 50 * t)),), RATE, 50.0), analysis)
