"""Sets of held-out events: what scikit-learn finds on them, one by one resumed, and old stores with one set."""

from math import inf

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS
from pqswarm.study import Store, run, run_study
from pqswarm.study.worker import StudyProblem
from tests.reference.classifiers import knn_predictions
from tests.study.studies import contents, events_of_few, tiny


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("name", ["kernel-nb", "gaussian-nb", "k-nn"])
def test_predictions_are_those_of_the_estimator(name, n_jobs):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 40, (150, 5)) / 30, random.integers(3, 6, 150)
    masks = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 0, 0], [1, 0, 0, 1, 1]], dtype=bool)
    classifier = CLASSIFIERS[name]()
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
    with Store(study_copy, write=True) as store:
        store.database.connection.execute("DELETE FROM findings WHERE kind = 'HeldOut' AND level = '30, seed 2'")
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
    problem = StudyProblem(events.X(inf), events.y, np.arange(40) % 2, CLASSIFIERS["gaussian-nb"](), scaling)
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
    classifier = CLASSIFIERS["estimator"](
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
