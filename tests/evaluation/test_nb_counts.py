"""Errors of naive Bayes counted for whole batches, against the predictions of single subsets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, GaussianNBEvaluator, KernelNBEvaluator
from pqswarm.evaluation.exact.naive_bayes import evaluator as naive_bayes
from pqswarm.evaluation.exact.naive_bayes.kernels import plan_nb_table_sums
from tests.depth import DEPTH
from tests.evaluation.data import dataset, random_masks


def neighbourhood(rng, count, n_features):
    """Masks that differ from one another by a feature or two, as in searches, some repeated."""
    masks = np.tile(rng.random(n_features) < 0.4, (count, 1))
    masks ^= rng.random(masks.shape) < 1.5 / n_features
    return masks[masks.any(axis=1)]


def problem(rng, kind, n, n_features, n_classes):
    """Random numbers, repeated columns of few values, or numbers of very different scales."""
    if kind == "ties":
        X = rng.integers(0, 3, (n, n_features)).astype(float)
        X[:, -1] = X[:, 0]
    else:
        X = rng.standard_normal((n, n_features))
        X *= 10.0 ** rng.integers(-3, 19, n_features) if kind == "far" else 1.0
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    sizes = rng.permutation(np.concatenate([np.arange(3), np.minimum(rng.integers(0, 6, n - 3), 2)]))
    return X, y, Folds(sizes)  # folds of different sizes; a class may be missing from the training samples


@settings(max_examples=15 * DEPTH)
@given(
    kind=st.sampled_from(["plain", "ties", "far"]),
    n=st.sampled_from([12, 31, 64, 65, 130]),
    n_features=st.sampled_from([1, 2, 9, 30]),
    n_classes=st.sampled_from([2, 3, 14]),
    width=st.sampled_from([1e-4, 0.004, 0.3]),
    limits=st.sampled_from([(0.0, False), (0.001, False), (0.0, True)]),  # floor and underflow
    n_jobs=st.sampled_from([1, 2]),
    seed=st.integers(0, 1000),
)
def test_counts_are_those_of_the_sums_in_double_precision(kind, n, n_features, n_classes, width, limits, n_jobs, seed):
    rng = np.random.default_rng(seed)
    X, y, folds = problem(rng, kind, n, n_features, n_classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive_bayes, "_BLOCK_NUMBERS", int(rng.choice([32, 1024])))  # one block of samples, or several
        patch.setattr(naive_bayes, "_MASKS", int(rng.choice([5, 512])))
        patch.setattr(naive_bayes, "_TERMS", 10)  # threads even for little work
        scaling = "none" if kind == "far" else "once"
        evaluator = KernelNBEvaluator(X, y, folds, width, *limits, scaling=scaling, n_jobs=n_jobs)
        for masks in (random_masks(1, n_features, seed), random_masks(7, n_features, seed)):
            assert np.array_equal(evaluator.error_counts(masks), evaluator.count_errors(evaluator._predict(masks)))
        masks = np.concatenate([neighbourhood(rng, 40, n_features), random_masks(20, n_features, seed)])
        assert np.array_equal(evaluator.error_counts(masks), evaluator.count_errors(evaluator._predict(masks)))


@settings(max_examples=15 * DEPTH)
@given(st.integers(1, 40), st.integers(1, 70), st.booleans(), st.integers(0, 1000))
def test_shared_sums_hold_every_selected_feature_once(count, n_features, similar, seed):
    rng = np.random.default_rng(seed)
    masks = neighbourhood(rng, count, n_features) if similar else random_masks(count, n_features, seed)
    parents, slots, starts, subsets = np.empty((4, 2 * len(masks)), dtype=np.int64)
    features = np.empty(masks.sum(), dtype=np.int64)
    if not len(masks):
        return
    n_nodes, n_slots = plan_nb_table_sums(masks, parents, slots, starts, subsets, features)
    sums, found = np.zeros((n_slots, n_features), dtype=int), np.zeros(masks.shape, dtype=int)
    for node in range(n_nodes):
        sums[slots[node]] = sums[parents[node]]
        sums[slots[node], features[starts[node] : starts[node + 1]]] += 1
        if subsets[node] >= 0:
            found[subsets[node]] += sums[slots[node]]
    assert np.array_equal(found, masks)


def test_a_step_forward_adds_one_feature_per_subset():
    masks = np.tile(np.arange(60) < 20, (40, 1))
    masks[np.arange(40), 20 + np.arange(40)] = True
    parents, slots, starts, subsets = np.empty((4, 80), dtype=np.int64)
    n_nodes, _ = plan_nb_table_sums(masks, parents, slots, starts, subsets, np.empty(masks.sum(), dtype=np.int64))
    assert starts[n_nodes] == 20 + 40


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(naive_bayes, "_MEMORY", 80_000)
    with pytest.raises(PqswarmError, match="178 samples x 13 features x 3 classes"):
        KernelNBEvaluator(*dataset("wine"))


def test_labels_are_counted_in_pieces(monkeypatch):
    evaluator, masks = KernelNBEvaluator(*dataset("wine")), random_masks(20, 13, seed=1)
    expected = evaluator.count_errors(evaluator._predict(masks))
    monkeypatch.setattr(naive_bayes, "_DOUBTFUL", 500)
    assert np.array_equal(evaluator.error_counts(masks), expected)


@settings(max_examples=15 * DEPTH)
@given(
    st.sampled_from(["plain", "ties", "far"]),
    st.integers(1, 6),
    st.sampled_from(["once", "minmax", "none"]),
    st.integers(0, 9),
)
def test_gaussian_models_in_doubt_are_those_that_scikit_learn_fits(kind, n_features, scaling, seed):
    X, y, folds = problem(np.random.default_rng(seed), kind, 40, n_features, 3)
    evaluator = GaussianNBEvaluator(X, y, folds, scaling=scaling)
    mask = random_masks(1, n_features, seed)[0]
    winners = np.empty(40, dtype=np.int64)
    evaluator.decide_as_scikit_learn(np.flatnonzero(mask), np.arange(40), winners)
    for fold, (train, test) in enumerate(folds.split()):
        data = evaluator.fold_data(fold if evaluator.scales_folds else 0)[:, mask]
        with np.errstate(all="ignore"):
            fitted = GaussianNB().fit(data[train], evaluator.labels[train])
            assert np.array_equal(winners[test], fitted.predict(data[test]))
