"""Any cross-validation: the errors are those of scikit-learn's cross_val_score."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pqswarm import KernelNB
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import (
    CachedEvaluator,
    GaussianNBEvaluator,
    GenericEvaluator,
    KNNEvaluator,
    RepeatedEvaluator,
    Splits,
    choose_evaluator,
)
from tests.evaluation.data import dataset, random_masks

ORDER = np.random.default_rng(1).permutation(178)
X, y = (part[ORDER] for part in dataset("wine")[:2])  # not sorted by class
GROUPS = np.random.default_rng(0).integers(0, 6, 178)
HELD_OUT = np.where(np.arange(178) % 4, -1, 0)
TWICE = [(np.arange(0, 178, 2), np.arange(1, 178, 2)), (np.arange(1, 178, 2), np.arange(0, 178, 2))]
PARTITIONS = {
    "stratified": (5, 1),
    "shuffled": (StratifiedKFold(4, shuffle=True, random_state=3), 1),
    "repeated": (RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0), 3),
    "repeated-plain": (RepeatedKFold(n_splits=7, n_repeats=2, random_state=0), 2),
    "groups": (GroupKFold(3), 1),
    "one-group-out": (LeaveOneGroupOut(), 1),
    "list": (TWICE, 1),
    "lists": ([*TWICE, *KFold(5).split(np.zeros(178))], 2),
}
OTHERS = {
    "shuffle": ShuffleSplit(4, test_size=0.2, random_state=0),
    "stratified-shuffle": StratifiedShuffleSplit(4, random_state=1),
    "one-shuffle": ShuffleSplit(1, test_size=0.3, random_state=0),
    "series": TimeSeriesSplit(3),
    "held-out": PredefinedSplit(HELD_OUT),
    "half-trained": [(np.arange(0, 178, 4), np.arange(1, 178, 2))],
    "masks": [(HELD_OUT == -1, HELD_OUT == 0), (HELD_OUT == 0, HELD_OUT == -1), (GROUPS > 1, GROUPS == 0)],
    "trained-on-its-test": [(np.arange(178), np.arange(178))],
    "drawn-with-replacement": [(np.repeat(np.arange(89), 2) * 2, np.arange(1, 178, 2))],
}


def expected_errors(model, X, y, cv, masks, groups):
    return np.array([1 - cross_val_score(model, X[:, mask], y, cv=cv, groups=groups) for mask in masks])


@pytest.mark.parametrize("name", [*PARTITIONS, *OTHERS])
def test_errors_are_those_of_scikit_learn(name):
    cv, repeats = PARTITIONS.get(name, (OTHERS.get(name), 0))
    groups = GROUPS if "group" in name else None
    splits = Splits.from_cv(cv, X, y, groups, classifier=True)
    masks = random_masks(3, 13, 0)
    model = make_pipeline(StandardScaler(), GaussianNB())
    expected = expected_errors(model, X, y, cv, masks, groups)
    partitions = splits.partitions()
    assert (0 if partitions is None else len(partitions)) == repeats
    choice = choose_evaluator(model, X, y, splits)
    assert choice.name == "GaussianNBEvaluator"
    for evaluator in (choice.evaluator, GenericEvaluator(X, y, splits, model, scaling="none")):
        np.testing.assert_allclose(evaluator.fold_errors(masks), expected, rtol=0, atol=1e-15)
        np.testing.assert_allclose(evaluator.errors(masks), expected.mean(axis=1), rtol=0, atol=1e-14)
        assert evaluator.error_counts(masks).shape == expected.shape
        assert evaluator.errors(np.zeros((1, 13), dtype=bool)).tolist() == [1.0]
        assert (evaluator.fold_errors(np.zeros((1, 13), dtype=bool)) == 1.0).all()


def test_a_regressor_on_splits():
    y = X[:, 0] * 2 + X[:, 6]
    cv = ShuffleSplit(3, random_state=0)
    masks = random_masks(4, 13, 5)
    splits = Splits.from_cv(cv, X, y)
    for scoring in (None, "neg_mean_absolute_error"):
        evaluator = GenericEvaluator(X, y, splits, Ridge(), scoring, scaling="none")
        scores = np.array([cross_val_score(Ridge(), X[:, mask], y, cv=cv, scoring=scoring) for mask in masks])
        expected = -scores if scoring else 1 - scores
        np.testing.assert_allclose(evaluator.fold_errors(masks), expected, rtol=1e-12)
        np.testing.assert_allclose(evaluator.errors(masks), expected.mean(axis=1), rtol=1e-10)
        assert np.isinf(evaluator.fold_errors(np.zeros((1, 13), dtype=bool))).all()


def test_equal_counts_in_other_repetitions_give_equal_errors():
    splits = Splits.from_cv(RepeatedStratifiedKFold(n_splits=3, n_repeats=10, random_state=0), X, y)
    counts = np.random.default_rng(0).integers(0, 9, 30)
    order = np.concatenate([3 * np.random.default_rng(1).permutation(10) + fold for fold in range(3)])
    order = order.reshape(3, 10).T.ravel()
    assert splits.mean_rates(counts[None])[0] == splits.mean_rates(counts[order][None])[0]


def test_training_sets_are_used_unchanged():
    """Including their order, which matters to stochastic gradient descent and to equal distances."""
    train, test = np.array([5, 3, 1, 4]), np.array([2, 0])
    splits = Splits([(train, test), ([0, 1, 2, 3], [5, 4])], n_samples=6)
    pairs = list(splits.split())
    assert pairs[0][0].tolist() == [5, 3, 1, 4]
    assert pairs[0][1].tolist() == [2, 0]
    assert pairs[1][0].tolist() == [0, 1, 2, 3]
    assert pairs[1][1].tolist() == [5, 4]
    assert (len(splits), splits.get_n_splits(), splits.partitions()) == (6, 2, None)
    whole = Splits([*pairs, ([0, 2, 4, 5], [1, 3])], n_samples=6).partitions()
    assert [folds.test_fold.tolist() for folds in whole] == [[0, 2, 0, 2, 1, 1]]


def test_folds_are_splits_that_are_one_partition():
    _, y, folds = dataset("wine")
    assert folds.partitions() == (folds,)
    again = Splits.from_cv(folds, np.zeros((178, 1)), y).partitions()
    assert len(again) == 1
    assert np.array_equal(again[0].test_fold, folds.test_fold)
    assert Splits.from_cv(3, np.zeros((178, 1)), y, classifier=True).name == "StratifiedKFold"


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "the given list has no splits"),
        ([([0, 1], [])], "the test set of split 0 must be a list of samples that is not empty"),
        ([([0, 1], [2]), ([], [1])], "the training set of split 1 must be a list of samples that is not empty"),
        ([([0, 1], [6])], "the test set of split 0 must hold indices from 0 to 5"),
        ([([0, -1], [2])], "the training set of split 0 must hold indices from 0 to 5"),
        ([([0.5, 1], [2])], "must hold indices"),
        ([([[0, 1]], [2])], "must be a list of samples"),
        ([([0, 1],)], "split 0 must be a pair of training and test indices"),
        ([3], "split 0 must be a pair of training and test indices"),
    ],
)
def test_invalid_splits(pairs, message):
    with pytest.raises(PqswarmError, match=message):
        Splits(pairs, n_samples=6)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        make_pipeline(MinMaxScaler(), KernelNB(0.05)),
        LinearDiscriminantAnalysis(),
        BernoulliNB(binarize=2.5),
        make_pipeline(StandardScaler(), KNeighborsRegressor(3)),
        LinearRegression(),
    ],
    ids=lambda model: type(model[-1] if hasattr(model, "steps") else model).__name__,
)
def test_every_exact_evaluator_takes_any_splits(model):
    rng, masks = np.random.default_rng(3), random_masks(3, 13, 0)
    drawn = [(rng.integers(0, 178, 150), rng.integers(0, 178, 40)) for _ in range(2)]
    for cv in (drawn, TimeSeriesSplit(3), StratifiedShuffleSplit(2, random_state=0)):
        splits = Splits.from_cv(cv, X, y)
        choice = choose_evaluator(model, X, y, splits)
        assert choice.name != "GenericEvaluator"
        expected = GenericEvaluator(X, y, splits, model, scaling="none")
        np.testing.assert_allclose(choice.evaluator.fold_errors(masks), expected.fold_errors(masks), atol=1e-12)
        np.testing.assert_allclose(choice.evaluator.errors(masks), expected.errors(masks), atol=1e-12)


def test_k_nn_itself_needs_a_partition():
    X, y, _ = dataset("wine")
    splits = Splits.from_cv(ShuffleSplit(3, random_state=0), X, y)
    with pytest.raises(PqswarmError, match="folds must be Folds"):
        KNNEvaluator(X, y, splits)
    with pytest.raises(PqswarmError, match=r"folds must be Folds: .* or Splits.from_cv"):
        GenericEvaluator(X, y, 5, GaussianNB())


def test_predictions_where_each_sample_is_tested_once():
    X, y, folds = dataset("wine")
    mask = np.ones(13, dtype=bool)
    one = Splits.from_cv(folds, X, y)
    expected = GaussianNBEvaluator(X, y, folds, scaling="none").predictions(mask)
    np.testing.assert_array_equal(GenericEvaluator(X, y, one, GaussianNB(), scaling="none").predictions(mask), expected)
    several = Splits.from_cv(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), X, y)
    with pytest.raises(PqswarmError, match="each sample is tested once"):
        GenericEvaluator(X, y, several, GaussianNB()).predictions(mask)
    repeated = RepeatedEvaluator([GaussianNBEvaluator(X, y, each) for each in several.partitions()], several)
    with pytest.raises(PqswarmError, match="once in each partition"):
        repeated.predictions(mask)
    with pytest.raises(PqswarmError, match="one evaluator for each partition"):
        RepeatedEvaluator(repeated.parts[:1], several)


@pytest.mark.parametrize("cv", [RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), TimeSeriesSplit(3)])
def test_chosen_evaluators_can_be_cached(cv):
    choice = choose_evaluator(GaussianNB(), X, y, Splits.from_cv(cv, X, y))
    memo, masks = CachedEvaluator(choice.evaluator), random_masks(6, 13, 4)
    expected = choice.evaluator.errors(masks)
    np.testing.assert_array_equal(memo.errors(masks), expected)
    np.testing.assert_array_equal(memo.errors(masks[::-1]), expected[::-1])
    assert memo.n_hits == 6
    assert not memo.is_loss
    np.testing.assert_array_equal(memo.fold_errors(masks), choice.evaluator.fold_errors(masks))
    np.testing.assert_array_equal(memo.error_counts(masks), choice.evaluator.error_counts(masks))


def test_two_threads_give_the_same_errors_of_repetitions():
    splits = Splits.from_cv(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), X, y)
    masks = random_masks(6, 13, 4)
    for model in (GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)):
        one, two = (choose_evaluator(model, X, y, splits, n_jobs=jobs).evaluator for jobs in (1, 2))
        np.testing.assert_array_equal(one.errors(masks), two.errors(masks))
