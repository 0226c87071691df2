"""An analysis for each event: its own window, classes that the standard allows, rows with date and time."""

from datetime import datetime

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.identify import COLUMNS, Analysis, identify
from pqswarm.identify.classify import allowed_classes
from pqswarm.identify.show.figures import plot_event
from pqswarm.recordings import Channel, Recording

RATE = 12_800.0
NAMES = (
    *("pure_sinusoid", "sag", "swell", "interruption", "flicker", "harmonics", "notching"),
    *("oscillatory_transient", "sag_with_harmonics", "swell_with_transient"),
)


def long_recording(**known):
    t = np.arange(round(4.0 * RATE)) / RATE
    waves = [325.27 * np.sin(2 * np.pi * 50 * t - 2 * np.pi * k / 3 + 0.4) for k in range(3)]
    rng = np.random.default_rng(0)
    for wave in waves:
        wave += 0.5 * rng.standard_normal(t.size)
    waves[0][(t > 1.0) & (t <= 1.2)] *= 0.5
    waves[1][(t > 2.0) & (t <= 2.2)] *= 1.3
    for wave in waves:
        wave[(t > 3.0) & (t <= 3.2)] = 0.0
    channels = tuple(Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABC", waves, strict=True))
    return Recording(channels, RATE, 50.0, **known)


@pytest.fixture(scope="module")
def analysis():
    return identify(long_recording(start=datetime(2026, 3, 1, 23, 59, 58), station="Nord", path="a/b.cfg"))


def test_each_event_has_its_own_class_and_window(analysis):
    assert [one.event.type for one in analysis.events] == ["sag", "swell", "interruption"]
    assert [one.label for one in analysis.events] == ["sag", "swell", "interruption"]
    for one in analysis.events:
        assert one.window[0] < one.event.start < one.event.end < one.window[1]
        assert one.window[1] - one.window[0] <= 0.601
        assert one.agreement == "measured"


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
    assert text[1].startswith("  23:59:59.00")
    assert "fault A" in text[1]
    assert "sag 9" in text[2]


def test_no_time_no_date():
    row = identify(long_recording()).rows()[0]
    assert (row["date"], row["time"]) == ("", "")
    assert row["offset_s"] == pytest.approx(1.0, abs=0.001)


def test_a_class_that_the_capture_cannot_show_is_not_offered():
    assert "notching" in allowed_classes(NAMES, "unbalance", "pure_sinusoid", 12_800, 50, 30)
    assert "notching" not in allowed_classes(NAMES, "unbalance", "pure_sinusoid", 2000, 50, 30)
    assert "notching" in allowed_classes(NAMES, "notching", "notching", 2000, 50, 30)  # by the rules it is there


def test_a_kind_has_its_classes():
    def allowed(kind, rule):
        return allowed_classes(NAMES, kind, rule, 12_800, 50, 30)

    assert allowed("interruption", "interruption") == {"interruption"}
    assert allowed("sag", "sag") == {"sag", "sag_with_harmonics"}
    assert "sag" not in allowed("transient", "oscillatory_transient")


def test_a_phase_at_zero_is_an_interruption_whatever_the_model_thinks():
    t = np.arange(round(0.6 * RATE)) / RATE
    wave = 325 * np.sin(2 * np.pi * 50 * t) * ((t < 0.1) | (t > 0.5))
    wave[np.abs(t - 0.1) < 0.002] += 200.0
    (one,) = identify(Recording((Channel("U", "V", "A", wave),), RATE, 50.0)).events
    assert (one.event.type, one.label) == ("interruption", "interruption")


def test_the_window_leaves_out_the_neighbours():
    t = np.arange(round(2.0 * RATE)) / RATE
    wave = 325 * np.sin(2 * np.pi * 50 * t + 0.2)
    wave[(t > 1.0) & (t <= 1.1)] *= 0.5
    wave[(t > 1.2) & (t <= 1.3)] *= 1.4
    first, second = identify(Recording((Channel("U", "V", "A", wave),), RATE, 50.0)).events
    assert (first.label, second.label) == ("sag", "swell")
    assert first.window[1] < 1.2
    assert second.window[0] > 1.1


def test_nothing_found():
    t = np.arange(round(0.6 * RATE)) / RATE
    analysis = identify(Recording((Channel("U", "V", "A", 325 * np.sin(2 * np.pi * 50 * t)),), RATE, 50.0))
    assert (analysis.events, analysis.main, analysis.rows()) == ((), None, [])
    assert "no disturbance found" in analysis.text()
    assert Analysis.of(analysis.as_dict()) == analysis
    with pytest.raises(PqswarmError, match="no event to draw: no disturbance found"):
        plot_event(Recording((Channel("U", "V", "A", 325 * np.sin(2 * np.pi * 50 * t)),), RATE, 50.0), analysis)
