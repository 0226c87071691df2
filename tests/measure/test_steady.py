import tracemalloc

import numpy as np
import pytest
from tests.reference.steady import line, line_to_line_unbalance, subgroup

from pqswarm.errors import PqswarmError
from pqswarm.measure.steady import SteadyMeter
from pqswarm.recordings.recording import ChannelHeader

PHASES = ("A", "B", "C")


def headers(phases=PHASES):
    return [ChannelHeader(f"U{phase}", "V", phase) for phase in phases]


def measure(volts, rate, frequency=50.0, nominal=50.0, phases=PHASES, blocks=None, **options):
    meter = SteadyMeter(rate, nominal, frequency, headers(phases[: len(volts)]), **options)
    for piece in np.split(volts, blocks if blocks is not None else [], axis=1):
        meter.feed(piece)
    return meter.finish()


def supply(seconds, rate, frequency=50.0, volts=230.0, sizes=(1.0, 1.0, 1.0)):
    t = np.arange(round(seconds * rate)) / rate
    turns = np.array([[0.0], [1.0], [2.0]])
    return np.sqrt(2) * volts * np.array(sizes)[:, None] * np.cos(2 * np.pi * (frequency * t - turns / 3))


def arrays(series):
    return {name: value for name, value in vars(series).items() if isinstance(value, np.ndarray)}


def test_quantities_by_their_definitions():
    rate, rng = 3000.0, np.random.default_rng(0)
    t = np.arange(1800) / rate
    volts = supply(0.6, rate, sizes=(1.0, 0.95, 1.02))
    for order, share in ((2, 0.02), (5, 0.06), (11, 0.03)):
        volts += share * 300 * np.cos(2 * np.pi * order * 50 * t + rng.uniform(0, 6, (3, 1)))
    volts += np.array([[4.0], [0.0], [-2.0]]) + 5 * np.sin(2 * np.pi * 205 * t)
    series = measure(volts, rate)
    assert series.n_windows == 3
    assert series.edges == pytest.approx([0.0, 0.2, 0.4, 0.6])
    for c in range(3):
        window = volts[c, 600:1200]
        fundamental = abs(line(window, rate, 50.0))
        groups = [subgroup(window, rate, order, 10) / fundamental for order in range(2, 28)]
        assert series.rms[c, 1] == pytest.approx(np.sqrt(np.mean(window**2)), rel=1e-9)
        assert series.fundamental[c, 1] == pytest.approx(fundamental, rel=1e-6)  # its frequency is measured
        assert series.harmonics[c, 1] == pytest.approx(np.array(groups), abs=1e-6)
        assert series.thd[c, 1] == pytest.approx(np.sqrt(np.sum(np.square(groups))), rel=1e-5)
        assert series.dc[c, 1] == pytest.approx(window.mean(), abs=1e-3)
    a, b, c = (line(volts[k, 600:1200], rate, 50.0) for k in range(3))
    turn = np.exp(2j * np.pi / 3)
    positive = abs(a + turn * b + turn**2 * c)
    assert series.unbalance[0, 1] == pytest.approx(abs(a + turn**2 * b + turn * c) / positive, rel=1e-5)
    assert series.zero_sequence[0, 1] == pytest.approx(abs(a + b + c) / positive, rel=1e-5)


@pytest.mark.parametrize(("frequency", "nominal", "rate"), [(49.87, 50.0, 10_000.0), (60.21, 60.0, 7680.0)])
def test_windows_follow_the_frequency(frequency, nominal, rate):
    series = measure(supply(5, rate, frequency), rate, nominal, nominal)
    cycles = 10 if nominal == 50 else 12
    assert series.cycles == cycles
    assert np.diff(series.edges) * rate == pytest.approx(cycles * rate / frequency, abs=0.51)
    assert series.frequency == pytest.approx(frequency, abs=1e-3)
    assert series.thd.max() < 5e-4
    assert series.modulation.max() < 1e-3
    assert series.rms == pytest.approx(230.0, rel=1e-3)


def test_frequency_that_drifts():
    rate = 6400.0
    t = np.arange(round(20 * rate)) / rate
    volts = 325 * np.sin(2 * np.pi * (49.8 * t + 0.01 * t**2))[None]
    series = measure(volts, rate, 49.8)
    middle = (series.edges[1:] + series.edges[:-1]) / 2
    assert series.frequency == pytest.approx(49.8 + 0.02 * middle, abs=2e-3)
    assert series.thd.max() < 2e-3


@pytest.mark.parametrize("missing", [False, True])
def test_blocks_change_nothing(missing):
    rate, rng = 2500.0, np.random.default_rng(3)
    volts = supply(9.3, rate, 49.93) + rng.normal(0, 5, (3, round(9.3 * rate)))
    if missing:
        volts[1, 8000:8400] = np.nan
    whole = arrays(measure(volts, rate))
    for blocks in (np.arange(1, volts.shape[1], 997), np.sort(rng.integers(0, volts.shape[1], 60))):
        pieces = arrays(measure(volts, rate, blocks=blocks))
        assert all(np.array_equal(pieces[name], whole[name], equal_nan=True) for name in whole)


def test_missing_samples():
    rate = 2000.0
    volts = supply(2, rate)
    volts[0, 900] = np.nan
    series = measure(volts, rate)
    unknown = np.isnan(series.rms)
    assert np.argwhere(unknown).tolist() == [[0, 2]]
    for name in ("fundamental", "thd", "dc", "noise", "modulation", "sensation"):
        assert np.array_equal(np.isnan(getattr(series, name)), unknown), name
    assert np.isnan(series.unbalance[0]).tolist() == unknown[0].tolist()
    assert np.isfinite(series.frequency).all()


def test_unbalance_line_to_line():
    rate = 3000.0
    star = supply(0.4, rate, sizes=(1.0, 0.93, 1.0))
    lines = star - np.roll(star, -1, axis=0)
    series = measure(lines, rate, phases=("AB", "BC", "CA"))
    expected = line_to_line_unbalance(*series.fundamental[:, 0])
    assert series.unbalance[0, 0] == pytest.approx(expected, rel=1e-6)
    assert np.isnan(series.zero_sequence).all()
    # Negative sequence is the same from star and line voltages.
    assert series.unbalance[0, 0] == pytest.approx(measure(star, rate).unbalance[0, 0], rel=1e-6)
    assert measure(star[[0, 2, 1]], rate).unbalance[0, 0] == pytest.approx(expected, rel=1e-6)  # phases exchanged
    assert measure(star[:2], rate).unbalance.shape == (0, 2)


def test_systems_are_kept_apart():
    rate = 3000.0
    volts = np.concatenate([supply(0.4, rate), supply(0.4, rate, sizes=(1.0, 0.91, 1.0))])
    meter = SteadyMeter(rate, 50, 50.0, [*headers(), *headers()], systems=["Bus 1"] * 3 + ["Bus 2"] * 3)
    meter.feed(volts)
    series = meter.finish()
    assert series.groups == ((0, 1, 2), (3, 4, 5))
    assert series.unbalance[:, 0] == pytest.approx([0.0, 0.0309], abs=1e-4)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_notches(noise):
    rate = 12_800.0
    volts = supply(1, rate)
    t = np.arange(volts.shape[1]) / rate
    cut = (100 * t + 0.2) % 1 < 0.06
    volts[0] -= 0.2 * 325.27 * np.sign(volts[0]) * cut
    volts += noise * 230 * np.random.default_rng(0).normal(size=volts.shape)
    series = measure(volts, rate)
    assert series.notches[0].tolist() == [2.0] * 5
    assert series.notch_depth[0] == pytest.approx(0.2, abs=0.02)
    assert (series.thd[0] > 0.05).all()
    assert (series.thd_without_notches[0] < 0.02).all()
    assert (series.notches[1:] == 0).all()
    assert np.isnan(measure(supply(0.4, 2500.0), 2500.0).notches).all()


def test_memory_is_bounded_by_the_window():
    rate = 12_800.0
    second = supply(1, rate)
    meter = SteadyMeter(rate, 50, 50.0, headers())
    tracemalloc.start()
    try:
        for _ in range(30):
            meter.feed(second)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25e6  # 30 s are 9.2 MB of samples; 15 windows and their spectra are more


def test_short_dead_and_slow():
    assert measure(supply(0.1, 2000.0), 2000.0).n_windows == 0
    series = measure(np.zeros((3, 4000)), 2000.0)
    assert (series.rms == 0).all()
    assert np.isnan(series.thd).all()
    assert np.isnan(series.frequency).all()
    slow = measure(supply(1.0, 300.0), 300.0)  # an RMS log with six samples per cycle has no harmonics but the second
    assert slow.harmonics.shape == (3, 5, 1)
    assert np.isnan(slow.sensation).all()


def test_bad_arguments():
    with pytest.raises(PqswarmError, match="at least one channel"):
        SteadyMeter(2000.0, 50.0, 50.0, [])
    with pytest.raises(PqswarmError, match="at least 4 samples per cycle"):
        SteadyMeter(190.0, 50.0, 50.0, headers())
    with pytest.raises(PqswarmError, match="systems"):
        SteadyMeter(2000.0, 50.0, 50.0, headers(), systems=["a"])
    with pytest.raises(PqswarmError, match="shape"):
        SteadyMeter(2000.0, 50.0, 50.0, headers()).feed(np.zeros((2, 10)))


def test_absurd_input_is_survived():
    rng = np.random.default_rng(5)
    base = supply(1.3, 2000.0)
    for spoil in (np.inf, 1e200, np.nan, 1e-300):
        volts = base.copy()
        volts[rng.random(volts.shape) < 0.0005] = spoil
        volts[1] = spoil
        series = measure(volts, 2000.0)
        assert np.isfinite(series.rms[0]).any()
        assert not np.isfinite(series.thd[1]).any()
    noise = measure(rng.normal(size=base.shape), 2000.0)
    assert np.isnan(noise.thd).all()  # there is no fundamental to relate it to
