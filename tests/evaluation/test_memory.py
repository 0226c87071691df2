"""Memory of evaluators does not grow with the square of the samples, or with the batch."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, REGRESSORS, Folds, base
from pqswarm.evaluation.base import check_memory
from pqswarm.evaluation.exact.linear import evaluator as linear

NAMES = [*(name for name in CLASSIFIERS if CLASSIFIERS[name].fast_evaluator), *REGRESSORS]
FEATURES = 30


def data(n, width=FEATURES):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5
    return rng.random((n, width)) + y[:, None] * (np.arange(width) < 4), y


def make(name, X, y, folds, **options):
    kind = CLASSIFIERS if name in CLASSIFIERS else REGRESSORS
    return kind[name]().evaluator(X, y if name in CLASSIFIERS else y + X[:, 0], folds, n_jobs=1, **options)


def traced_peak(name, n, n_folds, n_masks=4):
    X, y = data(n)
    masks = np.random.default_rng(1).random((n_masks, FEATURES)) < 0.3
    masks[:, 0] = True
    folds = Folds(np.arange(n) % n_folds)
    make(name, X[:60], y[:60], Folds(np.arange(60) % 3)).errors(masks[:2])  # loads what is loaded once
    tracemalloc.start()
    try:
        make(name, X, y, folds).errors(masks)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", NAMES)
def test_twice_as_many_samples_take_twice_the_memory(name):
    assert traced_peak(name, 4000, 4) < 2.4 * traced_peak(name, 2000, 4)


def test_folds_do_not_multiply_the_samples():
    # The sums of products take 5 MB; the numbers of the training samples of all folds would be another 9 MB.
    assert traced_peak("linear", 1500, 750, n_masks=1) < 13e6


@pytest.mark.parametrize("name", NAMES)
def test_large_batches_are_cut(name, monkeypatch):
    X, y = data(120)
    folds = Folds.stratified(y, 4)
    masks = np.random.default_rng(2).random((23, FEATURES)) < 0.2
    masks[[3, 8]] = False
    evaluator = make(name, X, y, folds)
    whole, rows = evaluator.fold_errors(masks), []
    predict = evaluator._evaluate

    def spy(masks, empty, compute):
        return predict(masks, empty, lambda part: (rows.append(len(part)), compute(part))[1])

    monkeypatch.setattr(evaluator, "_evaluate", spy)
    monkeypatch.setattr(base, "MAX_BATCH_BYTES", 8 * 120 * 5)
    assert (evaluator.fold_errors(masks) == whole).all()
    assert sum(rows) == np.count_nonzero(masks.any(axis=1))
    assert max(rows) <= 5
    assert evaluator.fold_errors(masks[:0]).shape == (0, 4)


@pytest.mark.parametrize("name", ["lda", "linear"])
def test_systems_too_large_are_left_to_scikit_learn(name, monkeypatch):
    X, y = data(80)
    masks = np.random.default_rng(3).random((6, FEATURES)) < 0.4
    X[:, 1] = X[:, 0] + 1e-9 * X[:, 2]
    masks[:, :3] = True
    evaluator = make(name, X, y, Folds.stratified(y, 4))
    whole = evaluator.fold_errors(masks)
    for limit in (8 * 8 * 4 * 10**2, 0):
        monkeypatch.setattr(linear, "MAX_SOLVED_BYTES", limit)
        assert np.allclose(evaluator.fold_errors(masks), whole, rtol=1e-9, atol=0)


def test_discriminant_analysis_decides_samples_in_parts(monkeypatch):
    X, y = data(150)
    X[:, 5] = X[:, 6]
    masks = np.random.default_rng(4).random((10, FEATURES)) < 0.5
    masks[:, 5:7] = True
    evaluator = make("lda", X, y, Folds.stratified(y, 5))
    whole = evaluator.error_counts(masks)
    monkeypatch.setattr(linear, "_GATHERED", 1)
    assert (evaluator.error_counts(masks) == whole).all()


def test_copies_for_each_fold_are_refused_with_their_size(monkeypatch):
    X, y = data(100)
    folds = Folds.stratified(y, 4)
    monkeypatch.setattr(check_memory, "__defaults__", (7 * X.nbytes,))
    with pytest.raises(PqswarmError, match=r"100 x 30 features, scaled for each of 4 folds, would take 0\.0 GB"):
        make("k-nn", X, y, folds, scaling="minmax")
    make("k-nn", X, y, folds)


PROGRAM = """
import sys
import numpy as np
from pqswarm.evaluation import CLASSIFIERS, Folds

def peak():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

rng, n = np.random.default_rng(0), int(sys.argv[2])
masks = rng.random((4, 20)) < 0.5
masks[:, 0] = True

def run(n):
    X, y = rng.random((n, 20)), np.arange(n) % 5
    CLASSIFIERS[sys.argv[1]]().evaluator(X, y, Folds.stratified(y), n_jobs=1).errors(masks)

run(60)
before = peak()
run(n)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
@pytest.mark.parametrize("name", ["k-nn", "gaussian-nb"])
def test_compiled_code_takes_no_quadratic_memory(name):
    # 8,000 squared, one byte each, would be 64 MB.
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, "8000"], capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) * 1024 < 40e6
