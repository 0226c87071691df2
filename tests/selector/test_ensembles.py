"""Ensembles of subsets: their searches, members and predictions."""

import signal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, GaussianNBEvaluator
from pqswarm.search import minimize
from pqswarm.selector import EarlyStopping, nested_score, plan
from tests.selector.problems import WINE, assert_same, quick
from tests.waiting import Clock

X, y = WINE
CANCER = load_breast_cancer(return_X_y=True)


@pytest.fixture(autouse=True)
def few_evaluations_are_enough(monkeypatch):
    monkeypatch.setattr(plan, "_ENOUGH", 1)


def many(estimator=None, **options):
    """An ensemble of three searches."""
    return quick(estimator, **({"n_subsets": 3, "algorithm": "merit"} | options))


def fit_plainly(estimator, subsets, X, y):
    """The estimators of scikit-learn for each subset, and a function that applies a method of each."""
    fitted = [clone(estimator).fit(X[:, subset], y) for subset in subsets]
    return lambda method: np.array(
        [getattr(model, method)(X[:, subset]) for model, subset in zip(fitted, subsets, strict=True)]
    )


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        make_pipeline(MinMaxScaler(), KNeighborsClassifier(3)),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        SVC(),
    ],
    ids=["exact", "pipeline", "fitted", "without probabilities"],
)
@pytest.mark.parametrize("limit", ["auto", None])
def test_predictions_are_those_of_a_plain_loop(estimator, limit):
    selector = many(estimator, max_features=limit, max_evaluations=120, cv=3).fit(X, y)
    assert len(selector.subsets_) == len(selector.estimators_) > 3
    call = fit_plainly(estimator, selector.subsets_, X, y)
    method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    mean = call(method).mean(axis=0)
    np.testing.assert_allclose(getattr(selector, method)(X), mean)
    np.testing.assert_array_equal(selector.predict(X), selector.classes_[mean.argmax(axis=1)])
    assert selector.score(X, y) == np.mean(selector.predict(X) == y)
    if hasattr(selector, "predict_log_proba"):
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(selector.predict_log_proba(X), np.log(mean))
    alone = clone(estimator).fit(X[:, selector.best_subset_], y)
    np.testing.assert_array_equal(
        selector.best_estimator_.predict(X[:, selector.best_subset_]), alone.predict(X[:, selector.best_subset_])
    )


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier with labels alone: those of the sample with the nearest first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.X_ = X[:, 0]
        self.y_ = y
        return self

    def predict(self, X):
        return self.y_[np.abs(X[:, :1] - self.X_).argmin(axis=1)]


def test_labels_are_voted_on_and_ties_go_to_the_first_class():
    words = np.array(["red", "rose", "white"])[y]
    part = slice(0, 178, 2)
    selector = many(Labels(), max_features=None, cv=3).fit(X[part], words[part])
    fitted = [Labels().fit(X[part][:, subset], words[part]) for subset in selector.subsets_]
    votes = np.array([model.predict(X[:, subset]) for model, subset in zip(fitted, selector.subsets_, strict=True)])
    counts = np.array([(votes == label).sum(axis=0) for label in selector.classes_])
    np.testing.assert_array_equal(selector.predict(X), selector.classes_[counts.argmax(axis=0)])
    assert not hasattr(selector, "predict_proba")


def test_regressors_and_several_targets_are_averaged():
    data, target = load_diabetes(return_X_y=True)
    both = np.column_stack([target, data[:, 2]])
    for model, goal in ((KNeighborsRegressor(3), target), (DecisionTreeRegressor(random_state=0), both)):
        selector = many(model, cv=3, max_evaluations=60).fit(data, goal)
        mean = fit_plainly(model, selector.subsets_, data, goal)("predict").mean(axis=0)
        np.testing.assert_allclose(selector.predict(data), mean)
    labels = np.column_stack([y == 0, y == 1]).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    selector = many(tree, cv=3, max_evaluations=30).fit(X, labels)
    votes = fit_plainly(tree, selector.subsets_, X, labels)("predict")
    np.testing.assert_array_equal(selector.predict(X), (votes.mean(axis=0) > 0.5).astype(int))
    assert [each.shape for each in selector.predict_proba(X)] == [(178, 2), (178, 2)]


def test_searches_are_those_of_minimize_on_their_partitions():
    selector = many(max_features=None, max_evaluations=90).fit(X, y)
    best = []
    for number in range(3):
        seed = derived_seed(0, (2**31 + 2, number - 1)) % 2**32 if number else None
        cv = StratifiedKFold(5, shuffle=number > 0, random_state=seed)
        evaluator = GaussianNBEvaluator(X, y, Folds.from_splitter(cv, X, y), scaling="none")
        result = minimize("merit", evaluator, 30, derived_seed(0, (number,)), parameters={"start_size": 8})
        best.append(result.error)
        found = selector.subsets_[number]
        assert 1 - cross_val_score(GaussianNB(), X[:, found], y, cv=cv).mean() == pytest.approx(result.error)
    assert selector.history_.error == best[0]


@pytest.mark.parametrize("limit", ["auto", 3, 0.4])
def test_a_limit_holds_for_all_subsets_together(limit):
    data, target = CANCER
    selector = many(max_features=limit, max_evaluations=300).fit(data, target)
    most = {"auto": selector.best_subset_.sum(), 3: 3, 0.4: 12}[limit]
    assert selector.union_.sum() <= most
    assert selector.best_subset_.sum() <= most
    np.testing.assert_array_equal(selector.union_, selector.subsets_.any(axis=0))
    assert len(np.unique(selector.subsets_, axis=0)) == len(selector.subsets_)
    assert selector.subsets_.any(axis=1).all()
    free = many(max_features=None, max_evaluations=300).fit(data, target)
    assert free.union_.sum() > most


def test_the_best_subset_has_the_best_mean_over_the_partitions():
    selector = many(max_features=None, max_evaluations=600, cv=4).fit(X, y)
    splitters = [StratifiedKFold(4)]
    for number in range(2):
        seed = derived_seed(0, (2**31 + 2, number)) % 2**32
        splitters.append(StratifiedKFold(4, shuffle=True, random_state=seed))

    def mean_of(subset):
        return np.mean([cross_val_score(GaussianNB(), X[:, subset], y, cv=cv).mean() for cv in splitters])

    assert len(selector.subsets_) <= 12  # four of each of three searches
    assert mean_of(selector.best_subset_) == pytest.approx(max(mean_of(subset) for subset in selector.subsets_))
    expected = cross_val_score(GaussianNB(), X[:, selector.best_subset_], y, cv=4).mean()
    assert selector.best_score_ == pytest.approx(expected)


def test_what_is_handed_on():
    union = many(max_features=None, transform_features="union").fit(X, y)
    best = many(max_features=None).fit(X, y)
    np.testing.assert_array_equal(union.support_, union.union_)
    np.testing.assert_array_equal(best.support_, best.best_subset_)
    np.testing.assert_array_equal(union.best_subset_, best.best_subset_)
    assert union.transform(X).shape[1] == union.n_features_ == union.union_.sum() > best.n_features_


def test_sizes_groups_and_fixed_features():
    constraints = {"fixed": [0], "groups": [[1, 2, 3]], "excluded": [12]}
    for options in ({}, {"n_features_to_select": 4}, {"n_features_to_select": "1se"}):
        selector = many(constraints=constraints, **options).fit(X, y)
        subsets = selector.subsets_
        assert subsets[:, 0].all()
        assert not subsets[:, 12].any()
        assert (subsets[:, 1] == subsets[:, 2]).all()
        assert (subsets[:, 1] == subsets[:, 3]).all()
        assert selector.union_.sum() <= selector.best_subset_.sum()
    sized = many(n_features_to_select=4, max_features=None).fit(X, y)
    assert (sized.subsets_.sum(axis=1) == 4).all()
    sized = many(n_features_to_select=4, max_features=6).fit(X, y)
    assert sized.n_features_ == 4
    assert sized.union_.sum() <= 6


def test_other_cross_validation_shares_its_splits():
    groups = np.arange(178) % 6
    selector = many(cv=GroupKFold(3)).fit(X, y, groups=groups)
    score = cross_val_score(GaussianNB(), X[:, selector.best_subset_], y, cv=GroupKFold(3), groups=groups).mean()
    assert selector.best_score_ == pytest.approx(score) == selector.front_[-1].score
    assert "not a plain k-fold" in selector.rule_
    assert len(selector.subsets_) > 3
    assert not selector.comparison_
    assert not selector.subset_scores_.size


def test_tables_reach_the_estimators():
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(13)])
    assert_same(many().fit(frame, y), many().fit(X, y))
    assert (many().fit(frame, y).predict(frame) == many().fit(X, y).predict(X)).all()
    counts = np.random.default_rng(0).poisson(0.3 + 2.0 * (y[:, None] == np.arange(20) % 5)).astype(float)
    dense, scarce = (many(MultinomialNB()).fit(table, y) for table in (counts, csr_array(counts)))
    assert_same(dense, scarce)
    np.testing.assert_allclose(dense.predict_proba(counts), scarce.predict_proba(csr_array(counts)))


@pytest.mark.parametrize("estimator", [GaussianNB(), DecisionTreeClassifier(max_features=2)])
def test_jobs_do_not_change_the_ensemble(estimator):
    one, two = (many(estimator, n_jobs=jobs, cv=3, max_evaluations=120).fit(X, y) for jobs in (1, 2))
    assert_same(one, two)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.subset_scores_, two.subset_scores_)


def test_few_evaluations_are_few_searches():
    for evaluations in (1, 2, 3, 5):
        selector = many(max_evaluations=evaluations).fit(X, y)
        assert 1 <= selector.n_evaluations_ <= evaluations
        assert selector.predict(X).shape == (178,)
    sequential = many(algorithm="sffs", n_features_to_select=5, max_evaluations=250).fit(X, y)
    assert sequential.n_features_ == 5


def test_exact_evaluators_have_enough_evaluations_for_each_search(monkeypatch):
    monkeypatch.undo()
    runs = []
    for evaluations, estimator in ((599, None), (1300, None), (60, DecisionTreeClassifier(max_depth=2))):
        seen = []
        selector = many(estimator, max_evaluations=evaluations, cv=2, callbacks=seen.append).fit(X, y)
        runs.append([run.max_evaluations for run in seen[-1].runs])
        assert selector.union_.sum() <= selector.best_subset_.sum()
        assert len(selector.subsets_) > (evaluations == 1300)
    assert runs == [[599], [325] * 4, [10] * 6]


def test_time_is_shared_by_the_searches(monkeypatch):
    clock = Clock(monkeypatch, "selector.search_loop", "selector.selection")

    class Slow(GaussianNB):
        def fit(self, X, y):
            clock.sleep(0.005)
            return super().fit(X, y)

    seen = []
    began = clock.now
    callbacks = [seen.append, EarlyStopping(max_time=1.2)]
    selector = many(Slow(), max_evaluations=6000, callbacks=callbacks).fit(X, y)
    assert selector.stop_reason_ == "max_time"
    assert clock.now - began < 1.2 + 0.02 * 5 + 0.005 * len(selector.subsets_)
    assert [run.n_evaluations > 0 for run in seen[-1].runs] == [True] * 6
    at_once = many(Slow(), callbacks=EarlyStopping(max_time=1e-9)).fit(X, y)
    assert at_once.n_evaluations_ == 1
    assert len(at_once.subsets_) == 1


@pytest.mark.parametrize("after", [1, 40, 150])
def test_ctrl_c_fits_what_was_found(after):
    def press(progress):
        if progress.n_evaluations >= after:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted: the best of .* evaluations is kept"):
        selector = many(max_evaluations=300, callbacks=press).fit(X, y)
    assert selector.interrupted_
    assert selector.union_.sum() <= selector.best_subset_.sum()
    assert selector.predict(X).shape == (178,)
    assert "stopped" in selector.comparison_text_


def test_progress_counts_all_searches():
    seen = []
    many(max_evaluations=300, callbacks=seen.append).fit(X, y)
    assert {progress.max_evaluations for progress in seen} == {300}
    assert [progress.n_evaluations for progress in seen] == sorted({progress.n_evaluations for progress in seen})
    assert seen[-1].n_evaluations == 300
    assert seen[-1].mask.shape == (13,)


def test_a_search_that_knows_all_subsets_is_complete():
    seen = []
    selector = quick(algorithm="merit", callbacks=seen.append).fit(X[:, :3], y)
    assert selector.stop_reason_ == "finished"
    assert (seen[-1].n_evaluations, seen[-1].max_evaluations) == (7, 7)


@pytest.mark.parametrize("options", [{}, {"n_features_to_select": 4}, {"n_features_to_select": "1se"}])
def test_subsets_that_are_refused_are_left_out(options):
    """A PCA needs as many features as it has components; what is left of a subset in the pool may have fewer."""
    for model, (data, target) in (
        (DecisionTreeClassifier(max_depth=3, random_state=0), CANCER),
        (Ridge(), load_diabetes(return_X_y=True)),
    ):
        estimator = make_pipeline(PCA(3, random_state=0), model)
        selector = many(estimator, cv=3, max_evaluations=60, **options).fit(data, target)
        assert min(selector.subsets_.sum(axis=1)) >= 3
        assert selector.union_.sum() <= selector.best_subset_.sum()
        assert selector.front_[0].size >= 3
        assert np.isfinite([(point.score, point.std) for point in selector.front_]).all()
        assert f"average {len(selector.subsets_)} subsets" in selector.rule_ or len(selector.subsets_) == 1
    assert nested_score(selector, data, target, cv=2).supports.sum(axis=1).min() >= 3
    with pytest.raises(ValueError, match="n_components=9 must be"):
        many(make_pipeline(PCA(9), Ridge()), n_subsets=1, cv=3, max_evaluations=4).fit(data, target)


def test_scores_of_the_first_subsets_are_those_of_scikit_learn():
    selector = many(max_evaluations=300).fit(X, y)
    cv = StratifiedKFold(5, shuffle=True, random_state=derived_seed(0, (2**31 + 5,)) % 2**32)
    rates = []
    for train, test in cv.split(X, y):
        every = [
            GaussianNB().fit(X[train][:, subset], y[train]).predict_proba(X[test][:, subset])
            for subset in selector.subsets_
        ]
        means = np.cumsum(every, axis=0)
        rates.append([np.mean(mean.argmax(axis=1) == y[test]) for mean in means])
    np.testing.assert_allclose(selector.subset_scores_, np.mean(rates, axis=0))
    pytest.importorskip("matplotlib")
    (axes,) = selector.plot_subsets().axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), selector.subset_scores_)
    with pytest.raises(PqswarmError, match="there are no scores of the subsets"):
        many(max_evaluations=20).fit(X, y).plot_subsets()


def test_other_scores_of_ensembles():
    data, target = CANCER
    selector = many(LogisticRegression(C=1e-3), cv=2, max_evaluations=12, scoring="roc_auc").fit(data, target)
    assert selector.score(data, target) == roc_auc_score(target, selector.decision_function(data))
    linear = many(RidgeClassifier(), cv=2, max_evaluations=12).fit(data, target)
    np.testing.assert_array_equal(linear.predict(data), (linear.decision_function(data) > 0).astype(int))
    forest = many(RandomForestClassifier(3), cv=2, max_evaluations=6).fit(X, y)
    assert forest.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(178))


def test_nested_scores_are_those_of_the_ensemble():
    nested = nested_score(many(max_evaluations=60), X, y, cv=KFold(3, shuffle=True, random_state=1))
    train, test = next(KFold(3, shuffle=True, random_state=1).split(X, y))
    inner = many(max_evaluations=60, random_state=derived_seed(0, (2**31 + 1, 0))).fit(X[train], y[train])
    assert nested.scores[0] == inner.score(X[test], y[test])
    np.testing.assert_array_equal(nested.supports[0], inner.best_subset_)
