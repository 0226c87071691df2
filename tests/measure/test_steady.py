"""What is steady: its quantities in windows by their definitions, and the disturbances found in them."""

import numpy as np
import pytest
from tests.memory import memory_below
from tests.reference.steady import line, line_to_line_unbalance, subgroup

from pqswarm.errors import PqswarmError
from pqswarm.measure.event import group_overlapping
from pqswarm.measure.group.sentences import describe_steady
from pqswarm.measure.steady import SteadyMeter, find_steady
from pqswarm.recordings.recording import ChannelHeader

PHASES = ("A", "B", "C")
RATE = 8000.0
PEAK = 230 * np.sqrt(2)
QUIET = [(5.0, 5.3), (12.0, 14.0), (70.0, 70.05)]


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
    series = measure(star - np.roll(star, -1, axis=0), rate, phases=("AB", "BC", "CA"))
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
    with memory_below(25e6):  # 30 s are 9.2 MB of samples; 15 windows and their spectra are more
        for _ in range(30):
            meter.feed(second)


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


def found(volts, rate=RATE, frequency=50.0, nominal=50.0, **options):
    return find_steady(measure(volts, rate, frequency, nominal), **options)


def times(seconds, rate=RATE):
    return np.arange(round(seconds * rate)) / rate


def during(t, start, end):
    return (t >= start) & (t < end)


def long_recording(noise):
    """100 s with a sag, an interruption, a transient, and one of each steady disturbance."""
    t = times(100)
    angle = 2 * np.pi * (50.02 * t - np.array([[0.0], [1.0], [2.0]]) / 3)
    size = np.ones_like(angle)
    size[:, during(t, 5.0, 5.3)] = 0.5
    size[1, during(t, 12.0, 14.0)] = 0.0
    size[:, during(t, 35.0, 47.0)] += 0.04 * np.sin(2 * np.pi * 8 * t[during(t, 35.0, 47.0)])
    size[1, during(t, 85.0, 96.0)] = 0.91
    volts = PEAK * size * np.sin(angle)
    volts[:2] += during(t, 20.0, 30.0) * PEAK * np.array([[0.10], [0.08]]) * np.sin(5 * angle[:2])
    cut = during(t, 50.0, 62.0) & ((angle / np.pi + 0.2) % 1 < 0.05)
    volts -= 0.2 * PEAK * np.sign(np.sin(angle)) * cut
    volts[2] += during(t, 72.0, 82.0) * 0.02 * PEAK
    late = t - 70.004
    ring = np.where(late >= 0, np.exp(-np.abs(late) / 0.005), 0.0) * np.sin(2 * np.pi * 900 * late)
    volts += 0.8 * PEAK * ring
    return volts + 230 * noise * np.random.default_rng(7).normal(size=volts.shape)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.0316])
def test_each_disturbance_is_one_event(noise):
    groups = sorted(group_overlapping(found(long_recording(noise), quiet=QUIET)), key=lambda parts: parts[0].start)
    expected = [
        ("harmonics", 20.0, 30.0, 10.0, ("A", "B")),
        ("flicker", 35.0, 47.0, 4.0, ("A", "B", "C")),
        ("notching", 50.0, 62.0, 20.0, ("A", "B", "C")),
        ("DC offset", 72.0, 82.0, 2.0, ("C",)),
        ("unbalance", 85.0, 96.0, 3.1, ("A", "B", "C")),
    ]
    assert [parts[0].type for parts in groups] == [row[0] for row in expected]
    for parts, (_, start, end, magnitude, phases) in zip(groups, expected, strict=True):
        assert (parts[0].start, parts[0].end) == pytest.approx((start, end), abs=0.3)
        assert max(part.magnitude for part in parts) == pytest.approx(magnitude, rel=0.06)
        assert tuple(part.phase for part in parts) == phases
    harmonics, flicker, notching, *_ = groups
    assert [part.magnitude for part in harmonics] == pytest.approx([10, 8], rel=0.06)
    assert harmonics[0].details["order"] == 5
    assert flicker[0].details["frequency"] == pytest.approx(8, abs=0.1)
    assert notching[0].details["per_cycle"] == 2
    assert "most of order 5, for 10." in describe_steady(harmonics)


def test_steps_sags_and_transients_are_nothing_steady():
    t = times(60, 6000.0)
    level = np.ones(t.size)
    for start, end, depth in ((5, 5.5, 0.94), (10, 11, 0.95), (20, 30, 1.05), (33, 60, 0.97), (41, 41.2, 0.6)):
        level[during(t, start, end)] *= depth
    volts = PEAK * level * np.sin(2 * np.pi * 50 * t)
    volts += sum(0.9 * PEAK * np.exp(-np.abs(t - at) / 0.003) * np.sin(2000 * t) for at in (15.0, 50.1))
    assert found(volts[None], 6000.0) == []


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_plain_sines_are_nothing(noise):
    rng = np.random.default_rng(0)
    for rate in np.geomspace(1000, 50_000, 6):
        for nominal in (50.0, 60.0):
            frequency = nominal * rng.uniform(0.997, 1.003)
            t = times(3, rate)
            volts = PEAK * np.sin(2 * np.pi * frequency * t + rng.uniform(0, 6))[None]
            volts += noise * 230 * rng.normal(size=volts.shape)
            assert found(volts, rate, frequency, nominal) == [], (rate, frequency)


@pytest.mark.parametrize(("hertz", "depth"), [(1.5, 0.02), (3.0, 0.01), (12.0, 0.02), (22.0, 0.03)])
@pytest.mark.parametrize("rectangular", [False, True])
def test_flicker_of_any_rate(hertz, depth, rectangular):
    t = times(20, 2000.0)
    shape = np.sin(2 * np.pi * hertz * t)
    volts = PEAK * np.sin(2 * np.pi * 50 * t) * (1 + depth * (np.sign(shape) if rectangular else shape))
    (event,) = found(volts[None], 2000.0)
    assert event.type == "flicker"
    assert event.details["frequency"] == pytest.approx(hertz, abs=0.1)
    assert event.magnitude == pytest.approx(100 * depth * (4 / np.pi if rectangular else 1), rel=0.08)
    assert (event.start, event.end) == pytest.approx((0, 20), abs=0.5)
    if not rectangular:
        assert event.cut_start
        assert event.cut_end


def test_severe_flicker_too_slow_for_a_modulation():
    rate = 1200.0
    t = times(610, rate)
    step = np.where((t / 60) % 2 < 1, 1.0, 0.94)
    (event,) = found((PEAK * step * np.sin(2 * np.pi * 50 * t))[None], rate)
    assert event.type == "flicker"
    assert event.details["pst"] > 1
    assert f"Pst {event.details['pst']:.2f}" in describe_steady([event])
    once = np.where((t > 100) & (t < 160), 0.91, 1.0)  # two steps make a Pst above 1 as well
    steps = measure((PEAK * once * np.sin(2 * np.pi * 50 * t))[None], rate)
    assert steps.severity[0, 0] > 1
    assert find_steady(steps) == []


def test_sentences_say_of_no_phase_what_holds_of_another():
    t = times(12)
    volts = np.tile(PEAK * np.sin(2 * np.pi * 50 * t), (3, 1))
    volts[0] += during(t, 2, 10) * 0.1 * PEAK * np.sin(2 * np.pi * 250 * t)
    volts[1] += during(t, 2, 4) * 0.07 * PEAK * np.sin(2 * np.pi * 350 * t)
    parts = [part for part in found(volts) if part.type == "harmonics"]
    assert describe_steady(parts) == (
        "harmonics on phases A and B, THD 10.0 % (A 10.0 %, B 7.0 % for 2.0 s), most of order 5 on A, 7 on B, for 8.0 s"
    )
    assert [round(part.duration, 1) for part in parts] == [8.0, 2.0]


def test_gaps_are_bridged_and_sags_do_not_end_an_event():
    t = times(20)
    volts = PEAK * np.sin(2 * np.pi * 50 * t) + during(t, 2, 18) * 0.1 * PEAK * np.sin(2 * np.pi * 250 * t)
    volts[during(t, 8, 8.4)] = PEAK * np.sin(2 * np.pi * 50 * t[during(t, 8, 8.4)])
    volts[during(t, 12, 13.5)] *= 0.2
    for quiet in ([(12.0, 13.5)], []):
        (event,) = (event for event in found(volts[None], quiet=quiet) if event.type == "harmonics")
        assert (event.start, event.end) == pytest.approx((2, 18), abs=0.3)
    with pytest.raises(PqswarmError, match="each of 100 windows"):
        found(volts[None], quiet=np.zeros(3, dtype=bool))


def test_steep_flanks_of_harmonics_are_no_notches():
    t = times(2)
    angle = 2 * np.pi * 50.01 * t
    volts = PEAK * (np.sin(angle) + sum(0.35 / h * np.sin(h * angle) for h in (5, 7, 11, 13, 17, 19, 23, 25)))
    assert [event.type for event in found(volts[None])] == ["harmonics"]


@pytest.mark.parametrize(("per_cycle", "width", "depth"), [(2, 0.01, 0.2), (6, 0.02, 0.1), (6, 0.03, 0.2)])
@pytest.mark.parametrize("noise", [0.0, 0.0316])
def test_notches_of_many_kinds(per_cycle, width, depth, noise):
    t = times(2)
    turns = 49.98 * t + 0.21
    wave = np.sin(2 * np.pi * turns)
    wave -= depth * np.sign(wave) * ((turns * per_cycle + 0.4) % 1 < width * per_cycle)
    volts = PEAK * wave + 230 * noise * np.random.default_rng(2).normal(size=t.size)
    (event,) = found(volts[None])
    assert event.type == "notching"
    assert event.details["per_cycle"] == per_cycle
    assert event.magnitude == pytest.approx(100 * depth, abs=4)


def test_references_scale_the_offset():
    t = times(5)
    volts = (PEAK * np.sin(2 * np.pi * 50 * t) + 0.015 * PEAK)[None]
    (event,) = found(volts, references=[200.0])
    assert event.magnitude == pytest.approx(1.5 * 230 / 200, rel=1e-3)
    assert found(volts, thresholds={"dc": 0.02}) == []
    assert found(volts, references=[0.0]) == []
    with pytest.raises(PqswarmError, match="references"):
        found(volts, references=[230.0, 230.0])
