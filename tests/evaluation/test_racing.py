"""Races in blocks of folds."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pqswarm.evaluation import CLASSIFIERS, CachedEvaluator, Folds, GenericEvaluator


def noisy_digits():
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    X, y = X[:160] + rng.normal(size=(160, 64)), y[:160]
    return X, y, Folds.stratified(y), rng.random((30, 64)) < rng.uniform(0.02, 0.3, (30, 1))


@pytest.mark.parametrize("name", ["k-nn", "gaussian-nb", "lda"])
def test_exact_evaluators_do_not_race(name):
    X, y, folds, _ = noisy_digits()
    assert CLASSIFIERS[name]().evaluator(X, y, folds).blocks == ()


def test_a_race_in_blocks_of_folds_tells_what_was_tested():
    X, y, folds, masks = noisy_digits()
    evaluator = GenericEvaluator(X, y, folds, GaussianNB())
    assert evaluator.blocks == (3, 3, 4)
    parts = [
        evaluator.fold_errors(masks)[:, part].sum(axis=1) / 10 for part in (slice(0, 3), slice(3, 6), slice(6, 10))
    ]
    whole = np.column_stack([*parts, evaluator.errors(masks)])
    first, limits = np.arange(30) % 3, np.full((30, 2), np.inf)
    np.testing.assert_allclose(evaluator.raced(masks, first, limits), whole, rtol=1e-12)
    np.testing.assert_array_equal(CachedEvaluator(evaluator).raced(masks, first, limits)[:, 3], evaluator.errors(masks))
    limits[:, 0], limits[:, 1] = np.median(whole[:, 0]), np.median(whole[:, 0] + whole[:, 1])
    found = evaluator.raced(masks, first, limits)
    for row, (start, values) in enumerate(zip(first, whole, strict=True)):
        order = [start, (start + 1) % 3, (start + 2) % 3]
        late = np.cumsum(values[order])[:2] > limits[row]
        tested = order[: 1 if late[0] else 2 if late[1] else 3]
        expected = [values[k] if k in tested else np.nan for k in range(3)] + [np.nan if late.any() else values[3]]
        assert found[row] == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert found[row].tobytes() == evaluator.raced(masks[[row]], first[[row]], limits[[row]])[0].tobytes()


class Picky(DecisionTreeClassifier):
    """It refuses feature 0 once it has seen sample 7 in training."""

    def fit(self, X, y):
        if (X[:, 0] == -99.0).any():
            raise ValueError("refused")
        return super().fit(X, y)


def test_a_subset_that_is_refused_in_one_fold_counts_as_wrong_in_all():
    X, y, folds, masks = noisy_digits()
    X = X.copy()
    X[folds.test(9)[0], 0] = -99.0  # in the training samples of every fold but the last
    masks = masks[:4].copy()
    masks[:, 0], masks[0, 0] = False, True
    evaluator = GenericEvaluator(X, y, folds, Picky(max_depth=3, random_state=0), scaling="none")
    np.testing.assert_array_equal(evaluator.error_counts(masks)[0], folds.sizes)
    raced = evaluator.raced(masks, np.zeros(4, dtype=np.int64), np.full((4, 2), np.inf))
    np.testing.assert_array_equal(raced[:, 3], evaluator.errors(masks))
    assert raced[0, 3] == 1.0
