"""Scores of labels on the exact evaluators, against scikit-learn fold by fold."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import accuracy_score, cohen_kappa_score, fbeta_score, get_scorer, make_scorer, zero_one_loss
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import (
    CLASSIFIERS,
    DiscreteNBEvaluator,
    Folds,
    GenericEvaluator,
    KernelNBEvaluator,
    RepeatedEvaluator,
    Splits,
    choose_evaluator,
)
from pqswarm.evaluation.scores import ScoredEvaluator
from pqswarm.evaluation.wrappers import TargetsEvaluator
from tests.depth import some, thinned

RATIOS = ("f1", "precision", "recall", "jaccard")
AVERAGED = [f"{name}_{how}" for name in RATIOS for how in ("macro", "micro", "weighted")]
SCORERS = {name: get_scorer(name) for name in ("accuracy", "balanced_accuracy", "matthews_corrcoef", *AVERAGED)}
SCORERS |= {
    "F2": make_scorer(fbeta_score, beta=2, average="macro", zero_division=1.0),
    "loss": make_scorer(zero_one_loss, greater_is_better=False),
}
KAPPAS = {
    "kappa": make_scorer(cohen_kappa_score),  # NaN, and so an error, if a fold has one class and it is predicted
    "weighted kappa": make_scorer(cohen_kappa_score, weights="linear"),
}
BINARY = {name: get_scorer(name) for name in RATIOS}


def hostile_data(rng, n_classes):
    """Whole numbers with many ties, constant columns, and a class that some folds do not test."""
    n = 72
    y = np.append(rng.integers(0, n_classes, n - 3), [0, 1, n_classes - 1])
    y[y == n_classes - 1] = 0
    y[-4:] = n_classes - 1
    X = np.column_stack(
        [rng.integers(0, 4, (n, 6)) + 0.7 * y[:, None] * (rng.random(6) < 0.7), np.ones(n), np.zeros(n)]
    )
    return X, y, Folds(rng.permutation(np.arange(n) % 4))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_scores_are_those_of_scikit_learn(n_classes):
    compare_with_scikit_learn(GaussianNB(var_smoothing=1e-3), n_classes, n_masks=some(5))


def compare_with_scikit_learn(model, n_classes, n_masks):
    """Compare all scores of some masks in each fold; for more masks than the test has time for, call it yourself."""
    rng = np.random.default_rng(n_classes)
    X, y, folds = hostile_data(rng, n_classes)
    masks = rng.random((n_masks, X.shape[1])) < 0.5
    masks[:, 0] |= ~masks[:, :6].any(axis=1)
    scorers = SCORERS | (BINARY if n_classes == 2 else KAPPAS)
    found = {}
    for name, scorer in scorers.items():
        choice = choose_evaluator(model, X, y, folds, scoring=scorer)
        assert choice.name != "GenericEvaluator"
        found[name] = choice.evaluator.fold_errors(masks)
        np.testing.assert_array_equal(choice.evaluator.errors(masks), found[name].mean(axis=1))
        assert choice.evaluator.is_loss == (name == "loss")
    for row, mask in enumerate(masks):
        for fold, (train, test) in enumerate(folds.split()):
            with warnings.catch_warnings(action="ignore"):
                fitted = clone(model).fit(X[train][:, mask], y[train])
                for name, scorer in scorers.items():
                    score = scorer(fitted, X[test][:, mask], y[test])
                    expected = -score if name == "loss" else 1 - score
                    assert found[name][row, fold] == pytest.approx(expected, rel=0, abs=1e-14), (name, row, fold)


def test_refused_subsets_empty_ones_and_what_cannot_be_scored():
    rng = np.random.default_rng(0)
    X, y, folds = hostile_data(rng, 3)
    evaluator = choose_evaluator(KNeighborsClassifier(3), X, y, folds, scoring="f1_macro").evaluator
    assert np.isinf(evaluator.errors(np.zeros((1, 8), dtype=bool)))
    assert evaluator.predictions(np.ones(8, dtype=bool)).shape == y.shape
    for scoring in ("roc_auc_ovr", "neg_log_loss", "average_precision", lambda model, X, y: 0.5):
        assert choose_evaluator(KNeighborsClassifier(3), X, y, folds, scoring=scoring).name == "GenericEvaluator"
    with pytest.raises(PqswarmError, match="scorer must be a scorer of scikit-learn"):
        ScoredEvaluator(evaluator.evaluator, "f1_macro")
    nan = make_scorer(lambda true, guessed: np.nan)
    with pytest.raises(PqswarmError, match=r"gives nan on fold 0 of 18 samples, with features \[0\]"):
        choose_evaluator(GaussianNB(), X, y, folds, scoring=nan).evaluator.errors(np.eye(8, dtype=bool)[:1])


COUNTS = [
    MultinomialNB(),
    ComplementNB(alpha=0.3),
    ComplementNB(norm=True),
    BernoulliNB(alpha=1e-3, fit_prior=False, binarize=1.5),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model", [GaussianNB(), LinearDiscriminantAnalysis(), *COUNTS], ids=lambda model: type(model).__name__
)
def test_probabilities_weights_and_splits(model, n_classes):
    compare_responses(model, n_classes, n_masks=some(3))


def compare_responses(model, n_classes, n_masks):
    """Compare scores of labels and probabilities, with weights and on several splits, as above."""
    rng = np.random.default_rng(n_classes)
    X, y, _ = hostile_data(rng, n_classes)
    X = np.floor(X)
    X[rng.random(X.shape) < 0.3] = 0
    masks = rng.random((n_masks, X.shape[1])) < 0.5
    masks[:, 0] |= ~masks[:, :6].any(axis=1)
    weights = rng.random(72) * rng.integers(0, 4, 72)
    weights[-4:] = 0.5  # the tiny class
    areas = ["roc_auc", "neg_brier_score"] if n_classes == 2 else ["roc_auc_ovr", "roc_auc_ovr_weighted"]
    scorings = ("neg_log_loss", *areas, None, "f1_macro", "matthews_corrcoef")
    both = (StratifiedKFold(3), StratifiedShuffleSplit(2, test_size=0.4, random_state=1))
    given = (None, weights) if hasattr(model, "partial_fit") else (None,)
    # scikit-learn adds sparse and dense tables in another order
    tables = (X, csr_matrix(X), csc_matrix(X)) if type(model) in map(type, COUNTS) else (X,)
    for scoring, cv, weight, table in thinned(product(scorings, both, given, tables)):
        splits = Splits.from_cv(cv, X, y)
        expected = GenericEvaluator(table, y, splits, model, scoring, scaling="none", sample_weight=weight)
        with warnings.catch_warnings(action="ignore"):
            wanted = expected.fold_errors(masks)
        choice = choose_evaluator(model, table, y, splits, scoring=scoring, sample_weight=weight)
        assert choice.name != "GenericEvaluator"
        assert choice.evaluator.is_loss == expected.is_loss
        np.testing.assert_allclose(choice.evaluator.fold_errors(masks), wanted, rtol=1e-9, atol=1e-12)


def test_ties_by_rounding_are_left_to_scikit_learn():
    """Of samples whose features are exchanged, probabilities are equal but for rounding."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 3, (40, 4)).astype(float)
    X, y = np.vstack([half, half[:, ::-1]]), np.tile(rng.integers(0, 2, 40), 2)
    splits = Splits.from_cv(StratifiedShuffleSplit(4, test_size=0.5, random_state=0), X, y)
    masks = np.ones((1, 4), dtype=bool)
    for model in (GaussianNB(), LinearDiscriminantAnalysis(), MultinomialNB()):
        evaluator = choose_evaluator(model, X, y, splits, scoring="roc_auc").evaluator
        expected = GenericEvaluator(X, y, splits, model, "roc_auc", scaling="none").fold_errors(masks)
        np.testing.assert_allclose(evaluator.fold_errors(masks), expected, rtol=0, atol=1e-14)


def test_refused_counts_and_hyperparameters_that_are_not_covered():
    X, y, folds = hostile_data(np.random.default_rng(0), 3)
    evaluator = choose_evaluator(MultinomialNB(), X - 1.0, y, folds).evaluator
    assert evaluator.errors(np.eye(8, dtype=bool)[[0, 6]]).tolist() == [
        1.0,
        pytest.approx(1 - (y == 0).mean(), abs=0.1),
    ]
    for model in (MultinomialNB(alpha=0), MultinomialNB(class_prior=[0.2, 0.3, 0.5]), BernoulliNB(binarize=None)):
        assert choose_evaluator(model, X, y, folds).name == "GenericEvaluator"
    with pytest.raises(PqswarmError, match="sparse X must be finite, and needs scaling 'none'"):
        DiscreteNBEvaluator(csr_matrix(X), y, folds)


@pytest.mark.parametrize("ties", [False, True])
def test_kernel_naive_bayes_counts_errors_by_class_as_its_labels_say(ties):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, 90)
    X = rng.normal(size=(90, 6)) + y[:, None]
    evaluator = KernelNBEvaluator(np.round(X) if ties else X, y, Folds(np.arange(90) % 3), bandwidth=0.03)
    masks = rng.random((20, 6)) < 0.5
    masks[:, 0] |= ~masks.any(axis=1)
    for name in ("f1_macro", "balanced_accuracy", "matthews_corrcoef"):
        scored = ScoredEvaluator(evaluator, get_scorer(name))
        np.testing.assert_array_equal(scored.fold_errors(masks), 1 - scored._scores(evaluator._predict(masks)))


def test_repeated_partitions():
    X, y, folds = hostile_data(np.random.default_rng(1), 2)
    splits = Splits([pair for _ in range(2) for pair in folds.split()], len(y))
    repeated = choose_evaluator(GaussianNB(), X, y, splits, scoring="f1").evaluator
    assert isinstance(repeated, RepeatedEvaluator)
    once = choose_evaluator(GaussianNB(), X, y, folds, scoring="f1").evaluator
    masks = np.eye(8, dtype=bool)[:4]
    np.testing.assert_array_equal(repeated.fold_errors(masks), np.tile(once.fold_errors(masks), 2))
    np.testing.assert_allclose(repeated.errors(masks), once.errors(masks))


@pytest.mark.parametrize(
    "scoring", ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"]
)
@pytest.mark.parametrize(
    "model", [Ridge(0.5), LinearRegression(), KNeighborsRegressor(3)], ids=["ridge", "linear", "k-NN"]
)
def test_several_targets_are_averaged_as_scikit_learn_does(model, scoring):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 6)), np.ones(60)])
    y = np.column_stack(
        [X[:, 0] + rng.normal(size=60), 100 * X[:, 1] * X[:, 2], np.where(np.arange(60) % 3 == 1, 2.0, X[:, 3])]
    )
    folds = Folds(np.arange(60) % 3)  # the third target is constant in a fold
    choice = choose_evaluator(model, X, y, folds, scoring=scoring)
    assert choice.name in ("LinearEvaluator", "KNNRegressionEvaluator")
    masks = rng.random((12, 7)) < 0.5
    masks[:, 0] = True
    for mask, found in zip(masks, choice.evaluator.fold_errors(masks), strict=True):
        scores = cross_val_score(model, X[:, mask], y, cv=folds, scoring=scoring)
        np.testing.assert_allclose(found, -scores if choice.evaluator.is_loss else 1 - scores, rtol=1e-10, atol=1e-12)
    single = TargetsEvaluator([choose_evaluator(model, X, y[:, 0], folds).evaluator])
    assert single.predictions(masks[0]).shape == (60, 1)


@pytest.mark.parametrize("name", ["k-nn", "gaussian-nb", "kernel-nb", "lda"])
def test_an_own_scorer_of_accuracy_counts_the_same_errors(name):
    X, y = load_wine(return_X_y=True)
    folds = Folds.stratified(y, 4)
    model = CLASSIFIERS[name]().estimator()
    masks = np.random.default_rng(0).random((6, 13)) < 0.5
    own, plain = (
        choose_evaluator(model, X, y, folds, scoring=scoring).evaluator
        for scoring in (make_scorer(accuracy_score), "accuracy")
    )
    assert type(own).__name__ == "ScoredEvaluator"
    np.testing.assert_allclose(own.fold_errors(masks), plain.fold_errors(masks), atol=1e-12)
