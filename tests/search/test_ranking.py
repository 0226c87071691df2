"""Filters rank features; the ranking search evaluates each prefix of a ranking."""

import re
from math import inf
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.neighbors import KNeighborsClassifier

from pqswarm import SwarmSelector
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import FILTERS, Filter, Folds, GaussianNBEvaluator
from pqswarm.report import write_report
from pqswarm.search import minimize
from pqswarm.study import AlgorithmPlan, Store, read_plan, run_study
from pqswarm.study.findings import StageTwo
from tests.study.studies import FEW, plan_toml
from tests.test_docs import blocks

X, y = load_wine(return_X_y=True)


@pytest.fixture
def variance():
    """A filter in three lines."""
    yield FILTERS.register(Filter("variance", lambda X, y: np.var(X, axis=0)))
    FILTERS._members.pop("variance")


def test_filters_are_those_of_scikit_learn():
    assert FILTERS["anova"].rank(X, y) == tuple(np.argsort(-f_classif(X, y)[0]))
    assert FILTERS["mutual-information"].rank(X, y) == tuple(np.argsort(-mutual_info_classif(X, y, random_state=0)))


def test_scores_of_the_wrong_number_are_refused():
    with pytest.raises(PqswarmError, match="filter 'odd' must return one score per feature"):
        Filter("odd", lambda X, y: np.zeros(2)).rank(np.ones((5, 3)), np.arange(5))


def test_every_prefix_of_the_ranking_is_evaluated():
    evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    order = FILTERS["anova"].rank(X, y)
    masks = np.array([np.isin(np.arange(13), order[:size]) for size in range(1, 14)])
    found = minimize("ranking", evaluator, parameters={"order": order})
    errors = evaluator.errors(masks)
    assert (found.error, found.n_evaluations) == (errors.min(), 13)
    assert (found.mask == masks[errors.argmin()]).all()
    assert minimize("ranking", evaluator, parameters={"order": order, "size": 4}).selected.tolist() == sorted(order[:4])


@pytest.mark.parametrize("order", [[0, 1], [0] * 13, [-1], "text"])
def test_invalid_orders(order):
    with pytest.raises(PqswarmError, match="order must"):
        minimize("ranking", GaussianNBEvaluator(X, y, Folds.stratified(y)), parameters={"order": order})


PLAN = """
title = "Do filters find what a search finds?"
runs = 3
max_evaluations = 60
baseline = "ga"
dataset = { file = "wines.csv" }
folds = { number = 5 }

[[classifiers]]
name = "k-NN"
kind = "k-nn"
n_neighbors = 3
grid_search = false

[[algorithms]]
algorithm = "ga"

"""


def test_the_algorithms_of_the_page_on_filters_run_to_a_report(tmp_path):
    page = Path(__file__).parents[2] / "docs/explanation/filters.md"
    text = next(code for code, _ in blocks(page, "toml") if "ranking-mrmr" in code)
    plan = read_plan("\n".join([PLAN, text, text.replace("mrmr", "relieff")]))
    titles = ["Ranking (mRMR)", "Ranking (ReliefF)"]
    assert [algorithm.title for algorithm in plan.sequential] == titles
    run_study(plan, tmp_path, jobs=1, data=load_wine(as_frame=True).frame)
    with Store(tmp_path) as store:
        found = {record.key.algorithm: record for record in store.finished() if "ranking" in record.key.algorithm}
        assert {name: record.result.n_evaluations for name, record in found.items()} == dict.fromkeys(
            ("ranking-mrmr", "ranking-relieff"), 13
        )
        assert set(found) < set(store.find(StageTwo, "k-NN", inf).accuracy)
    report = write_report(tmp_path, "md").read_text()
    for title in titles:
        assert re.search(rf"\| {re.escape(title)} +\| 13 ", report)  # evaluations of its single run


@pytest.mark.parametrize(
    ("name", "parameters", "title"),
    [
        ("ranking", {}, "Ranking (mutual information)"),
        ("ranking", {"filter": "cfs"}, "Ranking (CFS)"),
        ("ranking-cfs", {"filter": "cfs"}, "Ranking (CFS)"),
        ("ranking-mrmr", {"filter": "cfs"}, "ranking-mrmr"),
        ("as I like", {"filter": "cfs"}, "as I like"),
        ("ranking", {"order": [1, 0]}, "Ranking"),
    ],
)
def test_titles_of_rankings(name, parameters, title):
    assert AlgorithmPlan(name=name, algorithm="ranking", parameters=parameters).title == title


def test_a_custom_filter_in_the_selector_and_in_a_study(variance, tmp_path):
    selector = SwarmSelector(KNeighborsClassifier(), algorithm=("ranking", {"filter": "variance"}))
    best = selector.fit(X, y).n_features_
    assert selector.support_[np.argsort(-X.var(axis=0))[:best]].all()
    text = plan_toml(classes=FEW) + '\n[[algorithms]]\nalgorithm = "ranking"\nparameters = { filter = "variance" }\n'
    run_study(read_plan(text), tmp_path, jobs=1)
    with Store(tmp_path) as store:
        assert {r.result.n_evaluations for r in store.finished() if r.key.algorithm == "ranking"} == {99}
    with pytest.raises(PqswarmError, match="unknown filter 'varience': did you mean 'variance'"):
        read_plan(text.replace('"variance"', '"varience"'))
