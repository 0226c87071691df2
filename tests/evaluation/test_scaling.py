"""Scaling inside the folds equals scikit-learn's scalers in all evaluators."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pqswarm.evaluation import Folds, GenericEvaluator, KNNEvaluator
from pqswarm.evaluation.scaling import scale_for_fold
from tests.evaluation.data import dataset, random_masks

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


def untied(n_folds):
    """Wine, with digits added, so that no distances are equal."""
    X, y, _ = dataset("wine")
    X = X * (1 + 1e-3 * np.random.default_rng(6).normal(size=X.shape))
    return X, y, Folds.stratified(y, n_folds, seed=1)


def test_outliers_in_the_test_samples():
    X, y, folds = untied(5)
    X[folds.test_fold == 2] *= 50
    masks = random_masks(8, 13, 1)
    for scaling, scaler in SCALERS.items():
        model = make_pipeline(scaler(), KNeighborsClassifier(3, p=1))
        counts = KNNEvaluator(X, y, folds, scaling=scaling).error_counts(masks)
        np.testing.assert_array_equal(
            counts, GenericEvaluator(X, y, folds, model, scaling="none", n_jobs=1).error_counts(masks), scaling
        )
