"""One event for each thing that happened: its phases, times, sizes and words."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from tests.measure.waves import RATE, dipped, record, sine, three, with_level

from pqswarm.measure import EVENT_TYPES, characterize
from pqswarm.recordings import Channel, Recording


def test_a_sag_of_one_phase_is_one_event():
    (event,) = characterize(dipped((0.2, 0.3, 0.6))).events
    assert (event.type, event.phases, event.unit, event.sag_type) == ("sag", ("A",), "pu", "Ba")
    assert event.magnitude == pytest.approx(0.6, abs=0.01)
    assert event.start == pytest.approx(0.2, abs=0.002)
    assert event.end == pytest.approx(0.3, abs=0.002)
    assert event.reference_volts == pytest.approx(229.8, abs=0.2)
    assert event.at(datetime(2026, 1, 1, 12)).isoformat(timespec="milliseconds") == "2026-01-01T12:00:00.200"
    assert event.at(None) is None
    assert event.type in EVENT_TYPES
    plain = event.as_dict()
    assert (plain["type"], plain["sag_type"], plain["parts"][0]["magnitude"]) == ("sag", "Ba", event.magnitude)


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ([(0.1, 0.2, 0.5)] * 3, "A, B and C, 0.50 pu residual, 5.0 cycles"),  # what is alike is said once
        (
            [(0.1, 0.5, 0.5), (0.1, 0.18, 0.5), (0.1, 0.18, 0.5)],
            "A, B and C, 0.50 pu residual, 20.0 cycles: "
            "A 0.50 pu for 20.0 cycles, B 0.50 pu for 4.0 cycles, C 0.50 pu for 4.0 cycles",
        ),
        (
            [(0.1, 0.2, 0.5), (0.15, 0.3, 0.7)],
            "A and B, 0.50 pu residual, 10.0 cycles: A 0.50 pu for 5.0 cycles, B 0.70 pu for 7.5 cycles",
        ),
        ([(0.1, 0.2, 0.0)] * 2, "A and B, 0.00 pu residual, 5.0 cycles"),  # no interruption, which is of all phases
    ],
)
def test_sentences_say_of_no_phase_what_holds_of_another(windows, said):
    found = characterize(dipped(*windows))
    assert found.sentences() == (f"instantaneous sag on phases {said}",)
    (event,) = found.events
    starts, ends, levels = zip(*windows, strict=True)
    assert event.phases == tuple("ABC"[: len(windows)])
    assert "all_phases_s" not in event.details
    assert (event.start, event.end) == pytest.approx((min(starts), max(ends)), abs=0.003)
    assert event.magnitude == pytest.approx(min(levels), abs=0.01)
    assert [part.end - part.start for part in event.parts] == pytest.approx(np.subtract(ends, starts), abs=0.004)


def test_an_interruption_says_how_long_all_phases_were_out():
    (event,) = characterize(dipped(*((0.2, end, 0.0) for end in (0.5, 0.6, 0.7)), cycles=60)).events
    assert event.type == "interruption"
    assert event.details["all_phases_s"] == pytest.approx(0.3, abs=0.011)  # Urms(1/2) is refreshed each half cycle
    assert event.duration == pytest.approx(0.5, abs=0.011)
    assert "A 0.00 pu for 15.0 cycles, B 0.00 pu for 20.0 cycles, C 0.00 pu for 25.0 cycles" in event.sentence
    assert event.end == pytest.approx(0.7, abs=0.002)


def test_a_slow_sag_has_the_duration_of_the_standard():
    t = np.arange(20_000) / RATE
    level = 1 - 0.3 * np.exp(-(((t - 1) / 0.2) ** 2))  # 0.7 pu, without a step anywhere
    (event,) = characterize(record(325 * level * np.sin(2 * np.pi * 50 * t + 0.3))).events
    below = t[level < 0.9]
    back = t[(level < 0.92) & (t > 1)][-1]
    assert event.duration == pytest.approx(back - below[0], abs=0.03)
    assert float(event.sentence.split()[-2]) == pytest.approx(event.duration * 50, abs=1.3)


def ring(size, decay, hertz):
    since = np.arange(8000) / RATE - 0.2
    return size * np.exp(-since / decay) * np.sin(2 * np.pi * hertz * since) * (since >= 0)


def test_a_transient_at_the_edge_of_a_sag_is_part_of_it():
    waves = three()
    (event,) = characterize(record(with_level(waves[0], 0.2, 0.3, 0.6) + ring(150, 0.002, 900), *waves[1:])).events
    assert event.type == "sag"
    assert event.details["transient_peak"] > 0.2
    assert "with a transient of" in event.sentence


@pytest.mark.parametrize(("level", "words"), [(0.95, "step of -5.0 %"), (1.06, "step of +6.0 %")])
def test_small_voltage_change(level, words):
    (event,) = characterize(dipped(*[(1.0, 9.0, level)] * 3, cycles=120)).events
    assert (event.type, event.phases, event.unit) == ("rapid voltage change", ("A", "B", "C"), "%")
    assert event.magnitude == pytest.approx(100 * (level - 1), abs=0.2)
    assert event.start == pytest.approx(1.0, abs=0.03)
    assert words in event.sentence


def test_a_small_dip():
    (dip,) = characterize(dipped((1.0, 1.2, 0.94), cycles=120)).events
    assert "dip of -6.0 %" in dip.sentence


T = np.arange(30_000) / RATE
FIFTH = 22 * np.sin(2 * np.pi * 250 * T[:6000])
ONLY = {
    "nothing": (record(*three()), set()),
    "a slow drift": (record(325 * (1 + 0.004 * T) * np.sin(2 * np.pi * 50 * T + 0.3)), set()),
    "noise of 20 dB": (record(sine(150) + 23 * np.random.default_rng(0).standard_normal(T.size)), set()),
    "a transient that raises Urms": (record(three()[0] + ring(500, 0.004, 700), *three()[1:]), {"transient"}),
    "a change on another phase than a sag": (dipped((1.0, 1.2, 0.5), (1.0, 1.2, 0.94), cycles=120), {"sag"}),
    "a small change beside harmonics": (
        record(*(with_level(wave + FIFTH, 0.3, 9.0, 0.95) for wave in three(cycles=30))),
        {"harmonics", "rapid voltage change"},
    ),
    "what is left of an interruption": (record(with_level(sine(10), 0.04, 0.17, 0.0)), {"interruption"}),
}


@pytest.mark.parametrize(("made", "types"), ONLY.values(), ids=ONLY)
def test_nothing_else_is_found(made, types):
    found = characterize(made)
    assert sorted(event.type for event in found.events) == sorted(types)
    if not types:
        assert (found.incidents, found.no_event_reason) == ((), "no disturbance found")


def test_two_busbars_see_one_sag():
    waves = three()
    waves[0] = with_level(waves[0], 0.2, 0.3, 0.6)
    names = [f"{bus} U{phase}" for bus in ("Bus I", "Bus II") for phase in "ABC"]
    channels = tuple(Channel(name, "V", name[-1], wave) for name, wave in zip(names, waves * 2, strict=True))
    found = characterize(Recording(channels, RATE, 50.0))
    (event,) = found.events
    assert [one.system for one in found.channels] == ["Bus I"] * 3 + ["Bus II"] * 3
    assert event.also == ("Bus II",)
    assert event.sentence.endswith("the same on Bus II")
    other = list(channels)
    other[3] = replace(channels[3], samples=with_level(three()[0], 0.2, 0.3, 0.3))
    assert len(characterize(Recording(tuple(other), RATE, 50.0)).events) == 2


def test_a_gap_ends_what_it_cuts():
    wave = with_level(sine(200), 0.2, 0.4, 0.5)
    wave[4000:24_000] = np.nan
    (event,) = characterize(record(wave)).events
    assert event.type == "sag"
    assert event.cut_end
    assert event.duration == pytest.approx(0.2, abs=0.02)
    assert "at least 10" in event.sentence


@pytest.mark.parametrize(
    ("wave", "words"), [(np.zeros(4000), "no voltage on any phase"), (np.full(4000, np.nan), "nothing can be said")]
)
def test_a_dead_recording_is_not_called_undisturbed(wave, words):
    found = characterize(record(wave))
    assert found.events == ()
    assert words in found.no_event_reason


def test_a_line_voltage_measured_the_other_way_round():
    a, b, c = three(cycles=250)
    dip = with_level(np.ones_like(a), 2.0, 2.2, 0.5)
    lines = (a * dip - b, b - c, a * dip - c)  # AB, BC and AC
    channels = tuple(
        Channel(f"U{p}", "V", q, w) for p, q, w in zip(("12", "23", "13"), ("AB", "BC", "CA"), lines, strict=True)
    )
    (event,) = characterize(Recording(channels, RATE, 50.0)).events
    assert (event.type, event.sag_type) == ("sag", "Da")  # and no unbalance of 50 %


def test_a_named_neutral_beside_two_phases():
    waves = three()
    waves = (with_level(waves[0], 0.2, 0.3, 0.6), waves[1], 0.3 * waves[2])
    channels = tuple(Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABN", waves, strict=True))
    found = characterize(Recording(channels, RATE, 50.0), channels=["UA", "UB", "UN"])
    assert "sag" in [event.type for event in found.events]


@pytest.mark.parametrize("level", [0.05, 0.3, 0.45, 1.6, 2.2])
def test_a_nominal_voltage_that_is_given_is_used(level):
    (event,) = characterize(record(*(level * wave for wave in three())), nominal_voltage=230.0).events
    assert event.type == ("interruption" if level < 0.1 else "sag" if level < 1 else "swell")
    assert event.magnitude == pytest.approx(level, rel=0.01)


def test_one_nominal_voltage_for_both_kinds_of_voltages():
    a, b, c = three()
    a = with_level(a, 0.2, 0.3, 0.5)
    names = ("UA", "UB", "UC", "UAB", "UBC", "UCA")
    channels = tuple(Channel(n, "V", n[1:], w) for n, w in zip(names, (a, b, c, a - b, b - c, c - a), strict=True))
    found = characterize(Recording(channels, RATE, 50.0), nominal_voltage=230.0)
    assert [one.reference for one in found.channels] == pytest.approx([230.0] * 3 + [230 * 3**0.5] * 3)
    assert {event.type for event in found.events} == {"sag"}


@pytest.mark.parametrize("drift", [0.0, 0.02, -0.02])
def test_the_type_of_a_sag_while_the_frequency_drifts(drift):
    t = np.arange(400_000) / RATE  # 40 s
    angle = 2 * np.pi * (50 * t + drift / 2 * (t - 20) ** 2)
    waves = [325 * np.sin(angle - 2 * np.pi * k / 3) for k in range(3)]
    for start in (3.0, 12.0, 30.0):
        waves[0] = with_level(waves[0], start, start + 1.0, 0.5)
    types = [event.sag_type for event in characterize(record(*waves)).events if event.type == "sag"]
    assert types == ["Ba", "Ba", "Ba"]


def test_a_sag_after_an_interruption_has_its_type():
    waves = three(cycles=60)
    levels = with_level(with_level(with_level(np.ones(waves[0].size), 0.2, 0.3, 0.6), 0.3, 0.5, 0.0), 0.5, 0.7, 0.6)
    found = [event for event in characterize(record(waves[0] * levels, *waves[1:])).events if event.sag_type]
    assert {event.sag_type for event in found} == {"Ba"}
    assert max(abs(event.details["phase_jump"]) for event in found if event.type == "sag") < 5


def test_changes_of_both_signs_are_said_of_each_phase():
    found = characterize(dipped(*((1.0, 9.0, level) for level in (0.95, 1.05, 0.95)), cycles=120))
    (event,) = [one for one in found.events if one.type == "rapid voltage change"]
    assert "(A -5.0 %, B +5.0 %, C -5.0 %)" in event.sentence
    assert "rise" not in event.sentence


def test_a_transient_on_another_phase_is_not_part_of_a_sag():
    waves = three()
    waves[2][1870:1878] += 200.0  # 13 ms before the sag of another phase
    found = characterize(record(with_level(waves[0], 0.2, 0.3, 0.6), *waves[1:]))
    assert [event.type for event in found.events] == ["transient", "sag"]
    assert found.events[0].phases == ("C",)


def test_harmonics_in_part_of_two_seconds_are_on_all_phases():
    t = np.arange(sine(145).size) / RATE
    part = 32 * np.sin(2 * np.pi * 250 * t) * ((t > 1.2) & (t < 2.0))
    (event,) = characterize(record(*(wave + part for wave in three(cycles=145)))).events
    assert (event.type, event.phases) == ("harmonics", ("A", "B", "C"))
    assert event.start == pytest.approx(1.2, abs=0.25)
    assert event.end == pytest.approx(2.0, abs=0.25)


def test_a_dip_below_ten_percent_on_one_phase_is_one_dip():
    waves = three(cycles=60)
    deep = with_level(with_level(waves[0], 0.2, 0.3, 0.5), 0.3, 0.7, 0.03)  # a fault, then its phase is open
    (event,) = characterize(record(deep, *waves[1:])).events
    assert (event.type, event.phases) == ("sag", ("A",))  # the other phases are live (IEC 61000-4-30, 5.5)
    assert event.magnitude == pytest.approx(0.03, abs=0.01)
    assert event.duration == pytest.approx(0.5, abs=0.02)
    assert len(event.parts) == 1
    (alone,) = characterize(record(deep)).events[-1:]
    assert alone.type == "interruption"
