"""Studies with classifiers beyond the paper's two: any kind, stopped on the way, on any device."""

from collections import Counter

import pytest

from pqswarm.evaluation import CLASSIFIERS
from pqswarm.events import get_preset
from pqswarm.search import ALGORITHMS
from pqswarm.study import read_plan, run_study, scheduler
from pqswarm.study import run as run_module
from pqswarm.study.findings import About, AllFeatures, Events, Finished, GridFinding, HeldOut, Hyperparameters, StageTwo
from pqswarm.study.scheduler import Scheduler
from tests.study.own import GPUClassifier, OwnClassifier, OwnSearch
from tests.study.studies import FEW, contents, find, plan_toml, stop_study

NINE = get_preset("field").classes[:12:2] + get_preset("field").classes[1:6:2]
PLAN = f"""
runs = 2
max_evaluations = 40
[dataset]
preset = "field"
classes = {list(NINE)}
events_per_class = 10
snr = [inf, 30]
[held_out]
events_per_class = 5
seeds = [1, 2]
[folds]
number = 3
[[classifiers]]
name = "k-NN"
kind = "k-nn"
[[classifiers]]
name = "Gaussian"
kind = "gaussian-nb"
[[classifiers]]
name = "SVM"
estimator = "sklearn.svm.LinearSVC"
parameters = {{ C = 0.5 }}
[[algorithms]]
algorithm = "2d-upso"
parameters = {{ size = 4, swarm_size = 5 }}
[[algorithms]]
algorithm = "ga"
parameters = {{ size = 3, population_size = 6 }}
[[algorithms]]
algorithm = "sffs"
parameters = {{ size = 1 }}
"""
EVENT_TYPES = ("Hyperparameters", "AllFeatures", "OneStandardError")


@pytest.mark.slow
def test_three_kinds_of_classifiers_on_nine_classes_stopped_and_resumed(tmp_path, monkeypatch):
    plan, folder = read_plan(PLAN), tmp_path / "study"
    monkeypatch.setattr(scheduler, "_FIRST_SLICE", 0.0)  # else all runs may end at once
    stop_study(plan, folder, lambda progress: progress.runs_done)
    kept = contents(folder)["runs"]
    assert 0 < len(kept) < 15, "it was not stopped on the way"
    run_study(plan, folder, jobs=1)
    found = contents(folder)
    assert kept.items() <= found["runs"].items()
    assert Counter(key.classifier for key in found["runs"]) == {"k-NN": 5, "Gaussian": 5, "SVM": 5}
    places = {(kind, name, "") for kind in EVENT_TYPES for name in ("k-NN", "Gaussian", "SVM")}
    places |= {("StageTwo", name, level) for name in ("k-NN", "Gaussian", "SVM") for level in ("inf", "30")}
    sets = [f"{level}, seed {seed}" for level in ("inf", "30") for seed in (1, 2)]
    places |= {("HeldOut", name, place) for name in ("k-NN", "Gaussian", "SVM") for place in sets}
    assert {place[1:] for place in found["findings"]} == places | {("Events", "", ""), ("Grid", "k-NN", "")}
    events = find(folder, Events)
    assert set(events.class_names) == set(NINE)
    assert (events.count, len(events.class_names)) == (90, 9)
    for name in ("k-NN", "Gaussian", "SVM"):
        stage = find(folder, StageTwo, name, float("inf"))
        assert stage.before.shape == stage.after.shape == (9, 9)
        assert stage.before.sum() == 90
        assert 0 < find(folder, AllFeatures, name).error < 0.6
        assert set(find(folder, HeldOut, name, float("inf"), 2).errors) == set(stage.accuracy)
    assert find(folder, Hyperparameters, "SVM").settings == {
        "estimator": "sklearn.svm.LinearSVC",
        "parameters": {"C": 0.5},
    }
    assert find(folder, Hyperparameters, "k-NN").settings == find(folder, GridFinding, "k-NN").result.best
    assert find(folder, Finished).at > find(folder, About).began
    run_study(plan, tmp_path / "undisturbed", jobs=1)
    assert contents(tmp_path / "undisturbed") == found


@pytest.fixture
def own(monkeypatch):
    """Classes of a module of one's own, registered in this process alone."""
    monkeypatch.setattr(CLASSIFIERS, "_members", dict(CLASSIFIERS._members))
    monkeypatch.setattr(ALGORITHMS, "_members", dict(ALGORITHMS._members))
    CLASSIFIERS.register(OwnClassifier)
    CLASSIFIERS.register(GPUClassifier)
    ALGORITHMS.register(OwnSearch)


def own_plan(*kinds):
    changes = {"old": "number = 5", "new": "number = 2", "classes": FEW}
    text = plan_toml(runs=2, max_evaluations=20, algorithms=("2d-upso", "own-search"), **changes)
    before, _, after = text.partition("[[classifiers]]")
    classifiers = "".join(f'[[classifiers]]\nname = "{kind}"\nkind = "{kind}"\n' for kind in kinds)
    after = after.partition("[[algorithms]]")[2].replace('"2d-upso"', '"2d-upso"\nparameters.size = 2')
    return read_plan(f"{before}{classifiers}[[algorithms]]{after}")


@pytest.mark.slow
def test_classes_of_the_user_work_in_other_processes(own, tmp_path):
    """The workers have registered nothing: what they need comes to them by itself."""
    plan = own_plan("own")
    assert [algorithm.name for algorithm in plan.sequential] == ["own-search"]
    run_study(plan, tmp_path / "one", jobs=1)
    run_study(plan, tmp_path / "two", jobs=2)
    found = contents(tmp_path / "two")
    assert found == contents(tmp_path / "one")
    assert len(found["runs"]) == 3
    assert all(run[3].count("1") == 2 for run in found["runs"].values()), "it goes to the size of the reference's best"
    assert {run[1] for run in found["runs"].values()} == {"2d-upso", "own-search"}


@pytest.mark.slow
def test_classifiers_without_a_gpu_are_evaluated_on_the_cpu(own, tmp_path, monkeypatch):
    plan, devices, search = own_plan("own-gpu", "own"), [], Scheduler.search

    def spy(scheduler, pool, problems, *, sequential):
        devices.append((pool.device, [name for _, name in problems], pool.slots))
        search(scheduler, pool, problems, sequential=sequential)

    run_study(plan, tmp_path / "cpu", jobs=1)
    monkeypatch.setattr(Scheduler, "search", spy)
    monkeypatch.setattr(run_module, "check_device", lambda device: None)
    monkeypatch.setattr("pqswarm.evaluation.learners.check_device", lambda device: None)
    run_study(plan, tmp_path / "cuda", jobs=1, device="cuda")
    assert devices == [("cuda", ["own-gpu"], 3)] * 2 + [("cpu", ["own"], 1)] * 2
    assert contents(tmp_path / "cuda") == contents(tmp_path / "cpu")
