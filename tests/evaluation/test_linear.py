"""Linear discriminant analysis and linear regressions against scikit-learn, sample by sample."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, GenericEvaluator, LDAEvaluator, LinearEvaluator, find_classifier, find_regressor
from pqswarm.evaluation.exact.linear import evaluator as module
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.evaluation.data import random_masks


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of scikit-learn only slow down on data this small."""
    with threadpool_limits(1):
        yield


@cache
def problem(name):
    """X, y and folds; some difficult by design."""
    rng = np.random.default_rng(3)
    loaders = {"wine": load_wine, "iris": load_iris, "breast-cancer": load_breast_cancer, "diabetes": load_diabetes}
    if name in loaders:
        X, y = loaders[name](return_X_y=True)
        X = X[:, :14]
    else:
        y = np.arange(120) % 4
        X = rng.normal(0, 1, (120, 9)) + y[:, None] * rng.normal(0, 0.6, 9)
        if name == "collinear":
            X[:, 3] = 2 * X[:, 1] - X[:, 2]  # exactly, and nearly
            X[:, 5] = X[:, 0] + 1e-5 * X[:, 5]
            X[:, 6] = 4.0
            X[:, 8] = y  # constant within each class
        if name == "offset":
            X = 1e6 + X
        if name == "tiny":
            X = 1e-8 * X
        if name == "wide":
            keep = rng.permutation(120)[:36]
            X, y = np.hstack([X, rng.normal(0, 1, (120, 31))])[keep], y[keep]
    if name == "missing":  # a class that is in the test set of one fold alone
        y = np.where(np.arange(120) % 40 == 7, 9, y)
        folds = Folds(np.where(y == 9, 0, rng.permutation(120) % 3))
    else:
        folds = Folds(rng.permutation(len(y)) % 3)
    return X, y, folds


def predict(estimator, X, y, folds):
    """Predictions of scikit-learn without its slow argument checks."""
    predicted = np.empty_like(y)
    with config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant and collinear features
        for train, test in folds.split():
            predicted[test] = estimator.fit(X[train], y[train]).predict(X[test])
    return predicted


CLASSIFIERS = {
    "lda": (LDAEvaluator, {}, LDA()),
    "lda-lsqr": (LDAEvaluator, {"solver": "lsqr"}, LDA(solver="lsqr")),
    "lda-shrunk": (LDAEvaluator, {"solver": "eigen", "shrinkage": 0.3}, LDA(solver="eigen", shrinkage=0.3)),
}
PROBLEMS = ["wine", "iris", "breast-cancer", "collinear", "offset", "tiny", "wide", "missing"]


@pytest.mark.filterwarnings("ignore::UserWarning")  # scikit-learn's, of constant features
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels_are_those_of_scikit_learn(kind, name):
    X, y, folds = problem(name)
    evaluator_class, settings, estimator = CLASSIFIERS[kind]
    evaluator = evaluator_class(X, y, folds, **settings, scaling="none", n_jobs=1)
    for mask in random_masks(40 if kind == "lda" else 16, X.shape[1], seed=4):
        try:
            expected = predict(estimator, X[:, mask], y, folds)
        except (ValueError, IndexError, np.linalg.LinAlgError):  # all constant, or no more samples than features
            with pytest.raises(PqswarmError, match="cannot be used with features"):
                evaluator.predictions(mask)
            assert evaluator.errors(mask[np.newaxis])[0] == 1.0
            continue
        assert np.array_equal(evaluator.predictions(mask), expected), np.flatnonzero(mask)


def test_scikit_learn_seldom_fits(monkeypatch):
    asked = []
    refit = module.refit_fold
    monkeypatch.setattr(module, "refit_fold", lambda *args, **options: asked.append(1) or refit(*args, **options))
    X, y, folds = problem("wine")
    masks = random_masks(200, X.shape[1], seed=5)
    for evaluator_class, settings, _ in CLASSIFIERS.values():
        evaluator_class(X, y, folds, **settings).errors(masks)
    X, y, folds = problem("diabetes")
    LinearEvaluator(X, y, folds).errors(random_masks(200, X.shape[1], seed=5))
    assert len(asked) < 0.01 * 3 * 200 * (len(CLASSIFIERS) + 1)


def test_tables_that_do_not_fit_are_not_allocated(monkeypatch):
    X, y, folds = problem("collinear")
    masks = random_masks(30, X.shape[1], seed=6)
    masks[:, 0] = True  # constant features alone are refused
    makers = [
        lambda: LDAEvaluator(X, y, folds).errors(masks),
        lambda: LinearEvaluator(X, X[:, 0] + y, folds, alpha=0.1).errors(masks),
    ]
    expected = [make() for make in makers]
    monkeypatch.setattr(module, "_TABLE", 0)
    for make, errors in zip(makers, expected, strict=True):
        assert np.allclose(make(), errors, rtol=1e-12)


REGRESSORS = [Ridge(1.0), Ridge(1e-3), Ridge(0.5, fit_intercept=False), LinearRegression(), KNeighborsRegressor(4)]


@pytest.mark.parametrize("name", ["diabetes", "breast-cancer", "collinear", "offset", "tiny", "wide"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
def test_errors_are_those_of_scikit_learn(estimator, name):
    X, y, folds = problem(name)
    rng = np.random.default_rng(7)
    if isinstance(estimator, KNeighborsRegressor):  # scikit-learn orders equal distances at random
        X = X + 1e-6 * rng.normal(0, X.std(axis=0) + X.std(), X.shape)
    target = y if name == "diabetes" else (X - X.mean(axis=0)) @ rng.normal(0, 1, X.shape[1]) / X.std() + y
    target = target + rng.normal(0, 0.3, len(y))
    totals = [np.square(target[test] - target[test].mean()).sum() for _, test in folds.split()]
    for scaling, data in (("none", X), ("once", scale_by_extremes(X, X))):
        evaluator = find_regressor(estimator).evaluator(X, target, folds, scaling=scaling, n_jobs=1)
        masks = random_masks(10, X.shape[1], seed=8)
        with warnings.catch_warnings(action="ignore"):  # scikit-learn's, of ill-conditioned matrices
            found = evaluator.fold_errors(masks)
        for mask, errors in zip(masks, found, strict=True):
            missed = predict(estimator, data[:, mask], target, folds) - target
            expected = [np.square(missed[test]).sum() for _, test in folds.split()]
            assert np.allclose(errors, np.divide(expected, totals), rtol=1e-9, atol=1e-9), np.flatnonzero(mask)


def test_a_refused_subset_does_not_stop_a_search():
    X, y, folds = problem("collinear")
    masks = np.array([np.arange(9) == 6, np.arange(9) == 0, np.ones(9, dtype=bool)])  # the first is constant
    exact, generic = LDAEvaluator(X, y, folds), GenericEvaluator(X, y, folds, LDA())
    assert exact.errors(masks)[0] == 1.0
    assert exact.errors(masks).tolist() == generic.errors(masks).tolist()
    scored = GenericEvaluator(X, y, folds, LDA(), "f1_macro").errors(masks)
    assert np.isinf(scored).tolist() == [True, False, False]
    with pytest.raises(PqswarmError, match=r"cannot be used with features \[0\]"):
        GenericEvaluator(X[:, [6, 6]], y, folds, LDA()).errors([[True, False]])


def test_recognized_estimators():
    assert find_classifier(LDA()).settings == {"solver": "svd", "shrinkage": 0.0}
    assert find_classifier(LDA(solver="lsqr", shrinkage=0.5)).settings["shrinkage"] == 0.5
    others = [LDA(priors=[0.5, 0.5]), LDA(solver="lsqr", shrinkage="auto"), LDA(tol=1e-3)]
    assert [find_classifier(other) for other in others] == [None] * len(others)
    others = [Ridge([1.0, 2.0]), Ridge(solver="sag"), LinearRegression(positive=True), Ridge(positive=True)]
    others += [KNeighborsRegressor(weights="distance"), KNeighborsRegressor(16), LDA()]
    assert [find_regressor(other) for other in others] == [None] * len(others)


def test_refused_estimators():
    X, y, folds = problem("diabetes")
    with pytest.raises(PqswarmError, match="neg_mean_squared_error"):
        LinearEvaluator(X, y, folds, "neg_mean_square_error")
    with pytest.raises(PqswarmError, match="needs two samples"):
        LinearEvaluator(X, y, Folds(np.arange(len(y))))
    with pytest.raises(PqswarmError, match="shrinkage needs the solver"):
        LDAEvaluator(X, y > 100, folds, shrinkage=0.5)
