"""Kinds of captures that are easily taken for a fault: events, causes and what is said of the recorder."""

from dataclasses import replace

import numpy as np
import pytest
from tests.measure.kinds import HERTZ, KINDS, PEAK, RATE, T, box, record, ring, three_phases

from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize
from pqswarm.measure.incidents.find import name_operation
from pqswarm.recordings import Channel, Recording

SAID = {
    "frozen": "frozen from",
    "frozen_alone": "is frozen from",
    "clipped_current": "IA is clipped at",
    "lost": "samples are lost",
    "swapped": "exchanged at",
    "missing": "missing on UA",
    "clipped_swell": "UA is clipped at",
}


def draw(kind, seed):
    return KINDS[kind](np.random.default_rng([seed, len(kind)]))


@pytest.mark.parametrize("kind", KINDS)
def test_events_and_causes(kind):
    for seed in range(3):
        drawn = draw(kind, seed)
        found = characterize(drawn.recording)
        types = {event.type for event in found.events}
        assert types & drawn.types or not drawn.types, seed
        assert drawn.types or not types, seed
        causes = {incident.cause for incident in found.incidents if incident.stages} or {"none"}
        assert causes <= drawn.causes, seed
        assert SAID.get(kind, "") in " ".join(found.caveats), seed


def test_a_small_change_is_told_but_names_no_cause():
    (incident,) = characterize(draw("spike", 0).recording).incidents
    assert incident.title == "cause unknown"
    assert any("too little to name a cause" in text for text in incident.evidence)
    assert any(text.startswith("an impulse of") for text in incident.evidence)


def test_a_lost_phase_asks_for_the_fuse():
    (incident,) = characterize(draw("fuse", 1).recording).incidents
    assert "VT fuse?" in incident.title


def test_a_sag_before_an_opening_keeps_its_row_and_its_phase():
    found = characterize(draw("lockout", 0).recording)
    sag, interruption = found.events
    assert (sag.type, len(sag.parts), interruption.type) == ("sag", 1, "interruption")
    assert sag.magnitude == pytest.approx(0.1, abs=0.03)
    assert sag.cycles == pytest.approx(1.5, abs=0.6)
    assert found.incidents[0].phases == sag.parts[0].phase


def test_a_second_harmonic_in_the_current_is_an_inrush_and_none_is_a_fault():
    rng = np.random.default_rng(1)
    dip = box(0.3) * np.exp(-np.maximum(T - 0.3, 0) / 0.1)
    levels = [1 - size * dip for size in (0.14, 0.05, 0.02)]
    turn = 2 * np.pi * 50 * T
    current = [100 * np.sin(turn) + 900 * dip * (np.sin(turn) + share * np.sin(2 * turn)) for share in (0.5, 0.5, 0.5)]
    (incident,) = characterize(record(three_phases(rng, levels), current)).incidents
    assert incident.cause == "transformer energising"


def test_probabilities_come_from_the_table():
    (incident,) = characterize(draw("evolving", 0).recording).incidents
    assert incident.rule == "deep, change from 35 %, without currents"
    assert 0.9 < incident.probability < 1


def test_a_record_of_less_than_a_cycle_is_not_called_dead():
    whole = three_phases(np.random.default_rng(0))
    almost, less = (characterize(record(whole[:, :n])) for n in (119, 50))
    assert almost.channels[0].reference == pytest.approx(6351, rel=0.02)
    assert not any("No voltage" in text for text in (*almost.caveats, *less.caveats))
    assert any("too short to measure a voltage" in text for text in less.caveats)


def test_times_are_those_of_the_waveform():
    errors = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        start, end = rng.uniform(0.2, 0.3), rng.uniform(0.35, 0.5)
        levels = [1 - rng.uniform(0.3, 0.7) * box(start, end), 1.0, 1 + 0.02 * box(start, end)]
        (incident,) = characterize(record(three_phases(rng, levels))).incidents
        errors += [incident.start - start, incident.stages[-1].start - end, incident.clearing_s - (end - start)]
        assert start + 0.02 <= incident.worst_cycle_end <= end + 0.001
        assert [one.source for one in incident.timeline] == ["waveform"] * len(incident.stages)
    assert np.median(np.abs(errors)) < 0.001
    assert np.max(np.abs(errors)) < 0.005


@pytest.mark.parametrize(
    ("name", "on", "off"),
    [
        ("52A", "close", "open"),
        ("52b-1", "open", "close"),
        ("Trip coil supervision", "", ""),
        ("87L Trip C", "trip", "reset"),
        ("21P Pickup", "pickup", "reset"),
        ("79 Reclose", "close", "reset"),
        ("lamp", "", ""),
        ("Trip circuit healthy", "", ""),
        ("74TC Trip ckt fail", "", ""),
        ("TCS 1 trip coil", "", ""),
        ("CB ready", "", ""),
        ("Breaker failure trip", "trip", "reset"),
    ],
)
def test_operations_of_relays_and_breakers(name, on, off):
    assert (name_operation(name, 1), name_operation(name, 0)) == (on, off)


def test_the_trace_of_the_frequency_and_its_band():
    drawn = draw("frequency_ramp", 1)
    found = characterize(drawn.recording)
    (event,) = found.events
    assert (event.unit, " ".join(event.phases)) == ("Hz", "A B C")
    assert np.nanmax(np.abs(found.series.frequency - 50)) == pytest.approx(abs(event.magnitude - 50), abs=0.1)
    wide = characterize(drawn.recording, thresholds={"lowest_frequency": 45.0, "highest_frequency": 55.0})
    assert wide.events == ()
    with pytest.raises(PqswarmError, match="lowest_frequency"):
        characterize(drawn.recording, thresholds={"lowest_frequency": 55.0, "highest_frequency": 45.0})


def test_inputs_that_hold_no_supply_voltage_are_not_called_frozen():
    quiet = record(three_phases(np.random.default_rng(3)))
    magnitude = Channel("U1", "V", "", np.round(6351 + 20 * np.sin(2 * np.pi * 0.7 * T), -1))
    coarse = Channel("CB ready", "V", "", np.repeat([1.0, -2.0, 2.0, 1.0], T.size // 4))
    found = characterize(replace(quiet, channels=(*quiet.channels, magnitude, coarse)))
    assert not any("frozen" in text for text in found.caveats)


def test_voltages_that_freeze_beside_live_currents_are_no_fault():
    rng = np.random.default_rng(4)
    waves, currents = three_phases(rng), 100 * three_phases(rng) / PEAK
    waves[:, 2000:2300] = waves[:, 2000:2001]
    found = characterize(record(waves, currents))
    assert (found.events, found.incidents) == ((), ())
    assert "All voltages are frozen from 0.313 s on" in " ".join(found.caveats)


def test_what_is_missing_besides_frozen_samples_is_not_told_with_the_time_of_those():
    waves = three_phases(np.random.default_rng(5))
    waves[:, 2000:2300] = waves[:, 2000:2001]
    waves[1, 3000:3100] = np.nan
    waves[2, 1000:1100] = np.nan
    (text,) = (text for text in characterize(record(waves)).caveats if "missing" in text)
    assert text == "Samples are missing on UB (2.0 %), UC (2.0 %, from 0.156 s on)."


def test_a_gap_on_one_phase_does_not_cut_the_event():
    waves = three_phases(np.random.default_rng(6), [1 - 0.4 * box(0.3, 0.6)] * 3)
    waves[0, 2600:2900] = np.nan
    (event,) = characterize(record(waves)).events
    assert (event.cut_start, event.cut_end) == (False, False)
    assert event.duration == pytest.approx(0.31, abs=0.011)


def test_a_phase_that_freezes_near_zero_is_no_fault():
    waves = three_phases(np.random.default_rng(7))
    (first, *_) = 2000 + np.flatnonzero(
        (np.abs(waves[0, 2000:]) > 0.06 * PEAK) & (np.abs(waves[0, 2000:]) < 0.09 * PEAK)
    )
    waves[0, first : first + 300] = waves[0, first]
    found = characterize(record(waves))
    assert found.events == ()
    assert "UA is frozen from" in " ".join(found.caveats)


def test_two_phases_that_freeze_are_not_exchanged():
    waves = three_phases(np.random.default_rng(8))
    waves[:2, 1516:1856] = waves[:2, 1516:1517]
    found = characterize(record(waves))
    assert found.events == ()
    assert [text.partition(" from")[0] for text in found.caveats[:2]] == ["UA is frozen", "UB is frozen"]
    assert not any("exchanged" in text for text in found.caveats)


def test_zeros_beside_a_fault_are_missing_samples():
    rng = np.random.default_rng(1)
    waves = three_phases(rng, [1 - 0.5 * box(0.3, 0.4), 1.0, 1.0])
    waves[:, round(0.42 * RATE) : round(0.46 * RATE)] = 0.0
    found = characterize(record(waves))
    assert "zero, as where samples are missing, from 0.420 s on, for 2.0 cycles" in " ".join(found.caveats)
    assert [event.type for event in found.events] == ["sag"]
    assert (found.incidents[0].title, found.incidents[0].clearing_s) == ("fault AG", pytest.approx(0.1, abs=0.003))


@pytest.mark.parametrize("gap", [(0.27, 0.3), (0.38, 0.42)])
def test_samples_that_are_missing_at_an_end_of_a_fault_leave_no_clearing_time(gap):
    waves = three_phases(np.random.default_rng(2), [1 - 0.5 * box(0.3, 0.4), 1.0, 1.0])
    waves[:, (gap[0] <= T) & (gap[1] > T)] = np.nan
    (incident,) = characterize(record(waves)).incidents
    assert (incident.cause, incident.clearing_s) == ("fault", None)


def test_zeros_for_longer_than_a_breaker_takes_may_be_an_interruption():
    waves = three_phases(np.random.default_rng(1))
    waves[:, (T > 0.3) & (T < 0.6)] = 0.0
    assert [event.type for event in characterize(record(waves)).events] == ["interruption"]


def test_channels_are_exchanged_beside_a_residual_voltage():
    made = draw("swapped", 0).recording
    residual = Channel("UN", "V", "N", 20 * np.random.default_rng(0).standard_normal(made.n_samples))
    found = characterize(replace(made, channels=(*made.channels, residual)))
    assert "exchanged at" in " ".join(found.caveats)
    assert found.events == ()


def test_a_slight_clip_is_seen_at_a_high_rate():
    time = np.arange(20_000) / 20_000
    waves = [np.clip(PEAK * np.sin(2 * np.pi * (50 * time - k / 3)), -0.95 * PEAK, 0.95 * PEAK) for k in range(3)]
    channels = tuple(Channel(f"U{phase}", "V", phase, np.round(wave)) for phase, wave in zip("ABC", waves, strict=True))
    assert "clipped" in " ".join(characterize(Recording(channels, 20_000, HERTZ)).caveats)


@pytest.mark.parametrize(("sizes", "said"), [((0.08, -0.06, 0.0), "The zero of UA, UB drifts"), ((0.05,) * 3, "")])
def test_an_offset_that_grows_is_that_of_an_input_unless_all_have_it(sizes, said):
    ramp = np.clip((T - 0.2) / 0.4, 0, 1)
    found = characterize(record(three_phases(np.random.default_rng(5), added=[size * ramp for size in sizes])))
    assert "DC offset" in {event.type for event in found.events}
    assert next((text for text in found.caveats if "drift" in text), "").startswith(said)
    assert bool(said) == any("drift" in text for text in found.caveats)


def test_a_capacitor_that_is_named_is_not_told_to_be_too_slight():
    waves = three_phases(
        np.random.default_rng(3), added=[size * ring(0.004, 500.0, 0.004) for size in (0.5, -0.4, 0.3)]
    )
    (incident,) = characterize(record(waves)).incidents
    assert incident.cause == "capacitor switching"
    assert not any("too little" in text for text in incident.evidence)
