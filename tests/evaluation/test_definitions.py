"""Every exact evaluator against its plain definition."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from pqswarm.evaluation import CLASSIFIERS, REGRESSORS, Folds
from pqswarm.evaluation.exact.linear.evaluator import _lda_lost_freedom
from tests.evaluation.data import dataset, random_masks
from tests.reference.classifiers import predictions
from tests.reference.definitions import (
    gaussian_nb_labels,
    kernel_nb_labels,
    knn_labels,
    knn_neighbors,
    lda_labels,
    linear_predictions,
)


@pytest.mark.parametrize(
    ("name", "settings", "labels_of", "values"),
    [
        ("k-nn", {"n_neighbors": 4, "metric": "chebyshev"}, knn_labels, (4, "chebyshev")),
        ("kernel-nb", {"bandwidth": 0.05, "floor": 0.001}, kernel_nb_labels, (0.05, 0.001)),
        ("kernel-nb", {"bandwidth": 0.002, "underflow": True}, kernel_nb_labels, (0.002, 0.0, True)),
        ("gaussian-nb", {"var_smoothing": 1e-6}, gaussian_nb_labels, (1e-6,)),
        ("lda", {}, lda_labels, (0.0, _lda_lost_freedom())),
        ("lda", {"solver": "lsqr", "shrinkage": 0.3}, lda_labels, (0.3,)),
    ],
)
def test_classifiers_predict_what_their_definition_does(name, settings, labels_of, values):
    X, y, folds = dataset("wine")
    evaluator = CLASSIFIERS[name](settings).evaluator(X, y, folds)
    for mask in random_masks(5, X.shape[1], seed=8):
        expected = predictions(labels_of, X[:, mask], y, list(folds.split()), *values, scaling="once")
        np.testing.assert_array_equal(evaluator.predictions(mask), expected)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("linear", {}), ("linear", {"fit_intercept": False}), ("ridge", {"alpha": 0.5}), ("k-nn-regression", {})],
)
def test_regressors_predict_what_their_definition_does(name, settings):
    X, y = load_diabetes(return_X_y=True)
    folds = Folds(np.arange(442) % 10)
    evaluator = REGRESSORS[name](settings).evaluator(X, y, folds, scaling="none")
    for mask in random_masks(5, X.shape[1], seed=9):
        data, expected = X[:, mask], np.empty(442)
        for train, test in folds.split():
            if name == "k-nn-regression":
                expected[test] = y[train][knn_neighbors(data[test], data[train], 5, "euclidean")[0]].mean(axis=1)
            else:
                expected[test] = linear_predictions(data[train], y[train], data[test], **settings)
        np.testing.assert_allclose(evaluator.predictions(mask), expected, rtol=1e-9)
