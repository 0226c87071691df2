"""Contrast estimation: both tables of the paper, a slow twin, and what must not matter."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pqswarm.errors import PqswarmError
from pqswarm.statistics import contrast_estimation
from tests.statistics import paper, reference

TABLES = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-1e6, 1e6))
)


@pytest.mark.parametrize("classifier", paper.CONTRASTS)
def test_paper(classifier):
    result = contrast_estimation(paper.ACCURACIES[classifier], names=paper.NAMES)
    printed = paper.CONTRASTS[classifier]
    wrong = [
        (first, second, result.matrix[u, v], printed[u][v])
        for u, first in enumerate(paper.NAMES)
        for v, second in enumerate(paper.NAMES)
        if not paper.agrees(result.matrix[u, v], printed[u][v])
    ]
    assert not wrong


def test_the_noiseless_data_set_belongs_to_it():
    """Without it the paper's table does not come out: the test above can fail."""
    result = contrast_estimation(paper.ACCURACIES["k-NN"][1:])
    assert not paper.agrees(result.matrix[0, 1], paper.CONTRASTS["k-NN"][0][1])


@given(TABLES)
def test_slow_twin(values):
    expected = reference.contrasts(values.tolist())
    np.testing.assert_allclose(contrast_estimation(values).matrix, expected, rtol=1e-9, atol=1e-9)


@given(TABLES, st.randoms(use_true_random=False))
def test_properties(values, random):
    result = contrast_estimation(values).matrix
    assert (result == -result.T).all()
    rows, columns = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    assert (contrast_estimation(values[rows]).matrix == result).all()
    moved = contrast_estimation(values[:, columns]).matrix
    np.testing.assert_allclose(moved, result[np.ix_(columns, columns)], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(contrast_estimation(-values).matrix, -result, rtol=1e-9, atol=1e-8)


def test_constant_differences_are_found_whatever_the_data_sets():
    effects = np.array([0.0, 3.0, -2.0])
    result = contrast_estimation(np.array([[10.0], [500.0], [-7.0]]) + effects)
    np.testing.assert_allclose(result.matrix, effects[:, None] - effects, atol=1e-12)


def test_rows_are_plain():
    rows = json.loads(json.dumps(contrast_estimation([[1, 3], [1, 3]], names=["algorithm", "b"]).rows()))
    assert rows == [
        {"algorithm": "algorithm", "vs algorithm": 0, "vs b": -2},
        {"algorithm": "b", "vs algorithm": 2, "vs b": 0},
    ]


def test_mistakes():
    with pytest.raises(PqswarmError, match="at least two rows"):
        contrast_estimation([[1, 2]])
    with pytest.raises(PqswarmError, match="too large"):
        contrast_estimation([[1e308, -1e308], [1e308, -1e308]])
