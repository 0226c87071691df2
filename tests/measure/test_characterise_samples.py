"""On recordings of others, where they are at hand: what RECORDINGS.md says of them is found."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.measure.waves import levels, parts

from pqswarm.measure import characterize
from pqswarm.recordings import read_all

FOLDER = Path(os.environ.get("PQSWARM_RECORDINGS", Path(__file__).parents[3] / "shared" / "recordings"))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no recordings of others in {FOLDER}")


def found_in(name, *arguments, **options):
    if not (FOLDER / name).is_file():
        pytest.skip(f"{name} is not at hand")
    return [characterize(recording, *arguments, **options) for recording in read_all(FOLDER / name)]


def test_keating():
    (found,) = found_in("keating/keating_1999.CFG")
    assert found.frequency == pytest.approx(60, abs=0.2)
    assert [c.reference for c in found.channels] == pytest.approx([349, 352, 346], abs=1)
    assert not levels(found)
    (ring,) = [part for part in parts(found, "transient") if part.number == found.channels[2].number]
    assert ring.category == "medium-frequency oscillatory transient"
    assert ring.start == pytest.approx(0.022, abs=0.0005)
    assert ring.magnitude == pytest.approx(0.26, abs=0.02)
    assert ring.details["frequency"] == pytest.approx(5200, rel=0.06)
    assert ring.details["decay"] == pytest.approx(0.0003, abs=0.0001)


@pytest.mark.parametrize(("name", "residual"), [("xtz", 0.67), ("ymz", 0.70)])
def test_substation(name, residual):
    results = found_in(f"substation_2023/{name}.cfg")
    assert len(results) >= 2  # the fault, and the reclosing on it
    for found in results:
        (event,) = [event for event in found.events if event.type == "sag"]
        assert event.phases == ("A",)
        assert event.magnitude == pytest.approx(residual, abs=0.02)
        assert event.duration * 50 == pytest.approx(2.5, abs=0.51)
        assert event.category == "instantaneous sag"


def test_go_comtrade():
    (found,) = found_in("go_comtrade/test1.cfg")
    assert not parts(found, "interruption")  # two phases are alive: IEC 61000-4-30 calls it a dip
    (outage,) = [event for event in found.events if event.type == "sag"]
    assert outage.phases == ("C",)
    assert outage.magnitude == pytest.approx(0.02, abs=0.005)
    assert outage.duration == pytest.approx(5.1, abs=0.01)
    assert max(e.magnitude for e in parts(found, "swell")) == pytest.approx(1.11, abs=0.02)


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


def test_wisp_does_not_crash_and_sees_the_collapse():
    for name in ("1.cfg", "2.cfg", "3.cfg", "4.CFG", "5.cfg"):
        for found in found_in(f"wisp/{name}"):
            assert found.text()
            if name == "2.cfg":
                assert parts(found, "interruption")
                assert parts(found, "sag")[0].cut_start
            if name == "5.cfg":
                assert found.sentences() == ("no voltage on any phase: nothing can be said",)
