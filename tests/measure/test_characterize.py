"""Arguments, short and odd records; of recordings of others, where they are at hand, what is known of them.

All that is said of those by default is compared in tests/identify/test_public_analyses.py.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.measure.waves import RATE, levels, parts, record, sine, with_level

from pqswarm.errors import PqswarmError
from pqswarm.measure import Thresholds, characterize
from pqswarm.recordings import Channel, Recording, read_all


@pytest.mark.parametrize(
    "wrong",
    [
        {"reference": "nominl"},
        {"reference": -5.0},
        {"reference": float("nan")},
        {"nominal_voltage": 0.0},
        {"thresholds": {"sag": 1.2}},
        {"thresholds": {"hysteresis": -0.1}},
        {"thresholds": {"sagg": 0.8}},
        {"thresholds": 0.8},
        {"channels": ["U9"]},
        {"channels": []},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(PqswarmError):
        characterize(record(sine()), **wrong)


def test_thresholds_are_one_object():
    sag = record(with_level(sine(30), 0.2, 0.3, 0.85))
    assert len(levels(characterize(sag))) == 1
    assert levels(characterize(sag, thresholds=Thresholds(sag=0.8))) == []
    found = characterize(sag, thresholds={"sag": 0.8, "thd": 0.1})
    assert (found.thresholds.sag, found.thresholds.thd, found.thresholds.swell) == (0.8, 0.1, 1.1)
    with pytest.raises(PqswarmError, match="did you mean 'sag'"):
        Thresholds.of({"sagg": 0.8})


def test_channels_by_name_or_phase_are_looked_at_once():
    both = record(sine(), sine(phase=2.4))
    assert [c.name for c in characterize(both, channels=["U2", "B", "U1"]).channels] == ["U2", "U1"]


def test_a_wrong_nominal_frequency_is_said():
    found = characterize(record(sine(20, frequency=60.0), frequency=50.0))
    assert found.nominal_frequency == 60.0
    assert any("60.00 Hz was measured" in text for text in found.caveats)


@pytest.mark.parametrize("cycles", [1, 1.5, 2, 2.5, 3])
def test_short_records(cycles):
    found = characterize(record(sine(cycles)))
    assert found.series.urms.size >= 1
    assert found.channels[0].reference == pytest.approx(229.8, rel=0.02)
    assert levels(found) == []


@pytest.mark.parametrize("n_samples", [1, 2, 3, 50, 199])
def test_less_than_a_cycle_says_nothing(n_samples):
    found = characterize(record(sine(1)[:n_samples]))
    assert found.sentences() == ("less than a cycle is known: nothing can be said",)
    with pytest.raises(PqswarmError, match="no samples"):
        characterize(record(np.zeros(0)))


@pytest.mark.parametrize(
    "wave",
    [
        np.zeros(3000),
        np.full(3000, np.nan),
        np.r_[np.full(1500, np.nan), sine(20)[:1500]],
        np.clip(sine(15), -200, 200),
        np.where(np.arange(3000) % 7 == 0, np.nan, sine(15)),
        np.r_[sine(5), np.inf, sine(5)],
        np.full(3000, 1e-320),
        sine(15) * 1e150,
    ],
    ids=["zero", "missing", "half missing", "clipped", "gappy", "infinite", "denormal", "huge"],
)
def test_odd_records_give_a_sensible_answer(wave):
    found = characterize(record(wave))
    json.dumps([event.as_dict() for event in found.events], allow_nan=False)
    assert found.text()
    assert not [e for e in levels(found) if not (e.cut_start or e.cut_end)]


def test_a_dead_record_with_a_reference_is_an_interruption():
    (event,) = levels(characterize(record(np.zeros(3000)), 230.0))
    assert (event.type, event.cut_start, event.cut_end) == ("interruption", True, True)


def test_clipping_is_seen_as_harmonics():
    assert [p.type for p in parts(characterize(record(np.clip(sine(15), -200, 200))))] == ["harmonics"]


def test_the_text_names_events_references_and_thresholds():
    wave = with_level(sine(30), 0.2, 0.3, 0.6)
    wave[4321:4324] += 150
    found = characterize(record(wave, sine(30, phase=2.4), sine(30, phase=4.5)))
    assert [event.category for event in found.events] == ["instantaneous sag", "impulsive transient"]
    assert "thresholds: sag 0.9" in found.text()
    assert "pre-event" in found.text()


def test_neutral_and_dc_channels_are_left_out():
    channels = (
        Channel("UA", "V", "A", sine()),
        Channel("UN", "V", "N", sine(volts=3.0)),
        Channel("battery", "V", "", np.full(4000, 110.0)),
        Channel("IA", "A", "A", sine(volts=5.0)),
    )
    found = characterize(Recording(channels, RATE, 50.0))
    assert [c.name for c in found.channels] == ["UA"]
    assert "Derived: UN (neutral, residual or open-delta voltage)." in found.caveats
    assert "Auxiliary: battery (direct voltage)." in found.caveats
    assert [c.name for c in characterize(Recording(channels, RATE, 50.0), channels=["UN"]).channels] == ["UN"]


FOLDER = Path(os.environ.get("PQSWARM_RECORDINGS", Path(__file__).parents[3] / "shared" / "recordings"))


def found_in(name, *arguments, **options):
    if not (FOLDER / name).is_file():
        pytest.skip(f"{name} is not at hand")
    return [characterize(recording, *arguments, **options) for recording in read_all(FOLDER / name)]


def test_pqdif_sags_of_the_nominal_voltage():
    results = found_in("pqdif/example.pqd", "nominal", nominal_voltage=34_500.0)
    assert len(results) == 20
    residuals = [event.magnitude for found in results for event in parts(found, "sag")]
    assert len(residuals) >= 11
    assert min(residuals) == pytest.approx(0.85, abs=0.02)
    assert max(residuals) == pytest.approx(0.91, abs=0.02)
    assert not [event for found in results for event in parts(found, "swell")]


def test_pqdif_transients():
    results = found_in("pqdif/example.pqd")
    switching = [found for found in results if parts(found, "transient")]
    assert len(switching) == 7
    peaks = sorted(max(t.details["peak_voltage"] for t in parts(found, "transient")) for found in switching)
    assert peaks[0] == pytest.approx(1.14, abs=0.02)
    assert peaks[-1] == pytest.approx(1.34, abs=0.02)
    strongest = [
        max((t for t in parts(found, "transient") if t.details["frequency"] > 0), key=lambda t: t.magnitude)
        for found in switching
    ]
    assert all(250 < t.details["frequency"] < 700 for t in strongest)
    assert 350 < np.median([t.details["frequency"] for t in strongest]) < 450
    assert all(0.0002 < t.details["decay"] < 0.0025 for t in strongest)
    quiet = [found for found in results if found not in switching]
    assert not [e for found in quiet for e in parts(found, "swell")]


def test_rte():
    results = found_in("rte/DATA_S2.npz")
    assert len(results) == 12
    for found in results:
        assert all(c.reference_source == "pre-event" and 57e3 < c.reference < 65e3 for c in found.channels)
        assert parts(found, "sag") or parts(found, "interruption")
        assert not any(e.cut_start for e in levels(found))
    assert max(e.magnitude for found in results for e in parts(found, "swell")) == pytest.approx(1.67, abs=0.02)
    least = [min((e.magnitude for e in parts(found, "sag")), default=np.nan) for found in results]
    assert least[0] == pytest.approx(0.29, abs=0.02)
    assert least[3] == pytest.approx(0.52, abs=0.02)
    assert max(e.magnitude for e in parts(results[3], "sag")) == pytest.approx(0.57, abs=0.02)
    assert least[11] == pytest.approx(0.27, abs=0.02)
    assert sum(any(e.cut_end for e in parts(found, "interruption")) for found in results) >= 5  # trips
