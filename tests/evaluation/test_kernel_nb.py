"""The classifier KernelNB."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import pqswarm
from tests.reference import classifiers as slow


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    results = check_estimator(pqswarm.KernelNB(), on_fail=None)
    assert len(results) > 40
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_predictions_and_probabilities():
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = pqswarm.KernelNB(0.2).fit(X[train], y[train])
    expected = slow.kernel_nb_predictions(X, y, [(train, test)], 0.2)[test]
    assert np.array_equal(model.predict(X[test]), expected)
    probabilities = model.predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.log(probabilities), model.predict_log_proba(X[test]), atol=1e-9)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], expected)


def test_nothing_underflows_far_away():
    model = pqswarm.KernelNB(0.004).fit([[0.0], [0.1], [1.0], [1.1]], ["low", "low", "high", "high"])
    assert model.predict([[-1e3], [1e3], [0.4]]).tolist() == ["low", "high", "low"]
    assert np.isfinite(model.predict_log_proba([[-1e3], [1e3]])).all()


@pytest.mark.parametrize("width", [1e-4, 0.004, 1.0])
@pytest.mark.parametrize("far", [1e3, 3e6, 1e8, 1e12, 1e20])
def test_however_far_the_nearer_class_wins(width, far):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) % 2
    low, high = (int(y[X[:, 0].argmin()]), int(y[X[:, 0].argmax()]))
    model = pqswarm.KernelNB(width).fit(X, y)
    probabilities = model.predict_proba([[-far], [far], [0.5]])
    assert np.isfinite(model.predict_log_proba([[-far], [far]])).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if far <= 1e8:  # further out the distances to all training events are the same number
        assert model.predict([[-far], [far]]).tolist() == [low, high]


def test_beyond_all_measure():
    probabilities = pqswarm.KernelNB(0.004).fit([[0.0], [1.0], [2.0]], list("abc")).predict_proba([[1e160]])
    np.testing.assert_allclose(probabilities.sum(), 1.0)


def test_clone_and_grid_search():
    X, y = load_iris(return_X_y=True)
    assert clone(pqswarm.KernelNB(0.3)).width == 0.3
    search = GridSearchCV(pqswarm.KernelNB(), {"width": [0.001, 0.2]}, cv=5).fit(X, y)
    assert search.best_params_ == {"width": 0.2}


def test_bad_width():
    with pytest.raises(ValueError, match="width must be from 1e-30 to 1e30, not 0"):
        pqswarm.KernelNB(0).fit([[0.0], [1.0]], [0, 1])
