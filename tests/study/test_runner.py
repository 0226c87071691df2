"""Studies from end to end: the same whoever does the work, and right by other means of computing."""

import subprocess
import sys
import time
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.evaluation import Folds, KernelNBEvaluator, KNNEvaluator, tune_kernel_nb, tune_knn
from pqswarm.evaluation.kernel_nb import KernelNB
from pqswarm.search import minimize
from pqswarm.study import Store, best_of, run_study, runner
from pqswarm.study.executors import Workplace
from pqswarm.study.records import text_mask
from tests.study.studies import contents, plan_toml, start_command, tiny

LEVELS = (inf, 30.0)
CLASSIFIERS = {"k-NN": KNeighborsClassifier(3, metric="manhattan", algorithm="brute"), "NB": KernelNB(0.004)}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of a finished study, made in one process."""
    folder = tmp_path_factory.mktemp("study")
    run_study(tiny(), folder, jobs=1)
    return folder


@pytest.fixture(scope="module")
def events():
    return make_dataset(10, LEVELS, 0, "paper")


def evaluator(name, X, y, folds):
    if name == "k-NN":
        return KNNEvaluator(X, y, folds, 3, "manhattan")
    return KernelNBEvaluator(X, y, folds, 0.004)


def stage_one(name, events):
    return evaluator(name, events.X(inf), events.y, Folds.stratified(events.y, 5, 0))


def records(folder, classifier, algorithm):
    with Store(folder) as store:
        return [r for r in store.finished() if (r.key.classifier, r.key.algorithm) == (classifier, algorithm)]


def fact(folder, name):
    with Store(folder) as store:
        return store.fact(name)


def subsets(folder, classifier):
    """The masks that stage II and the fresh events are about, by name."""
    masks = {name: best_of(records(folder, classifier, name)).mask for name in ("2d-upso", "ga", "sffs")}
    smaller = text_mask(fact(folder, f"one-se/{classifier}")["mask"])
    return {"all features": np.ones(99, bool), **masks, "one standard error": smaller}


def by_sklearn(classifier, X, y, folds, mask):
    """Error rates of the folds, by scikit-learn."""
    scaled = MinMaxScaler().fit_transform(X)[:, mask]
    return 1 - cross_val_score(CLASSIFIERS[classifier], scaled, y, cv=folds)


def test_processes_change_nothing(study, tmp_path):
    run_study(tiny(), tmp_path, jobs=2)
    assert contents(tmp_path) == contents(study)


def test_all_that_is_planned_is_there(study, events):
    found = contents(study)
    assert len(found["runs"]) == 2 * (2 * 3 + 1)
    names = {
        f"{kind}/{classifier}"
        for kind in ("J(U)", "hyperparameters", "one-se", "fresh", "problem")
        for classifier in CLASSIFIERS
    }
    names |= {f"stage2/{classifier}/{level}" for classifier in CLASSIFIERS for level in ("inf", "30")}
    assert set(found["facts"]) == names | {"plan", "title", "version", "events"}
    np.testing.assert_array_equal(load_dataset(study / "dataset.npz").features, events.features)
    assert fact(study, "finished") >= fact(study, "began")
    assert fact(study, "machine")["cores"] >= 1


def test_going_on_with_a_finished_study_changes_nothing(study):
    before, finished = contents(study), fact(study, "finished")
    run_study(tiny().model_copy(update={"title": "Another title"}), study, jobs=2)
    assert contents(study) == before
    assert fact(study, "finished") == finished


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("algorithm", ["2d-upso", "ga"])
def test_each_run_is_what_minimize_finds_with_its_seed(study, events, classifier, algorithm):
    judge = stage_one(classifier, events)
    for record in records(study, classifier, algorithm):
        assert record.seed == tiny().run_seed(classifier, algorithm, record.key.run)
        result = minimize(algorithm, judge, 150, record.seed)
        assert (record.error, record.n_evaluations) == (result.error, 150)
        np.testing.assert_array_equal(record.mask, result.mask)
        np.testing.assert_array_equal(record.error_after(np.arange(1, 151)), result.errors)
        assert by_sklearn(classifier, events.X(inf), events.y, judge.folds, record.mask).mean() == pytest.approx(
            record.error, abs=1e-12
        )


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_sffs_goes_to_the_size_of_the_best_subset_of_the_reference(study, events, classifier):
    (record,) = records(study, classifier, "sffs")
    size = best_of(records(study, classifier, "2d-upso")).size
    assert record.size == size
    result = minimize("sffs", stage_one(classifier, events), 10**8, record.seed, parameters={"size": size})
    np.testing.assert_array_equal(record.mask, result.mask)
    assert (record.error, record.n_evaluations) == (result.error, result.n_evaluations)


def test_the_best_run_has_the_least_error_then_the_fewest_features_then_the_lowest_number(study):
    one = records(study, "NB", "ga")[0]
    few, many = np.arange(99) < 5, np.arange(99) < 6
    runs = [
        replace(one, key=replace(one.key, run=run), error=error, mask=mask)
        for run, (error, mask) in enumerate([(0.2, few), (0.1, many), (0.1, few), (0.1, few), (0.3, few)])
    ]
    assert best_of(runs).key.run == best_of(runs[::-1]).key.run == 2


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_stages_by_scikit_learn(study, events, classifier):
    folds = Folds.stratified(events.y, 5, 0)
    everything = by_sklearn(classifier, events.X(inf), events.y, folds, np.ones(99, bool))
    assert fact(study, f"J(U)/{classifier}") == pytest.approx(everything.mean(), abs=1e-12)
    masks = subsets(study, classifier)
    folds = Folds.stratified(events.y, 5, 1)
    for level in LEVELS:
        found = fact(study, f"stage2/{classifier}/{level:g}")
        assert set(found["accuracy"]) == set(masks)
        for name, mask in masks.items():
            accuracy = 100 * (1 - by_sklearn(classifier, events.X(level), events.y, folds, mask).mean())
            assert found["accuracy"][name] == pytest.approx(accuracy, abs=1e-10), (name, level)
        assert ("before" in found) == (level == inf)
    X, found = MinMaxScaler().fit_transform(events.X(inf)), fact(study, f"stage2/{classifier}/inf")
    for key, mask in (("before", masks["all features"]), ("after", masks["2d-upso"])):
        predicted = cross_val_predict(CLASSIFIERS[classifier], X[:, mask], events.y, cv=folds)
        np.testing.assert_array_equal(found[key], confusion_matrix(events.y, predicted))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_fresh_errors_by_scikit_learn(study, events, classifier):
    fresh = make_dataset(10, inf, 1, "paper")
    assert not np.isin(fresh.X(inf)[:, 0], events.X(inf)[:, 0]).any()
    found, masks = fact(study, f"fresh/{classifier}"), subsets(study, classifier)
    assert set(found) == set(masks)
    for name, mask in masks.items():
        model = make_pipeline(MinMaxScaler(), CLASSIFIERS[classifier]).fit(events.X(inf)[:, mask], events.y)
        assert found[name] == pytest.approx(1 - model.score(fresh.X(inf)[:, mask], fresh.y), abs=1e-12)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_standard_error_the_slow_way(study, events, classifier):
    folds = Folds.stratified(events.y, 5, 0)
    best = best_of(records(study, classifier, "2d-upso")).mask
    rates = by_sklearn(classifier, events.X(inf), events.y, folds, best)
    width = np.sqrt(((rates - rates.mean()) ** 2).sum() / 4) / np.sqrt(5)
    found = fact(study, f"one-se/{classifier}")
    assert found["standard_error"] == pytest.approx(width, abs=1e-12)
    chosen = text_mask(found["mask"])
    error = by_sklearn(classifier, events.X(inf), events.y, folds, chosen).mean()
    assert found["error"] == pytest.approx(error, abs=1e-12)
    judge = stage_one(classifier, events)
    allowed = judge.errors([best])[0] + found["standard_error"]
    assert found["error"] <= allowed
    tried = [tuple(record.mask) for record in records(study, classifier, "2d-upso")]
    shrunk = best.copy()
    while shrunk.sum() > 1:
        without = {}
        for feature in np.flatnonzero(shrunk):
            mask = shrunk.copy()
            mask[feature] = False
            without[tuple(mask)] = judge.errors([mask])[0]
        least = min(without, key=without.get)  # the first of equals
        if without[least] > allowed:
            break
        shrunk = np.array(least)
        tried.append(least)
    good = [mask for mask in dict.fromkeys(tried) if judge.errors([mask])[0] <= allowed]
    smallest = min(good, key=lambda mask: (sum(mask), judge.errors([mask])[0]))
    np.testing.assert_array_equal(chosen, smallest)
    assert chosen.sum() < best.sum()


def test_adding_an_algorithm_changes_no_number_of_the_others(study, tmp_path):
    run_study(tiny(algorithms=("bpso", "ga", "2d-upso", "sffs")), tmp_path, jobs=1)
    before, after = contents(study), contents(tmp_path)
    assert before["runs"] == {key: run for key, run in after["runs"].items() if key.algorithm != "bpso"}
    assert len(after["runs"]) == len(before["runs"]) + 6
    for classifier in CLASSIFIERS:
        for name in (f"J(U)/{classifier}", f"one-se/{classifier}"):
            assert after["facts"][name] == before["facts"][name]
        for name in (f"fresh/{classifier}", f"stage2/{classifier}/inf", f"stage2/{classifier}/30"):
            old, new = fact(study, name), fact(tmp_path, name)
            old, new = old.get("accuracy", old), new.get("accuracy", new)
            assert old == {key: value for key, value in new.items() if key != "bpso"}


# What is refused


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"runs": 4}, "runs: 3 there, 4 now"),
        ({"max_evaluations": 151}, "max_evaluations: 150 there, 151 now"),
        ({"old": "width = 0.004", "new": "width = 0.005"}, r"classifiers\[NB\].width: 0.004 there, 0.005 now"),
        ({"algorithms": ("2d-upso", "sffs")}, r"algorithms\[ga\].name: ga there, absent now"),
    ],
)
def test_a_changed_plan_is_refused(study, changes, key):
    before = contents(study)
    with pytest.raises(PqswarmError, match=f"holds a study with another plan:[^$]*{key}[^$]*Give --out another folder"):
        run_study(tiny(**changes), study, jobs=1)
    assert contents(study) == before


def test_another_version_is_refused(study, monkeypatch):
    monkeypatch.setattr(runner, "__version__", "99.0")
    with pytest.raises(PqswarmError, match=r"holds a study of pqswarm .*, this is 99.0: results of two versions"):
        run_study(tiny(), study, jobs=1)


@contextmanager
def spoilt(path):
    """Put a file aside, and back again in the end."""
    kept = path.read_bytes()
    try:
        yield
    finally:
        path.write_bytes(kept)


def test_changed_events_are_refused_and_removed_ones_made_again(study, events):
    path, before = study / "dataset.npz", contents(study)
    with spoilt(path):
        features = events.features.copy()
        features[1, 17, 5] = np.nextafter(features[1, 17, 5], inf)
        replace(events, features=features).save(path)
        with pytest.raises(
            PqswarmError, match=r"does not hold the events this study began with: restore it, or remove"
        ):
            run_study(tiny(), study, jobs=1)
        make_dataset(10, LEVELS, 3, "paper").save(path)
        with pytest.raises(PqswarmError, match=r"dataset.npz does not hold the events of the plan: remove it"):
            run_study(tiny(), study, jobs=1)
        path.write_bytes(path.read_bytes()[:-1000])
        with pytest.raises(FileFormatError, match=r"dataset.npz is damaged.* Remove it to make the events again"):
            run_study(tiny(), study, jobs=1)
        path.unlink()
        run_study(tiny(), study, jobs=1)
        np.testing.assert_array_equal(load_dataset(path).features, events.features)
    assert contents(study) == before


def test_events_of_another_plan_are_not_taken_for_those_of_a_new_study(tmp_path):
    """The database was removed to begin with another plan, its data set was forgotten."""
    make_dataset(10, LEVELS, 3, "paper").save(tmp_path / "dataset.npz")
    with pytest.raises(PqswarmError, match="does not hold the events of the plan: remove it"):
        run_study(tiny(), tmp_path, jobs=1)


def test_a_second_process_is_refused_until_the_first_is_dead(tmp_path):
    (tmp_path / "plan.toml").write_text(plan_toml(max_evaluations=1_000_000))
    folder = tmp_path / "study"
    command = ("study", tmp_path / "plan.toml", "--out", folder, "--jobs", 1)
    first = start_command(*command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            time.sleep(0.2)
            if (folder / "dataset.npz").exists():
                break
        again = subprocess.run(
            [sys.executable, "-m", "pqswarm", *map(str, command)], capture_output=True, text=True, check=False
        )
        assert again.returncode == 2
        assert again.stderr == f"pqswarm: another process is running the study in {folder}: wait until it ends.\n"
        with pytest.raises(PqswarmError, match="another process is running the study"):
            run_study(tiny(), folder, jobs=1)
        assert first.poll() is None
    finally:
        first.kill()
        first.wait()
    with pytest.raises(PqswarmError, match="max_evaluations: 1000000 there, 150 now"):
        run_study(tiny(), folder, jobs=1)


def test_what_can_be_known_at_once_is_said_before_anything_is_made(tmp_path):
    for options, message in (
        ({"jobs": 0}, "n_jobs must be a whole number of at least 1"),
        ({"device": "cuda"}, "device 'cuda' needs"),
        ({"device": "gpu"}, "unknown device 'gpu': did you mean 'cpu'"),
    ):
        with pytest.raises(PqswarmError, match=message):
            run_study(tiny(), tmp_path / "study", **options)
    assert not list(tmp_path.iterdir())


# What is survived


class Killed(BaseException):
    """Stands for kill -9."""


def test_death_after_any_write_changes_nothing(study, tmp_path, monkeypatch):
    """Let the process die after each single transaction, again and again."""
    changes = {"runs": 2, "max_evaluations": 90}
    run_study(tiny(**changes), tmp_path / "undisturbed", jobs=1)
    transaction = Store._transaction

    @contextmanager
    def last_one(store):
        with transaction(store):
            yield
        raise Killed

    monkeypatch.setattr(Store, "_transaction", last_one)
    monkeypatch.setattr(runner, "_FIRST_SLICE", 0.0)  # a checkpoint after each step
    deaths = 0
    while deaths < 1000:
        try:
            run_study(tiny(**changes), tmp_path / "killed", jobs=1)
            break
        except Killed:
            deaths += 1
    monkeypatch.undo()
    assert 40 < deaths < 1000
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_death_of_workers_is_survived(study, tmp_path, monkeypatch):
    killed, mended = [], []
    mend = Workplace.mend
    monkeypatch.setattr(Workplace, "mend", lambda place: (mended.append(1), mend(place)))
    changes = {"max_evaluations": 600, "runs": 4}
    run_study(tiny(**changes), tmp_path / "undisturbed", jobs=1)

    def kill(progress):
        if progress.stage == "searching" and len(killed) < 2 and progress.runs_done >= 4 * len(killed):
            workers = [p for p in psutil.Process().children() if "LokyProcess" in " ".join(p.cmdline())]
            if workers:
                workers[-1].kill()
                killed.append(workers[-1].pid)

    run_study(tiny(**changes), tmp_path / "killed", jobs=2, progress=kill)
    assert len(killed) == 2
    assert mended
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_death_of_an_idle_worker_is_noticed_when_work_is_handed_out(study, tmp_path, monkeypatch):
    submit, failures = Workplace.submit, [TerminatedWorkerError("gone")] * 2

    def failing(place, *arguments):
        if failures:
            raise failures.pop()
        return submit(place, *arguments)

    monkeypatch.setattr(Workplace, "submit", failing)
    run_study(tiny(), tmp_path, jobs=1)
    assert not failures
    assert contents(tmp_path) == contents(study)


def test_workers_that_always_die_are_an_error(tmp_path, monkeypatch):
    def failing(place, *arguments):
        future = Future()
        future.set_exception(TerminatedWorkerError("a worker was killed"))
        return future

    monkeypatch.setattr(Workplace, "submit", failing)
    with pytest.raises(
        PqswarmError, match=r"workers died 6 times in a row \(a worker was killed\): is there enough mem"
    ):
        run_study(tiny(), tmp_path, jobs=1)


def test_other_failures_of_workers_are_not_hidden(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "advance", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_study(tiny(), tmp_path, jobs=1)


def test_slices_grow_to_the_wanted_length_and_stay_there():
    place = SimpleNamespace(slice_seconds=5.0, submit=lambda work, group, limit: limit)
    limits = [runner._begun(place, SimpleNamespace(slices=slices)) for slices in (0, 1, 2, 3, 4, 10, 5000)]
    assert limits == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]


def test_progress_is_told(tmp_path):
    seen = []
    run_study(tiny(), tmp_path, jobs=1, progress=seen.append)
    stages = list(OrderedDict.fromkeys(progress.stage for progress in seen))
    assert stages[:4] == ["making events", "k-NN: hyperparameters", "NB: hyperparameters", "searching"]
    assert stages[-1] == "NB: stage II at 30 dB"
    done = [progress.evaluations_done for progress in seen]
    assert done == sorted(done)
    assert (done[0], done[-1], seen[-1].evaluations_total) == (0, 1800, 1800)
    assert (seen[0].runs_done, seen[-1].runs_done, seen[-1].runs_total) == (0, 14, 14)
    assert seen[0].seconds_left == inf
    with Store(tmp_path) as store:
        finished = store.finished()
    assert seen[-1].best == {c: min(r.error for r in finished if r.key.classifier == c) for c in CLASSIFIERS}


# Hyperparameters


def test_hyperparameters_are_searched_when_they_are_absent(tmp_path, events):
    plan = tiny(runs=1, max_evaluations=40, algorithms=("2d-upso",))
    knn, nb = plan.classifiers
    searched = [
        knn.model_copy(update={"n_neighbors": None, "metric": None, "grid_search": True}),
        nb.model_copy(update={"width": None, "grid_search": True}),
        nb.model_copy(update={"name": "NB given", "width": 0.5, "grid_search": True}),
    ]
    run_study(plan.model_copy(update={"classifiers": tuple(searched)}), tmp_path, jobs=2)
    folds = Folds.stratified(events.y, 5, 0)
    for name, tune in (("k-NN", tune_knn), ("NB", tune_kernel_nb), ("NB given", tune_kernel_nb)):
        grid, kept = tune(events.X(inf), events.y, folds), fact(tmp_path, f"grid/{name}")
        assert kept["accuracies"] == grid.accuracies.tolist()
        assert (tuple(kept["names"]), tuple(map(tuple, kept["points"]))) == (grid.names, grid.points)
        chosen = fact(tmp_path, f"hyperparameters/{name}")
        if name == "NB given":
            assert chosen == {"width": 0.5}
            continue
        usable = [row for row in grid.table() if row.get("metric") != "cosine"]
        accuracy = max(row["accuracy"] for row in usable)
        assert chosen | {"accuracy": accuracy} == next(row for row in usable if row["accuracy"] == accuracy)
        assert fact(tmp_path, f"J(U)/{name}") == pytest.approx(1 - accuracy, abs=1e-12)


def test_a_distance_that_evaluators_do_not_know_is_not_chosen():
    grid = {"names": ["metric", "n_neighbors"], "points": [["cosine", 1], ["manhattan", 5], ["euclidean", 5]]}
    grid["accuracies"] = [0.9, 0.8, 0.8]
    store = SimpleNamespace(fact=lambda name: grid)
    absent = SimpleNamespace(name="k-NN", hyperparameters={})
    chosen = runner._Study._hyperparameters(SimpleNamespace(store=store), absent)
    assert chosen == {"metric": "manhattan", "n_neighbors": 5}
