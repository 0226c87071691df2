"""What a study finds out besides its runs, on its events and on held-out ones, by other means of computing."""

from math import inf

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pqswarm.datasets import load_dataset
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS as REGISTERED
from pqswarm.evaluation import Folds, GridSearchResult, KernelNBEvaluator, KNNEvaluator
from pqswarm.evaluation.exact.naive_bayes.estimator import KernelNB
from pqswarm.search import minimize
from pqswarm.study import ClassifierPlan, best_run, read_plan, run, run_study
from pqswarm.study.findings import AllFeatures, GridFinding, HeldOut, Hyperparameters, OneStandardError, StageTwo
from pqswarm.study.run import choose_hyperparameters
from pqswarm.study.worker import StudyProblem
from tests.reference.classifiers import knn_predictions
from tests.study.studies import FEW, LEVELS, change_database, contents, events_of_few, find, plan_toml, records, tiny

CLASSIFIERS = {"k-NN": KNeighborsClassifier(3, metric="manhattan", algorithm="brute"), "NB": KernelNB(0.004)}


def evaluator(name, X, y, folds):
    if name == "k-NN":
        return KNNEvaluator(X, y, folds, 3, "manhattan")
    return KernelNBEvaluator(X, y, folds, 0.004)


def stage_one(name, events):
    return evaluator(name, events.X(inf), events.y, Folds.stratified(events.y, 5, 0))


def subsets(folder, classifier):
    """The masks that stage II and the held-out events are about: of all runs, by name."""
    masks = {name: [record.mask for record in records(folder, classifier, name)] for name in ("2d-upso", "ga", "sffs")}
    smaller = find(folder, OneStandardError, classifier).mask
    return {"all features": [np.ones(99, bool)], **masks, "one standard error": [smaller]}


def by_sklearn(classifier, X, y, folds, mask):
    """Error rates of the folds, by scikit-learn."""
    scaled = MinMaxScaler().fit_transform(X)[:, mask]
    return 1 - cross_val_score(CLASSIFIERS[classifier], scaled, y, cv=folds)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("algorithm", ["2d-upso", "ga"])
def test_each_run_is_what_minimize_finds_with_its_seed(study, events, classifier, algorithm):
    analyze = stage_one(classifier, events)
    for record in records(study, classifier, algorithm):
        assert record.seed == tiny().run_seed(classifier, algorithm, record.key.run)
        result = minimize(algorithm, analyze, 150, record.seed)
        assert (record.error, record.result.n_evaluations) == (result.error, 150)
        np.testing.assert_array_equal(record.mask, result.mask)
        np.testing.assert_array_equal(record.result.improvements, result.improvements)
        assert record.result.algorithm == algorithm
        assert by_sklearn(classifier, events.X(inf), events.y, analyze.folds, record.mask).mean() == pytest.approx(
            record.error, abs=1e-12
        )


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_sffs_goes_to_the_size_of_the_best_subset_of_the_reference(study, events, classifier):
    (record,) = records(study, classifier, "sffs")
    size = best_run(records(study, classifier, "2d-upso")).size
    assert record.size == size
    result = minimize("sffs", stage_one(classifier, events), 10**8, record.seed, parameters={"size": size})
    np.testing.assert_array_equal(record.mask, result.mask)
    assert (record.error, record.result.n_evaluations) == (result.error, result.n_evaluations)


def test_sffs_through_all_sizes_has_the_budget_of_a_run_and_keeps_its_front(tmp_path):
    through = '[[algorithms]]\nname = "all sizes"\nalgorithm = "sffs"\nparameters = { size = "all" }\n'
    plan = read_plan(plan_toml(runs=1, max_evaluations=500, algorithms=("2d-upso",)) + through)
    plan = plan.model_copy(update={"classifiers": plan.classifiers[1:]})
    run_study(plan, tmp_path, jobs=1)
    (record,) = records(tmp_path, "NB", "all sizes")
    result = minimize("sffs", stage_one("NB", load_dataset(tmp_path / "dataset.npz")), 500)
    assert (record.error, record.size, record.result.n_evaluations) == (result.error, result.size, 500)
    np.testing.assert_array_equal(record.result.front_masks, result.front_masks)
    np.testing.assert_array_equal(record.result.front_errors, result.front_errors)
    assert record.size > 2
    for found in (find(tmp_path, StageTwo, "NB", 30.0).accuracy, find(tmp_path, HeldOut, "NB", inf, 1).errors):
        assert "all sizes" in found


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_stages_by_scikit_learn(study, events, classifier):
    folds = Folds.stratified(events.y, 5, 0)
    everything = by_sklearn(classifier, events.X(inf), events.y, folds, np.ones(99, bool))
    assert find(study, AllFeatures, classifier).error == pytest.approx(everything.mean(), abs=1e-12)
    masks = subsets(study, classifier)
    for level in LEVELS:
        found = find(study, StageTwo, classifier, level)
        assert {name: len(accuracies) for name, accuracies in found.accuracy.items()} == {
            "all features": 1, "2d-upso": 3, "ga": 3, "sffs": 1, "one standard error": 1,
        }  # fmt: skip
        for name, each in masks.items():
            for mask, accuracy in zip(each, found.accuracy[name], strict=True):
                wanted = 100 * (1 - by_sklearn(classifier, events.X(level), events.y, folds, mask).mean())
                assert accuracy == pytest.approx(wanted, abs=1e-10), (name, level)
        assert (found.before is not None) == (found.after is not None) == (level == inf)
    X, found = MinMaxScaler().fit_transform(events.X(inf)), find(study, StageTwo, classifier, inf)
    best = best_run(records(study, classifier, "2d-upso")).mask
    for key, mask in (("before", np.ones(99, bool)), ("after", best)):
        predicted = cross_val_predict(CLASSIFIERS[classifier], X[:, mask], events.y, cv=folds)
        np.testing.assert_array_equal(getattr(found, key), confusion_matrix(events.y, predicted))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(("level", "seed"), [(inf, 2), (30.0, 1)])
def test_held_out_errors_by_scikit_learn(study, events, classifier, level, seed):
    held_out = events_of_few(10, level, seed)
    assert not np.isin(held_out.X(level)[:, 0], events.X(level)[:, 0]).any()
    found, masks = find(study, HeldOut, classifier, level, seed).errors, subsets(study, classifier)
    assert set(found) == set(masks)
    for name, each in masks.items():
        for mask, error in zip(each, found[name], strict=True):
            model = make_pipeline(MinMaxScaler(), CLASSIFIERS[classifier]).fit(events.X(level)[:, mask], events.y)
            assert error == pytest.approx(1 - model.score(held_out.X(level)[:, mask], held_out.y), abs=1e-12)


def test_stage_two_may_have_folds_of_its_own(study, events, tmp_path):
    run_study(tiny(old="[folds]\n", new="[folds]\nstage_two_seed = 1\n"), tmp_path, jobs=1)
    assert contents(tmp_path)["runs"] == contents(study)["runs"]
    folds = Folds.stratified(events.y, 5, 1)
    for record, accuracy in zip(
        records(study, "NB", "ga"), find(tmp_path, StageTwo, "NB", 30.0).accuracy["ga"], strict=True
    ):
        wanted = 100 * (1 - by_sklearn("NB", events.X(30.0), events.y, folds, record.mask).mean())
        assert accuracy == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_standard_error_the_slow_way(study, events, classifier):
    folds = Folds.stratified(events.y, 5, 0)
    best = best_run(records(study, classifier, "2d-upso")).mask
    rates = by_sklearn(classifier, events.X(inf), events.y, folds, best)
    width = np.sqrt(((rates - rates.mean()) ** 2).sum() / 4) / np.sqrt(5)
    found = find(study, OneStandardError, classifier)
    assert found.standard_error == pytest.approx(width, abs=1e-12)
    chosen = found.mask
    error = by_sklearn(classifier, events.X(inf), events.y, folds, chosen).mean()
    assert found.error == pytest.approx(error, abs=1e-12)
    analyze = stage_one(classifier, events)
    allowed = analyze.errors([best])[0] + found.standard_error
    assert found.error <= allowed
    tried = [tuple(record.mask) for record in records(study, classifier, "2d-upso")]
    shrunk = best.copy()
    while shrunk.sum() > 1:
        without = {}
        for feature in np.flatnonzero(shrunk):
            mask = shrunk.copy()
            mask[feature] = False
            without[tuple(mask)] = analyze.errors([mask])[0]
        least = min(without, key=without.get)  # the first of equals
        if without[least] > allowed:
            break
        shrunk = np.array(least)
        tried.append(least)
    good = [mask for mask in dict.fromkeys(tried) if analyze.errors([mask])[0] <= allowed]
    smallest = min(good, key=lambda mask: (sum(mask), analyze.errors([mask])[0]))
    np.testing.assert_array_equal(chosen, smallest)
    assert chosen.sum() < best.sum()


def test_adding_an_algorithm_changes_no_number_of_the_others(study, tmp_path):
    run_study(tiny(algorithms=("bpso", "ga", "2d-upso", "sffs")), tmp_path, jobs=1)
    before, after = contents(study), contents(tmp_path)
    assert before["runs"] == {key: run for key, run in after["runs"].items() if key.algorithm != "bpso"}
    assert len(after["runs"]) == len(before["runs"]) + 6
    for classifier in CLASSIFIERS:
        for kind in ("AllFeatures", "OneStandardError"):
            assert after["findings"]["", kind, classifier, ""] == before["findings"]["", kind, classifier, ""]
        for kind, *place in ((HeldOut, classifier, 30.0, 2), (StageTwo, classifier, inf), (StageTwo, classifier, 30.0)):
            old, new = (find(folder, kind, *place) for folder in (study, tmp_path))
            old, new = (getattr(found, "accuracy", None) or found.errors for found in (old, new))
            assert old == {key: value for key, value in new.items() if key != "bpso"}


@pytest.mark.slow
def test_hyperparameters_are_searched_when_they_are_absent(tmp_path):
    plan = tiny(runs=1, max_evaluations=40, algorithms=("2d-upso",), classes=FEW)
    knn, nb = plan.classifiers
    searched = [
        knn.model_copy(update={"parameters": {}, "grid_search": True}),
        nb.model_copy(update={"parameters": {}, "grid_search": True}),
        nb.model_copy(update={"name": "NB given", "parameters": {"bandwidth": 0.5}, "grid_search": True}),
        ClassifierPlan(name="Gaussian", kind="gaussian-nb"),
        knn.model_copy(update={"name": "default", "parameters": {}}),
    ]
    run_study(plan.model_copy(update={"classifiers": tuple(searched)}), tmp_path, jobs=1)
    events = load_dataset(tmp_path / "dataset.npz")
    folds = Folds.stratified(events.y, 5, 0)
    grids = {kind: REGISTERED[kind].search_grid(events.X(inf), events.y, folds) for kind in ("k-nn", "kernel-nb")}
    for name, kind in (("k-NN", "k-nn"), ("NB", "kernel-nb"), ("NB given", "kernel-nb")):
        grid, kept = grids[kind], find(tmp_path, GridFinding, name).result
        assert kept.accuracies.tolist() == grid.accuracies.tolist()
        assert (kept.names, kept.points, kept.usable) == (grid.names, grid.points, grid.usable)
        chosen = find(tmp_path, Hyperparameters, name).settings
        if name == "NB given":
            assert chosen == {"bandwidth": 0.5, "floor": 0.0, "underflow": False}
            continue
        usable = [row for row in grid.table() if row.get("metric") != "cosine"]
        accuracy = max(row["accuracy"] for row in usable)
        best = next(row for row in usable if row["accuracy"] == accuracy)
        assert best.items() <= (chosen | {"accuracy": accuracy}).items()
        assert find(tmp_path, AllFeatures, name).error == pytest.approx(1 - accuracy, abs=1e-12)
    for name, settings in (("Gaussian", None), ("default", {"n_neighbors": 3, "metric": "manhattan"})):
        assert find(tmp_path, GridFinding, name) is None
        used = find(tmp_path, Hyperparameters, name).settings
        assert used == (REGISTERED["gaussian-nb"]().settings if settings is None else settings)


def test_a_distance_that_evaluators_do_not_know_is_not_chosen():
    points = (("cosine", 1), ("manhattan", 5), ("euclidean", 5))
    result = GridSearchResult(("metric", "n_neighbors"), points, np.array([0.9, 0.8, 0.8]), (False, True, True))
    plan = ClassifierPlan(name="k-NN", kind="k-nn")
    chosen = choose_hyperparameters(plan, GridFinding("k-NN", result))
    assert chosen.settings == {"metric": "manhattan", "n_neighbors": 5}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.random((120, 160)) + 0.8 * y[:, None] * (np.arange(160) < 6)
    return StudyProblem(X, y, np.arange(120) % 5, REGISTERED["gaussian-nb"]())


def test_many_features_are_taken_away_several_at_a_time(problem, monkeypatch):
    asked = []
    make = StudyProblem.evaluator

    def spy(self, *args, **options):
        evaluator = make(self, *args, **options)
        errors = evaluator.errors
        evaluator.errors = lambda masks: (asked.append(len(masks)), errors(masks))[1]
        return evaluator

    monkeypatch.setattr(StudyProblem, "evaluator", spy)
    best = np.ones(160, dtype=np.bool_)
    few = run.find_smaller_subset("NB", problem, best, [], 1)
    quick = sum(asked)
    asked.clear()
    monkeypatch.setattr(run, "_MANY", 1000)
    slow = run.find_smaller_subset("NB", problem, best, [], 1)
    assert quick < 0.75 * sum(asked)
    allowed = make(problem).errors(best[np.newaxis])[0] + few.standard_error
    assert few.error <= allowed
    assert few.mask.sum() <= slow.mask.sum() + 5


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("name", ["kernel-nb", "gaussian-nb", "k-nn"])
def test_predictions_are_those_of_the_estimator(name, n_jobs):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 40, (150, 5)) / 30, random.integers(3, 6, 150)
    masks = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 0, 0], [1, 0, 0, 1, 1]], dtype=bool)
    classifier = REGISTERED[name]()
    for n in (1, 40):
        new = random.integers(-1, 45, (n, 5)) / 30
        found = classifier.predict_new(X, y, new, masks, n_jobs=n_jobs)
        for mask, row in zip(masks, found, strict=True):
            expected = classifier.estimator().fit(X[:, mask], y).predict(new[:, mask])
            if name == "k-nn":  # the twin's rule for ties, which scikit-learn has not
                both, old, fresh = np.concatenate([X, new])[:, mask], np.arange(150), np.arange(150, 150 + n)
                splits = [(old, fresh), (fresh, old)]
                expected = knn_predictions(both, np.resize(y, 150 + n), splits, 3, "manhattan")[0][150:]
            assert row.tolist() == expected.tolist()


def test_only_what_is_missing_is_tested_again(study_copy, monkeypatch):
    before = contents(study_copy)
    change_database(study_copy, "DELETE FROM findings WHERE kind = 'HeldOut' AND level = '30, seed 2'")
    made, tested = [], []

    def make(plan, data, seed, levels, jobs, folder):
        made.append((seed, levels))
        return make_held_out(plan, data, seed, levels, jobs, folder)

    def evaluate(name, problem, masks, data, new, at, jobs):
        tested.append((name, at))
        return evaluate_held_out(name, problem, masks, data, new, at, jobs)

    make_held_out, evaluate_held_out = run.make_held_out, run.evaluate_held_out
    monkeypatch.setattr(run, "make_held_out", make)
    monkeypatch.setattr(run, "evaluate_held_out", evaluate)
    run_study(tiny(), study_copy, jobs=1)
    assert made == [(2, [30.0])]
    assert tested == [("k-NN", (30.0, 2)), ("NB", (30.0, 2))]
    assert contents(study_copy) == before


@pytest.mark.parametrize(
    ("scaling", "scaler"), [("minmax", MinMaxScaler), ("standard", StandardScaler), ("robust", RobustScaler)]
)
def test_new_events_are_scaled_as_the_plan_says(events, scaling, scaler):
    masks = {"all features": np.ones((1, 99), dtype=bool), "some": np.arange(99) % np.array([[7], [5]]) == 0}
    problem = StudyProblem(events.X(inf), events.y, np.arange(40) % 2, REGISTERED["gaussian-nb"](), scaling)
    new = events_of_few(5, inf, 1)
    found = run.evaluate_held_out("NB", problem, run.TestedSubsets(masks, {}), events, new, (inf, 7), 1)
    for name, each in masks.items():
        models = [make_pipeline(scaler(), GaussianNB()).fit(events.X(inf)[:, mask], events.y) for mask in each]
        wanted = [
            (model.predict(new.X(inf)[:, mask]) != new.y).mean() for model, mask in zip(models, each, strict=True)
        ]
        assert found.errors[name] == tuple(wanted)


def test_an_estimator_that_fails_on_new_events_only_is_named(events):
    subsets = run.TestedSubsets({"all features": np.ones((1, 99), dtype=bool)}, {})
    classifier = REGISTERED["estimator"](
        {"estimator": "sklearn.neighbors.RadiusNeighborsClassifier", "parameters": {"radius": 1e-9}}
    )
    problem = StudyProblem(events.X(inf), events.y, np.arange(40) % 2, classifier)
    new = events_of_few(1, inf, 1)
    with pytest.raises(PqswarmError) as caught:
        run.evaluate_held_out("radius", problem, subsets, events, new, (inf, 7), 1)
    assert str(caught.value).startswith(
        "radius fails on held-out data (seed 7): sklearn.neighbors.RadiusNeighborsClassifier(radius=1e-09) cannot be "
        "used with features [0, 1,"
    )
    assert "No neighbors found for test samples" in str(caught.value)
