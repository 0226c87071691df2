"""Recursive filters: those of SciPy, in pieces of any size."""

import numpy as np
import pytest
from scipy import signal

from pqswarm.measure.filters import butterworth_sections, filter_sections, response_at, steady_filter_state

WAVES = np.random.default_rng(3).normal(size=(2, 3000))


@pytest.mark.parametrize(("order", "corner", "high"), [(3, 200.0, True), (6, 35.0, False), (1, 0.05, True)])
def test_filters_are_those_of_scipy(order, corner, high):
    sections = butterworth_sections(order, corner, 1300.0, high=high)
    reference = signal.butter(order, corner, "high" if high else "low", fs=1300.0, output="sos")
    found, _ = filter_sections(sections, WAVES, steady_filter_state(sections, np.zeros(2)))
    np.testing.assert_allclose(found, signal.sosfilt(reference, WAVES), atol=1e-11)
    assert response_at(sections, corner, 1300.0) == pytest.approx(0.5**0.5)


def test_pieces_change_nothing():
    sections = butterworth_sections(3, 200.0, 1300.0, high=True)
    past = steady_filter_state(sections, np.zeros(2))
    whole, _ = filter_sections(sections, WAVES, past)
    pieces = []
    for piece in np.split(WAVES, [1, 2, 2, 700], axis=1):
        found, past = filter_sections(sections, piece, past)
        pieces.append(found)
    assert np.array_equal(np.concatenate(pieces, axis=1), whole)


def test_a_settled_filter_has_nothing_to_settle():
    sections = butterworth_sections(6, 35.0, 1300.0)
    level = np.array([2.0, -1.0])
    found, _ = filter_sections(sections, np.repeat(level[:, None], 50, axis=1), steady_filter_state(sections, level))
    np.testing.assert_allclose(found, np.repeat(level[:, None], 50, axis=1), rtol=1e-9)
