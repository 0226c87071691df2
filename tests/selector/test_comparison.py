"""Does selection pay? Selected features against all and against a filter, in nested cross-validation."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pqswarm._base.random import derived_seed
from pqswarm.selector import EarlyStopping, comparison
from tests.selector.problems import WINE, quick

RNG = np.random.default_rng(3)
LABELS = np.repeat([0, 1], 40)
NOISY = RNG.normal(size=(80, 60))
NOISY[:, :6] += LABELS[:, np.newaxis]  # the other 54 features tell nothing
SHARED = RNG.normal(size=(80, 40)) + 0.6 * LABELS[:, np.newaxis]  # each feature tells a little
SPOILT = RNG.standard_cauchy((80, 9))
SPOILT[:, 4] = RNG.choice([-1, 1], 80) * np.where(LABELS, 3.0, 0.3)  # tells everything, with equal means


def compared(X, y, evaluations, **options):
    """Scores of selected, all and filtered features in five test sets, by scikit-learn, and the numbers of features."""
    outer = StratifiedKFold(5, shuffle=True, random_state=derived_seed(0, (2**31 + 3,)) % 2**32)
    scores, sizes = [], []
    for number, (train, test) in enumerate(outer.split(X, y)):
        seed = derived_seed(0, (2**31 + 4, number))
        cv = StratifiedKFold(5, shuffle=True, random_state=seed % 2**32)
        short = quick(cv=cv, max_evaluations=evaluations, random_state=seed, **options).fit(X[train], y[train])
        order = np.argsort(-f_classif(X[train], y[train])[0])
        counts = sorted({min(size, X.shape[1]) for size in comparison._SIZES})
        inner = [cross_val_score(GaussianNB(), X[train][:, order[:count]], y[train], cv=cv).mean() for count in counts]
        first = counts[int(np.argmax(np.round(inner, 12)))]
        subsets = [np.flatnonzero(short.support_), np.arange(X.shape[1]), order[:first]]
        scores.append(
            [GaussianNB().fit(X[train][:, some], y[train]).score(X[test][:, some], y[test]) for some in subsets]
        )
        sizes.append([subsets[0].size, first])
    return np.array(scores), np.mean(sizes, axis=0)


@pytest.mark.parametrize(
    ("X", "options", "advice"),
    [
        (NOISY, {}, "the filter alone is better"),
        (SPOILT, {}, "selection pays"),
        (SHARED, {}, "keep all features unless few are wanted"),
        (WINE[0][:80], {}, "selection saves features, at about the same score"),
        (SHARED, {"n_features_to_select": 2}, "keep all features unless few are wanted"),
    ],
    ids=["noisy", "spoilt", "shared", "meaningless", "few"],
)
def test_selected_features_are_compared_with_all_and_with_a_filter(X, options, advice):
    selector = quick(max_evaluations=400, **options).fit(X, LABELS)
    scores, sizes = compared(X, LABELS, 20, **options)
    found = selector.comparison_
    text = selector.comparison_text_
    np.testing.assert_allclose([found["selected"], found["all"], found["filter"]], scores.mean(axis=0))
    np.testing.assert_allclose([found["n_selected"], found["n_filter"]], sizes)
    assert text.startswith("In nested cross-validation, with searches of 20 evaluations, ")
    assert text.endswith(f": {advice}.")
    assert f"all {X.shape[1]} {found['all']:.3g}" in text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_evaluations": 199}, "fewer than 200 evaluations"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "not a plain k-fold"),
        ({"callbacks": lambda progress: progress.n_evaluations >= 60}, "the search was stopped"),
        ({"callbacks": EarlyStopping(max_time=1e-9)}, "the search was stopped"),
    ],
)
def test_without_a_comparison_the_reason_is_told(options, reason):
    selector = quick(**options).fit(NOISY, LABELS)
    assert selector.comparison_ == {}
    assert selector.comparison_text_.startswith("Selected features were not compared with all features, because ")
    assert reason in selector.comparison_text_


def test_constraints_hold_in_the_comparison():
    leaking = np.column_stack([NOISY, LABELS])
    selector = quick(constraints={"excluded": [60], "fixed": [7]}).fit(leaking, LABELS)
    assert "all 60 " in selector.comparison_text_
    assert selector.comparison_["filter"] < 1
    assert selector.comparison_["all"] < 1


def test_small_classes_regressions_and_missing_values():
    X, y = WINE
    rare = np.r_[0:8, 60:68, 140:144]  # nested searches have three samples of the last class
    assert quick(cv=4).fit(X[rare], y[rare]).comparison_
    assert quick(Ridge(), cv=4).fit(X[:60, 1:], X[:60, 0]).comparison_
    holes = X.copy()
    holes[3, 4] = np.nan
    selector = quick(DecisionTreeClassifier(max_depth=2), cv=2).fit(holes, y)
    assert np.isnan(selector.comparison_["filter"])
    assert "ANOVA" not in selector.comparison_text_
