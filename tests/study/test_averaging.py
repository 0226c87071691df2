"""Means of the classifiers of several best subsets, tested beside the best subset alone."""

import shutil
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from pqswarm import KernelNB
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds
from pqswarm.study import format_plan, read_plan, run_study
from pqswarm.study.findings import HeldOut, Hyperparameters, StageTwo, mean_name
from pqswarm.study.records import best_subsets
from tests.conftest import made_once
from tests.study.studies import (
    FEW,
    change_database,
    contents,
    events_of_few,
    find,
    plan_toml,
    records,
    stop_study,
    tiny,
)

LINEAR = '[[classifiers]]\nname = "linear"\nestimator = "sklearn.linear_model.RidgeClassifier"\nscaling = "minmax"\n'
MEANS = [mean_name(algorithm, 3) for algorithm in ("2d-upso", "ga")]


def averaging_plan(number=3, more="", **changes):
    text = plan_toml(classes=FEW, **changes).replace("[[algorithms]]", f"{more}[[algorithms]]", 1)
    return read_plan(text, changes={"subsets": number})


@pytest.fixture(scope="session")
def averaged(tmp_path_factory):
    return made_once(tmp_path_factory, "averaged-study", lambda folder: run_study(averaging_plan(), folder, jobs=1))


@pytest.fixture(scope="session")
def averaged_linear(tmp_path_factory):
    """A smaller one, also with a classifier that has decision functions instead of probabilities."""
    plan = averaging_plan(more=LINEAR, max_evaluations=30, algorithms=("2d-upso", "ga"))
    return made_once(tmp_path_factory, "averaged-linear", lambda folder: run_study(plan, folder, jobs=1))


def scores(name, settings, X, y, new, subsets):
    """The mean response of scikit-learn's estimators for new events, fitted to each subset."""
    responses = []
    for mask in subsets:
        if name == "linear":
            responses.append(RidgeClassifier().fit(X[:, mask], y).decision_function(new[:, mask]))
        else:
            estimator = KernelNB(**settings) if name == "NB" else KNeighborsClassifier(**settings, algorithm="brute")
            responses.append(estimator.fit(X[:, mask], y).predict_proba(new[:, mask]))
    return np.mean(responses, axis=0)


@pytest.mark.parametrize("name", ["k-NN", "NB", "linear"])
@pytest.mark.parametrize("algorithm", ["2d-upso", "ga"])
@pytest.mark.parametrize("level", [inf, 30.0])
def test_means_are_those_of_a_loop_over_estimators(averaged_linear, events, name, algorithm, level):
    settings = find(averaged_linear, Hyperparameters, name).settings
    runs = sorted(records(averaged_linear, name, algorithm), key=lambda run: (run.error, run.size, run.key.run))
    subsets = [run.mask for run in runs]
    assert len({mask.tobytes() for mask in subsets}) == 3
    mean = mean_name(algorithm, 3)

    X, y = events.X(level), events.y
    rates = []
    for train, test in PredefinedSplit(Folds.stratified(y, 5, 0).test_fold).split():
        scaled = MinMaxScaler().fit(X[train] if name == "linear" else X).transform(X)
        found = scores(name, settings, scaled[train], y[train], scaled[test], subsets).argmax(axis=1)
        rates.append(np.mean(found == y[test]))
    accuracy = find(averaged_linear, StageTwo, name, level).accuracy[mean]
    assert accuracy == pytest.approx([100 * np.mean(rates)], abs=1e-9)

    for seed in (1, 2):
        new = events_of_few(10, level, seed)
        scaler = MinMaxScaler().fit(X)
        found = scores(name, settings, scaler.transform(X), y, scaler.transform(new.X(level)), subsets).argmax(axis=1)
        errors = find(averaged_linear, HeldOut, name, level, seed).errors
        assert errors[mean] == pytest.approx([np.mean(found != new.y)], abs=1e-12)


def test_all_else_is_the_same(averaged, study):
    """Means are added to the findings; runs and other findings do not change."""
    with_means, without = contents(averaged), contents(study)
    assert with_means["runs"] == without["runs"]
    assert with_means["findings"].keys() == without["findings"].keys()
    for place, value in without["findings"].items():
        kind = {"StageTwo": StageTwo, "HeldOut": HeldOut}.get(place[1])
        if kind is None:
            assert with_means["findings"][place] == value
            continue
        key = "accuracy" if kind is StageTwo else "errors"
        ours, theirs = (vars(kind.from_json(each["findings"][place])) for each in (with_means, without))
        assert list(ours[key]) == [*theirs[key], *MEANS]
        assert {name: ours[key][name] for name in theirs[key]} == theirs[key]


def test_one_subset_is_no_mean(study):
    assert averaging_plan(1) == tiny()
    assert averaging_plan(1).canonical() == tiny().canonical()
    assert not any("mean of" in value for value in contents(study)["findings"].values())


def test_plans_of_means():
    plan = averaging_plan()
    assert (plan.averaged, list(plan.ensembles)) == (3, MEANS)
    assert read_plan(format_plan(plan)) == plan
    assert plan.differences(tiny())[0][0].startswith("subsets")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (4, "subsets is 4, more than runs, 3: average fewer or run more"),
        (0, "subsets.averaged: must be at least 1, not 0"),
        (2.5, "subsets.averaged: must be an integer, not 2.5"),
        (True, "subsets.averaged: must be an integer, not True"),
        ("five", "subsets.averaged: must be an integer, not 'five'"),
    ],
)
def test_other_numbers_are_refused(number, sentence):
    with pytest.raises(PqswarmError, match=sentence):
        averaging_plan(number)


def test_best_subsets_are_distinct(study):
    first, second, third = records(study, "NB", "ga")

    def run(record, error, mask):
        return replace(record, result=replace(record.result, error=error, mask=mask))

    small, large = np.arange(99) < 2, np.arange(99) < 5
    found = best_subsets([run(first, 0.2, large), run(second, 0.1, large), run(third, 0.1, small)], 3)
    assert found.tolist() == [small.tolist(), large.tolist()]
    assert best_subsets([run(first, 0.2, large), run(second, 0.1, small)], 1).tolist() == [small.tolist()]


def test_interruptions_change_nothing(averaged, tmp_path):
    """Stopped in both tests of the subsets and resumed in two processes; then some findings are lost."""
    plan = averaging_plan()
    for stage in ("NB: stage II at 30 dB", "held-out data, seed 2: NB"):
        stop_study(plan, tmp_path / "study", lambda now, stage=stage: now.stage == stage)
    run_study(plan, tmp_path / "study", jobs=2)
    assert contents(tmp_path / "study") == contents(averaged)

    folder = shutil.copytree(averaged, tmp_path / "copy")
    change_database(folder, "DELETE FROM findings WHERE kind IN ('StageTwo', 'HeldOut') AND level LIKE '30%'")
    run_study(plan, folder, jobs=1)
    assert contents(folder) == contents(averaged)
