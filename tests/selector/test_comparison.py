"""A search against a filter alone, by nested cross-validation: the choice, and when there is none."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from pqswarm._base.random import derived_seed
from pqswarm.selector import EarlyStopping, selection
from tests.selector.problems import WINE, quick

RNG = np.random.default_rng(3)
LABELS = np.repeat([0, 1], 40)
NOISY = RNG.normal(size=(80, 60))
NOISY[:, :6] += LABELS[:, np.newaxis]  # the other 54 features tell nothing
CROSSED = RNG.normal(size=(80, 6))
CROSSED[:, 0] = RNG.choice([-1, 1], 80) * np.where(LABELS, 3.0, 0.1)  # tells everything, with equal means
OPTIONS = {"selection_rule": "filter-check", "max_evaluations": 300}


@pytest.fixture(autouse=True)
def few_evaluations_are_enough(monkeypatch):
    monkeypatch.setattr(selection, "_FEWEST", 300)


def nested_errors(X, y, seed=0):
    """The errors of the searches in five parts, and of the first features by F, by scikit-learn."""
    outer = StratifiedKFold(5, shuffle=True, random_state=derived_seed(seed, (2**31 + 3,)) % 2**32)
    searched, filtered = [], []
    sizes = sorted({min(size, X.shape[1]) for size in selection._SIZES})
    for number, (train, test) in enumerate(outer.split(X, y)):
        inner = derived_seed(seed, (2**31 + 4, number))
        cv = StratifiedKFold(5, shuffle=True, random_state=inner % 2**32)
        short = quick(selection_rule="best", cv=cv, max_evaluations=30, random_state=inner).fit(X[train], y[train])
        order = np.argsort(-f_classif(X[train], y[train])[0])
        subsets = [np.flatnonzero(short.support_), *(order[:size] for size in sizes)]
        errors = [
            1 - GaussianNB().fit(X[train][:, some], y[train]).score(X[test][:, some], y[test]) for some in subsets
        ]
        searched.append(errors[0])
        filtered.append(errors[1:])
    return np.array(searched), np.array(filtered), sizes


@pytest.mark.parametrize(("X", "better"), [(NOISY, True), (CROSSED, False)])
def test_the_filter_is_taken_if_it_is_clearly_better(X, better):
    searched, filtered, sizes = nested_errors(X, LABELS)
    best = int(filtered.mean(axis=0).argmin())
    gains = searched - filtered[:, best]
    assert (gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(5)) == better
    selector = quick(**OPTIONS).fit(X, LABELS)
    expected = np.zeros(X.shape[1], dtype=bool)
    expected[np.argsort(-f_classif(X, LABELS)[0])[: sizes[best]]] = True
    if not better:
        expected = quick(max_evaluations=300, selection_rule="rescored").fit(X, LABELS).support_
    np.testing.assert_array_equal(selector.support_, expected)
    for mean in (searched.mean(), filtered.mean(axis=0)[best]):
        assert f"{1 - mean:.3g}" in selector.rule_
    assert selector.best_score_ == pytest.approx(cross_val_score(GaussianNB(), X[:, expected], LABELS, cv=5).mean())
    assert selector.predict(X).shape == LABELS.shape


def test_features_beyond_the_prefilter_can_be_taken():
    weak = RNG.normal(size=(80, 60)) + 0.5 * LABELS[:, np.newaxis]  # each feature tells a little
    selector = quick(prefilter=9, **OPTIONS).fit(weak, LABELS)
    assert selector.n_features_ > 9
    folds = cross_val_score(GaussianNB(), weak[:, selector.support_], LABELS, cv=5)
    assert selector.best_score_ == pytest.approx(folds.mean())
    assert "nested" in selector.rule_


@pytest.mark.parametrize(
    "options",
    [
        {"max_evaluations": 299},
        {"cv": ShuffleSplit(3, random_state=0)},
        {"constraints": {"fixed": [0]}},
        {"n_features_to_select": 3},
        {"callbacks": lambda progress: progress.n_evaluations >= 300, "max_evaluations": 400},
        {"callbacks": EarlyStopping(max_time=1e-9)},
        {"selection_rule": "rescored"},
    ],
)
def test_without_a_comparison_the_search_counts(options):
    selector = quick(**(OPTIONS | options)).fit(NOISY, LABELS)
    plain = quick(**(OPTIONS | options | {"selection_rule": "rescored"})).fit(NOISY, LABELS)
    np.testing.assert_array_equal(selector.support_, plain.support_)
    assert "nested" not in selector.rule_


def test_small_classes_and_regressions():
    X, y = WINE
    rare = np.r_[0:8, 60:68, 140:144]  # nested searches have three events of the last class
    quick(cv=4, **OPTIONS).fit(X[rare], y[rare])
    assert "nested" in quick(Ridge(), cv=4, **OPTIONS).fit(X[:60, 1:], X[:60, 0]).rule_
