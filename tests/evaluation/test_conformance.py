"""Every registered classifier passes the checks, the checks detect faulty ones, and regressors are checked likewise."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from pqswarm.evaluation import (
    CLASSIFIERS,
    REGRESSORS,
    Classifier,
    GenericEvaluator,
    KNNEvaluator,
    Parameters,
    parameter,
)
from pqswarm.evaluation import conformance as suite
from pqswarm.evaluation.conformance import CHECKS, check_classifier
from pqswarm.evaluation.learners import DiscreteNBClassifier, KernelNBClassifier, KNNClassifier
from pqswarm.evaluation.scaling import SCALINGS

SETTINGS = {
    "k-nn": [{}, {"n_neighbors": 1, "metric": "chebyshev"}, {"n_neighbors": 8, "metric": "euclidean"}],
    "kernel-nb": [{}, {"bandwidth": 0.1}, {"bandwidth": 0.05, "floor": 0.01}, {"underflow": True}],
    "gaussian-nb": [{}, {"var_smoothing": 0.01}],
    "lda": [{}, {"solver": "lsqr", "shrinkage": 0.2}],
    "estimator": [
        {"estimator": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_features": 1}},
        {"estimator": "sklearn.svm.LinearSVC", "parameters": {"C": 0.5}},
        {"estimator": "pqswarm.KernelNB", "parameters": {"bandwidth": 0.1}},
    ],
}
ALL = [CLASSIFIERS[name](settings) for name in CLASSIFIERS for settings in SETTINGS[name]]
ALL.append(DiscreteNBClassifier({"model": "bernoulli", "binarize": 0.4}))  # the other models need counts


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of scikit-learn only slow down on data this small, and so does checking its arguments at each fit."""
    with threadpool_limits(1), config_context(skip_parameter_validation=True):
        yield


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("classifier", ALL, ids=lambda classifier: classifier.describe())
def test_conformance(classifier, check):
    check(classifier)


REGRESSION = {
    "k-nn-regression": [{}, {"n_neighbors": 3, "metric": "manhattan"}],
    "linear": [{}, {"fit_intercept": False}],
    "ridge": [{}, {"alpha": 0.01, "fit_intercept": False}],
}


@pytest.mark.parametrize(
    "regressor",
    [REGRESSORS[name](settings) for name in REGRESSORS for settings in REGRESSION[name]],
    ids=lambda regressor: regressor.describe(),
)
def test_regressors(regressor):
    copies = (type(regressor)(json.loads(json.dumps(regressor.settings))), pickle.loads(pickle.dumps(regressor)))
    assert all(copy == regressor and hash(copy) == hash(regressor) for copy in copies)
    assert 3 <= len(regressor.describe()) <= 160
    assert type(regressor).from_estimator(regressor.estimator()) in (None, regressor)
    assert type(regressor).from_estimator(object()) is None
    for X, y, folds in suite._classification_problems():
        target = X[:, 0] - 2.0 * X[:, 1] ** 2 + 0.3 * np.unique(y, return_inverse=True)[1]
        masks = suite._problem_masks(X.shape[1])[:5]
        for scaling in SCALINGS:
            assert_estimators_errors(regressor, (X, target, folds), masks, None, scaling)
        for scoring in regressor.scorings:
            assert_estimators_errors(regressor, (X, target, folds), masks[::3], scoring, "once")


def assert_estimators_errors(regressor, problem, masks, scoring, scaling):
    evaluator = regressor.evaluator(*problem, scoring=scoring, scaling=scaling, n_jobs=1)
    expected = GenericEvaluator(*problem, regressor.estimator(), scoring, scaling=scaling, n_jobs=1)
    errors = evaluator.errors(masks)
    np.testing.assert_allclose(errors, expected.errors(masks), rtol=1e-9, atol=1e-12)
    assert evaluator.is_loss == expected.is_loss
    single = np.concatenate([evaluator.errors(masks[row : row + 1]) for row in range(len(masks))])
    np.testing.assert_array_equal(single, errors)
    np.testing.assert_array_equal(evaluator.fold_errors(masks).mean(axis=1), errors)
    assert np.isinf(evaluator.errors(np.zeros_like(masks[:1]))).all()
    if scoring is None:
        np.testing.assert_allclose(evaluator.predictions(masks[0]), expected.predictions(masks[0]), 1e-8, 1e-9)


class Depth(Parameters):
    depth: int = parameter(default=2, meaning="depth of the tree", low=1, high=9)


class Tree(Classifier):
    """A complete custom classifier."""

    name, title, Hyperparameters = "tree", "Tree", Depth

    def estimator(self):
        return DecisionTreeClassifier(max_depth=self.hyperparameters.depth, random_state=0)


def test_a_custom_classifier():
    check_classifier(Tree({"depth": 5}))
    assert Tree().describe() == "Tree with depth 2"


def faulty_tree(**members):
    return type("FaultyTree", (Tree,), members)


KEPT = DecisionTreeClassifier(random_state=0)


class Other(KNNClassifier):
    def _evaluator(self, X, y, folds, **options):
        return KNNEvaluator(X, y, folds, 5, **options)


class Careless(KNNClassifier):
    def _evaluator(self, X, y, folds, *, scaling, **options):
        return KNNEvaluator(X, y, folds, scaling="once", **options)


class Miscounting(KNNEvaluator):
    def error_counts(self, masks):
        counts = super().error_counts(masks)
        return np.maximum(counts - 1, 0)


class Miscount(KNNClassifier):
    def _evaluator(self, X, y, folds, **options):
        return Miscounting(X, y, folds, **options)


class Threaded(GenericEvaluator):
    def error_counts(self, masks):
        return super().error_counts(masks) + (self.n_jobs == 2)


class Threads(Tree):
    def _evaluator(self, X, y, folds, **options):
        return Threaded(X, y, folds, self.estimator(), **options)


class Everywhere(Tree):
    def evaluator(self, X, y, folds, *, device="cpu", **options):
        return self._evaluator(X, y, folds, **options)


class Permissive(Tree):
    def __post_init__(self):
        object.__setattr__(self, "hyperparameters", Depth())


class Boasting(KernelNBClassifier):
    @classmethod
    def search_grid(cls, X, y, folds, **options):
        found = super().search_grid(X, y, folds, **options)
        return replace(found, accuracies=found.accuracies[::-1])


class Local(Tree):
    def __getstate__(self):
        raise TypeError("not to be sent")


@pytest.mark.parametrize(
    ("classifier", "check", "message"),
    [
        (Other, suite.check_predictions, "the estimator predicts other labels"),
        (Careless, suite.check_predictions, "the estimator predicts other labels: scaling 'minmax'"),
        (Miscount, suite.check_predictions, "miscounts|empty"),
        (Threads, suite.check_threads, "depend on n_jobs"),
        (faulty_tree(estimator=lambda self: DecisionTreeClassifier(max_features=1)), suite.check_estimator, "seed it"),
        (faulty_tree(estimator=lambda self: KEPT), suite.check_estimator, "new classifier each time"),
        (faulty_tree(describe=lambda self: "a tree " * 50), suite.check_settings, "no short description"),
        (faulty_tree(devices=("abacus",)), suite.check_declarations, "devices"),
        (Everywhere, suite.check_devices, "is not refused"),
        (faulty_tree(from_estimator=classmethod(lambda cls, _: cls())), suite.check_from_estimator, "any object"),
        (Permissive, suite.check_hyperparameters, "is accepted"),
        (Boasting, suite.check_grid, "best point"),
    ],
)
def test_the_checks_can_fail(classifier, check, message):
    with pytest.raises(AssertionError, match=message):
        check(classifier())


def test_the_checks_can_fail_with_hyperparameters():
    with pytest.raises(AssertionError, match="do not restore an equal classifier"):
        suite.check_settings(faulty_tree(settings=property(lambda self: {}))({"depth": 5}))
    with pytest.raises(TypeError, match="not to be sent"):
        suite.check_other_processes(Local())
