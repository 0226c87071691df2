"""The front of size and score: rules, tables and figures."""

import pickle
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB

from pqswarm.errors import PqswarmError
from pqswarm.selector import EarlyStopping
from tests.selector.problems import WINE, quick

X, y = WINE


@pytest.fixture(scope="module")
def fitted():
    return quick(algorithm="sffs", max_evaluations=400).fit(*WINE)


def test_front_holds_scores_of_scikit_learn(fitted):
    assert len(fitted.front_) > 2
    for point in fitted.front_:
        scores = cross_val_score(GaussianNB(), X[:, point.support], y, cv=5)
        assert point.score == pytest.approx(scores.mean())
        assert point.std == pytest.approx(scores.std(ddof=1))
        assert point.size == point.support.sum()
    for one, other in pairwise(fitted.front_):
        assert one.size < other.size
        assert one.score < other.score
    np.testing.assert_array_equal(fitted.front_[-1].support, fitted.support_)


def test_one_standard_error():
    X, y = load_breast_cancer(return_X_y=True)
    selector = quick(algorithm="sffs", max_evaluations=400, n_features_to_select="1se").fit(X, y)
    best = selector.front_[-1]
    scores = cross_val_score(GaussianNB(), X[:, best.support], y, cv=5)
    allowed = scores.mean() - scores.std(ddof=1) / np.sqrt(5)
    expected = next(point for point in selector.front_ if point.score >= allowed)
    assert selector.n_features_ == expected.size < best.size
    assert selector.best_score_ == expected.score
    hasty = quick(
        algorithm="sffs", max_evaluations=400, n_features_to_select="1se", callbacks=EarlyStopping(max_time=1e-9)
    ).fit(X, y)
    assert np.isfinite([point.std for point in hasty.front_]).tolist() == [False] * (len(hasty.front_) - 1) + [True]


def test_one_split_has_no_standard_error():
    with pytest.raises(PqswarmError, match="n_features_to_select='1se' needs at least two splits"):
        quick(cv=ShuffleSplit(1, random_state=0), n_features_to_select="1se", max_evaluations=30).fit(*WINE)


def test_select(fitted):
    largest = max((point for point in fitted.front_ if point.size <= 3), key=lambda point: point.size)
    np.testing.assert_array_equal(fitted.select(size=3), largest.support)
    np.testing.assert_array_equal(fitted.select(13), fitted.support_)
    with pytest.raises(PqswarmError, match="size must be an integer of at least 1"):
        fitted.select(0)
    fitted.select(13)[:] = False
    assert fitted.support_.any()


def test_frame():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = quick(algorithm="ga").fit(X, y)
    frame = selector.results_
    front = frame[frame.kind == "front"]
    assert front["size"].tolist() == [point.size for point in selector.front_]
    assert front.features.tolist()[-1] == tuple(X.columns[selector.support_]) == front[front.selected].features.item()
    assert frame.selected.sum() == 1
    steps = frame[frame.kind == "improvement"]
    np.testing.assert_array_equal(steps.evaluations, selector.history_.improvements[:, 0] + 1)
    np.testing.assert_allclose(1 - steps.score, selector.history_.improvements[:, 1])
    assert steps.features.tolist()[-1] == tuple(X.columns[selector.history_.mask])
    assert frame.evaluations.dtype == "Int64"


def test_frame_of_a_loss_has_negative_scores():
    X, y = load_diabetes(return_X_y=True)
    selector = quick(LinearRegression(), scoring="neg_mean_absolute_error", max_evaluations=30).fit(X, y)
    assert (selector.results_.score < 0).all()
    assert selector.results_.score.max() == pytest.approx(selector.best_score_)


def test_frame_without_pandas(monkeypatch, fitted):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PqswarmError, match="install pandas"):
        _ = fitted.results_


def test_pickles_without_its_callback():
    selector = quick(callbacks=lambda progress: None).fit(X, y)
    other = pickle.loads(pickle.dumps(selector))
    assert other.callbacks is None
    assert selector.callbacks is not None
    assert clone(selector).callbacks is selector.callbacks
    np.testing.assert_array_equal(other.transform(X), selector.transform(X))
    assert isinstance(other.results_, pd.DataFrame)
