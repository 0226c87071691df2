"""The evaluators against what people use now, side by side in one process.

    python benchmarks/evaluators.py [--masks 12]

Every ratio is of wall times on one thread, on the paper's data (3500 events, 99 features), for random masks,
unless a line says otherwise.
"""

import argparse
import subprocess
import sys
import time

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import (
    CLASSIFIERS,
    METRICS,
    REGRESSORS,
    Folds,
    GaussianNBEvaluator,
    KernelNBEvaluator,
    KNNEvaluator,
    choose_evaluator,
    scaled,
)


def masks_of(size, count, seed=0):
    rng = np.random.default_rng(seed)
    masks = np.zeros((count, 99), dtype=bool)
    for row in masks:
        row[rng.permutation(99)[:size]] = True
    return masks


def seconds(call, repeat=1):
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def cpu_seconds(call, *args, **options):
    """Processor time: that of a call of a few milliseconds, on a busy machine, says more than the time that passes."""
    start = time.process_time()
    call(*args, **options)
    return time.process_time() - start


def compare_knn(X, y, folds, count):
    print("\nk-NN (k = 3), ms per subset: scikit-learn's cross_val_score, pqswarm, ratio")
    data = scaled(X, X)
    for metric in METRICS:
        evaluator = KNNEvaluator(X, y, folds, metric=metric, n_jobs=1)
        evaluator.errors(masks_of(5, 1))
        for size in (10, 20, 50):
            masks = masks_of(size, count, seed=size)
            model = KNeighborsClassifier(3, metric=metric)
            few = masks[: max(2, count // 4)]
            theirs = np.median([seconds(lambda m=m, k=model: cross_val_score(k, data[:, m], y, cv=folds)) for m in few])
            ours = np.median([seconds(lambda m=m, e=evaluator: e.errors(m[None])) for m in masks])
            print(f"  {metric:10} {size:3} features   {theirs * 1e3:8.1f}  {ours * 1e3:7.2f}  {theirs / ours:6.1f}x")


def compare_pipelines(X, y, folds, count):
    print("\nStandardScaler inside each fold, 20 features, ms per subset: cross_val_score, pqswarm, ratio")
    masks = masks_of(20, count, seed=2)
    for model in (KNeighborsClassifier(5), KNeighborsClassifier(5, p=1), GaussianNB()):
        pipeline = make_pipeline(StandardScaler(), model)
        evaluator = choose_evaluator(pipeline, X, y, folds, n_jobs=1).evaluator
        evaluator.errors(masks[:1])
        few = masks[: max(2, count // 4)]
        theirs = np.median([seconds(lambda m=m, k=pipeline: cross_val_score(k, X[:, m], y, cv=folds)) for m in few])
        ours = np.median([seconds(lambda m=m, e=evaluator: e.errors(m[None])) for m in masks])
        print(f"  {model!s:28} {theirs * 1e3:8.1f}  {ours * 1e3:7.2f}  {theirs / ours:6.1f}x")


def compare_naive_bayes(X, y, folds):
    data = scaled(X, X)
    print("\nKernel naive Bayes")
    build = seconds(lambda: KernelNBEvaluator(X, y, folds, n_jobs=2))
    print(f"  table of log-likelihoods, two threads: {build:.2f} s")
    evaluator = KernelNBEvaluator(X, y, folds, n_jobs=1)
    masks = masks_of(50, 30, seed=1)
    evaluator.errors(masks)
    ours = seconds(lambda: evaluator.errors(masks), 15)
    a, b = masks.astype(np.float32), np.random.default_rng(0).random((99, 3500 * 14), dtype=np.float32)
    product = seconds(lambda: a @ b, 15)
    print(
        f"  30 subsets: {ours * 1e3:.2f} ms; bare float32 product (30 x 99) @ (99 x 49000): {product * 1e3:.2f} ms; "
        f"ratio {ours / product:.2f}"
    )
    mask, (train, test) = masks_of(20, 1)[0], next(iter(folds.split()))

    def loop():
        scores = np.zeros((test.size, 14))
        for label in range(14):
            members = train[y[train] == label]
            for f in np.flatnonzero(mask):
                density = KernelDensity(bandwidth=0.004).fit(data[members][:, [f]])
                scores[:, label] += density.score_samples(data[test][:, [f]])

    slow = 10 * seconds(loop)  # one fold of ten
    fast = seconds(lambda: evaluator.errors(np.tile(mask, (30, 1))), 5) / 30
    print(
        f"  one subset of 20 features: scikit-learn KernelDensity loop {slow:.2f} s, pqswarm {fast * 1e3:.3f} ms, "
        f"ratio {slow / fast:.0f}x"
    )

    print("\nGaussian naive Bayes, ms per subset of 20 features")
    evaluator = GaussianNBEvaluator(X, y, folds, n_jobs=1)
    masks = masks_of(20, 30, seed=2)
    evaluator.errors(masks)
    ours = seconds(lambda: evaluator.errors(masks), 3) / 30
    theirs = seconds(lambda: cross_val_score(GaussianNB(), data[:, masks[0]], y, cv=folds), 3)
    print(f"  scikit-learn {theirs * 1e3:.1f}, pqswarm {ours * 1e3:.2f}, ratio {theirs / ours:.0f}x")


def compare_linear(X, y, folds, count):
    print("\nOthers, ms of processor time per subset: scikit-learn's cross_val_score, pqswarm, ratio")
    data = scaled(X, X)
    kinds = [CLASSIFIERS[name]() for name in ("lda", "qda", "nearest-centroid")]
    kinds += [CLASSIFIERS["nearest-centroid"]({"metric": "manhattan"}), *(REGRESSORS[name]() for name in REGRESSORS)]
    for kind in kinds:
        target = y.astype(float) if kind.name in REGRESSORS else y  # labels as numbers
        evaluator, model = kind.evaluator(X, target, folds, n_jobs=1), kind.estimator()
        for size in (20, 50):
            masks = masks_of(size, count, seed=size)
            few = masks[: max(2, count // 4)]
            theirs = np.median([cpu_seconds(cross_val_score, model, data[:, m], target, cv=folds) for m in few])
            evaluator.errors(masks)  # loads the compiled code that these subsets need
            ours = cpu_seconds(evaluator.errors, masks) / count
            said = f"{kind.describe()[:60]:60} {size:3} features"
            print(f"  {said} {theirs * 1e3:8.1f}  {ours * 1e3:7.2f}  {theirs / ours:6.1f}x")


def compare_threads(X, y, folds):
    print("\nTwo threads against one")
    for name, kind, count in (("k-NN", KNNEvaluator, 60), ("kernel naive Bayes", KernelNBEvaluator, 1200)):
        masks = masks_of(30, count, seed=3)
        evaluator = kind(X, y, folds, n_jobs=1)
        one = seconds(lambda e=evaluator, m=masks: e.errors(m), 3)
        evaluator.n_jobs = 2
        two = seconds(lambda e=evaluator, m=masks: e.errors(m), 3)
        print(f"  {name:20} {count} subsets   {one * 1e3:8.1f} ms  {two * 1e3:8.1f} ms  {one / two:.2f}x")


def show_growth():
    print("\nk-NN (Manhattan), ms per subset against events and features")
    print("   events   10 features   20 features   50 features")
    table = []
    for n in (1000, 2000, 4000, 8000):
        made = make_dataset(-(-n // 14), snr=float("inf"), seed=1)
        keep = np.random.default_rng(0).permutation(len(made))[:n]
        X, y = made.X()[keep], made.y[keep]
        evaluator = KNNEvaluator(X, y, Folds.stratified(y), n_jobs=1)
        row = []
        for size in (10, 20, 50):
            times = [seconds(lambda e=evaluator, m=m: e.errors(m[None])) for m in masks_of(size, 7, size)]
            row.append(np.median(times))
        table.append(row)
        print(f"  {n:7}" + "".join(f"{cell * 1e3:14.2f}" for cell in row))
    table = np.array(table)
    events = np.log(table[-1] / table[0]) / np.log(8)
    features = np.log(table[:, 2] / table[:, 0]) / np.log(5)
    print(f"  grows as events^{events.mean():.2f} (brute force: 2) and features^{features.mean():.2f} (brute force: 1)")


def show_start():
    program = (
        "import numpy as np; from pqswarm.evaluation import Folds, KNNEvaluator, KernelNBEvaluator;"
        "rng = np.random.default_rng(0); X, y = rng.random((200, 9)), np.arange(200) % 4; folds = Folds.stratified(y);"
        "[kind(X, y, folds).errors(np.ones((2, 9), bool)) for kind in (KNNEvaluator, KernelNBEvaluator)]"
    )
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True)
    start = seconds(lambda: subprocess.run(command, check=True), 3)
    print(f"\nA new process that evaluates with compiled code from the cache: {start:.2f} s from start to end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--masks", type=int, default=12, help="subsets per measurement")
    options = parser.parse_args()
    made = make_dataset(250, snr=float("inf"))
    X, y = made.X(), made.y
    folds = Folds.stratified(y)
    with threadpool_limits(1):
        compare_knn(X, y, folds, options.masks)
        compare_pipelines(X, y, folds, options.masks)
        compare_naive_bayes(X, y, folds)
        compare_linear(X, y, folds, options.masks)
        compare_threads(X, y, folds)
        show_growth()
    show_start()


if __name__ == "__main__":
    main()
