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
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult
from pqswarm.selector.front import choose_point, merge_fronts
from tests.selector.problems import WINE, quick


@pytest.fixture(scope="module")
def fitted():
    return quick(algorithm="sffs", n_runs=1, max_evaluations=400).fit(*WINE)


def test_front_holds_scores_of_scikit_learn(fitted):
    X, y = WINE
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


def made(masks, errors, mask, error):
    front = None if masks is None else np.array(masks, dtype=bool), None if errors is None else np.array(errors)
    return SearchResult("made", np.array(mask, dtype=bool), error, 10, np.array([[0.0, error, sum(mask)]]), *front)


def test_fronts_of_runs_are_merged():
    one = made([[1, 0, 0], [1, 1, 0]], [0.5, 0.3], [1, 1, 0], 0.3)
    other = made([[0, 1, 0], [1, 1, 1]], [0.4, 0.1], [1, 1, 1], 0.1)
    third = made(None, None, [0, 1, 1], 0.3)  # no better than the first of its size
    masks, errors = merge_fronts([one, other, third])
    assert masks.astype(int).tolist() == [[0, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert errors.tolist() == [0.4, 0.3, 0.1]
    masks, errors = merge_fronts([made(None, None, [1, 1, 0], 0.3), made(None, None, [0, 0, 1], 0.3)])
    assert masks.astype(int).tolist() == [[0, 0, 1]]


def test_rules():
    sizes, errors = [1, 3, 4, 7], np.array([0.4, 0.21, 0.2, 0.1])
    assert choose_point("best", sizes, errors, None) == 3
    folds = np.array([0.0, 0.1, 0.2, 0.1])
    error = folds.std(ddof=1) / 2
    assert 0.04 < error < 0.05
    assert choose_point("1se", sizes, errors, folds) == 3
    assert choose_point("1se", sizes, errors, 2.5 * folds) == 2  # 0.102: 0.2 is within, 0.21 is not
    assert choose_point("1se", sizes, errors, 3 * folds) == 1
    assert choose_point("1se", sizes, errors, 10 * folds) == 0
    assert [choose_point(size, sizes, errors, None) for size in (1, 2, 3, 5, 7, 9)] == [0, 0, 1, 2, 3, 3]
    with pytest.raises(PqswarmError, match="two splits"):
        choose_point("1se", sizes, errors, np.array([0.1]))


def test_one_standard_error():
    X, y = load_breast_cancer(return_X_y=True)
    selector = quick(algorithm="sffs", max_evaluations=400, rule="1se").fit(X, y)
    best = selector.front_[-1]
    scores = cross_val_score(GaussianNB(), X[:, best.support], y, cv=5)
    allowed = scores.mean() - scores.std(ddof=1) / np.sqrt(5)
    expected = next(point for point in selector.front_ if point.score >= allowed)
    assert selector.n_features_ == expected.size < best.size
    assert selector.best_score_ == expected.score
    hasty = quick(algorithm="sffs", max_evaluations=400, rule="1se", max_time=1e-9).fit(X, y)
    assert np.isfinite([point.std for point in hasty.front_]).tolist() == [False] * (len(hasty.front_) - 1) + [True]


def test_rule_of_a_size_and_select(fitted):
    three = quick(algorithm="sffs", max_evaluations=400, rule=3).fit(*WINE)
    assert three.n_features_ == max(point.size for point in fitted.front_ if point.size <= 3)
    np.testing.assert_array_equal(three.support_, fitted.select(size=3))
    np.testing.assert_array_equal(fitted.select(13), fitted.support_)
    with pytest.raises(PqswarmError, match="size must be an integer of at least 1"):
        fitted.select(0)
    fitted.select(13)[:] = False
    assert fitted.support_.any()
    with pytest.warns(
        UserWarning, match=r"front has no subset of at most 1 features: its smallest, of 5.*n_features_to_"
    ):
        large = quick(algorithm_params={"size": 5}, rule=1).fit(*WINE)
    assert large.n_features_ == 5


def test_frame():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = quick(algorithm="ga", n_runs=2).fit(X, y)
    frame = selector.results_
    front = frame[frame.kind == "front"]
    assert front["size"].tolist() == [point.size for point in selector.front_]
    assert front.features.tolist()[-1] == tuple(X.columns[selector.support_]) == front[front.selected].features.item()
    assert frame.selected.sum() == 1
    steps = frame[frame.kind == "improvement"]
    for run, result in enumerate(selector.history_):
        rows = steps[steps.run == run]
        np.testing.assert_array_equal(rows.evaluations, result.improvements[:, 0] + 1)
        np.testing.assert_allclose(1 - rows.score, result.improvements[:, 1])
        assert rows.features.tolist()[-1] == tuple(X.columns[result.mask])
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


def test_frequency_is_the_fraction_of_runs():
    X, y = load_breast_cancer(return_X_y=True)
    selector = quick(n_runs=4).fit(X, y)
    expected = np.mean([result.mask for result in selector.history_], axis=0)
    np.testing.assert_array_equal(selector.selection_frequency_, expected)
    assert 0 < expected.max() <= 1


def test_pickles_without_its_callback():
    X, y = WINE
    selector = quick(callback=lambda progress: None).fit(X, y)
    other = pickle.loads(pickle.dumps(selector))
    assert other.callback is None
    assert selector.callback is not None
    assert clone(selector).callback is selector.callback
    np.testing.assert_array_equal(other.transform(X), selector.transform(X))
    assert isinstance(other.results_, pd.DataFrame)
