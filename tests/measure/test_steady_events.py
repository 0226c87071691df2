import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.measure.event import group_overlapping
from pqswarm.measure.group.sentences import describe_steady
from pqswarm.measure.steady import SteadyMeter, find_steady
from pqswarm.recordings.recording import ChannelHeader

RATE = 8000.0
PEAK = 230 * np.sqrt(2)
QUIET = [(5.0, 5.3), (12.0, 14.0), (70.0, 70.05)]


def meter(channels=3, rate=RATE, frequency=50.0, nominal=50.0):
    return SteadyMeter(rate, nominal, frequency, [ChannelHeader(f"U{p}", "V", p) for p in "ABC"[:channels]])


def found(volts, rate=RATE, frequency=50.0, nominal=50.0, **options):
    one = meter(len(volts), rate, frequency, nominal)
    one.feed(volts)
    return find_steady(one.finish(), **options)


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
    series = meter(1, rate)
    series.feed((PEAK * once * np.sin(2 * np.pi * 50 * t))[None])
    steps = series.finish()
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
