"""Naive Bayes: the classifier KernelNB, and the evaluators against scikit-learn, definitions and single subsets."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

import pqswarm
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds, GaussianNBEvaluator, KernelNBEvaluator
from pqswarm.evaluation.exact.naive_bayes import evaluator as naive_bayes
from pqswarm.evaluation.exact.naive_bayes.kernels import plan_nb_table_sums
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.depth import DEPTH
from tests.evaluation.data import dataset, random_masks
from tests.reference import classifiers as slow
from tests.reference.definitions import kernel_nb_labels


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


def gaussian_labels(train, labels, test):
    with np.errstate(all="ignore"):
        return GaussianNB().fit(train, labels).predict(test)


@pytest.mark.parametrize(
    ("kind", "labels_of", "widths"),
    [(KernelNBEvaluator, kernel_nb_labels, (0.004, 0.3, 2.0)), (GaussianNBEvaluator, gaussian_labels, ())],
    ids=["kernel", "Gaussian"],
)
@settings(max_examples=20 * DEPTH)
@given(
    X=hnp.arrays(np.int64, st.tuples(st.integers(8, 24), st.integers(1, 4)), elements=st.integers(0, 3)),
    scaling=st.sampled_from(["once", "minmax", "none"]),
    seed=st.integers(0, 1000),
)
def test_small_data_with_ties_and_duplicates(kind, labels_of, widths, X, scaling, seed):
    """Repeated values and constant features; classes may be missing from a training set."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 4, len(X)), 2)
    y[:2] = 0, 1
    folds = Folds(rng.permutation(np.arange(len(X)) % 3))
    chosen = [rng.choice(widths)] if widths else []
    evaluator = kind(X, y, folds, *chosen, scaling=scaling, n_jobs=1)
    for mask in random_masks(2, X.shape[1], seed):
        data, splits = X[:, mask].astype(float), list(folds.split())
        expected = slow.predictions(labels_of, data, y, splits, *chosen, scaling=scaling)
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
    with pytest.raises(PqswarmError, match=rf"{next(iter(wrong))} must be"):
        kind(*dataset("wine"), **wrong)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    results = check_estimator(pqswarm.KernelNB(), on_fail=None)
    assert len(results) > 40
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_predictions_and_probabilities():
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = pqswarm.KernelNB(0.2).fit(X[train], y[train])
    expected = slow.kernel_nb_predictions(X, y, [(train, test)], 0.2)[test]
    assert np.array_equal(model.predict(X[test]), expected)
    probabilities = model.predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.log(probabilities), model.predict_log_proba(X[test]), atol=1e-9)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], expected)


@pytest.mark.parametrize("width", [1e-4, 0.004, 1.0])
@pytest.mark.parametrize("far", [1e3, 3e6, 1e8, 1e12, 1e20, 1e160])
def test_however_far_the_nearer_class_wins(width, far):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) % 2
    low, high = (int(y[X[:, 0].argmin()]), int(y[X[:, 0].argmax()]))
    model = pqswarm.KernelNB(width).fit(X, y)
    probabilities = model.predict_proba([[-far], [far], [0.5]])
    assert np.isfinite(model.predict_log_proba([[-far], [far]])).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if far <= 1e8:  # further out the distances to all training samples are the same number
        assert model.predict([[-far], [far]]).tolist() == [low, high]


@pytest.mark.parametrize(("place", "width"), [(1.0, 1e-18), (1e6, 1e-12), (3.7, 1e-15), (0.3, 1e-10)])
def test_kernels_narrower_than_the_spacing_of_numbers_count_equal_values(place, width):
    """All training samples of the nearest value count, not just one, even if adding the bandwidth changes nothing."""
    X = np.array([[place]] * 5 + [[2 * place]] * 3 + [[place]] * 2 + [[3 * place]] * 7)
    model = pqswarm.KernelNB(width).fit(X, [0] * 8 + [1] * 9)
    scores = model.predict_joint_log_proba([[place], [2 * place], [3 * place]])
    peak = -np.log(width * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(scores[0], np.log([5 / 17, 2 / 17]) + peak, rtol=1e-14)
    np.testing.assert_allclose([scores[1, 0], scores[2, 1]], np.log([3 / 17, 7 / 17]) + peak, rtol=1e-14)


@pytest.mark.parametrize("wrong", [{"bandwidth": 0}, {"bandwidth": "wide"}, {"floor": -0.1}, {"floor": 0.6}])
def test_bad_hyperparameters(wrong):
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} must be a number from"):
        pqswarm.KernelNB(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_the_floor_is_a_fraction_of_a_uniform_density():
    X, y = load_iris(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = pqswarm.KernelNB(0.05, floor=0.1).fit(X[train], y[train])
    joint = np.log(np.bincount(y[train]) / train.size)[np.newaxis].repeat(test.size, axis=0)
    for label in range(3):
        members = X[train][y[train] == label]
        for feature in range(4):
            z = (X[test, feature, np.newaxis] - members[:, feature]) / 0.05
            density = np.exp(-0.5 * z**2).mean(axis=1) / (0.05 * np.sqrt(2 * np.pi))
            joint[:, label] += np.log(0.9 * density + 0.1)
    np.testing.assert_allclose(model.predict_joint_log_proba(X[test]), joint, rtol=1e-12)
    expected = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X[test]), expected, rtol=1e-9)
    assert model.predict_joint_log_proba([[9.0] * 4]).min() > np.log(0.1**4 / 3) - 0.2


def test_underflow_rules_out_classes_as_plain_densities_do():
    X, y = np.array([[0.0], [0.01], [1.0], [0.99]]), np.array([0, 0, 1, 1])
    new = np.array([[0.6], [0.3], [0.16], [0.9]])  # 0.39 from the nearest of class 1, 0.29 from that of class 0, ...
    in_logarithms = pqswarm.KernelNB(0.004).fit(X, y).predict(new)
    assert in_logarithms.tolist() == [1, 0, 0, 1]
    plain = np.exp(-0.5 * ((new - X.T) / 0.004) ** 2).reshape(4, 2, 2).sum(axis=2)
    assert plain[:2].max() == 0 < plain[2:].max()
    assert pqswarm.KernelNB(0.004, underflow=True).fit(X, y).predict(new).tolist() == plain.argmax(axis=1).tolist()


def neighborhood(rng, count, n_features):
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
        masks = np.concatenate([neighborhood(rng, 40, n_features), random_masks(20, n_features, seed)])
        assert np.array_equal(evaluator.error_counts(masks), evaluator.count_errors(evaluator._predict(masks)))


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
