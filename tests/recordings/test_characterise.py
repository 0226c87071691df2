import json

import numpy as np
import pytest
from tests.reference.urms import half_cycle_rms as slow_half_cycle_rms

from pqswarm.errors import PqswarmError
from pqswarm.events import generate
from pqswarm.recordings import Channel, Recording
from pqswarm.recordings._char_reference import guess_nominal
from pqswarm.recordings._char_rms import Limits, find_spans
from pqswarm.recordings.characterise import characterise
from pqswarm.recordings.frequency import measure_frequency
from pqswarm.recordings.urms import half_cycle_rms
from pqswarm.recordings.words import category, oscillation_word

LIMITS = Limits(0.9, 1.1, 0.1, 0.02)
RATE = 10_000.0


def record(*waves, rate=RATE, frequency=50.0, phases="ABC"):
    channels = tuple(Channel(f"U{i + 1}", "V", phases[i : i + 1], wave) for i, wave in enumerate(waves))
    return Recording(channels, rate, frequency, source="test")


def sine(cycles=20, rate=RATE, frequency=50.0, phase=0.3, volts=325.0):
    return volts * np.sin(2 * np.pi * frequency * np.arange(round(cycles * rate / frequency)) / rate + phase)


def with_level(wave, first, last, level, rate=RATE):
    t = np.arange(wave.size) / rate
    return wave * np.where((t > first) & (t <= last), level, 1.0)


def events(found, kind=None):
    return [e for c in found.channels for e in c.events if kind is None or e.kind == kind]


def spans(values):
    values = np.array(values, dtype=float)
    return [(s.kind, s.first, s.stop, s.magnitude) for s in find_spans(values, values, LIMITS)]


# Urms(1/2)


@pytest.mark.parametrize(("rate", "frequency"), [(1000.0, 50.0), (1000.0, 59.3), (3200.0, 50.2), (2713.3, 60.0)])
def test_urms_is_the_slow_twin(rate, frequency):
    samples = np.random.default_rng(1).normal(size=round(3.3 * rate / frequency))
    time, values = half_cycle_rms(samples, rate, frequency)
    slow_time, slow_values = slow_half_cycle_rms(samples, rate, frequency)
    np.testing.assert_allclose(time, slow_time, atol=1e-12)
    np.testing.assert_allclose(values, slow_values, rtol=2e-3)


@pytest.mark.parametrize("rate", [600.0, 1000.0, 1237.0, 3200.0, 30707.2])
@pytest.mark.parametrize("frequency", [47.3, 50.0, 59.97, 63.0])
def test_urms_of_a_sine_at_any_rate(rate, frequency):
    _, values = half_cycle_rms(sine(8, rate, frequency), rate, frequency)
    np.testing.assert_allclose(values, 325 / np.sqrt(2), rtol=0.012 if rate < 1500 else 2e-3)


def test_urms_of_exactly_one_cycle_has_one_value():
    _, values = half_cycle_rms(sine(1), RATE, 50.0)
    np.testing.assert_allclose(values, [325 / np.sqrt(2)], rtol=1e-3)


def test_missing_samples_are_bridged_and_long_gaps_have_no_value():
    wave = sine(20)
    wave[1003:1030] = np.nan
    wave[2000:2500] = np.nan
    _, values = half_cycle_rms(wave, RATE, 50.0)
    assert np.isnan(values).sum() >= 3
    np.testing.assert_allclose(values[np.isfinite(values)], 325 / np.sqrt(2), rtol=2e-2)


# Thresholds and hysteresis, by hand


def test_hysteresis_holds_a_sag_until_it_is_well_back():
    assert spans([1, 0.89, 0.91, 0.89, 0.915, 0.92, 1]) == [("sag", 1, 5, 0.89)]


def test_a_swell_ends_at_or_below_the_threshold_less_hysteresis():
    assert spans([1, 1.11, 1.09, 1.2, 1.08, 1]) == [("swell", 1, 4, 1.2)]


def test_exactly_at_the_threshold_is_no_event():
    assert spans([1, 0.9, 1.1, 1]) == []


def test_an_interruption_leaves_the_fault_before_it():
    found = spans([1, 0.6, 0.5, 0.5, 0.5, 0.5, 0.2, 0.02, 0.0, 0.05, 0.5, 1])
    assert found == [("sag", 1, 7, 0.5), ("interruption", 7, 10, 0.0)]


def test_coupled_voltage_does_not_split_an_interruption():
    assert spans([1, 0.05, 0.05, 0.13, 0.14, 0.13, 0.05, 1]) == [("interruption", 1, 7, 0.05)]
    assert len(spans([1, 0.05, 0.05, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.05, 1])) == 3


def test_unknown_values_change_nothing():
    assert spans([1, 0.8, np.nan, 0.8, 1]) == [("sag", 1, 4, 0.8)]


def test_polyphase_rules_by_hand():
    low = np.array([1, 0.8, 0.05, 0.05, 0.05, 0.85, 1])
    high = np.array([1, 1.0, 0.9, 0.05, 0.13, 0.95, 1])
    found = [(s.kind, s.first, s.stop) for s in find_spans(low, high, LIMITS)]
    assert ("interruption", 3, 4) in found  # all below; ends when any is back
    sag = find_spans(np.array([1, 0.8, 0.7, 0.91, 0.92]), np.array([1, 1, 0.99, 1, 1]), LIMITS)
    assert [(s.kind, s.first, s.stop) for s in sag] == [("sag", 1, 4)]  # any below; ends when all are back


def test_polyphase_sag_from_the_first_phase_to_the_last():
    waves = [sine(phase=-2 * np.pi * k / 3) for k in range(3)]
    found = characterise(record(with_level(waves[0], 0.1, 0.2, 0.5), with_level(waves[1], 0.15, 0.3, 0.7), waves[2]))
    (event,) = found.polyphase
    assert (event.kind, event.phases) == ("sag", ("A", "B"))
    assert event.start == pytest.approx(0.1, abs=0.003)
    assert event.end == pytest.approx(0.3, abs=0.003)
    assert event.magnitude == pytest.approx(0.5, abs=0.01)
    assert found.sentences() == ("instantaneous sag on phases A and B, 0.50 pu residual, 10.0 cycles",)


def test_polyphase_interruption_needs_all_phases():
    waves = [sine(phase=-2 * np.pi * k / 3) for k in range(3)]
    two = characterise(record(*(with_level(w, 0.1, 0.2, 0.0) for w in waves[:2]), waves[2]))
    assert [e.kind for e in two.polyphase] == ["sag"]
    assert two.sentences()[0].startswith("momentary interruption on phases A and B, 0.00 pu residual")
    three = characterise(record(*(with_level(w, 0.1, 0.2 + 0.04 * k, 0.0) for k, w in enumerate(waves))))
    (event,) = [e for e in three.polyphase if e.kind == "interruption"]
    assert event.end == pytest.approx(0.2, abs=0.005)


# IEEE 1159


@pytest.mark.parametrize(
    ("kind", "duration", "word"),
    [
        ("sag", 0.01, "instantaneous sag"),
        ("sag", 30 / 50, "instantaneous sag"),
        ("sag", 30.5 / 50, "momentary sag"),
        ("swell", 3.0, "momentary swell"),
        ("swell", 3.01, "temporary swell"),
        ("sag", 60.0, "temporary sag"),
        ("sag", 60.1, "undervoltage"),
        ("swell", 60.1, "overvoltage"),
        ("interruption", 0.02, "momentary interruption"),
        ("interruption", 3.01, "temporary interruption"),
        ("interruption", 61.0, "sustained interruption"),
    ],
)
def test_words_at_their_bounds(kind, duration, word):
    assert category(kind, duration, 50.0) == word


def test_thirty_cycles_depend_on_the_frequency():
    assert category("sag", 0.55, 50.0) == "instantaneous sag"
    assert category("sag", 0.55, 60.0) == "momentary sag"


def test_oscillation_words():
    assert [oscillation_word(f) for f in (4999, 5000, 5e5)] == ["low-frequency", "medium-frequency", "high-frequency"]


# Reference


def test_pre_event_reference_is_the_first_level_not_the_nominal():
    wave = with_level(sine(40, volts=1.19 * 325), 0.3, 0.45, 0.5)
    found = characterise(record(wave))
    assert [e.kind for e in events(found)] == ["sag"]
    assert found.channels[0].reference_source == "pre-event"
    by_nominal = characterise(record(wave), "nominal", nominal_voltage=325 / np.sqrt(2))
    assert [e.kind for e in events(by_nominal, "swell")] == ["swell", "swell"]


def test_a_record_that_begins_in_a_sag():
    found = characterise(record(with_level(sine(30), -1, 0.08, 0.5)))
    (event,) = events(found)
    assert (event.kind, event.cut_start, event.cut_end) == ("sag", True, False)
    assert event.magnitude == pytest.approx(0.5, abs=0.02)
    assert any("begins inside an event" in text for text in found.limits)
    assert "cut by the start" in event.sentence


def test_a_dead_phase_is_measured_by_the_others():
    found = characterise(record(sine(), sine(phase=2.4), np.zeros(4000)))
    (event,) = events(found)
    assert (event.kind, event.phases, event.cut_start, event.cut_end) == ("interruption", ("C",), True, True)


def test_given_reference_and_guess():
    assert characterise(record(sine()), 460.0).channels[0].urms[0] == pytest.approx(0.5, abs=0.01)
    assert characterise(record(sine()), "nominal").channels[0].reference == pytest.approx(400 / np.sqrt(3), rel=0.01)
    assert guess_nominal(349, "A") == 347
    assert guess_nominal(34_700, "AB") == 34_500
    with pytest.raises(PqswarmError, match="nominal_voltage"):
        characterise(record(sine(volts=0.01)), "nominal")


@pytest.mark.parametrize(
    "wrong",
    [
        {"reference": "nominl"},
        {"reference": -5.0},
        {"reference": float("nan")},
        {"nominal_voltage": 0.0},
        {"sag_threshold": 1.2},
        {"hysteresis": -0.1},
        {"channels": ["U9"]},
        {"channels": []},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(PqswarmError):
        characterise(record(sine()), **wrong)


# Frequency


@pytest.mark.parametrize("frequency", [45.6, 49.7, 50.0, 60.02, 64.0])
@pytest.mark.parametrize("rate", [800.0, 3200.0, 25_000.0])
def test_frequency_through_sags_and_transients(frequency, rate):
    wave = with_level(sine(12, rate, frequency), 0.08, 0.13, 0.3, rate)
    wave[round(0.05 * rate)] += 300
    nominal = 50.0 if frequency < 55 else 60.0
    assert measure_frequency([wave], rate, nominal) == pytest.approx(frequency, abs=0.15)


def test_a_wrong_nominal_frequency_is_said():
    found = characterise(record(sine(20, frequency=60.0), frequency=50.0))
    assert found.nominal_frequency == 60.0
    assert any("60.00 Hz was measured" in text for text in found.limits)


# Generated events, with known parameters


def generated(event_class, seed, factor, **parameters):
    """An event in the field (either frequency, any phase), decimated, with its reference of 1 pu."""
    event = generate(event_class, seed, "field", cycles=24.0, **parameters)
    wave = event.signal[::factor]
    volts = 325.0
    return event, record(volts * wave, rate=event.sampling_rate / factor, frequency=event.frequency)


@pytest.mark.parametrize("event_class", ["sag", "swell", "interruption"])
def test_magnitude_and_duration_of_generated_events(event_class):
    rng = np.random.default_rng(7)
    for seed in range(100):
        factor = int(rng.choice([1, 2, 4, 8, 16]))
        period = 1 / 60
        start, duration = rng.uniform(3 * period, 8 * period), rng.uniform(1.6 * period, 9 * period)
        # Not so near the threshold that noise decides.
        change = {
            "sag": {"depth": rng.uniform(0.13, 0.87)},
            "swell": {"rise": rng.uniform(0.13, 0.8)},
            "interruption": {"depth": rng.uniform(0.93, 1.0)},
        }[event_class]
        event, recorded = generated(event_class, seed, factor, start=start, duration=duration, snr=40.0, **change)
        found = characterise(recorded)
        truth = 1 + event.parameters.get("rise", 0.0) - event.parameters.get("depth", 0.0)
        case = (event_class, seed, factor, found.sentences())
        assert [e.kind for e in events(found)] == [event_class], case
        (one,) = events(found)
        if duration * found.frequency >= 1.5:
            assert one.magnitude == pytest.approx(truth, abs=0.02), case
        assert one.duration == pytest.approx(duration, abs=0.5 / found.frequency), case
        assert one.start == pytest.approx(start, abs=0.5 / found.frequency), case


@pytest.mark.parametrize(
    "event_class", ["pure_sinusoid", "dc_offset", "flicker", "notching", "harmonics", "flicker_with_harmonics"]
)
def test_no_false_alarms(event_class):
    transients = 0
    for seed in range(25):
        _, recorded = generated(event_class, seed, 1 + seed % 4)
        found = characterise(recorded)
        assert events(found) == [], (seed, found.sentences())
        transients += found.channels[0].transients != ()
    # A notch cut by the start of the record has no twin.
    assert transients <= (event_class == "notching")


def test_sag_edges_and_noise_are_no_transients():
    for seed in range(40):
        _, recorded = generated("sag", seed, 1 + seed % 3, start=0.1, duration=0.12, snr=30.0)
        found = characterise(recorded)
        assert found.channels[0].transients == (), (seed, found.sentences())


def test_transients_are_found_and_measured():
    rng = np.random.default_rng(3)
    for seed in range(40):
        damping = rng.uniform(60, 1500)
        ring, size, onset = rng.uniform(500, 5000), rng.uniform(0.3, 2.0), rng.uniform(0.06, 0.3)
        _, recorded = generated(
            "oscillatory_transient",
            seed,
            1,
            transient_amplitude=size,
            transient_damping=damping,
            transient_frequency=ring,
            transient_onset=onset,
            snr=45.0,
        )
        found = characterise(recorded)
        (one,) = found.channels[0].transients
        case = (seed, damping, ring, size, one)
        assert one.kind == "oscillatory", case
        assert one.frequency == pytest.approx(ring, rel=0.05), case
        assert one.onset == pytest.approx(onset, abs=0.001), case
        assert 0.5 / damping < one.decay < 2 / damping, case


def test_impulse():
    wave = sine(10)
    wave[1234:1240] += [60, 200, 150, 100, 60, 30]
    (one,) = characterise(record(wave)).channels[0].transients
    assert one.kind == "impulsive"
    assert one.onset == pytest.approx(0.1234, abs=0.0003)
    assert one.peak == pytest.approx(200 / 325, abs=0.05)


@pytest.mark.parametrize(
    ("event_class", "kind"), [("harmonics", "harmonics"), ("dc_offset", "DC offset"), ("notching", "notching")]
)
def test_flags_of_steady_disturbances(event_class, kind):
    hits = 0
    for seed in range(20):
        fixed = {"harmonics": {"h5": 0.1}, "dc_offset": {"offset": 0.05}, "notching": {"notch_depth": 0.25}}
        _, recorded = generated(event_class, seed, 1, snr=45.0, **fixed[event_class])
        hits += any(f.kind == kind for f in characterise(recorded).channels[0].flags)
    assert hits >= 18


def test_flicker_flag():
    for seed in range(10):
        _, recorded = generated("flicker", seed, 4, flicker_depth=0.04, flicker_frequency=9.0)
        (flag,) = [f for f in characterise(recorded).channels[0].flags if f.kind == "flicker"]
        assert flag.value == pytest.approx(0.04, abs=0.01)
    clean = generated("pure_sinusoid", 1, 4)[1]
    assert characterise(clean).channels[0].flags == ()


# Odd records


@pytest.mark.parametrize("cycles", [1, 1.5, 2, 2.5, 3])
def test_short_records(cycles):
    found = characterise(record(sine(cycles)))
    assert found.channels[0].urms.size >= 1
    assert found.channels[0].reference == pytest.approx(229.8, rel=0.02)
    assert events(found) == []


@pytest.mark.parametrize("n_samples", [1, 2, 3, 50, 199])
def test_less_than_a_cycle_says_nothing(n_samples):
    found = characterise(record(sine(1)[:n_samples]))
    assert found.sentences() == ("no disturbance found",)
    json.dumps(found.as_dict())


def test_no_samples_is_an_error():
    with pytest.raises(PqswarmError, match="no samples"):
        characterise(record(np.zeros(0)))


@pytest.mark.parametrize(
    "wave",
    [
        np.zeros(3000),
        np.full(3000, 110.0),
        np.full(3000, np.nan),
        np.r_[np.full(1500, np.nan), sine(20)[:1500]],
        np.clip(sine(15), -200, 200),
        np.random.default_rng(0).normal(size=3000),
        np.where(np.arange(3000) % 7 == 0, np.nan, sine(15)),
        np.r_[sine(5), np.inf, sine(5)],
        np.full(3000, 1e-320),
        sine(15) * 1e150,
    ],
    ids=["zero", "direct", "missing", "half missing", "clipped", "noise", "gappy", "infinite", "denormal", "huge"],
)
def test_odd_records_give_a_sensible_answer(wave):
    found = characterise(record(wave))
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.text()
    assert not [e for e in events(found) if not (e.cut_start or e.cut_end)]


def test_a_dead_record_with_a_reference_is_an_interruption():
    (event,) = events(characterise(record(np.zeros(3000)), 230.0))
    assert (event.kind, event.cut_start, event.cut_end) == ("interruption", True, True)


def test_clipping_is_seen_as_harmonics():
    assert [f.kind for f in characterise(record(np.clip(sine(15), -200, 200))).channels[0].flags] == ["harmonics"]


def test_rows_and_dict_are_plain():
    wave = with_level(sine(30), 0.2, 0.3, 0.6)
    wave[4321:4324] += 150
    found = characterise(record(wave, sine(30, phase=2.4), sine(30, phase=4.5)))
    kinds = [row["kind"] for row in found.rows()]
    assert kinds == ["sag", "impulsive transient", "sag"]
    assert [row["scope"] for row in found.rows()] == ["channel", "channel", "polyphase"]
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["thresholds"]["sag"] == 0.9
    assert "thresholds: sag 0.9" in found.text()
    assert "pre-event" in found.text()


def test_neutral_and_dc_channels_are_left_out():
    channels = (
        Channel("UA", "V", "A", sine()),
        Channel("UN", "V", "N", sine(volts=3.0)),
        Channel("battery", "V", "", np.full(4000, 110.0)),
        Channel("IA", "A", "A", sine(volts=5.0)),
    )
    found = characterise(Recording(channels, RATE, 50.0))
    assert [c.name for c in found.channels] == ["UA"]
    assert any("UN" in text for text in found.limits)
    assert [c.name for c in characterise(Recording(channels, RATE, 50.0), channels=["UN"]).channels] == ["UN"]


def test_two_busbars_are_two_systems():
    channels = tuple(Channel(f"bus {b} U{p}", "V", p, sine(phase=k)) for b in "12" for k, p in enumerate("ABC"))
    found = characterise(Recording(channels, RATE, 50.0))
    assert [c.system for c in found.channels] == ["bus 1"] * 3 + ["bus 2"] * 3
