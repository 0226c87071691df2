"""What was published still reproduces: the runs of the reference studies, bit for bit."""

import csv
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pqswarm.evaluation import CachedEvaluator, Folds
from pqswarm.search import minimize
from pqswarm.study import load_plan
from pqswarm.study.worker import StudyProblem
from tests.depth import some

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).parents[1] / "docs" / "results"
PUBLISHED = {"paper": "paper", "paper-grid": "paper-stepped"}  # names in the published tables
PUBLISHED_WITH = {"algorithms.2d-upso.randomness": "element", "algorithms.cbpso.catfish_positions": "extreme"}
PUBLISHED_EVENTS = str(RESULTS / "separate-onsets.toml")  # in the place of the preset paper
LEVELS = [("NB", 0.0199, 94.28), ("k-NN", 0.0343, 91.86)][: some(3)]
RUNS = [("NB", "2D-UPSO", 7), ("NB", "GA", 0), ("NB", "CBPSO", 31)][: some(6)]


@pytest.fixture(scope="module", params=["paper", "paper-grid"])
def study(request, paper_events):
    """A reference study: its plan, problems, evaluators, and the published runs."""
    preset = PUBLISHED_EVENTS if request.param == "paper" else request.param
    plan = load_plan(request.param, PUBLISHED_WITH | {"dataset.preset": preset})
    events = paper_events(preset)
    assert (plan.dataset.make_preset().name, plan.dataset.seed) == (events.preset["name"], events.seed)
    assert plan.dataset.events_per_class * len(events.class_names) == len(events)
    folds = Folds.stratified(events.y, plan.folds.number, plan.folds.seed)
    X, y = events.X(inf), events.y
    problems = {c.name: StudyProblem(X, y, folds.test_fold, c.make(), c.scaling) for c in plan.classifiers}
    evaluators = {name: problem.evaluator() for name, problem in problems.items()}
    with (RESULTS / f"{PUBLISHED[request.param]}-runs.csv").open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    return SimpleNamespace(
        name=PUBLISHED[request.param],
        plan=plan,
        events=events,
        problems=problems,
        evaluators=evaluators,
        runs=runs,
    )


def mask_of(features, n_features):
    return np.isin(np.arange(n_features), features)


@pytest.mark.parametrize("study", ["paper-grid"], indirect=True)
@pytest.mark.parametrize(("classifier", "clean", "noisy"), LEVELS)
def test_level_of_error_is_about_the_papers(classifier, clean, noisy, study):
    """Of stepped events, by all features, without noise and at 30 dB."""
    everything, problem = np.ones((1, 99), bool), study.problems[classifier]
    assert clean / 1.5 < study.evaluators[classifier].errors(everything)[0] < 1.5 * clean
    error = replace(problem, X=study.events.X(30.0)).evaluator().errors(everything)[0]
    assert abs(100 * (1 - error) - noisy) < 4


def check_errors(study, runs, step):
    """Assert that some runs of each classifier have the published errors; return their number."""
    chosen = {name: [row for row in runs if row["classifier"] == name][::step] for name in study.evaluators}
    for name, rows in chosen.items():
        masks = np.array([mask_of([int(i) for i in row["features"].split()], 99) for row in rows])
        errors = study.evaluators[name].errors(masks)
        assert [repr(float(error)) for error in errors] == [row["error"] for row in rows]
    return sum(map(len, chosen.values()))


def test_errors_of_reference_runs(study):
    assert check_errors(study, study.runs, 8) > 50


@pytest.mark.parametrize(("classifier", "title", "run"), RUNS)
def test_reference_runs_from_the_start(classifier, title, run, study):
    row = next(r for r in study.runs if (r["classifier"], r["algorithm"], r["run"]) == (classifier, title, str(run)))
    algorithm = next(a for a in study.plan.algorithms if a.title == title)
    seed = study.plan.run_seed(classifier, algorithm.name, run)
    assert str(seed) == row["seed"]
    found = minimize(
        algorithm.algorithm,
        CachedEvaluator(study.evaluators[classifier]),
        study.plan.max_evaluations,
        seed,
        parameters=algorithm.parameters,
    )
    assert (repr(found.error), " ".join(map(str, found.selected))) == (row["error"], row["features"])


def test_sffs_from_the_start(study):
    for title, told in (("SFFS", True), ("SFFS all sizes", False)):
        row = next(r for r in study.runs if (r["classifier"], r["algorithm"]) == ("NB", title))
        size = {"size": int(row["size"])} if told else {}
        budget = 10**6 if told else study.plan.max_evaluations
        found = minimize("sffs", CachedEvaluator(study.evaluators["NB"]), budget, parameters=size)
        assert (repr(found.error), str(found.n_evaluations)) == (row["error"], row["evaluations"])
        assert " ".join(map(str, found.selected)) == row["features"]


def test_errors_of_the_runs_of_mosaic(study):
    """Published runs of a search that was removed: the errors of some subsets with both classifiers."""
    with (RESULTS / "mosaic-runs.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["preset"] == study.name]
    assert len(rows) == 80
    assert check_errors(study, rows, 10) == 8
