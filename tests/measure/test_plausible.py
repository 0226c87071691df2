"""On disturbances of another published model, and on channels that are no supply voltage."""

import numpy as np
import pytest
from tests.measure.waves import levels, parts, record, sine, with_level
from tests.reference.disturbances import CLASSES, GROUP, make, make_sine

from pqswarm.errors import PqswarmError
from pqswarm.events import class_type
from pqswarm.identify.agreement import event_rule
from pqswarm.identify.show.curves import rank_event
from pqswarm.measure import characterize
from pqswarm.measure.detect.transients import find_transients
from pqswarm.measure.steady.flicker import find_flicker
from pqswarm.recordings import Channel, Recording

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


def test_a_log_of_rms_values_is_refused_in_a_sentence():
    with pytest.raises(PqswarmError, match="samples per cycle"):
        characterize(record(sine(20, rate=80.0), rate=80.0))
