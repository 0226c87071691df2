"""Nested cross-validation: the whole selection in each outer training set."""

import signal

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from pqswarm._base.intervals import wilson_interval
from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError
from pqswarm.selector import nested_score
from pqswarm.selector.nested import nested_mean_interval
from tests.selector.problems import WINE, quick

X, y = WINE


def test_selects_and_fits_in_each_training_set():
    options = {"max_evaluations": 60, "n_features_to_select": "1se"}
    nested = nested_score(quick(**options), X, y, cv=4)
    searched = []
    for fold, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        seed = derived_seed(0, (2**31 + 1, fold))
        inner = quick(**options, random_state=seed).fit(X[train], y[train])
        np.testing.assert_array_equal(nested.supports[fold], inner.support_)
        searched.append(inner.best_score_)
        model = GaussianNB().fit(X[train][:, inner.support_], y[train])
        assert nested.scores[fold] == model.score(X[test][:, inner.support_], y[test])
    assert nested.score == nested.scores.mean()
    sizes = [len(test) for _, test in StratifiedKFold(4).split(X, y)]
    right = round(nested.scores @ sizes)
    expected = stats.binomtest(right, len(y)).proportion_ci(method="wilson")
    np.testing.assert_allclose(nested.interval, (expected.low, expected.high))
    assert nested.interval_method.startswith(f"Wilson's interval of {right} right predictions among 178 samples")
    excess = np.array(searched) - nested.scores
    assert nested.optimism == pytest.approx(excess.mean())
    scale = np.sqrt(excess.var(ddof=1) * (1 / 4 + np.mean(sizes) / (len(y) - np.mean(sizes))))
    np.testing.assert_allclose(nested.optimism_interval, stats.t.interval(0.95, 3, excess.mean(), scale))


def test_random_labels_score_at_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.repeat([0, 1], 30)
    selector = quick(max_evaluations=150)
    low, high = nested_score(selector, X, y, cv=5).interval
    assert low < 0.5 < high
    assert not hasattr(selector, "support_")
    assert selector.fit(X, y).best_score_ > 0.6


def test_intervals():
    for right, n in ((0, 20), (20, 20), (13, 20), (950, 1000)):
        expected = stats.binomtest(right, n).proportion_ci(method="wilson")
        np.testing.assert_allclose(wilson_interval(right, n), (expected.low, expected.high), atol=1e-12)
    scores = np.array([0.7, 0.8, 0.75, 0.9])
    scale = np.sqrt(scores.var(ddof=1) * (1 / 4 + 20 / 60))
    np.testing.assert_allclose(nested_mean_interval(scores, 60, 20), stats.t.interval(0.95, 3, scores.mean(), scale))
    assert np.isnan(nested_mean_interval([0.5], 60, 20)).all()


def test_other_scores_and_splits():
    regression = nested_score(
        quick(LinearRegression(), cv=3, max_evaluations=30), *load_diabetes(return_X_y=True), cv=KFold(3)
    )
    assert regression.interval_method.startswith("t interval of the mean over 3 test sets")
    low, high = regression.interval
    assert low < regression.score < high
    shuffled = nested_score(quick(max_evaluations=30), *WINE, cv=ShuffleSplit(3, random_state=0))
    assert shuffled.interval_method.startswith("t interval")
    with pytest.raises(PqswarmError, match="cv of the selector must split each training set"):
        nested_score(quick(cv=[(range(100), range(100, 178))]), *WINE)


def test_groups_and_weights_are_passed_on():
    groups, weights = np.arange(len(y)) % 9, np.linspace(1, 2, len(y))
    selector = quick(cv=GroupKFold(2), max_evaluations=30)
    nested = nested_score(selector, X, y, cv=GroupKFold(3), groups=groups, sample_weight=weights)
    train, test = next(GroupKFold(3).split(X, y, groups))
    support = nested.supports[0]
    model = clone(GaussianNB()).fit(X[train][:, support], y[train], sample_weight=weights[train])
    expected = model.score(X[test][:, support], y[test], sample_weight=weights[test])
    assert nested.scores[0] == pytest.approx(expected)


def test_ctrl_c_ends_it():
    with pytest.raises(KeyboardInterrupt):
        nested_score(quick(callbacks=lambda progress: signal.raise_signal(signal.SIGINT)), *WINE, cv=3)
