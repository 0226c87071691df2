"""The three-phase events of benchmarks/three_phase agree with their truth; benchmarks/causes.py compares answers."""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def tools():
    sys.path.insert(0, str(BENCHMARKS))
    import causes
    import three_phase
    from three_phase import faults

    yield causes, three_phase, faults
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def events(tools):
    return list(tools[1].draw_suite(7, 3200, "clean", per_kind=1))


def middle_rms(event, stage):
    """RMS voltages over a whole number of cycles inside a stage [pu]."""
    first, stop = stage.start, min(stage.end, event.voltages.shape[1] / event.sampling_rate)
    cycles = int((stop - first - 0.03) * event.frequency)
    begin = (first + stop - cycles / event.frequency) / 2
    part = slice(round(begin * event.sampling_rate), round((begin + cycles / event.frequency) * event.sampling_rate))
    return np.sqrt((event.voltages[:, part] ** 2).mean(axis=1)) / event.nominal


def test_suite_has_every_kind_and_its_truth(tools, events):
    _, three_phase, _ = tools
    assert sum(count for count, _ in three_phase.EVENT_TYPES.values()) >= 200
    assert [name for name, _ in events] == list(three_phase.EVENT_TYPES)
    assert {event.truth.cause for _, event in events} == {*three_phase.record.CAUSES, None}
    for name, event in events:
        ends_inside = event.truth.kind in ("fault cleared by interruption", "reclosing, unsuccessful")
        assert event.ends_inside == ("record ends inside" in name or ends_inside)
        assert event.voltages.shape[0] == 3
        assert np.isfinite(event.voltages).all()


def test_faults_reach_the_voltages_of_their_formula(events):
    for name, event in events:
        if name.startswith("fault, "):
            residual = np.array(event.truth.residual)
            low = residual < 0.88
            measured = middle_rms(event, event.truth.stages[0])
            np.testing.assert_allclose(measured[low], residual[low], atol=0.01)
            assert event.truth.below(nominal=True, margin=0.02)[0] == "".join(np.array(list("ABC"))[low])


def test_events_are_the_same_at_every_rate_and_repeat(tools):
    _, three_phase, _ = tools
    slow, fast, again = (list(islice(three_phase.draw_suite(7, rate, "noisy", 1), 4)) for rate in (1600, 3200, 1600))
    for (_, one), (_, two), (_, three) in zip(slow, fast, again, strict=True):
        assert one.truth == two.truth == three.truth
        np.testing.assert_array_equal(one.voltages, three.voltages)
    (_, quiet), *_ = three_phase.draw_suite(8, 1600, "noisy", 1)
    assert quiet.truth != slow[0][1].truth


def test_a_transformer_turns_each_type_into_the_next(tools):
    """Bollen: behind a delta-wye transformer B is seen as C, C as D, E as F and F as G; D and G turn back."""
    _, _, faults = tools
    for symmetrical in range(3):
        for before, after in ("CD", "DC", "EF", "FG", "GF"):
            voltage = 0.4 - 0.1j
            seen = faults.DELTA_WYE @ faults.type_phasors(before, voltage, symmetrical)
            np.testing.assert_allclose(seen, faults.type_phasors(after, voltage, symmetrical), atol=1e-12)
        behind = faults.DELTA_WYE @ faults.type_phasors("B", voltage, symmetrical)
        np.testing.assert_allclose(behind, faults.type_phasors("C", (1 + 2 * voltage) / 3, symmetrical), atol=1e-12)
        for displaced, plain in ("HA", "IC"):  # line-to-line voltages do not show the neutral
            shifted = faults.type_phasors(displaced, voltage, symmetrical)
            same = faults.type_phasors(plain, 1.0 if plain == "A" else voltage, symmetrical)
            np.testing.assert_allclose(shifted - np.roll(shifted, 1), same - np.roll(same, 1), atol=1e-12)


def test_comparison(tools, events, monkeypatch):
    causes, _, _ = tools
    name, event = events[0]
    event = replace(event, truth=replace(event.truth, residual=(0.5, 0.89, 1.0)))
    stage = event.truth.stages[0]
    assert (stage.bollen, stage.symmetrical) == ("A", "")

    def says(incidents):
        class Said:
            def as_dict(self):
                return {"incidents": incidents} if incidents is not None else {}

        monkeypatch.setattr(causes, "identify", lambda *_, **__: Said())
        return causes.answer(name, "clean", event, nominal=True)

    def incident(cause, phases, sag_type="A"):
        sag = {"type": "sag", "phases": list(phases), "sag_type": sag_type, "magnitude": 0.5, "sentence": "sag"}
        return {"cause": cause, "probability": 0.9, "evidence": [], "stages": [{}], "events": [sag]}

    good = says([incident("fault", "A")])
    assert (good.right, good.phases, good.exact_type, good.stages, good.rows) == (True, True, True, True, 1)
    assert says([incident("fault", "AB")]).phases
    assert not says([incident("fault", "B")]).phases
    bad = says([incident("motor start", "A", "Ca"), incident("fault", "A")])
    assert (bad.right, bad.family, bad.rows, bad.said) == (False, False, 2, "motor start")
    assert says([]).said == "none"
    with pytest.raises(causes.NoIncidentsError):
        says(None)
    back = {"levels": {"A": 1.0, "B": 0.99, "C": 1.01}}
    assert causes.disturbed_stages([{"levels": {"A": 0.5, "B": 1.0, "C": 1.0}}, back]) == 1
    assert causes.disturbed_stages([{}]) == 1
    assert causes.family("Gb") == causes.family("Cb") != causes.family("Fb")
    error, chance = causes.calibration_error(np.array([0.9, 0.9, 0.5, 0.5]), np.array([1, 1, 1, 0]))
    assert error == pytest.approx(0.05)
    assert 0 < chance < 0.5
