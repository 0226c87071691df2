"""What was published still reproduces: the best known subsets, and the runs of the reference study, bit for bit."""

import csv
import json
from importlib.resources import files
from math import inf
from pathlib import Path

import numpy as np
import pytest

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds, Memo
from pqswarm.search import minimize
from pqswarm.study import load_plan
from pqswarm.study.problem import Problem

pytestmark = pytest.mark.slow
RUNS = Path(__file__).parents[1] / "docs" / "results" / "paper-runs.csv"


@pytest.fixture(scope="module")
def plan():
    return load_plan("paper")


@pytest.fixture(scope="module")
def problems(plan):
    events = make_dataset(plan.dataset.events_per_class, inf, plan.dataset.seed, plan.dataset.preset)
    folds = Folds.stratified(events.y, plan.folds.number, plan.folds.seed)
    return {c.name: Problem(events.X(inf), events.y, folds.test_fold, c.make(), c.scaling) for c in plan.classifiers}


@pytest.fixture(scope="module")
def evaluators(problems):
    return {name: problem.evaluator() for name, problem in problems.items()}


@pytest.fixture(scope="module")
def runs():
    with RUNS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mask_of(features, n_features):
    return np.isin(np.arange(n_features), features)


def test_best_known_subsets(problems, evaluators):
    kept = json.loads((files("pqswarm.report") / "best_known.json").read_text(encoding="utf-8"))
    assert {record["classifier"] for record in kept} == set(problems)
    for record in kept:
        problem, evaluator = problems[record["classifier"]], evaluators[record["classifier"]]
        assert evaluator.errors(mask_of(record["features"], 99)[np.newaxis])[0] == record["error"]
        assert problem.key == record["problem"], "the events, folds or hyperparameters are others"


@pytest.mark.parametrize("classifier", ["k-NN", "NB"])
def test_errors_of_reference_runs(classifier, evaluators, runs):
    rows = [row for row in runs if row["classifier"] == classifier][::8]
    masks = np.array([mask_of([int(i) for i in row["features"].split()], 99) for row in rows])
    assert len(rows) > 25
    assert [repr(float(error)) for error in evaluators[classifier].errors(masks)] == [row["error"] for row in rows]


@pytest.mark.parametrize(("classifier", "title", "run"), [("NB", "2D-UPSO", 7), ("NB", "GA", 0), ("NB", "CBPSO", 31)])
def test_reference_runs_from_the_start(classifier, title, run, plan, evaluators, runs):
    row = next(r for r in runs if (r["classifier"], r["algorithm"], r["run"]) == (classifier, title, str(run)))
    algorithm = next(a for a in plan.algorithms if a.title == title)
    seed = plan.run_seed(classifier, algorithm.name, run)
    assert str(seed) == row["seed"]
    found = minimize(algorithm.algorithm, Memo(evaluators[classifier]), plan.max_evaluations, seed)
    assert (repr(found.error), " ".join(map(str, found.selected))) == (row["error"], row["features"])


def test_sffs_from_the_start(evaluators, runs):
    row = next(r for r in runs if (r["classifier"], r["algorithm"]) == ("NB", "SFFS"))
    found = minimize("sffs", Memo(evaluators["NB"]), 10**6, parameters={"size": int(row["size"])})
    assert (repr(found.error), str(found.n_evaluations)) == (row["error"], row["evaluations"])
    assert " ".join(map(str, found.selected)) == row["features"]
