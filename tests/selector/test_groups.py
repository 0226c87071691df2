"""Features that stay, that are left out, and that are chosen together."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from pqswarm.evaluation import FeatureGroups, Folds, GaussianNBEvaluator, GroupedEvaluator
from pqswarm.search import ALGORITHMS, minimize
from tests.selector.problems import WINE, assert_same, quick

X, y = WINE
NAMES = load_wine().feature_names
CONSTRAINTS = {"fixed": [2, 7], "excluded": [0, 12], "groups": [[3, 4, 5], [8, 9]]}


def obeys(mask):
    together = len(set(mask[[3, 4, 5]])) == len(set(mask[[8, 9]])) == 1
    return mask[[2, 7]].all() and not mask[[0, 12]].any() and together


def test_bits_mean_features():
    groups = FeatureGroups.of(range(13), **CONSTRAINTS)
    assert groups.n_bits == 13 - 4 - 2 - 1
    bits = np.random.default_rng(0).random((300, groups.n_bits)) < 0.5
    masks = groups.expand(bits)
    assert all(obeys(mask) for mask in masks)
    assert len(np.unique(masks, axis=0)) == len(np.unique(bits, axis=0))
    evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y, 5))
    grouped = GroupedEvaluator(evaluator, groups)
    np.testing.assert_array_equal(grouped.errors(bits), evaluator.errors(masks))
    np.testing.assert_array_equal(grouped.fold_errors(bits[:9]), evaluator.fold_errors(masks[:9]))


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_every_search_obeys(algorithm):
    groups = FeatureGroups.of(range(13), **CONSTRAINTS)
    evaluator = GroupedEvaluator(GaussianNBEvaluator(X, y, Folds.stratified(y, 3)), groups)
    result = groups.expand_result(minimize(algorithm, evaluator, max_evaluations=100))
    assert obeys(result.mask)
    assert all(obeys(mask) for mask in result.front_masks)
    assert result.improvements[-1, 2] <= result.size


@pytest.mark.parametrize("by_name", [True, False])
def test_the_selector_obeys(by_name):
    frame = pd.DataFrame(X, columns=NAMES) if by_name else X
    named = np.array(NAMES) if by_name else np.arange(13)
    constraints = {
        "fixed": list(named[[2, 7]]),
        "excluded": list(named[[0, 12]]),
        "groups": {"ash": list(named[[3, 4, 5]]), "color": list(named[[8, 9]])},
    }
    selector = quick(constraints=constraints).fit(frame, y)
    assert all(obeys(point.support) for point in selector.front_)
    assert selector.n_features_ == selector.support_.sum()
    for point in (selector.front_[0], selector.front_[-1]):
        assert point.score == pytest.approx(cross_val_score(GaussianNB(), X[:, point.support], y, cv=5).mean())
    assert selector.front_[0].size == 2  # the fixed features alone
    assert all(a.size < b.size and a.score < b.score for a, b in pairwise(selector.front_))
    assert_same(selector, quick(constraints=constraints, n_jobs=2).fit(frame, y))


def test_the_number_of_features_counts_fixed_ones_and_groups():
    selector = quick(constraints={"fixed": [0], "groups": [[1, 2, 3]]}, n_features_to_select=4).fit(X, y)
    chosen = selector.support_
    assert chosen[0]
    assert chosen.sum() == 4 + 2 * chosen[1]


def test_wide_data_keep_fixed_features_and_whole_groups():
    rng = np.random.default_rng(0)
    wide = np.hstack([rng.normal(size=(178, 40)), X])
    selector = quick(prefilter=10, constraints={"fixed": [0], "groups": [[1, 52]]}, algorithm="merit").fit(wide, y)
    assert selector.support_[0]
    assert selector.support_[1] == selector.support_[52]
    assert not selector.support_[2:40].any()
