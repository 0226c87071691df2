"""Prediction, frames, sparse matrices, several targets and fit parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from pqswarm.errors import PqswarmError
from tests.selector.problems import WINE, quick

X, y = WINE


def test_predictions_are_those_of_the_refitted_estimator():
    selector = quick(max_evaluations=40).fit(X, y)
    model = GaussianNB().fit(X[:, selector.support_], y)
    np.testing.assert_array_equal(selector.predict(X), model.predict(X[:, selector.support_]))
    np.testing.assert_array_equal(selector.predict_proba(X), model.predict_proba(X[:, selector.support_]))
    assert selector.score(X, y) == model.score(X[:, selector.support_], y)
    assert selector.classes_.tolist() == [0, 1, 2]
    assert not hasattr(selector, "decision_function")
    assert is_classifier(selector)
    assert is_regressor(quick(Ridge()))
    scored = quick(max_evaluations=20, scoring="balanced_accuracy").fit(X, y)
    assert scored.score(X, y) == balanced_accuracy_score(y, scored.predict(X))


@pytest.fixture(scope="module")
def mixed():
    wine = load_wine(as_frame=True)
    frame = wine.data[["alcohol", "hue", "flavanoids"]].copy()
    frame["color"] = pd.Categorical(np.where(frame.hue > 1, "red", "blue"))
    frame["cellar"] = np.array(["north", "south", "east"])[np.arange(178) % 3]
    return frame, wine.target


def test_frames_reach_the_estimator(mixed):
    frame, target = mixed
    encode = make_column_transformer((OneHotEncoder(), ["cellar", "color"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(max_depth=3))
    selector = quick(model, cv=3, max_evaluations=12, constraints={"fixed": ["cellar", "color"]}).fit(frame, target)
    assert list(selector.get_feature_names_out()) == list(frame.columns[selector.support_])
    assert isinstance(selector.transform(frame), pd.DataFrame)
    assert selector.score(frame, target) > 0.8
    trees = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=3, random_state=0)
    numbers = frame.drop(columns="cellar")
    selector = quick(trees, cv=2, max_evaluations=4).fit(numbers, target)
    score = cross_val_score(trees, numbers.loc[:, selector.support_], target, cv=2).mean()
    assert selector.best_score_ == pytest.approx(score)
    exact = quick(max_evaluations=20).fit(frame[["alcohol", "hue"]], target)
    assert exact.evaluator_name_.startswith("GaussianNBEvaluator")


def test_columns_that_are_refused_are_named(mixed):
    frame, target = mixed
    tree = DecisionTreeClassifier(max_depth=3)
    refusal = r"refuses 2 features, 'color' \(could not.*\), 'cellar' \(could not.*make_column_selector.*'excluded'"
    with pytest.raises(PqswarmError, match=refusal):
        quick(tree, cv=3, max_evaluations=4).fit(frame, target)
    left = quick(tree, cv=3, max_evaluations=4, constraints={"excluded": ["color", "cellar"]}).fit(frame, target)
    assert not left.support_[3:].any()
    holes = frame.assign(alcohol=frame.alcohol.mask(frame.index == 3))
    with pytest.raises(PqswarmError, match=r"refuses 3 features, 'alcohol' \(Input X contains NaN\), 'color'"):
        quick(KNeighborsClassifier(3), cv=3, max_evaluations=4).fit(holes, target)
    with pytest.raises(PqswarmError, match="feature 'alcohol' of sample 3 is NaN"):
        quick(max_evaluations=4).fit(holes[["hue", "alcohol"]], target)
    dates = frame[["alcohol", "hue"]].assign(day=pd.date_range("2020-01-01", periods=178))  # a tree takes it alone
    for columns in (["alcohol", "hue", "day"], ["day", "hue", "alcohol"]):
        with pytest.raises(PqswarmError, match="refuses 1 feature, 'day'"):
            quick(tree, cv=3, max_evaluations=4).fit(dates[columns], target)
    with pytest.raises(PqswarmError, match=r"MultinomialNB refuses 1 feature, 'hue' \(Negative values in data\)"):
        quick(MultinomialNB(), cv=3, max_evaluations=4).fit(frame[["alcohol", "hue"]] * [1, -1], target)
    rare = frame.assign(cellar=frame.cellar.mask(frame.index == 170, "west"))  # in the last fold alone
    encode = make_column_transformer((OneHotEncoder(), make_column_selector(dtype_exclude="number")))
    with pytest.raises(PqswarmError, match=r"refuses 1 feature, 'cellar' \(Found unknown categories.*handle_unknown"):
        quick(make_pipeline(encode, tree), cv=KFold(3), max_evaluations=4).fit(rare[["color", "cellar"]], target)


class Needy(DecisionTreeClassifier):
    """It needs two features, and one of them must be hue."""

    def fit(self, X, y):
        if X.shape[1] < 2 or "hue" not in X:
            raise ValueError("in need")
        return super().fit(X, y)


def test_columns_that_need_company_are_not_refused(mixed):
    frame, target = mixed
    numbers = frame[["alcohol", "hue", "flavanoids"]]
    assert quick(Needy(max_depth=2), cv=3, max_evaluations=8).fit(numbers, target).support_[1]
    with pytest.raises(PqswarmError, match=r"Needy cannot be used with features \['alcohol'.*\]: in need"):
        quick(Needy(), cv=3, max_evaluations=8).fit(numbers[["alcohol", "flavanoids"]], target)


class Modest(DecisionTreeClassifier):
    """It takes two features at most."""

    def fit(self, X, y):
        if X.shape[1] > 2:
            raise ValueError("too many")
        return super().fit(X, y)


def test_columns_that_are_too_many_are_not_refused(mixed):
    frame, target = mixed
    selector = quick(Modest(max_depth=2), cv=3, max_evaluations=12).fit(frame[["alcohol", "hue", "flavanoids"]], target)
    assert selector.n_features_ <= 2


@pytest.mark.parametrize("columns", [["cellar", "color"], "cellar", [3, 4], slice(3, 5)])
def test_column_transformers_find_columns_by_a_selector(mixed, columns):
    frame, target = mixed
    tree = DecisionTreeClassifier(max_depth=3)
    by_name = make_pipeline(make_column_transformer((OneHotEncoder(), columns), remainder="passthrough"), tree)
    with pytest.raises(PqswarmError, match=r"ColumnTransformer asks for .*make_column_selector.*'fixed'"):
        quick(by_name, cv=3, max_evaluations=8).fit(frame, target)
    with pytest.raises(PqswarmError, match=r"ColumnTransformer asks for .*make_column_selector"):
        quick(VotingClassifier([("inside", by_name)]), cv=3, max_evaluations=8).fit(frame, target)
    texts = make_column_selector(dtype_exclude="number")
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    assert quick(make_pipeline(encode, tree), cv=3, max_evaluations=8).fit(frame, target).score(frame, target) > 0.8


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, csc_array])
def test_sparse_matrices(kind):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3 + 2.0 * (y[:, None] == np.arange(40) % 5)).astype(float)
    selector = quick(MultinomialNB(), cv=3, max_evaluations=15).fit(kind(counts), y)
    assert selector.evaluator_name_.startswith("DiscreteNBEvaluator")
    dense = quick(MultinomialNB(), cv=3, max_evaluations=15).fit(counts, y)
    np.testing.assert_array_equal(selector.support_, dense.support_)
    assert selector.best_score_ == pytest.approx(dense.best_score_)
    np.testing.assert_array_equal(selector.predict(kind(counts)), dense.predict(counts))
    np.testing.assert_allclose(selector.predict_proba(kind(counts)), dense.predict_proba(counts), rtol=1e-12)
    np.testing.assert_array_equal(selector.transform(kind(counts)).toarray(), dense.transform(counts))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        quick().fit(kind(counts), y)


def test_wide_text_is_prefiltered():
    rng = np.random.default_rng(1)
    counts = csr_array(rng.poisson(0.05 + 0.8 * (y[:, None] == np.arange(320)), (178, 320)).astype(float))
    selector = quick(MultinomialNB(), cv=2, max_evaluations=3).fit(counts, y)
    assert "of 320 features by ANOVA F" in selector.prefilter_


def test_several_targets():
    data, target = load_diabetes(return_X_y=True)
    both = np.column_stack([target, target**2 / 100 + data[:, 0]])
    selector = quick(Ridge(), cv=3, max_evaluations=30).fit(data, both)
    assert selector.evaluator_name_.startswith("LinearEvaluator")
    expected = cross_val_score(Ridge(), data[:, selector.support_], both, cv=3).mean()
    assert selector.best_score_ == pytest.approx(expected)
    assert selector.predict(data).shape == both.shape
    labels = np.column_stack([y == 0, y == 1]).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    selector = quick(tree, cv=3, max_evaluations=10).fit(X, labels)
    assert selector.best_score_ == pytest.approx(cross_val_score(tree, X[:, selector.support_], labels, cv=3).mean())


class Listening(ClassifierMixin, BaseEstimator):
    """Notes the parameters of its fits."""

    seen = ()

    def fit(self, X, y, sample_weight=None, eval_set=None, tag=None):
        self.classes_ = np.unique(y)
        type(self).seen = (*self.seen, (X, None if sample_weight is None else sample_weight.copy(), eval_set, tag))
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_fit_parameters_reach_the_estimator(monkeypatch):
    monkeypatch.setattr(Listening, "seen", ())
    weights = X.sum(axis=1)
    params = {"sample_weight": weights, "eval_set": [(X[:7], y[:7])], "tag": "here"}
    selector = quick(Listening(), cv=2, max_evaluations=2).fit(X, y, **params)
    assert len(Listening.seen) > 4
    for data, weight, [(valid, labels)], tag in Listening.seen:
        rows = [np.flatnonzero(weights == one)[0] for one in weight]
        columns = [np.flatnonzero((X[rows] == column[:, None]).all(axis=0))[0] for column in data.T]
        np.testing.assert_array_equal(valid, X[:7][:, columns])
        assert (labels == y[:7]).all()
        assert tag == "here"
    assert Listening.seen[-1][0].shape == (178, selector.n_features_)


def test_metadata_are_routed_as_requested(monkeypatch):
    monkeypatch.setattr(Listening, "seen", ())
    options = {"cv": GroupKFold(2), "max_evaluations": 2}
    groups, weights = np.arange(178) % 4, np.arange(178.0)
    with config_context(enable_metadata_routing=True):
        asked = Listening().set_fit_request(tag=True, sample_weight=False).set_score_request(sample_weight=True)
        quick(asked, **options).fit(X, y, groups=groups, tag="here", sample_weight=weights)
        assert all(weight is None and tag == "here" for _, weight, _, tag in Listening.seen)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            quick(LogisticRegression(), **options).fit(X, y, groups=groups, sample_weight=weights)
