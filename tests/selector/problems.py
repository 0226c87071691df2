"""Small problems for the selector."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from pqswarm import SwarmSelector

WINE = load_wine(return_X_y=True)
DEFAULTS = {"algorithm": "2d-upso", "max_evaluations": 200, "n_subsets": 1, "random_state": 0, "cv": 5}


def quick(estimator=None, **options):
    """A selector that takes milliseconds."""
    estimator = GaussianNB() if estimator is None else estimator
    return SwarmSelector(estimator, **(DEFAULTS | options))


def assert_same(one, other):
    """Assert that two fitted selectors have identical results and histories."""
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.subsets_, other.subsets_)
    assert one.best_score_ == other.best_score_
    assert [point.score for point in one.front_] == [point.score for point in other.front_]
    np.testing.assert_array_equal(one.history_.mask, other.history_.mask)
    np.testing.assert_array_equal(one.history_.improvements, other.history_.improvements)
    assert one.history_.n_evaluations == other.history_.n_evaluations
