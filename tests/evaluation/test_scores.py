"""Scores of labels on the exact evaluators, against scikit-learn fold by fold."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import cohen_kappa_score, fbeta_score, get_scorer, make_scorer, zero_one_loss
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, RepeatedEvaluator, Splits, choose_evaluator
from pqswarm.evaluation.repeated import TargetsEvaluator
from pqswarm.evaluation.scores import ScoredEvaluator
from tests.depth import some

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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
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
    for scoring in ("roc_auc_ovr", "neg_log_loss", lambda model, X, y: 0.5):
        assert choose_evaluator(KNeighborsClassifier(3), X, y, folds, scoring=scoring).name == "GenericEvaluator"
    with pytest.raises(PqswarmError, match="scorer must be a scorer of predicted labels"):
        ScoredEvaluator(evaluator.evaluator, "f1_macro")
    nan = make_scorer(lambda true, guessed: np.nan)
    with pytest.raises(PqswarmError, match=r"gives nan on fold 0 of 18 events, with features \[0\]"):
        choose_evaluator(GaussianNB(), X, y, folds, scoring=nan).evaluator.errors(np.eye(8, dtype=bool)[:1])


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
