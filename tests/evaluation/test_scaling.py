"""Scaling inside the folds equals scikit-learn's scalers; that evaluators use it is checked with their conformance."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pqswarm.evaluation.scaling import scale_for_fold

SCALERS = {"minmax": MinMaxScaler, "standard": StandardScaler, "robust": RobustScaler}


def awkward():
    """Features that are constant, nearly so, mostly one value, tiny, or far from zero."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 9))
    X[:, 1] = 3.7
    X[:, 2] = 1e9 + 1e-7 * X[:, 2]
    X[:, 3] = np.where(np.arange(60) % 9, 5.0, X[:, 3])
    X[:, 4] *= 1e-17
    X[:, 5] = 1e6 + X[:, 5]
    X[:, 6] = np.round(X[:, 6])
    X[:, 7] = 0.1
    X[50:, 7] += 1e-16
    return X


@pytest.mark.parametrize("scaling", SCALERS)
def test_scalers_of_scikit_learn_also_for_nearly_constant_features(scaling):
    X = awkward()
    for train in (np.arange(60), np.arange(37), np.arange(0, 60, 3)):
        expected = SCALERS[scaling]().fit(X[train]).transform(X)
        found = scale_for_fold(X, train, scaling)
        if scaling == "minmax":  # scikit-learn multiplies by 1 / span, and shifts afterwards
            np.testing.assert_allclose(found[:, [0, 1, 3, 4, 6, 7, 8]], expected[:, [0, 1, 3, 4, 6, 7, 8]], atol=1e-14)
        else:
            np.testing.assert_array_equal(found, expected)
        assert found.flags.c_contiguous
