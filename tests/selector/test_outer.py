"""Nested cross-validation: the whole selection in each outer training set."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from pqswarm._base.random import derived_seed
from pqswarm.selector.nested import nested_mean_interval
from pqswarm.statistics import wilson_interval
from tests.selector.problems import WINE, quick


def test_selects_and_fits_in_each_training_set():
    X, y = WINE
    selector = quick(outer_cv=4, max_evaluations=60, rule="1se").fit(X, y)
    plain = quick(max_evaluations=60, rule="1se").fit(X, y)
    np.testing.assert_array_equal(selector.support_, plain.support_)
    searched = []
    for fold, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        seed = derived_seed(0, (2**31 + 1, fold))
        inner = quick(max_evaluations=60, rule="1se", random_state=seed).fit(X[train], y[train])
        np.testing.assert_array_equal(selector.outer_supports_[fold], inner.support_)
        searched.append(inner.best_score_)
        model = GaussianNB().fit(X[train][:, inner.support_], y[train])
        assert selector.outer_scores_[fold] == model.score(X[test][:, inner.support_], y[test])
    assert selector.outer_score_ == selector.outer_scores_.mean()
    sizes = [len(test) for _, test in StratifiedKFold(4).split(X, y)]
    right = round(selector.outer_scores_ @ sizes)
    expected = stats.binomtest(right, len(y)).proportion_ci(method="wilson")
    np.testing.assert_allclose(selector.outer_interval_, (expected.low, expected.high))
    assert selector.outer_interval_method_.startswith(f"Wilson's interval of {right} right predictions among 178")
    excess = np.array(searched) - selector.outer_scores_
    assert selector.outer_optimism_ == pytest.approx(excess.mean())
    scale = np.sqrt(excess.var(ddof=1) * (1 / 4 + np.mean(sizes) / (len(y) - np.mean(sizes))))
    np.testing.assert_allclose(selector.outer_optimism_interval_, stats.t.interval(0.95, 3, excess.mean(), scale))
    assert not hasattr(selector.set_params(outer_cv=None).fit(X, y), "outer_score_")


def test_random_labels_score_at_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.repeat([0, 1], 30)
    selector = quick(outer_cv=5, max_evaluations=150).fit(X, y)
    assert selector.best_score_ > 0.6
    low, high = selector.outer_interval_
    assert low < 0.5 < high


def test_intervals():
    for right, n in ((0, 20), (20, 20), (13, 20), (950, 1000)):
        expected = stats.binomtest(right, n).proportion_ci(method="wilson")
        np.testing.assert_allclose(wilson_interval(right, n), (expected.low, expected.high), atol=1e-12)
    scores = np.array([0.7, 0.8, 0.75, 0.9])
    scale = np.sqrt(scores.var(ddof=1) * (1 / 4 + 20 / 60))
    np.testing.assert_allclose(nested_mean_interval(scores, 60, 20), stats.t.interval(0.95, 3, scores.mean(), scale))
    assert np.isnan(nested_mean_interval([0.5], 60, 20)).all()


def test_other_scores_and_splits():
    X, y = load_diabetes(return_X_y=True)
    selector = quick(LinearRegression(), outer_cv=KFold(3), cv=3, max_evaluations=30).fit(X, y)
    assert selector.outer_interval_method_.startswith("t interval of the mean over 3 test sets")
    low, high = selector.outer_interval_
    assert low < selector.outer_score_ < high
    X, y = WINE
    shuffled = quick(outer_cv=ShuffleSplit(3, random_state=0), max_evaluations=30).fit(X, y)
    assert shuffled.outer_interval_method_.startswith("t interval")


def test_groups_and_weights_are_passed_on():
    X, y = WINE
    groups, weights = np.arange(len(y)) % 9, np.linspace(1, 2, len(y))
    options = {"cv": GroupKFold(2), "outer_cv": GroupKFold(3), "max_evaluations": 30}
    selector = quick(**options).fit(X, y, groups=groups, sample_weight=weights)
    train, test = next(GroupKFold(3).split(X, y, groups))
    support = selector.outer_supports_[0]
    model = clone(GaussianNB()).fit(X[train][:, support], y[train], sample_weight=weights[train])
    expected = model.score(X[test][:, support], y[test], sample_weight=weights[test])
    assert selector.outer_scores_[0] == pytest.approx(expected)
