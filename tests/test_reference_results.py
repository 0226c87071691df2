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
from pqswarm.study import load_plan, read_plan
from pqswarm.study.worker import StudyProblem
from tests.depth import some

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).parents[1] / "docs" / "results"
LEVELS = [("NB", 0.0199, 94.28), ("k-NN", 0.0343, 91.86)][: some(3)]
RUNS = [("NB", "2D-UPSO", 7), ("NB", "GA", 0), ("NB", "CBPSO", 31)][: some(6)]


@pytest.fixture(scope="module", params=["paper", "paper-grid"])
def study(request, paper_events):
    """A reference study: its plan, problems, evaluators, and the published runs and accuracies of stage II."""
    plan = load_plan(request.param)
    events = paper_events(request.param)
    assert (plan.dataset.make_preset().name, plan.dataset.seed) == (events.preset["name"], events.seed)
    assert plan.dataset.events_per_class * len(events.class_names) == len(events)
    folds = Folds.stratified(events.y, plan.folds.number, plan.folds.seed)
    X, y = events.X(inf), events.y
    problems = {c.name: StudyProblem(X, y, folds.test_fold, c.make(), c.scaling) for c in plan.classifiers}
    evaluators = {name: problem.evaluator() for name, problem in problems.items()}
    return SimpleNamespace(
        plan=plan,
        events=events,
        problems=problems,
        evaluators=evaluators,
        runs=published_rows(request.param, "runs"),
        stage_two=published_rows(request.param, "stage-two"),
    )


def published_rows(study, table):
    with (RESULTS / f"{study}-{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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


def test_data_sets_of_the_random_readings():
    plan = read_plan((RESULTS / "random-readings.toml").read_text(encoding="utf-8"), "random-readings.toml")
    seeds = {each.name: each.chosen["events"] for each in plan.multiverse.list_specifications()}
    rows = published_rows("random-readings", "runs")
    assert {(row["reading"], row["dataset"]) for row in rows} == {(name, f"seed {seeds[name]}") for name in seeds}


def masks_of(rows):
    return np.array([mask_of([int(i) for i in row["features"].split()], 99) for row in rows])


def test_errors_of_reference_runs(study):
    for name, evaluator in study.evaluators.items():
        rows = [row for row in study.runs if row["classifier"] == name][::8]
        assert len(rows) > 25
        assert [repr(float(error)) for error in evaluator.errors(masks_of(rows))] == [row["error"] for row in rows]


def test_accuracies_of_stage_two_under_noise(study):
    for name, problem in study.problems.items():
        rows = [row for row in study.runs if row["classifier"] == name][::40]
        of_run = {
            (row["algorithm"], row["run"]): row["accuracy"]
            for row in study.stage_two
            if (row["classifier"], row["snr"]) == (name, "30.0")
        }
        errors = replace(problem, X=study.events.X(30.0)).evaluator().errors(masks_of(rows))
        accuracies = [repr(100.0 * (1.0 - float(error))) for error in errors]
        assert accuracies == [of_run[row["algorithm"], row["run"]] for row in rows]


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
