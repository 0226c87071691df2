"""The common part of all evaluators, folds, the generic evaluator, and the cache."""

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import cpu_count
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info

from pqswarm._base.threads import effective_jobs
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import (
    CachedEvaluator,
    Folds,
    GaussianNBEvaluator,
    GenericEvaluator,
    KernelNBEvaluator,
    KNNEvaluator,
)
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.evaluation.data import dataset, random_masks

X, y, folds = dataset("wine")


def tree(X, y, folds, **options):
    return GenericEvaluator(X, y, folds, DecisionTreeClassifier(random_state=0), **options)


KINDS = [KNNEvaluator, KernelNBEvaluator, GaussianNBEvaluator, tree]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def evaluator(request):
    return request.param(*dataset("wine"))


def test_masks_may_be_integers_and_the_empty_one_has_error_one(evaluator):
    masks = random_masks(3, 13, seed=2)
    masks[1] = False
    assert evaluator.errors(masks.astype(int)).tolist() == evaluator.errors(masks).tolist()
    assert (evaluator.error_counts(masks).dtype, evaluator.errors(masks).dtype) == (np.int64, np.float64)
    assert confusion_matrix(dataset("wine")[1], evaluator.predictions(masks[0])).sum() == 178
    assert evaluator.errors(masks)[1] == 1.0
    assert evaluator.error_counts(masks)[1].tolist() == evaluator.folds.sizes.tolist()
    assert evaluator.errors(masks[[0, 2]]).tolist() == evaluator.errors(masks)[[0, 2]].tolist()
    assert evaluator.errors(np.zeros((0, 13), bool)).shape == (0,)
    with pytest.raises(PqswarmError, match="selects at least one feature"):
        evaluator.predictions(masks[1])


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (np.ones((2, 12), bool), r"13 columns, one per feature, not shape \(2, 12\)"),
        (np.ones(13, bool), r"one row per subset .* not shape \(13,\)"),
        (np.full((1, 13), 2), "masks must be boolean"),
        ([[True] * 13, [True]], "masks must all have 13 columns"),
        (np.full((1, 13), 0.5), "masks must be boolean, or integers 0 and 1, not of type float64"),
    ],
)
def test_bad_masks(evaluator, masks, message):
    with pytest.raises(PqswarmError, match=message):
        evaluator.errors(masks)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_bad_data(kind):
    broken = X.copy()
    broken[5, 2] = np.nan
    for arguments, message in [
        ((broken, y, folds), "feature 2 of sample 5 is (nan|NaN)"),
        ((X[:, 0], y, folds), "X must have one row per sample"),
        ((X, y[:-1], folds), "y must hold one label for each of the 178 samples"),
        ((X, np.zeros(178), folds), "at least two classes, but all labels are"),
        ((X, y, Folds(np.arange(10))), "folds are of 10 samples, but X has 178"),
        ((X, y, 10), "folds must be Folds"),
        (([["a"]] * 178, y, folds), "X must hold real numbers"),
        ((X + 1j, y, folds), "X must hold real numbers"),
        ((X * 1e200, y, folds), r"X must not exceed 1e\+100, but feature"),
        ((X, np.array([*"ab" * 88, 1, 2], dtype=object), folds), "labels of one kind"),
    ]:
        with pytest.raises(PqswarmError, match=message):
            kind(*arguments)


def test_stratified_folds():
    y = np.repeat([0, 1, 2], [25, 13, 101])
    folds = Folds.stratified(y, 10, seed=3)
    assert np.ptp(folds.sizes) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(folds.test_fold[y == label], minlength=10)) <= 1
    assert np.array_equal(folds.test_fold, Folds.stratified(y, 10, seed=3).test_fold)
    assert not np.array_equal(folds.test_fold, Folds.stratified(y, 10, seed=4).test_fold)
    assert folds.get_n_splits() == folds.n_folds == 10
    with pytest.raises(PqswarmError, match=r"class .*1.* has 9 samples, fewer than the 10 folds"):
        Folds.stratified(np.repeat([0, 1], [20, 9]))
    for n_folds in (1, 2.5, None):
        with pytest.raises(PqswarmError, match="n_folds must be an integer of at least 2"):
            Folds.stratified(y, n_folds)


@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(5, shuffle=True, random_state=1), LeaveOneOut()])
def test_folds_of_scikit_learns_splitters(splitter):
    folds = Folds.from_splitter(splitter, X, y)
    for (train, test), (their_train, their_test) in zip(folds.split(), splitter.split(X, y), strict=True):
        assert np.array_equal(train, their_train)
        assert np.array_equal(test, their_test)
    assert np.array_equal(Folds.from_splitter(list(splitter.split(X, y)), X, y).test_fold, folds.test_fold)


@pytest.mark.parametrize(
    "splitter", [ShuffleSplit(3, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2), TimeSeriesSplit(3)]
)
def test_splitters_without_a_partition(splitter):
    with pytest.raises(PqswarmError, match=r"does not make a partition.*use a k-fold one"):
        Folds.from_splitter(splitter, X, y)


def test_splitters_with_groups():
    groups = np.arange(178) % 9
    folds = Folds.from_splitter(GroupKFold(3), X, y, groups)
    for group in range(9):
        assert np.unique(folds.test_fold[groups == group]).size == 1


@pytest.mark.parametrize("fold", [[], [0, 0, 0], [0, 2, 2], [-1, 0, 1], [0.0, 1.0], [[0, 1]]])
def test_bad_folds(fold):
    with pytest.raises(PqswarmError, match="test_fold must"):
        Folds(np.array(fold))


def test_generic_is_cross_val_score():
    masks = random_masks(2, 13, seed=5)
    model = RandomForestClassifier(3, random_state=0)
    errors = GenericEvaluator(X, y, folds, model).errors(masks)
    f1 = GenericEvaluator(X, y, folds, model, "f1_macro").errors(masks)
    for mask, error, other in zip(masks, errors, f1, strict=True):
        data = scale_by_extremes(X, X)[:, mask]
        assert error == pytest.approx(1 - cross_val_score(model, data, y, cv=folds).mean())
        assert other == pytest.approx(1 - cross_val_score(model, data, y, cv=folds, scoring="f1_macro").mean())


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # it then depends on each number that is drawn
def test_threads_draw_no_random_numbers_of_each_other():
    X = np.random.default_rng(0).normal(size=(60, 40))
    y = np.arange(60) % 3
    model = LinearSVC(dual=True, C=500.0, max_iter=50, random_state=0)
    evaluator = GenericEvaluator(X, y, Folds.stratified(y), model, n_jobs=4)
    assert len(set(evaluator.errors(np.ones((50, 40), dtype=bool)))) == 1


def test_generic_regression_and_losses():
    target = X[:, 0] + 0.1 * X[:, 1]
    mask = np.zeros((2, 13), dtype=bool)
    mask[0, :2] = True
    evaluator = GenericEvaluator(X, target, folds, LinearRegression())
    assert not hasattr(evaluator, "classes")
    assert evaluator.errors(mask)[0] == pytest.approx(0, abs=1e-12)
    assert evaluator.errors(mask)[1] == np.inf
    np.testing.assert_allclose(evaluator.predictions(mask[0]), target)
    loss = GenericEvaluator(X, target, folds, LinearRegression(), "neg_mean_squared_error")
    assert loss.errors(mask).tolist() == pytest.approx([0, np.inf], abs=1e-12)
    with pytest.raises(PqswarmError, match="error counts exist only for classifiers"):
        evaluator.error_counts(mask)
    with pytest.raises(PqswarmError, match="y must hold one finite number"):
        GenericEvaluator(X, np.full(178, np.nan), folds, LinearRegression())


def test_generic_failures_are_errors_not_scores():
    evaluator = GenericEvaluator(X, y, folds, LogisticRegression(C=-1))
    with config_context(skip_parameter_validation=False), pytest.raises(ValueError, match="C"):
        evaluator.errors(np.ones((1, 13), bool))
    with pytest.raises(PqswarmError, match="must be a scikit-learn classifier or regressor"):
        GenericEvaluator(X, y, folds, "tree")


class Counting(GaussianNBEvaluator):
    asked = 0

    def errors(self, masks):
        self.asked += len(masks)
        return super().errors(masks)


def test_memo():
    inner = Counting(X, y, folds)
    memo = CachedEvaluator(inner)
    masks = random_masks(30, 13, seed=7)
    masks[10:20] = masks[:10]
    expected = GaussianNBEvaluator(X, y, folds).errors(masks)
    distinct = len(np.unique(masks, axis=0))
    assert np.array_equal(memo.errors(masks), expected)
    assert (memo.n_evaluations, memo.n_hits, inner.asked, len(memo)) == (30, 30 - distinct, distinct, distinct)
    assert np.array_equal(memo.errors(masks[::-1]), expected[::-1])
    assert (memo.n_evaluations, memo.n_hits, inner.asked) == (60, 60 - distinct, distinct)
    assert np.array_equal(memo.error_counts(masks), inner.error_counts(masks))
    assert np.array_equal(memo.predictions(masks[0]), inner.predictions(masks[0]))


def test_memo_is_bounded_and_drops_subsets_not_requested_lately():
    inner = Counting(X, y, folds)
    memo = CachedEvaluator(inner, max_entries=6)
    masks = np.eye(13, dtype=bool)
    memo.errors(masks[:3])
    memo.errors(masks[3:5])  # the first three are now older
    memo.errors(masks[:1])  # and the first is recent again
    memo.errors(masks[5:7])  # the two others are forgotten
    assert len(memo) <= 6
    inner.asked = 0
    memo.errors(masks[[0, 3, 4]])
    assert inner.asked == 0
    memo.errors(masks[[1, 1, 2]])
    assert inner.asked == 2
    assert np.array_equal(memo.errors(masks), GaussianNBEvaluator(X, y, folds).errors(masks))
    assert len(memo) <= 6
    for bad in (0, "a"):
        with pytest.raises(PqswarmError, match="max_entries must be an integer"):
            CachedEvaluator(inner, bad)
        with pytest.raises(PqswarmError, match="max_bytes must be an integer"):
            CachedEvaluator(inner, max_bytes=bad)


def test_memo_with_little_memory_gives_the_same_errors():
    plain, masks = GaussianNBEvaluator(X, y, folds), random_masks(200, 13, seed=8)
    memo = CachedEvaluator(plain, max_bytes=4000)
    assert memo.max_entries == 23
    for start in range(0, 200, 17):
        chosen = masks[np.random.default_rng(start).integers(0, 200, 40)]
        assert np.array_equal(memo.errors(chosen), plain.errors(chosen))
        assert len(memo) <= 23


def test_evaluators_can_be_sent_to_other_processes_and_used_by_many_threads():
    masks = random_masks(200, 13, seed=9)
    for kind in KINDS[:3]:
        evaluator = kind(X, y, folds)
        expected = evaluator.error_counts(masks)
        assert np.array_equal(pickle.loads(pickle.dumps(evaluator)).error_counts(masks), expected)
        before = [library["num_threads"] for library in threadpool_info()]
        with ThreadPoolExecutor(4) as pool:
            for counts in pool.map(evaluator.error_counts, [masks] * 8):
                assert np.array_equal(counts, expected)
        assert [library["num_threads"] for library in threadpool_info()] == before


def test_a_feature_that_varies_in_the_test_samples_only():
    X, y, folds = dataset("wine")
    X = X.copy()
    X[:, 2] = 1e-14 * np.arange(178)
    X[5, 2] = 1e90
    with pytest.raises(PqswarmError, match="feature 2 hardly varies among the training samples of fold"):
        KNNEvaluator(X, y, folds, scaling="minmax")


def test_workers_do_not_oversubscribe(monkeypatch):
    """A worker process uses one thread unless its parent grants more; the main process uses all cores."""
    assert effective_jobs(None) == effective_jobs(-1) == cpu_count()
    assert effective_jobs(3) == 3
    for granted, expected in ((None, 1), ("4", 4)):
        if granted is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", granted)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(effective_jobs, (None,)) == expected
            assert pool.apply(effective_jobs, (2,)) == 2
