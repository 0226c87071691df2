"""The flickermeter of IEC 61000-4-15 by its tables, and its recursive filters."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import signal
from tests.reference.steady import flicker_sensation

from pqswarm.errors import PqswarmError
from pqswarm.measure.filters import butterworth_sections, filter_sections, response_at, steady_filter_state
from pqswarm.measure.steady.flicker import Flickermeter, short_term_severity

TABLES = json.loads(Path(__file__).with_name("flicker_tables.json").read_text(encoding="utf-8"))
"""IEC 61000-4-15:2010 (edition 2), tables 1, 2 and 5: relative changes [%] for Pinst = 1, by Hz, and for Pst = 1."""

LAMPS = {"230 V, 50 Hz": (230, 50), "120 V, 60 Hz": (120, 60)}


def fluctuating(seconds, rate, carrier, hertz, change, *, rectangular):
    t = np.arange(round(seconds * rate)) / rate
    shape = np.where((t * hertz) % 1 < 0.5, 1.0, -1.0) if rectangular else np.sin(2 * np.pi * hertz * t)
    return np.sqrt(2) * np.sin(2 * np.pi * carrier * t) * (1 + change / 200 * shape)


def greatest_sensation(lamp, carrier, hertz, change, *, rectangular, rate=2400.0):
    meter = Flickermeter(rate, carrier, lamp=lamp)
    wave = fluctuating(20 + 2 / hertz, rate, carrier, hertz, change, rectangular=rectangular)
    return meter.feed(wave[None])[0, -round(8 * meter.output_rate) :].max()


def severity(lamp, carrier, per_minute, change, rate=1600.0):
    meter = Flickermeter(rate, carrier, lamp=lamp)
    wave = fluctuating(720, rate, carrier, per_minute / 120, change, rectangular=True)
    return short_term_severity(meter.feed(wave[None])[0, -round(600 * meter.output_rate) :])


@pytest.mark.parametrize("name", LAMPS)
@pytest.mark.parametrize("hertz", ["1", "8.8", "20"])
def test_just_perceptible_sines(name, hertz):
    change = TABLES["sines"][name][hertz]
    assert greatest_sensation(*LAMPS[name], float(hertz), change, rectangular=False) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", LAMPS)
def test_just_perceptible_rectangles(name):
    change = TABLES["rectangles"][name]["4"]
    assert greatest_sensation(*LAMPS[name], 4.0, change, rectangular=True) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("name", "per_minute"), [("230 V, 50 Hz", 39), ("120 V, 60 Hz", 110)])
def test_severity_of_one(name, per_minute):
    change = TABLES["severity"][name][str(per_minute)]
    assert severity(*LAMPS[name], per_minute, change) == pytest.approx(1, abs=0.02)


def test_decimation_changes_nothing():
    rate = 9600.0
    wave = fluctuating(15, rate, 50, 8.8, 0.25, rectangular=False)
    meter = Flickermeter(rate, 50.0)
    found = meter.feed(wave[None])[0]
    filters = (1.74802, 4.05981, (9.15494, 2.27979, 1.22535, 21.9), 35.0)
    expected = flicker_sensation(wave, rate, 50, *filters, gain=1.0)
    late = round(5 * meter.output_rate)
    expected = expected[:: round(rate / meter.output_rate)]
    # Its own gain makes the peak one.
    assert found[-late:].max() == pytest.approx(1, abs=0.01)
    assert found[-late:].mean() == pytest.approx(expected[-late:].mean() / expected[-late:].max(), abs=0.01)


def test_blocks_change_nothing():
    wave = fluctuating(12, 7000.0, 50, 3.0, 1.0, rectangular=True)[None]
    wave[0, 30_000:30_100] = np.nan
    whole = Flickermeter(7000.0, 50.0).feed(wave)
    meter = Flickermeter(7000.0, 50.0)
    cuts = np.sort(np.random.default_rng(1).integers(0, wave.shape[1], 40)).repeat(2)  # each other piece is empty
    pieces = [meter.feed(piece) for piece in np.split(wave, cuts, axis=1)]
    assert np.array_equal(np.concatenate(pieces, axis=1), whole)
    assert np.isfinite(whole).all()


@pytest.mark.parametrize(("rate", "frequency"), [(12_800.0, 50.03), (1000.0, 49.7)])
def test_steady_voltage_does_not_flicker(rate, frequency):
    t = np.arange(round(5 * rate)) / rate
    wave = np.sin(2 * np.pi * frequency * t + 0.7)
    if rate > 5000:
        wave += 0.03 * np.sin(2 * np.pi * 25 * frequency * t)
    found = Flickermeter(rate, 50.0, 2, frequency=frequency).feed(np.stack([wave, 0 * wave]))
    assert found[0].max() < 0.01  # not at its begin, and not by aliases of the 25th harmonic
    assert found[1].max() < 1e-12


@pytest.mark.parametrize(("order", "corner", "high"), [(3, 200.0, True), (6, 35.0, False), (1, 0.05, True)])
def test_filters_are_those_of_scipy(order, corner, high):
    waves = np.random.default_rng(3).normal(size=(2, 3000))
    sections = butterworth_sections(order, corner, 1300.0, high=high)
    reference = signal.butter(order, corner, "high" if high else "low", fs=1300.0, output="sos")
    found, _ = filter_sections(sections, waves, steady_filter_state(sections, np.zeros(2)))
    np.testing.assert_allclose(found, signal.sosfilt(reference, waves), atol=1e-11)
    assert response_at(sections, corner, 1300.0) == pytest.approx(0.5**0.5)


def test_bad_arguments():
    with pytest.raises(PqswarmError, match="lamp must be 230 or 120"):
        Flickermeter(2000.0, 50.0, lamp=110)
    with pytest.raises(PqswarmError, match="400 samples per second"):
        Flickermeter(300.0, 50.0)
    with pytest.raises(PqswarmError, match="shape"):
        Flickermeter(2000.0, 50.0).feed(np.zeros((2, 10)))
