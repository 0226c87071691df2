"""Filters rank features from the data; the search along a ranking tries its beginnings."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.neighbors import KNeighborsClassifier

from pqswarm import SwarmSelector
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import FILTERS, Filter, Folds, GaussianNBEvaluator
from pqswarm.search import minimize
from pqswarm.study import Store, read_plan, run_study
from tests.study.studies import plan_toml


@pytest.fixture
def variance():
    """A filter in three lines."""
    yield FILTERS.register(Filter("variance", lambda X, y: np.var(X, axis=0)))
    FILTERS._members.pop("variance")


def test_filters_are_those_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    assert FILTERS["anova"].rank(X, y) == tuple(np.argsort(-f_classif(X, y)[0]))
    assert FILTERS["mutual-information"].rank(X, y) == tuple(np.argsort(-mutual_info_classif(X, y, random_state=0)))


def test_features_without_a_score_come_last():
    X = np.random.default_rng(0).random((30, 4))
    X[:, 1] = 0.5
    assert FILTERS["anova"].rank(X, np.arange(30) % 2)[-1] == 1


def test_scores_of_the_wrong_number_are_refused():
    with pytest.raises(PqswarmError, match="filter 'odd' must give one score per feature"):
        Filter("odd", lambda X, y: np.zeros(2)).rank(np.ones((5, 3)), np.arange(5))


def test_every_beginning_of_the_ranking_is_tried():
    X, y = load_wine(return_X_y=True)
    evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    order = FILTERS["anova"].rank(X, y)
    masks = np.array([np.isin(np.arange(13), order[:size]) for size in range(1, 14)])
    found = minimize("ranking", evaluator, parameters={"order": order})
    errors = evaluator.errors(masks)
    assert (found.error, found.n_evaluations) == (errors.min(), 13)
    assert (found.mask == masks[errors.argmin()]).all()
    assert minimize("ranking", evaluator, parameters={"order": order, "size": 4}).selected.tolist() == sorted(order[:4])


@pytest.mark.parametrize("order", [[0, 1], [0] * 13, [-1], "text"])
def test_an_order_that_is_none(order):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(PqswarmError, match="order of RankingParameters must"):
        minimize("ranking", GaussianNBEvaluator(X, y, Folds.stratified(y)), parameters={"order": order})


def test_a_filter_of_ones_own_in_the_selector_and_in_a_study(variance, tmp_path):
    X, y = load_wine(return_X_y=True)
    selector = SwarmSelector(KNeighborsClassifier(), algorithm="ranking", algorithm_params={"filter": "variance"})
    best = selector.fit(X, y).n_features_
    assert selector.support_[np.argsort(-X.var(axis=0))[:best]].all()
    text = plan_toml() + '\n[[algorithms]]\nalgorithm = "ranking"\nparameters = { filter = "variance" }\n'
    run_study(read_plan(text), tmp_path, jobs=1)
    with Store(tmp_path) as store:
        assert {r.result.n_evaluations for r in store.finished() if r.key.algorithm == "ranking"} == {99}
    with pytest.raises(PqswarmError, match="unknown filter 'varience': did you mean 'variance'"):
        read_plan(text.replace('"variance"', '"varience"'))
