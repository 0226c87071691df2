"""The k-NN evaluator against scikit-learn and against the definition."""

from math import inf

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import METRICS, Folds, KNNEvaluator
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.depth import DEPTH
from tests.evaluation.data import dataset, random_masks
from tests.reference import classifiers as slow
from tests.reference.definitions import knn_distances


def check_against_definition(X, y, folds, k, metric, masks, *, scaling, n_jobs=None):
    evaluator = KNNEvaluator(X, y, folds, k, metric, scaling=scaling, n_jobs=n_jobs)
    for mask in masks:
        expected, _ = slow.knn_predictions(X[:, mask].astype(float), y, list(folds.split()), k, metric, scaling)
        assert np.array_equal(evaluator.predictions(mask), expected)


def test_paper_data_in_full_against_cross_val_score(paper_events):
    samples = paper_events("paper")
    X, y, folds = samples.X(inf), samples.y, Folds.stratified(samples.y, seed=7)
    masks = random_masks(2 * DEPTH, 99, seed=2)
    errors = KNNEvaluator(X, y, folds).errors(masks)
    for mask, error in zip(masks, errors, strict=True):
        model = KNeighborsClassifier(3, metric="manhattan", algorithm="brute")
        assert error == pytest.approx(
            1 - cross_val_score(model, scale_by_extremes(X, X)[:, mask], y, cv=folds).mean(), abs=1e-12
        )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 2, 7, 15])
@pytest.mark.parametrize("name", ["wine", "breast-cancer", "pq"])
def test_neighbors_and_metrics_against_the_definition(name, k, metric):
    X, y, folds = dataset(name)
    check_against_definition(X, y, folds, k, metric, random_masks(2 * DEPTH, X.shape[1], seed=k), scaling="once")


@settings(max_examples=25 * DEPTH)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(20, 48), st.integers(1, 4)), elements=st.integers(0, 3)),
    st.integers(1, 15),
    st.sampled_from(METRICS),
    st.sampled_from(["once", "minmax", "none"]),
    st.integers(0, 1000),
)
def test_small_data_with_ties_and_duplicates(X, k, metric, scaling, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(len(X)) % 3)
    folds = Folds(rng.permutation(np.arange(len(X)) % 4))
    check_against_definition(X, y, folds, k, metric, random_masks(3, X.shape[1], seed), scaling=scaling, n_jobs=1)


@pytest.mark.parametrize("metric", METRICS)
def test_single_precision_never_decides(metric):
    """Distances that single precision cannot separate, and large offsets."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, (120, 6)).astype(float)
    X = 1000.0 + base + 1e-9 * rng.standard_normal((120, 6))
    y = np.arange(120) % 4
    folds = Folds.stratified(y, 5)
    check_against_definition(X, y, folds, 3, metric, random_masks(10, 6, seed=4), scaling="none")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-90, 1e-40, 1e-20, 1.0, 1e19, 1e38, 1e60])
def test_any_unit(metric, scale):
    """Far outside the range of single precision."""
    rng = np.random.default_rng(1)
    X, y = scale * rng.random((90, 6)), np.arange(90) % 3
    folds = Folds.stratified(y, 5)
    check_against_definition(X, y, folds, 4, metric, random_masks(8, 6, seed=1), scaling="none")


@pytest.mark.parametrize("metric", METRICS)
def test_squares_below_the_smallest_double(metric):
    rng = np.random.default_rng(1)
    X, y = rng.random((90, 6)), np.arange(90) % 3
    folds, masks = Folds.stratified(y, 5), random_masks(8, 6, seed=1)
    expected = KNNEvaluator(X, y, folds, 4, metric, scaling="none").error_counts(masks)
    for exponent in (-500, -990):
        tiny = KNNEvaluator(np.ldexp(X, exponent), y, folds, 4, metric, scaling="none")
        assert np.array_equal(tiny.error_counts(masks), expected)


def test_outliers_under_scaling_by_fold():
    rng = np.random.default_rng(3)
    X, y = rng.random((60, 5)), np.arange(60) % 3
    X[:, 2] = 1e-14 * rng.random(60)
    X[7, 2] = 3e5
    folds = Folds(np.arange(60) % 5)
    for metric in METRICS:
        check_against_definition(X, y, folds, 3, metric, random_masks(10, 5, seed=3), scaling="minmax")


@pytest.mark.parametrize("metric", METRICS)
def test_sharp_bounds(metric):
    """Samples on a line: pivot differences equal the distances, and rounding must not exclude neighbors."""
    for seed in range(10):
        t = np.random.default_rng(seed).random(300)
        X = np.outer(t, np.random.default_rng(99).random(60) + 0.5)
        y = np.random.default_rng(seed).integers(0, 4, 300)
        check_against_definition(X, y, Folds.stratified(y, 5), 3, metric, np.ones((1, 60), bool), scaling="none")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [31, 32, 33, 65, 1023, 1057])
def test_full_and_partial_blocks(n, metric):
    """The kernel processes 32 samples at a time, and tests 32 blocks at a time."""
    rng = np.random.default_rng(n)
    y = rng.permutation(np.arange(n) % 3)
    folds = Folds(rng.permutation(np.arange(n) % 7))
    for X in (rng.integers(0, 5, (n, 19)).astype(float), rng.standard_normal((n, 3)) @ rng.standard_normal((3, 19))):
        check_against_definition(X, y, folds, 4, metric, random_masks(3, 19, seed=n), scaling="none", n_jobs=1)


@settings(max_examples=15 * DEPTH)
@given(
    st.integers(20, 130),
    st.integers(1, 20),
    st.integers(1, 15),
    st.sampled_from(METRICS),
    st.sampled_from([0, 1, 6, 25]),
    st.integers(0, 10**6),
)
def test_features_of_any_kind(n, n_features, k, metric, decades, seed):
    """Features of different units, some of few values, some far from zero, some constant, some samples twice."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    few = rng.random(n_features) < 0.4
    X[:, few] = np.round(X[:, few])
    X = X * 10.0 ** rng.uniform(-decades, decades, n_features) + rng.choice([0.0, 1.0, 1000.0], n_features)
    X[:, rng.random(n_features) < 0.1] = 7.0
    X[rng.integers(0, n, n // 5)] = X[rng.integers(0, n, n // 5)]
    y, folds = rng.permutation(np.arange(n) % 3), Folds(rng.permutation(np.arange(n) % 4))
    check_against_definition(
        X, y, folds, min(k, n // 2), metric, random_masks(2, n_features, seed), scaling="none", n_jobs=1
    )


def test_unequal_folds_and_classes():
    X, y, _ = dataset("wine")
    rng = np.random.default_rng(6)
    folds = Folds(np.sort(rng.choice(5, len(y), p=[0.5, 0.2, 0.15, 0.1, 0.05])))
    keep = rng.random(len(y)) < np.array([0.9, 0.3, 0.15])[y]
    keep[np.unique(folds.test_fold, return_index=True)[1]] = True
    X, y, folds = X[keep], y[keep], Folds(folds.test_fold[keep])
    masks = random_masks(20, 13, seed=7)
    check_against_definition(X, y, folds, 3, "manhattan", masks, scaling="once")
    evaluator = KNNEvaluator(X, y, folds)
    np.testing.assert_allclose(evaluator.errors(masks), (evaluator.error_counts(masks) / folds.sizes).mean(axis=1))


def test_neighbors():
    X, y, folds = dataset("wine")
    found = KNNEvaluator(X, y, folds, 4).neighbors(np.arange(13))
    d = knn_distances(scale_by_extremes(X, X), scale_by_extremes(X, X), "manhattan")
    d[folds.test_fold[:, None] == folds.test_fold] = np.inf
    assert np.array_equal(found, np.sort(np.argsort(d, axis=1, kind="stable")[:, :4]))


def test_mistakes_are_named():
    X, y, folds = dataset("wine")
    for arguments, message in [
        ({"n_neighbors": 0}, "n_neighbors must be an integer from 1 to 15, not 0"),
        ({"n_neighbors": 16}, "n_neighbors must be"),
        ({"n_neighbors": 2.5}, "n_neighbors must be"),
        ({"metric": "manhatan"}, "did you mean 'manhattan'"),
        ({"scaling": "standart"}, "unknown scaling 'standart': did you mean 'standard'"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ]:
        with pytest.raises(PqswarmError, match=message):
            KNNEvaluator(X, y, folds, **arguments)
    with pytest.raises(PqswarmError, match="a fold is trained on 2 samples, fewer than the n_neighbors of 3"):
        KNNEvaluator(X[:4], y[[0, 60, 0, 60]], Folds(np.array([0, 0, 1, 1])))
