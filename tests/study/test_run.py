"""Studies from end to end: the same whoever does the work; what is refused, and what is told."""

from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from pqswarm.datasets import load_dataset
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study import AlgorithmPlan, Store, best_run, run, run_study, scheduler
from pqswarm.study.findings import About, Events, Finished
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.store import StudyDatabase
from tests.study.studies import FEW, contents, events_of_few, find, records, tiny

CLASSIFIERS = ("k-NN", "NB")


def test_all_that_is_planned_is_there(study, events):
    found = contents(study)
    assert len(found["runs"]) == 2 * (2 * 3 + 1)
    kinds = ("AllFeatures", "Hyperparameters", "OneStandardError")
    places = {(kind, classifier, "") for kind in kinds for classifier in CLASSIFIERS}
    places |= {("StageTwo", classifier, level) for classifier in CLASSIFIERS for level in ("inf", "30")}
    sets = ("inf, seed 1", "inf, seed 2", "30, seed 1", "30, seed 2")
    places |= {("HeldOut", classifier, one) for classifier in CLASSIFIERS for one in sets}
    assert {place[1:] for place in found["findings"]} == places | {("Events", "", "")}
    np.testing.assert_array_equal(load_dataset(study / "dataset.npz").features, events.features)
    about = find(study, About)
    assert find(study, Finished).at >= about.began
    assert about.machine["cores"] >= 1
    assert about.plan["title"] == tiny().title
    found = find(study, Events)
    assert (found.count, found.class_names, found.feature_names) == (40, events.class_names, events.feature_names)


def test_resuming_a_finished_study_changes_nothing_but_what_is_shown(study_copy):
    before, finished = contents(study_copy), find(study_copy, Finished).at
    shown = {"title": "Another title", "paper": False, "control": "ga", "comparisons": (("ga", "2d-upso"),)}
    plan = tiny().model_copy(update=shown)
    run_study(plan, study_copy, jobs=2)
    after = contents(study_copy)
    assert {key: after[key] for key in ("runs", "findings")} == {key: before[key] for key in ("runs", "findings")}
    assert find(study_copy, Finished).at == finished
    assert restore_plan(find(study_copy, About).plan) == plan
    run_study(tiny(), study_copy, jobs=2)
    assert contents(study_copy) == before


def test_the_best_run_has_the_least_error_then_the_fewest_features_then_the_lowest_number(study):
    one = records(study, "NB", "ga")[0]
    few, many = np.arange(99) < 5, np.arange(99) < 6
    runs = [
        replace(one, key=replace(one.key, run=run), result=replace(one.result, error=error, mask=mask))
        for run, (error, mask) in enumerate([(0.2, few), (0.1, many), (0.1, few), (0.1, few), (0.3, few)])
    ]
    assert best_run(runs).key.run == best_run(runs[::-1]).key.run == 2


# What is refused


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"runs": 4}, "runs: 4 in the plan, 3 in the study"),
        ({"max_evaluations": 151}, "max_evaluations: 151 in the plan, 150 in the study"),
        (
            {"old": "width = 0.004", "new": "width = 0.005"},
            r"classifiers\[NB\].parameters.bandwidth: 0.005 in the plan, 0.004 in the study",
        ),
        ({"algorithms": ("2d-upso", "sffs")}, r"algorithms\[ga\].name: absent in the plan, ga in the study"),
    ],
)
def test_a_changed_plan_is_refused(study_copy, changes, key):
    before = contents(study_copy)
    with pytest.raises(PqswarmError, match=f"holds a study with another plan:[^$]*{key}[^$]*Give --out another folder"):
        run_study(tiny(**changes), study_copy, jobs=1)
    assert contents(study_copy) == before


def test_another_version_is_refused(study_copy, monkeypatch):
    monkeypatch.setattr(run, "__version__", "99.0")
    with pytest.raises(PqswarmError, match=r"holds a study of pqswarm .*, this is 99.0: results of two versions"):
        run_study(tiny(), study_copy, jobs=1)


def test_changed_events_are_refused_and_removed_ones_made_again(study_copy, events, monkeypatch):
    path, before = study_copy / "dataset.npz", contents(study_copy)
    features = events.features.copy()
    features[1, 17, 5] = np.nextafter(features[1, 17, 5], inf)
    replace(events, features=features).save(path)
    with pytest.raises(PqswarmError, match=r"does not hold the events this study started with: restore it, or remove"):
        run_study(tiny(), study_copy, jobs=1)
    events_of_few(seed=3).save(path)
    with pytest.raises(PqswarmError, match=r"dataset.npz does not hold the events of the plan: remove it"):
        run_study(tiny(), study_copy, jobs=1)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(FileFormatError, match=r"dataset.npz is damaged.* Remove it to generate"):
        run_study(tiny(), study_copy, jobs=1)
    path.unlink()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("pqswarm.study.run.make_dataset", lambda *_, **__: replace(events, features=features))
        told = r"dataset.npz is missing, and the events generated here differ .*: copy the file from where"
        with pytest.raises(PqswarmError, match=told):
            run_study(tiny(), study_copy, jobs=1)
    assert not path.exists()
    run_study(tiny(), study_copy, jobs=1)
    np.testing.assert_array_equal(load_dataset(path).features, events.features)
    assert contents(study_copy) == before


def test_events_of_another_plan_are_not_taken_for_those_of_a_new_study(tmp_path):
    """The database was removed to begin with another plan, its data set was forgotten."""
    events_of_few(seed=3).save(tmp_path / "dataset.npz")
    with pytest.raises(PqswarmError, match="does not hold the events of the plan: remove it"):
        run_study(tiny(), tmp_path, jobs=1)


# What is survived


class Killed(BaseException):
    """Stands for kill -9."""


@pytest.mark.slow
def test_death_after_any_write_changes_nothing(tmp_path, monkeypatch):
    """Let the process die after each single transaction, again and again."""
    plan = tiny(runs=2, max_evaluations=90, classes=FEW)
    sffs = AlgorithmPlan(name="sffs", algorithm="sffs", parameters={"size": 5})  # else it takes hundreds of steps
    plan = plan.model_copy(update={"algorithms": (*plan.searched, sffs)})
    run_study(plan, tmp_path / "undisturbed", jobs=1)
    transaction = StudyDatabase.transaction

    @contextmanager
    def last_one(store):
        with transaction(store):
            yield
        raise Killed

    monkeypatch.setattr(StudyDatabase, "transaction", last_one)
    monkeypatch.setattr(scheduler, "_FIRST_SLICE", 0.0)  # a checkpoint after each step
    deaths = 0
    while deaths < 1000:
        try:
            run_study(plan, tmp_path / "killed", jobs=1)
            break
        except Killed:
            deaths += 1
    monkeypatch.undo()
    assert 40 < deaths < 1000
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


@pytest.mark.slow
def test_progress_is_told(tmp_path):
    seen = []
    run_study(tiny(), tmp_path, jobs=1, progress=seen.append)
    stages = list(OrderedDict.fromkeys(progress.stage for progress in seen))
    assert stages[:3] == ["generating events", "k-NN: hyperparameters", "NB: hyperparameters"]
    assert stages[3].startswith("starting the searches")
    assert stages[4] == "searching"
    assert "NB: stage II at 30 dB" in stages
    assert stages[-2:] == ["held-out data, seed 2: NB", "tested"]
    done = [progress.evaluations_done for progress in seen]
    assert done == sorted(done)
    assert (done[0], done[-1], seen[-1].evaluations_total) == (0, 1800, 1800)
    assert (seen[0].runs_done, seen[-1].runs_done, seen[-1].runs_total) == (0, 14, 14)
    assert seen[0].seconds_left == inf
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert 0.0 < fractions[-1] < 1.0  # the report is still to come
    seen.clear()
    run_study(tiny(), tmp_path, jobs=1, progress=seen.append)
    assert seen[-1].runs_done == 14  # what was done before counts as well
    with Store(tmp_path) as store:
        finished = store.finished()
    assert {name: run.error for name, run in seen[-1].best.items()} == {
        c: min(r.error for r in finished if r.key.classifier == c) for c in CLASSIFIERS
    }
