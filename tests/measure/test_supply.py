"""Which voltages of a recording are live, dead, calculated or not of the supply, and what 1 pu is then."""

import numpy as np
import pytest
from tests.measure.waves import levels, parts, record, sine, with_level
from tests.measure.waves import three as waves_of_three
from tests.reference.disturbances import CLASSES, GROUP, make, make_sine

from pqswarm.errors import PqswarmError
from pqswarm.events import class_type
from pqswarm.identify import Analysis, identify
from pqswarm.identify.agreement import event_rule
from pqswarm.identify.tolerance import rank_event
from pqswarm.measure import characterize
from pqswarm.measure.detect.transients import find_transients
from pqswarm.measure.steady.flicker import find_flicker, find_irregular_flicker
from pqswarm.measure.supply.reference import guess_nominal
from pqswarm.recordings import STATES, Channel, ChannelRule, Recording, Site

RNG = np.random.default_rng(7)


def three(volts=325.0, cycles=20, rate=10_000.0):
    waves = waves_of_three(volts, cycles, rate)
    return [Channel(f"U{phase.lower()}", "V", phase, wave) for phase, wave in zip("ABC", waves, strict=True)]


def recording(*channels, rate=10_000.0):
    return Recording(tuple(channels), rate, 50.0, source="test")


def noise(size=4000, volts=0.02):
    return RNG.normal(0, volts, size)


def states(found):
    return {one.name: one.state for one in found.states}


def test_an_unwired_phase_is_a_note_and_no_event():
    a, _, c = three(188e3)
    found = characterize(recording(a, Channel("Ub", "V", "B", noise(volts=44)), c))
    assert states(found) == {"Ua": "connected", "Ub": "disconnected", "Uc": "connected"}
    assert found.sentences() == ("no disturbance found",)
    assert any("Ub" in text and "not connected, or open" in text for text in found.caveats)


def test_states_are_in_the_verdict_and_survive_storing():
    a, b, _ = three()
    analysis = identify(recording(a, b, Channel("Uc", "V", "C", noise()), Channel("UN", "V", "N", noise(volts=5))))
    assert [one.state for one in analysis.channels] == ["connected", "connected", "disconnected", "derived"]
    assert [one["reason"] for one in analysis.as_dict()["channels"]][:2] == ["", ""]
    assert Analysis.of(analysis.as_dict()) == analysis
    assert [vars(one) for one in analysis.characterization.states] == analysis.as_dict()["channels"]


def test_noise_before_energising_is_no_reference():
    """A record that is dead first, then energised onto a fault on phase A."""
    on = np.arange(14_000) / 20_000 > 0.15
    waves = [noise(14_000, 0.004) + on * one.samples for one in three(83, 35, rate=20_000.0)]
    waves[0] = noise(14_000, 0.004) + on * 0.35 * three(83, 35, rate=20_000.0)[0].samples
    found = characterize(record(*waves, rate=20_000.0))
    assert [one.reference for one in found.channels] == pytest.approx([58.7] * 3, rel=0.02)
    assert set(states(found).values()) == {"partial"}
    assert max(part.magnitude for part in levels(found)) < 1.2
    assert {part.phase for part in levels(found) if part.type == "interruption"} == set("ABC")


@pytest.mark.parametrize("phases", ["A", "ABC", ""])
@pytest.mark.parametrize("live", [1.5, 2.0, 2.25, 3.0])
@pytest.mark.parametrize(("at_end", "snr", "rate"), [(False, 40, 3200.0), (True, 60, 1600.0), (True, 40, 12_800.0)])
def test_captures_that_are_mostly_interruption(phases, live, at_end, snr, rate):
    n = round(20 * rate / 50)
    place = np.arange(n) if not at_end else np.arange(n)[::-1]
    rng = np.random.default_rng([int(4 * live), snr, int(rate)])
    angle = rng.uniform(0, 6.28)
    waves = [
        sine(20, rate=rate, phase=angle - 2.094 * k) * (place < live * rate / 50)
        + rng.normal(0, 230 * 10 ** (-snr / 20), n)
        for k in range(max(len(phases), 1))
    ]
    for nominal in (None, 230.0):
        found = characterize(record(*waves, rate=rate, phases=phases), nominal_voltage=nominal)
        assert {part.type for part in levels(found)} == {"interruption"}
        assert [one.reference for one in found.channels] == pytest.approx([230.0] * len(waves), rel=0.05)


def test_a_log_of_rms_values_is_refused_in_a_sentence():
    with pytest.raises(PqswarmError, match="samples per cycle"):
        characterize(record(sine(20, rate=80.0), rate=80.0))


def test_a_nominal_voltage_settles_that_a_channel_is_one_of_the_supply():
    wave = noise(volts=40)  # a burst of noise is no waveform
    with pytest.raises(PqswarmError, match="no waveform"):
        characterize(record(wave))
    assert states(characterize(record(wave), nominal_voltage=50.0)) == {"U1": "connected"}


@pytest.mark.parametrize("name", ["U2комп", "U neg seq", "Pos_Sequence V", "3U0расч"])  # noqa: RUF001
def test_calculated_quantities_by_name(name):
    found = characterize(recording(*three(), Channel(name, "V", "", sine(volts=20) + 30)))
    assert states(found)[name] == "derived"
    assert len(found.channels) == 3


def test_numbers_beside_letters_are_sequence_components():
    slow = 60 + np.cumsum(noise(volts=0.3))
    found = characterize(recording(*three(), Channel("U1", "V", "A", slow), Channel("U2", "V", "B", slow / 9)))
    assert (states(found)["U1"], states(found)["U2"]) == ("derived", "derived")
    synchronous = characterize(recording(*three(), Channel("U1", "V", "A", sine())))
    assert states(synchronous)["U1"] == "connected"


def test_an_open_delta_is_found_by_measurement():
    a, b, c = three()
    low = Channel("Ua", "V", "A", with_level(a.samples, 0.1, 0.3, 0.2))
    delta = Channel("dU", "V", "", (low.samples + b.samples + c.samples) / 1.7)
    found = characterize(recording(low, b, c, delta))
    assert states(found)["dU"] == "derived"
    assert states(characterize(recording(low, b, c, Channel("sync", "V", "", b.samples))))["sync"] == "connected"


def test_control_quantities_are_refused_in_a_sentence():
    slow = np.cumsum(noise(volts=3e-4))
    names = ("ALPHA_V1", "GAMMA_V1", "P_U1_UV1_10", "P_U1_UV2_10")
    with pytest.raises(PqswarmError, match=r"no voltage that can be analyzed.*ALPHA_V1.*control quantity"):
        characterize(recording(*(Channel(name, "V", "A", slow) for name in names)))
    bus = Channel("Alpha 110kV UA", "V", "A", sine())  # a station may have that name
    assert states(characterize(recording(bus))) == {"Alpha 110kV UA": "connected"}


def test_the_user_has_the_last_word():
    a, b, c = three()
    odd = Channel("Uc", "V", "C", noise(volts=30))
    site = Site(channels={"Uc": ChannelRule(state="connected")})
    assert states(characterize(site.apply(recording(a, b, odd))))["Uc"] == "connected"
    site = site.with_states({"U[bc]": "auxiliary"})
    found = characterize(site.apply(recording(a, b, c)))
    assert states(found) == {"Ua": "connected", "Ub": "auxiliary", "Uc": "auxiliary"}
    assert [one.name for one in found.channels] == ["Ua"]
    kept = Site(channels={"U*": ChannelRule(ratio=2.0)}).with_states({"Ub": "derived"})
    assert (kept.rule("Ub").ratio, kept.rule("Ub").state, kept.rule("Ua").state) == (2.0, "derived", None)
    for state in STATES:
        assert Site.read(f'[channels.U1]\nstate = "{state}"').rule("U1").state == state
    with pytest.raises(PqswarmError, match="did you mean 'derived'"):
        Site.read('[channels.U1]\nstate = "derivd"')


def test_a_line_to_line_nominal_voltage_is_recognized():
    network = recording(*three(20e3 * np.sqrt(2 / 3)))
    found = characterize(network, nominal_voltage=20e3)
    assert [one.reference for one in found.channels] == pytest.approx([11_547.0] * 3, abs=1)
    assert found.sentences() == ("no disturbance found",)
    assert any("line to line" in text for text in found.caveats)
    sag = recording(*(Channel(c.name, "V", c.phase, with_level(c.samples, 0.1, 0.35, 0.577)) for c in three(28_284)))
    assert [one.reference for one in characterize(sag, nominal_voltage=20e3).channels] == [20e3] * 3
    inside = [with_level(c.samples, -1, 0.3, 0.577) for c in three(28_284)]  # it begins in the sag, and recovers
    assert [one.reference for one in characterize(record(*inside), nominal_voltage=20e3).channels] == [20e3] * 3


def test_four_samples_a_cycle_are_enough_for_sags():
    waves = [with_level(one.samples, 0.5, 9.0, 0.52, rate=200.0) for one in three(4000, 50, rate=200.0)]
    found = characterize(record(*waves, rate=200.0, frequency=50.0))
    (event,) = found.events
    assert (event.type, event.magnitude) == ("sag", pytest.approx(0.52, abs=0.02))
    assert any("Harmonics cannot be measured" in text for text in found.caveats)
    assert any("Transients cannot be detected" in text for text in found.caveats)


def test_reversed_and_swapped_phases_are_named():
    a, b, c = (one.samples for one in three())
    assert not [text for text in characterize(record(a, b, c)).caveats if "reversed" in text or "swapped" in text]
    for waves, words in (((a, -b, c), "Phase B is reversed"), ((-a, b, c), "Phase A is reversed")):
        found = characterize(record(*waves))
        assert any(words in text for text in found.caveats), words
        assert [event.type for event in found.events] == ["unbalance"]
    assert any("rotate A-C-B" in text for text in characterize(record(a, c, b)).caveats)
    assert any("Phase B is reversed" in text for text in characterize(record(c, -b, a)).caveats)


def test_phases_that_are_exchanged_in_the_record_are_not_swapped_throughout():
    a, b, c = (one.samples for one in three())
    a[1300:], c[1300:] = 1.01 * c[1300:], 1.01 * a[1300:]
    (said,) = (text for text in characterize(record(a, b, c)).caveats if "rotate" in text)
    assert said.startswith("Two voltages are exchanged at 0.13")


@pytest.mark.parametrize("rate", [6400.0, 10_000.0])
def test_beating_harmonics_and_jumps_are_no_notches(rate):
    t = np.arange(round(2 * rate)) / rate
    beating = 325 * np.sin(2 * np.pi * 50 * t)
    for order, size in ((13, 0.02), (15, 0.02), (17, 0.02), (27, 0.01), (29, 0.01), (31, 0.01), (33, 0.01)):
        beating += 325 * size * np.sin(order * (2 * np.pi * 50 * t + 0.7))
    jump = 325 * np.sin(2 * np.pi * 50 * t + 2.0 * (t > 1.13))
    for wave in (beating, jump):
        found = characterize(record(wave, rate=rate))
        assert "notching" not in {event.type for event in found.events}


def test_a_fault_between_two_interruptions_is_a_sag_of_its_own():
    t = np.arange(14_000) / 20_000
    for level, kinds in ((0.38, ["interruption", "sag", "interruption"]), (0.2, ["interruption"])):  # or coupled
        wave = sine(35, rate=20_000.0) * np.select([t < 0.15, t < 0.24], [0.0, level], 0.0)
        found = characterize(record(wave, rate=20_000.0), nominal_voltage=230.0)
        assert [part.type for part in levels(found)] == kinds


NOMINAL = 230.0


def rule_group(wave, rate):
    events = characterize(record(wave, rate=rate), nominal_voltage=NOMINAL).events
    return class_type(event_rule(max(events, key=rank_event), events)) if events else "none"


@pytest.mark.parametrize(("rate", "snr"), [(12_800.0, 30.0), (3200.0, 40.0)])
def test_groups_of_another_model(rate, snr):
    wrong = []
    for i, name in enumerate(CLASSES):
        rng = np.random.default_rng([3, i])
        for _ in range(2):
            wave, truth = make(name, rng, sampling_rate=rate, snr=snr)
            if (said := rule_group(wave, rate)) != GROUP[name]:
                wrong.append((said, truth))
    assert len(wrong) <= 0.05 * 2 * len(CLASSES), wrong


@pytest.mark.parametrize("rate", [1000.0, 5220.0, 70_170.0])
def test_sines_in_noise_are_quiet(rate):
    for seed in range(2):
        wave = make_sine(np.random.default_rng([9, seed]), sampling_rate=rate, snr=20.0)
        found = characterize(record(wave, rate=rate), nominal_voltage=NOMINAL)
        assert found.sentences() == ("no disturbance found",), (rate, seed)


@pytest.mark.parametrize("peak", [0.1, 0.18, 0.26])
def test_impulses_above_the_threshold_are_found(peak):
    t = np.arange(2560) / 12_800
    after = np.maximum(t - 0.0851, 0)
    lift = (np.exp(-344 * after) - np.exp(-750 * after)) / (np.exp(-0.344) - np.exp(-0.75)) * (after < 0.001)
    wave = np.sin(2 * np.pi * 50 * t + 0.2) * (1 + peak * lift)
    rng = np.random.default_rng(1)
    (one,) = find_transients(wave + rng.normal(0, 0.007, t.size), 12_800, 50.0)
    assert one.start == pytest.approx(0.0851, abs=0.0008)


def test_a_nominal_voltage_is_the_reference():
    t = np.arange(2560) / 12_800
    flicker = 325.27 * (1 + 0.08 * np.sin(2 * np.pi * 10 * t + 1.5)) * np.sin(2 * np.pi * 50 * t)
    found = characterize(record(flicker, rate=12_800.0), nominal_voltage=NOMINAL)
    assert (levels(found), found.channels[0].reference) == ([], NOMINAL)
    assert [part.type for part in parts(found)] == ["flicker"]
    swell = characterize(record(with_level(sine(10), -1, 0.05, 1.4)), nominal_voltage=NOMINAL)
    assert [(e.type, e.cut_start) for e in levels(swell)] == [("swell", True)]


def test_an_impossible_nominal_voltage_is_not_used():
    found = characterize(record(sine()), nominal_voltage=10_000.0)
    assert found.channels[0].reference == pytest.approx(229.8, rel=0.01)
    assert any("10 kV that was given is far" in text for text in found.caveats)


@pytest.mark.parametrize("level", [0.92, 0.97, 1.05])
@pytest.mark.parametrize(("first", "last"), [(0.1, 0.2), (0.15, 9.0), (0.06, 0.12)])
def test_a_change_of_the_level_is_no_flicker(level, first, last):
    t = np.arange(60) / 200
    assert find_flicker(np.where((t > first) & (t < last), level, 1.0), 100.0) is None


def test_channels_that_are_no_supply_voltage_are_listed():
    rng = np.random.default_rng(0)
    t = np.arange(4000) / 10_000
    live = tuple(Channel(f"bus 1 U{p}", "V", p, sine(phase=2.1 * k, volts=1e4)) for k, p in enumerate("ABC"))
    open_inputs = tuple(Channel(f"bus 2 U{p}", "V", p, rng.normal(0, 0.004, 4000)) for p in "ABC")
    magnitudes = tuple(Channel(f"level U{p}", "V", p, 1e4 + 50 * np.sin(18 * t)) for p in "ABC")
    angles = tuple(Channel(f"alpha U{p}", "V", p, np.cumsum(rng.normal(0, 30, 4000))) for p in "ABC")
    found = characterize(Recording((*live, *open_inputs, *magnitudes, *angles), 10_000.0, 50.0))
    assert [one.name for one in found.channels] == ["bus 1 UA", "bus 1 UB", "bus 1 UC"]
    assert found.sentences() == ("no disturbance found",)
    assert "Disconnected: bus 2 UA, bus 2 UB, bus 2 UC (no voltage)." in found.caveats
    with pytest.raises(PqswarmError, match=r"Auxiliary: level UA, .* \(direct voltage\)"):
        characterize(Recording(magnitudes, 10_000.0, 50.0))
    assert characterize(Recording(magnitudes, 10_000.0, 50.0), channels=["level UA"]).channels


def test_pre_event_reference_is_the_first_level_not_the_nominal():
    wave = with_level(sine(40, volts=1.19 * 325), 0.3, 0.45, 0.5)
    found = characterize(record(wave))
    assert [e.type for e in levels(found)] == ["sag"]
    assert found.channels[0].reference_source == "pre-event"
    by_nominal = characterize(record(wave), "nominal", nominal_voltage=325 / np.sqrt(2))
    assert [e.type for e in levels(by_nominal) if e.type == "swell"] == ["swell", "swell"]


def test_a_record_that_begins_in_a_sag():
    found = characterize(record(with_level(sine(30), -1, 0.08, 0.5)))
    (event,) = levels(found)
    assert (event.type, event.cut_start, event.cut_end) == ("sag", True, False)
    assert event.magnitude == pytest.approx(0.5, abs=0.02)
    assert any("begins inside an event" in text for text in found.caveats)
    assert "cut by the start" in found.sentences()[0]


def test_a_faulted_phase_is_measured_by_the_others():
    found = characterize(record(sine(), sine(phase=2.4), sine(phase=4.3, volts=13.0)))
    (event,) = levels(found)
    assert (event.type, event.phase, event.cut_start, event.cut_end) == ("sag", "C", True, True)


def test_given_reference_and_guess():
    assert characterize(record(sine()), 460.0).series.urms[0, 0] == pytest.approx(0.5, abs=0.01)
    assert characterize(record(sine()), "nominal").channels[0].reference == pytest.approx(400 / np.sqrt(3), rel=0.01)
    assert guess_nominal(349, "A") == 347
    assert guess_nominal(34_700, "AB") == 34_500
    with pytest.raises(PqswarmError, match="nominal_voltage"):
        characterize(record(sine(volts=0.01)), "nominal")


def test_irregular_flicker_is_neither_noise_nor_a_change_of_the_level():
    rng = np.random.default_rng(8)
    t = np.arange(100) / 100
    waves = [np.sin(2 * np.pi * (f * t + rng.random())) / (1 + (f / 9) ** 2) for f in np.linspace(1.5, 25, 30)]
    furnace = 1 + 0.005 * np.sum(waves, axis=0)
    found = find_irregular_flicker(furnace, 50.0, minimum=0.005)
    assert found is not None
    assert 1 < found[0] < 25
    assert find_irregular_flicker(1 + 0.01 * rng.standard_normal(100), 50.0, minimum=0.005) is None
    assert find_irregular_flicker(np.where(t > 0.4, 0.97, 1.0), 50.0, minimum=0.005) is None
    assert find_irregular_flicker(furnace, 50.0, minimum=0.5) is None
