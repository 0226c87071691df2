import numpy as np
import pytest
from tests.measure.waves import levels, record, sine, with_level

from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize
from pqswarm.measure.supply.reference import guess_nominal


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
