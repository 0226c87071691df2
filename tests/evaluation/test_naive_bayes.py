"""The naive Bayes evaluators against scikit-learn and against the definition."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, GaussianNBEvaluator, KernelNBEvaluator
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.depth import DEPTH
from tests.evaluation.data import dataset, random_masks
from tests.reference import classifiers as slow


def table(X, y, folds, width):
    """Log-likelihood of each sample by class and feature, from the other folds."""
    classes = np.unique(y)
    out = np.empty((X.shape[1], len(y), classes.size))
    for train, test in folds.split():
        for c, label in enumerate(classes):
            members = train[y[train] == label]
            z = (X[test].T[..., None] - X[members].T[:, None]) / width
            out[:, test, c] = logsumexp(-0.5 * z**2, axis=-1) - np.log(members.size * width * np.sqrt(2 * np.pi))
    return out


@settings(max_examples=20 * DEPTH)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(8, 20), st.integers(1, 4)), elements=st.integers(0, 3)),
    st.sampled_from([0.004, 0.3, 2.0]),
    st.sampled_from(["once", "minmax", "none"]),
    st.integers(0, 1000),
)
def test_kernel_small_data_with_ties_and_duplicates(X, width, scaling, seed):
    """Repeated values and constant features; classes may be missing from a training set."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 4, len(X)), 2)
    y[:2] = 0, 1
    folds = Folds(rng.permutation(np.arange(len(X)) % 3))
    evaluator = KernelNBEvaluator(X, y, folds, width, scaling=scaling, n_jobs=1)
    for mask in random_masks(2, X.shape[1], seed):
        expected = slow.kernel_nb_predictions(X[:, mask].astype(float), y, list(folds.split()), width, scaling)
        assert np.array_equal(evaluator.predictions(mask), expected)


def test_kernel_terms_are_accurate_even_far_away():
    X, y, folds = dataset("wine")
    for width in (1e-4, 0.004, 1.0):
        ours = KernelNBEvaluator(X, y, folds, width).table
        np.testing.assert_allclose(ours, table(scale_by_extremes(X, X), y, folds, width), rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize(("name", "count"), [("wine", 30), ("breast-cancer", 15), ("pq", 6), ("digits", 4)])
@pytest.mark.parametrize("scaling", ["once", "none"])
def test_gaussian_many_masks_against_scikit_learn(name, count, scaling):
    X, y, folds = dataset(name)
    data = slow.scaled(X, np.arange(len(y)), scaling)
    masks = random_masks(DEPTH * count, X.shape[1], seed=3)
    counts = GaussianNBEvaluator(X, y, folds, scaling=scaling).error_counts(masks)
    with np.errstate(all="ignore"):
        for mask, count in zip(masks, counts, strict=True):
            predicted = cross_val_predict(GaussianNB(), data[:, mask], y, cv=folds)
            assert np.array_equal(np.bincount(folds.test_fold[predicted != y], minlength=10), count)


@settings(max_examples=15 * DEPTH)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(8, 24), st.integers(1, 4)), elements=st.integers(0, 3)),
    st.sampled_from(["once", "minmax", "none"]),
    st.integers(0, 1000),
)
def test_gaussian_small_data_with_ties_and_duplicates(X, scaling, seed):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 4, len(X)), 2)
    y[:2] = 0, 1
    folds = Folds(rng.permutation(np.arange(len(X)) % 3))
    evaluator = GaussianNBEvaluator(X, y, folds, scaling=scaling, n_jobs=1)
    for mask in random_masks(2, X.shape[1], seed):
        expected = np.empty_like(y)
        for train, test in folds.split():
            data = slow.scaled(X.astype(float), train, scaling)[:, mask]
            with np.errstate(all="ignore"):
                expected[test] = GaussianNB().fit(data[train], y[train]).predict(data[test])
        assert np.array_equal(evaluator.predictions(mask), expected)


@pytest.mark.parametrize("constant", [0.7, 1.7e9, 1e-9])
@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_gaussian_single_features_that_hardly_vary(constant, noise):
    """The variance of such a feature is rounding, and must be scikit-learn's rounding."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.c_[constant * (1 + noise * rng.standard_normal(300)), rng.random(300)]
        y = rng.integers(0, 3, 300)
        folds = Folds.stratified(y, 5, seed=seed)
        evaluator = GaussianNBEvaluator(X, y, folds, scaling="none")
        for mask in ([True, False], [False, True], [True, True]):
            with np.errstate(all="ignore"):
                expected = cross_val_predict(GaussianNB(), X[:, mask], y, cv=folds)
            assert np.array_equal(evaluator.predictions(mask), expected)


@pytest.mark.parametrize("factor", [1e10, 1e14, 1e18, 1e30])
def test_kernel_features_of_very_different_scales(factor):
    """A feature beyond single precision matters only if it is selected."""
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)), np.arange(40) % 3
    large = X.copy()
    large[:, 2] *= factor
    folds = Folds.stratified(y, 5)
    for mask in ([True, True, False, True], [True, False, True, False], [False, False, True, False]):
        mask = np.array(mask)
        predicted = KernelNBEvaluator(large, y, folds, 0.05, scaling="none").predictions(mask)
        expected = slow.kernel_nb_predictions(large[:, mask], y, list(folds.split()), 0.05)
        assert np.array_equal(predicted, expected)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *((KernelNBEvaluator, {"bandwidth": width}) for width in (0, float("nan"), float("inf"), "wide", None, True)),
        (KernelNBEvaluator, {"floor": 0.6}),
        (GaussianNBEvaluator, {"var_smoothing": -1}),
    ],
)
def test_mistakes_are_named(kind, wrong):
    with pytest.raises(PqswarmError, match=rf"{next(iter(wrong))} of {kind.__name__[:-9]}Hyperparameters must be"):
        kind(*dataset("wine"), **wrong)
