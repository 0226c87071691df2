"""Evaluators on NVIDIA GPUs: parts that need none, and, if there is one, equal counts."""

import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import (
    CLASSIFIERS,
    METRICS,
    Folds,
    GaussianNBEvaluator,
    GenericEvaluator,
    KernelNBEvaluator,
    KNNEvaluator,
)
from pqswarm.evaluation.base import (
    DEVICES,
    MEMORY,
    CudaBackend,
    batch_memory,
    check_device,
    cuda_source,
    cut_cuda_batch,
)
from pqswarm.evaluation.exact.knn.cuda import knn_cuda_grid
from pqswarm.evaluation.exact.naive_bayes.cuda import GaussianNBOnCuda
from pqswarm.evaluation.scaling import SCALINGS
from tests.evaluation.data import dataset, random_masks
from tests.reference import cuda_knn

X, y, folds = dataset("wine")

EVALUATORS = (KNNEvaluator, KernelNBEvaluator, GaussianNBEvaluator)


def has_gpu():
    try:
        check_device("cuda")
    except PqswarmError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="there is no NVIDIA GPU, or no CuPy")
without_gpu = pytest.mark.skipif(has_gpu(), reason="there is a GPU")


@given(st.integers(0, 5000), st.integers(1, 10**7), st.integers(1, 10**9), st.integers(0, 9))
def test_pieces_cover_the_batch_and_fit(count, each, memory, seed):
    masks = np.random.default_rng(seed).random((count, 5)) < 0.5
    parts = cut_cuda_batch(masks, each, memory)
    rows = np.concatenate(parts) if parts else np.empty(0, int)
    np.testing.assert_array_equal(np.sort(rows), np.arange(count))
    assert (np.diff(masks.sum(axis=1)[rows]) >= 0).all()
    lengths = [part.size for part in parts]
    assert all(length * each <= max(memory, each) for length in lengths)
    assert not parts or max(lengths) - min(lengths) <= 1


def wild(seed):
    """Features of very different magnitudes, far from zero, some constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 9)) * 10.0 ** rng.integers(-12, 13, 9) + 10.0 ** rng.integers(-6, 7, 9)
    X[:, 3] = 7.0
    return X, np.arange(90) % 3


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(6))
def test_bound_of_the_rounding_error_holds(metric, seed):
    X, y = wild(seed)
    evaluator = KNNEvaluator(X, y, Folds.stratified(y, 5), metric=metric, scaling="none")
    view, number = evaluator.views[0], evaluator.metric_number
    for mask in random_masks(12, 9, seed):
        if not mask[np.arange(9) != 3].any():
            continue  # a constant feature alone has no scale
        factors, floor, growth = cuda_knn.scale_features(mask, view.exponents, number)
        assert factors.max() == 1
        unit = 2.0 ** float(view.exponents[mask].max())
        near = view.columns[mask] * factors[:, None]
        single = cuda_knn.added(near[:, None, :], near[:, :, None], number).astype(float)
        double = cuda_knn.added(X.T[mask][:, None, :], X.T[mask][:, :, None], number)
        single, double = (np.sqrt(single), np.sqrt(double)) if number == 1 else (single, double)
        assert (np.abs(single - double / unit) <= floor + growth * np.maximum(single, double / unit)).all()
        # On the grid no two samples are farther from each other than in truth by more than both blurs.
        level, blur, step = cuda_knn.on_grid(near, view, number)
        grid = cuda_knn.added(level[:, None, :], level[:, :, None], number)
        grid = float(step) * (np.sqrt(grid) if number == 1 else grid)
        assert (grid <= double / unit + floor + blur[:, None] + blur[None, :]).all()
        assert (grid >= double / unit - floor - blur[:, None] - blur[None, :]).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_steps_of_the_kernels_find_the_answers_of_the_cpu(metric, k):
    tied = np.round(X / X.std(axis=0))
    for data, scaling in ((X, "once"), (tied, "none")):
        evaluator = KNNEvaluator(data, y, folds, k, metric, scaling=scaling)
        for mask in random_masks(4, 13, k):
            predicted, _, _ = cuda_knn.predictions(evaluator, mask, guesses=max(12, 2 * k))
            np.testing.assert_array_equal(evaluator.classes[predicted], evaluator.predictions(mask))


@pytest.mark.parametrize("metric", METRICS)
def test_windows_and_the_grid_skip_most_pairs(metric):
    X, y, folds = dataset("pq")
    evaluator = KNNEvaluator(X, y, folds, metric=metric)
    for mask in random_masks(2, 99, 3):
        predicted, window, passed = cuda_knn.predictions(evaluator, mask)
        np.testing.assert_array_equal(evaluator.classes[predicted], evaluator.predictions(mask))
        assert passed < 0.1 < window < 0.8


def test_a_batch_takes_a_small_part_of_a_small_gpu():
    for total, allowed in ((8 << 30, 1 << 29), (141 << 30, MEMORY)):
        runtime = types.SimpleNamespace(memGetInfo=lambda total=total: (0, total))
        assert batch_memory(types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))) == allowed


def test_grid_of_many_features_keeps_sums_of_squares_in_range():
    for metric, features, levels in ((0, 50_000, 255), (1, 99, 255), (1, 50_000, 146)):
        span, step, most = knn_cuda_grid(np.full((features, 2), 0.5, dtype=np.float32), metric)
        assert (span, most) == (0.5, levels)
        assert step == np.float32(1 / levels)
    assert 50_000 * 146**2 < 2**30 < 50_000 * 148**2


def test_kernels_are_part_of_the_package():
    for name in ("arrange.cu", "filter.cu", "decide.cu"):
        assert "__global__" in cuda_source("pqswarm.evaluation.exact.knn", name)
    for name in ("kernel.cu", "gaussian.cu"):
        assert "__global__" in cuda_source("pqswarm.evaluation.exact.naive_bayes", name)
    assert "__global__" in cuda_source("pqswarm.evaluation", "masks.cu")


def test_devices():
    assert DEVICES == ("cpu", "cuda")
    for evaluator in EVALUATORS:
        with pytest.raises(PqswarmError, match="unknown device 'cud': did you mean 'cuda'"):
            evaluator(X, y, folds, device="cud")
    with pytest.raises(TypeError):
        GenericEvaluator(X, y, folds, object(), device="cuda")


@without_gpu
@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_without_a_gpu_there_is_an_error_and_no_silent_fallback(evaluator):
    with pytest.raises(PqswarmError, match=r"device 'cuda' needs .*use device 'cpu'"):
        evaluator(X, y, folds, device="cuda")


class RuntimeFailure(Exception):
    pass


def fake_cupy(count):
    def get_device_count():
        if count is None:
            raise RuntimeFailure("no driver")
        return count

    runtime = types.SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=RuntimeFailure)
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (None, "needs CuPy: make gpu"),
        (fake_cupy(0), "needs an NVIDIA GPU, and none was found"),
        (fake_cupy(None), r"needs an NVIDIA GPU and its driver \(no driver\)"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, module, message):
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(PqswarmError, match=message):
        check_device("cuda")


def test_coarse_products_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(1))
    check_device("cuda")
    monkeypatch.setenv("CUPY_TF32", "1")
    with pytest.raises(PqswarmError, match="CUPY_TF32"):
        check_device("cuda")


class FakeCuda(CudaBackend):
    """The path of a batch to the GPU and back, with answers of the CPU, a few subsets at a time."""

    def __init__(self, evaluator):
        super().__init__(evaluator)
        self.asked = []

    def _bytes_each(self, masks):
        return MEMORY // 7

    def _compute(self, masks, predicted):
        self.asked.append(masks.sum(axis=1))
        return self.evaluator._predict(masks) if predicted else self.evaluator.error_counts(masks)


def test_batches_are_cut_and_reassembled(monkeypatch):
    runtime = types.SimpleNamespace(memGetInfo=lambda: (1 << 20, 16 * MEMORY))
    gpu = types.SimpleNamespace(asarray=np.asarray, cuda=types.SimpleNamespace(runtime=runtime))
    monkeypatch.setattr("pqswarm.evaluation.base.cupy", lambda: gpu)
    evaluator = KNNEvaluator(X, y, folds)
    masks = random_masks(30, 13, 8)
    backend = FakeCuda(evaluator)
    np.testing.assert_array_equal(backend.run(masks, predicted=False), evaluator.error_counts(masks))
    assert [sizes.size for sizes in backend.asked] == [6, 6, 6, 6, 6]
    assert (np.diff(np.concatenate(backend.asked)) >= 0).all()  # like sizes together
    predicted = backend.run(masks, predicted=True)
    for mask, labels in zip(masks, predicted, strict=True):
        np.testing.assert_array_equal(evaluator.classes[labels], evaluator.predictions(mask))
    assert backend.run(masks[:0], predicted=False).shape == (0, 10)


class FakeGaussian(GaussianNBOnCuda):
    """The host part, with winners from the CPU; some samples are doubtful, with wrong winners."""

    def __init__(self, evaluator):
        self.evaluator = evaluator
        self._means, self._memory = evaluator.moments[0], MEMORY

    def _decide(self, masks, predicted):
        assert (masks.sum(axis=1) > 1).all()
        e = self.evaluator
        winners = e._predict(masks)[:, e.folds.by_fold]
        doubtful = np.random.default_rng(len(masks)).random(winners.shape) < 0.05
        wrong = (winners != e.labels[e.folds.by_fold]) & ~doubtful
        counts = np.add.reduceat(wrong, e.folds.starts[:-1], axis=1)
        winners = np.where(doubtful, (winners + 1) % 3, winners)
        return counts, winners if predicted else winners[:0], np.flatnonzero(doubtful)


def test_doubtful_samples_are_left_to_the_cpu():
    for scaling in SCALINGS:
        evaluator = GaussianNBEvaluator(X, y, folds, scaling=scaling)
        masks = np.concatenate([np.eye(13, dtype=bool)[:3], random_masks(20, 13, 9)])
        fake = FakeGaussian(evaluator)
        np.testing.assert_array_equal(fake.run(masks, predicted=False), evaluator.error_counts(masks))
        for mask, labels in zip(masks, fake.run(masks, predicted=True), strict=True):
            np.testing.assert_array_equal(evaluator.classes[labels], evaluator.predictions(mask))


@needs_gpu
@pytest.mark.parametrize("name", ["wine", "breast-cancer", "pq"])
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_counts_are_those_of_the_cpu(evaluator, name, scaling):
    X, y, folds = dataset(name)
    masks = random_masks(60, X.shape[1], 5)
    here, there = (evaluator(X, y, folds, scaling=scaling, device=device) for device in DEVICES)
    np.testing.assert_array_equal(here.error_counts(masks), there.error_counts(masks))
    np.testing.assert_array_equal(here.predictions(masks[0]), there.predictions(masks[0]))


@needs_gpu
@pytest.mark.parametrize("classifier", [CLASSIFIERS["k-nn"](), CLASSIFIERS["kernel-nb"]({"floor": 0.01})])
def test_classifiers_compute_on_gpus(classifier):
    masks = random_masks(60, 13, 5)
    here, there = (classifier.evaluator(X, y, folds, device=device) for device in classifier.devices)
    np.testing.assert_array_equal(here.error_counts(masks), there.error_counts(masks))


@needs_gpu
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 4, 15])
def test_counts_are_those_of_the_cpu_for_every_distance(metric, k):
    X, y, folds = dataset("pq")
    tied = np.round(4 * (X - X.min(axis=0)) / np.ptp(X, axis=0))
    for data in (X, tied):
        masks = random_masks(30, 99, k)
        here, there = (KNNEvaluator(data, y, folds, k, metric, device=device) for device in DEVICES)
        np.testing.assert_array_equal(here.error_counts(masks), there.error_counts(masks))
