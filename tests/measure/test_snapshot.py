"""Phasors, symmetrical components and spectra at a moment, against the truth of generated waves."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.recordings.builders import Watched

from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize, measure_at
from pqswarm.recordings import Channel, Recording, open_recordings, write_comtrade

PHASES = "ABC"
HARMONICS = {3: 0.05, 5: 0.05, 7: 0.05}


def waves(phasors, frequency=50.0, rate=6400.0, seconds=0.6, harmonics=None, dc=0.0):
    """Waves of phasors (RMS), with shares of harmonics that begin at the same zero."""
    t = np.arange(round(seconds * rate)) / rate
    result = []
    for value in phasors:
        angle = 2 * np.pi * frequency * t + np.angle(value)
        wave = np.cos(angle) + sum(share * np.cos(k * angle + k) for k, share in (harmonics or {}).items())
        result.append(np.sqrt(2) * abs(value) * wave + dc)
    return result


def recording(signals, phases=PHASES, units=None, rate=6400.0, nominal=50.0):
    units = units or ["V"] * len(signals)
    names = [f"{'U' if unit == 'V' else 'I'}{phase}" for phase, unit in zip(phases, units, strict=True)]
    channels = [Channel(*one) for one in zip(names, units, phases, signals, strict=True)]
    return Recording(tuple(channels), rate, nominal)


def turned(rms, degrees):
    return rms * np.exp(1j * np.radians(degrees))


def difference(one, other):
    """Of two angles [degree]."""
    return (one - other + 180) % 360 - 180


UNEQUAL = [turned(231.0, 17.0), turned(215.0, -108.0), turned(240.0, 139.0)]


@pytest.mark.parametrize("frequency", [49.3, 49.87, 50.0, 50.7])
@pytest.mark.parametrize("rate", [1600.0, 6400.0, 12_800.0])
@pytest.mark.parametrize("cycles", [1, 10])
def test_angles_and_rms_are_right_off_nominal_and_with_harmonics(frequency, rate, cycles):
    made = recording(waves(UNEQUAL, frequency, rate, harmonics=HARMONICS), rate=rate)
    for moment in (0.0, 0.0037, 0.21234, 0.3, 0.6):
        found = measure_at(made, moment, cycles=cycles)
        assert found.frequency == pytest.approx(frequency, abs=1e-3)
        for one, value in zip(found.channels, UNEQUAL, strict=True):
            true_angle = np.degrees(np.angle(value)) + 360 * frequency * moment
            assert abs(difference(one.fundamental.angle, true_angle)) < 0.02
            assert abs(difference(one.fundamental.relative, np.degrees(np.angle(value / UNEQUAL[0])))) < 0.02
            assert one.fundamental.rms == pytest.approx(abs(value), rel=2e-4)
            assert one.rms == pytest.approx(abs(value) * np.sqrt(1 + 3 * 0.05**2), rel=2e-4)
            assert [one.spectrum.harmonics[k - 2] for k in (3, 4, 5, 7)] == pytest.approx(
                [0.05, 0, 0.05, 0.05], abs=2e-4
            )
            assert one.spectrum.thd == pytest.approx(0.05 * np.sqrt(3), abs=1e-3)


def test_the_window_says_where_it_is():
    made = recording(waves(UNEQUAL))
    for moment, cycles, window in ((0.3, 2, (0.28, 0.32)), (0.0, 1, (0.0, 0.02)), (0.6, 1, (0.58, 0.6))):
        found = measure_at(made, moment, cycles=cycles)
        assert found.window == pytest.approx(window, abs=1e-3)
        assert found.is_moved == ("The window was moved inside the recording." in found.notes) == (cycles == 1)
    few = measure_at(made.read(0, 700), 0.05, cycles=10)
    assert few.cycles == 5
    assert "The recording has no more than 5 cycles." in few.notes


@pytest.mark.parametrize(("zero", "negative"), [(0.0, 0.0), (12.0, 30.0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_symmetrical_components_are_those_that_were_put_in(zero, negative, reverse):
    a = np.exp(2j * np.pi / 3)
    parts = [turned(zero, 25.0), turned(200.0, 10.0), turned(negative, -70.0)]
    values = [parts[0] + parts[1] * a**-k + parts[2] * a**k for k in range(3)]
    if reverse:
        values = [values[0], values[2], values[1]]
    found = measure_at(recording(waves(values)), 0.3).systems[0]
    assert found.rotation == ("ACB" if reverse else "ABC")
    assert (found.unit, found.channels) == ("V", ("UA", "UB", "UC"))
    assert found.positive.rms == pytest.approx(200, rel=1e-5)
    assert found.negative.rms == pytest.approx(negative, abs=1e-3)
    assert found.zero.rms == pytest.approx(zero, abs=1e-3)
    assert found.unbalance == pytest.approx(negative / 200, abs=1e-5)
    assert found.zero_unbalance == pytest.approx(zero / 200, abs=1e-5)
    for phasor, value in ((found.positive, parts[1]), (found.negative, parts[2]), (found.zero, parts[0])):
        if abs(value) > 1:
            assert difference(phasor.relative, np.degrees(np.angle(value / values[0]))) == pytest.approx(0, abs=0.01)


def test_systems_of_voltages_lines_and_currents():
    a = np.exp(-2j * np.pi / 3)
    phases = [230.0, 230 * a, 230 * a**2]
    lines = [phases[0] - phases[1], phases[1] - phases[2], -(phases[2] - phases[0])]  # one the other way round
    currents = [turned(8.0, -30), turned(8.0, -150), turned(6.0, 90)]
    made = recording(
        waves([*phases, *lines, *currents, 3.0]),
        ["A", "B", "C", "AB", "BC", "CA", "A", "B", "C", "N"],
        ["V"] * 6 + ["A"] * 4,
    )
    of_phases, of_lines, of_currents = measure_at(made, 0.3).systems
    assert of_lines.zero is None
    assert of_lines.positive.rms == pytest.approx(230 * np.sqrt(3), rel=1e-5)
    assert of_lines.positive.relative == pytest.approx(30, abs=0.01)
    assert of_phases.unbalance == pytest.approx(0, abs=1e-6)
    assert of_currents.positive.relative == pytest.approx(-30, abs=0.01)
    assert of_currents.unit == "A"
    some = measure_at(made, 0.3, channels=["IB", "IN"])
    assert [one.name for one in some.channels] == ["IB", "IN"]
    assert some.channels[1].fundamental.relative == pytest.approx(150, abs=0.01), "relative to the first, a current"
    assert some.systems == ()


def test_a_frequency_that_is_given_is_taken():
    made = recording(waves(UNEQUAL, 50.4))
    assert measure_at(made, 0.3, frequency=characterize(made).frequency).frequency == pytest.approx(50.4, abs=1e-3)
    assert measure_at(made, 0.3, frequency=50.0).frequency == 50.0


def test_direct_components_and_noise():
    rng = np.random.default_rng(1)
    clean = waves([230.0, turned(230, -120), turned(230, 120)], 49.9, dc=5.0)
    made = recording([wave + rng.normal(scale=2.0, size=wave.size) for wave in clean])
    one = measure_at(made, 0.3, cycles=10).channels[0]
    assert one.spectrum.dc == pytest.approx(5.0, abs=0.5)
    assert one.rms == pytest.approx(np.sqrt(230**2 + 25 + 4), rel=1e-3)
    assert one.as_dict()["spectrum"]["orders"][:2] == pytest.approx([5 / 230, 1.0], abs=2e-3)


def test_what_is_missing_or_dead_is_said():
    signals = waves([*UNEQUAL, 5.0])
    signals[0][1900:1905] = np.nan
    signals[1][:] = 0.0
    signals[2][1800:2100] = np.nan
    made = recording(signals, "ABCA", ["V", "V", "V", "A"])
    found = measure_at(made, 0.3)
    first, dead, missing, current = found.channels
    assert first.fundamental.rms == pytest.approx(231, rel=1e-3)
    assert dead.rms == 0
    assert (dead.fundamental.angle, dead.fundamental.relative, dead.spectrum) == (None, None, None)
    assert (missing.rms, missing.fundamental, missing.spectrum) == (None, None, None)
    assert current.fundamental.relative == pytest.approx(-17, abs=0.1)
    assert found.systems == ()
    assert "UC: 128 of 128 samples are missing." in found.notes
    json.dumps(found.as_dict(), allow_nan=False)

    nothing = measure_at(recording([np.zeros(3840)] * 3), 0.3)
    assert (nothing.frequency, nothing.systems) == (50, ())
    assert any("frequency" in note and "50 Hz" in note for note in nothing.notes)
    json.dumps(nothing.as_dict(), allow_nan=False)


def test_only_the_surroundings_are_read(tmp_path):
    made = recording(waves(UNEQUAL, seconds=3.0))
    (source,) = open_recordings(write_comtrade(made, tmp_path / "one.cfg", "BINARY"))
    assert measure_at(source, 1.5).channels[1].fundamental.rms == pytest.approx(215, rel=1e-4)
    watched = Watched(made)
    measure_at(watched, 1.5)
    ((first, stop),) = watched.reads
    assert stop - first < 0.5 * 6400


def test_channels_that_are_neither_voltages_nor_currents():
    made = recording(waves([turned(3.0, 40)]), "A", [""])
    assert measure_at(made, 0.3).channels[0].fundamental.rms == pytest.approx(3, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"moment": 0.7}, "moment must be inside the recording, 0 to 0.6 s"),
        ({"moment": -0.1}, "moment must be"),
        ({"moment": float("nan")}, "moment must be"),
        ({"cycles": 0}, "cycles must be an integer from 1 to 50"),
        ({"cycles": 51}, "cycles must be"),
        ({"frequency": 5.0}, "frequency must be a frequency of the grid"),
        ({"frequency": float("inf")}, "frequency must be"),
        ({"channels": ["UX"]}, "no single channel 'UX'"),
        ({"channels": []}, "at least one channel"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(PqswarmError, match=words):
        measure_at(recording(waves(UNEQUAL)), **{"moment": 0.3, **options})


def test_recordings_that_are_too_short_or_no_waveforms_are_refused():
    made = recording(waves(UNEQUAL))
    with pytest.raises(PqswarmError, match="less than a cycle"):
        measure_at(made.read(0, 100), 0.005)
    with pytest.raises(PqswarmError, match="has no samples"):
        measure_at(made.read(0, 0), 0.0)
    with pytest.raises(PqswarmError, match="log of RMS values"):
        measure_at(replace(made, sampling_rate=100.0), 0.5)
    assert measure_at(made.read(0, 128), 0.01).cycles == 1


def test_before_the_moment_nothing_of_the_event_is_seen():
    rate, begin = 6400.0, 0.31
    time = np.arange(6400) / rate
    wave = np.where(time < begin, 1.0, 0.4) * 325.27 * np.cos(2 * np.pi * 50 * time)
    one = Recording((Channel("U", "V", "A", wave),), rate, 50.0)
    before = measure_at(one, begin, frequency=50.0, side="before")
    assert before.channels[0].rms == pytest.approx(230, rel=1e-3)
    assert before.window == pytest.approx((begin - 0.02, begin), abs=1.1 / rate)
    assert abs(before.channels[0].fundamental.angle) == pytest.approx(180.0, abs=0.05)
    assert 100 < measure_at(one, begin, frequency=50.0).channels[0].rms < 220
    assert measure_at(one, 0.0, side="before").is_moved
    with pytest.raises(PqswarmError, match="side must be 'around' or 'before'"):
        measure_at(one, 0.1, side="after")


@pytest.mark.parametrize("between", [False, True])
def test_power_of_a_feeder(between):
    volts = np.array([turned(230.0, 10.0), turned(230.0, -110.0), turned(230.0, 130.0)])
    amperes = volts * np.exp(-1j * np.radians([30.0, 30.0, 60.0])) * 0.04
    measured = [volts[0] - volts[1], volts[1] - volts[2], volts[2] - volts[0]] if between else list(volts)
    signals = waves([*measured, *amperes], seconds=0.2)
    phases = [*(("AB", "BC", "CA") if between else PHASES), *PHASES]
    (power,) = measure_at(recording(signals, phases, ["V"] * 3 + ["A"] * 3), 0.1).powers
    truth = np.sum(volts * np.conj(amperes))
    if between:  # what a zero sequence of the currents takes up is not seen
        truth = np.sum((volts - volts.mean()) * np.conj(amperes))
    assert power.active == pytest.approx(truth.real, rel=1e-3)
    assert power.reactive == pytest.approx(truth.imag, rel=1e-3)
    assert power.apparent == pytest.approx(abs(truth), rel=1e-3)
    assert power.power_factor == pytest.approx(truth.real / abs(truth), rel=1e-3)


def test_thd_is_what_the_bars_show():
    rng = np.random.default_rng(3)
    t = np.arange(3200) / 3200
    wave = np.sin(2 * np.pi * 50 * t) + rng.normal(0, 0.1, t.size)  # noise is not subtracted (IEC 61000-4-7)
    for cycles in (1, 10):
        (one,) = measure_at(Recording((Channel("U", "V", "A", wave),), 3200.0, 50.0), 0.5, cycles=cycles).channels
        assert one.spectrum.thd == pytest.approx(np.sqrt(np.sum(np.square(one.spectrum.harmonics))))
        assert one.spectrum.thd > 0.01
        assert one.spectrum.thd_above_noise < one.spectrum.thd


def test_angles_are_not_relative_to_a_dead_voltage():
    dead = np.random.default_rng(1).normal(0, 0.1, 3840)
    found = measure_at(recording([dead, *waves(UNEQUAL[1:])]), 0.3)
    expected = np.degrees(np.angle(UNEQUAL[2] / UNEQUAL[1]))
    assert [one.fundamental.relative for one in found.channels[1:]] == pytest.approx([0, expected], abs=0.1)
