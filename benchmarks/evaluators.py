"""The evaluators against scikit-learn, side by side in one process.

    python benchmarks/evaluators.py

Ratios are of CPU time on one thread, on the paper's data (3500 events, 99 features), for random subsets,
unless stated otherwise.
"""

import subprocess
import sys
import time

import numpy as np
from figures import WALL, compare, show
from sklearn.metrics import get_scorer
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
)
from pqswarm.evaluation.exact.naive_bayes.evaluator import DiscreteNBEvaluator
from pqswarm.evaluation.scaling import scale_by_extremes
from pqswarm.evaluation.scores import ScoredEvaluator

SKLEARN = "scikit-learn's cross_val_score / pqswarm, per subset"


def masks_of(size, count, seed=0):
    rng = np.random.default_rng(seed)
    masks = np.zeros((count, 99), dtype=bool)
    for row in masks:
        row[rng.permutation(99)[:size]] = True
    return masks


def against_sklearn(name, compared, evaluator, model, data, target, size, rounds=7, batch=1):
    """Compare on the same subsets: scikit-learn evaluates one per round, pqswarm a whole batch with it."""
    masks = masks_of(size, rounds + batch, seed=size)
    folds = evaluator.folds
    return compare(
        name,
        compared,
        lambda turn: cross_val_score(model, data[:, masks[turn]], target, cv=folds),
        lambda turn: evaluator.errors(masks[turn : turn + batch]),
        rounds=rounds,
        factors=(1, 1 / batch),
    )


def knn_figures(X, y, folds):
    data = scale_by_extremes(X, X)
    for metric in METRICS:
        evaluator = KNNEvaluator(X, y, folds, metric=metric, n_jobs=1)
        model = KNeighborsClassifier(3, metric=metric)
        for size in (10, 20, 50):
            name = f"3-NN, {metric}, {size} features"
            yield against_sklearn(name, SKLEARN, evaluator, model, data, y, size, rounds=9)


def pipeline_figures(X, y, folds):
    for model in (KNeighborsClassifier(5), KNeighborsClassifier(5, p=1), GaussianNB()):
        pipeline = make_pipeline(StandardScaler(), model)
        evaluator = choose_evaluator(pipeline, X, y, folds, n_jobs=1).evaluator
        said = "StandardScaler in each fold, 20 features: cross_val_score / pqswarm"
        yield against_sklearn(f"StandardScaler + {model}", said, evaluator, pipeline, X, y, 20)


def kernel_nb_figures(X, y, folds):
    data = scale_by_extremes(X, X)
    of_class = np.eye(14)[y]

    def plain_table(_):
        """Sum kernels over the events of each class, for one feature and a fifth of the events."""
        apart = (data[::5, 5, None] - data[None, :, 5]) / 0.004
        with np.errstate(divide="ignore"):
            return np.log(np.exp(-0.5 * apart**2) @ of_class)

    yield compare(
        "kernel NB, all log-likelihoods",
        "a sum over all pairs in NumPy without folds / pqswarm's table for all folds, per feature",
        plain_table,
        lambda _: KernelNBEvaluator(X, y, folds, n_jobs=1).errors(masks_of(1, 1)),
        rounds=3,
        factors=(5, 1 / 99),
    )
    evaluator = KernelNBEvaluator(X, y, folds, n_jobs=1)
    masks = masks_of(50, 30, seed=1)
    a, b = masks.astype(np.float32), np.random.default_rng(0).random((99, 3500 * 14), dtype=np.float32)
    yield compare(
        "kernel NB, 30 subsets of 50 features",
        "pqswarm / the bare float32 product (30 x 99) @ (99 x 49000)",
        lambda _: a @ b,
        lambda _: evaluator.errors(masks),
        rounds=15,
        better="lower",
    )
    few, (train, test) = masks_of(20, 30), next(iter(folds.split()))

    def loop(_):
        scores = np.zeros((test.size, 14))
        for label in range(14):
            members = train[y[train] == label]
            for f in np.flatnonzero(few[0]):
                density = KernelDensity(bandwidth=0.004).fit(data[members][:, [f]])
                scores[:, label] += density.score_samples(data[test][:, [f]])

    yield compare(
        "kernel NB, 20 features, of 30 at once",
        "a loop over scikit-learn's KernelDensity / pqswarm, per subset",
        loop,
        lambda _: evaluator.errors(few),
        rounds=3,
        factors=(10, 1 / 30),  # one fold of ten, 30 subsets
    )


def other_figures(X, y, folds):
    data = scale_by_extremes(X, X)
    evaluator = GaussianNBEvaluator(X, y, folds, n_jobs=1)
    said = "scikit-learn's cross_val_score / pqswarm, per subset in batches of 6"
    yield against_sklearn("Gaussian NB, 20 features", said, evaluator, GaussianNB(), data, y, 20, batch=6)
    kinds = {"LDA": CLASSIFIERS["lda"](), **{f"regression, {name}": kind() for name, kind in REGRESSORS.items()}}
    for name, kind in kinds.items():
        target = y.astype(float) if kind.name in REGRESSORS else y  # labels as numbers
        evaluator = kind.evaluator(X, target, folds, n_jobs=1)
        for size in (20, 50):
            yield against_sklearn(
                f"{name}, {size} features", said, evaluator, kind.estimator(), data, target, size, batch=6
            )


def score_figures(X, y, folds):
    batches = {"k-nn": 3, "kernel-nb": 30, "gaussian-nb": 30, "lda": 3}
    made = {name: CLASSIFIERS[name]().evaluator(X, y, folds, n_jobs=1) for name in batches}
    made["discrete-nb"] = DiscreteNBEvaluator(np.abs(X), y, folds, n_jobs=1)
    for name, accuracy in made.items():
        batch = batches.get(name, 3)
        masks = masks_of(20, 15 + batch, seed=4)
        for scoring in ("f1_macro", "balanced_accuracy"):
            scored = ScoredEvaluator(accuracy, get_scorer(scoring))
            yield compare(
                f"{scoring} of {name}, {batch} subsets of 20 features",
                "the score / accuracy",
                lambda turn, e=accuracy, n=batch, m=masks: e.errors(m[turn : turn + n]),
                lambda turn, e=scored, n=batch, m=masks: e.errors(m[turn : turn + n]),
                rounds=15,
                better="lower",
            )


def thread_figures(X, y, folds):
    for name, kind, count in (("3-NN", KNNEvaluator, 60), ("kernel NB", KernelNBEvaluator, 1200)):
        masks = masks_of(30, count, seed=3)
        one, two = (kind(X, y, folds, n_jobs=n) for n in (1, 2))
        yield compare(
            f"{name}, {count} subsets",
            "one thread / two threads, wall time",
            lambda _, e=one, m=masks: e.errors(m),
            lambda _, e=two, m=masks: e.errors(m),
            rounds=7,
            clock=WALL,
        )


def figures():
    made = make_dataset(250, snr=float("inf"))
    X, y = made.X(), made.y
    folds = Folds.stratified(y)
    with threadpool_limits(1):
        for some in (knn_figures, pipeline_figures, kernel_nb_figures, other_figures, score_figures, thread_figures):
            yield from some(X, y, folds)


def show_growth():
    print("\nk-NN (Manhattan), CPU time per subset [ms] against events and features")
    print("   events   10 features   20 features   50 features")
    table = []
    for n in (1000, 2000, 4000, 8000):
        made = make_dataset(-(-n // 14), snr=float("inf"), seed=1)
        keep = np.random.default_rng(0).permutation(len(made))[:n]
        X, y = made.X()[keep], made.y[keep]
        evaluator = KNNEvaluator(X, y, Folds.stratified(y), n_jobs=1)
        row = []
        for size in (10, 20, 50):
            times = []
            for mask in masks_of(size, 7, size):
                start = time.process_time()
                evaluator.errors(mask[None])
                times.append(time.process_time() - start)
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
    best = np.inf
    for _ in range(4):  # the first fills the cache
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        best = min(best, time.perf_counter() - start)
    print(f"\nA new process that evaluates with cached compiled code: {best:.2f} s in total")


if __name__ == "__main__":
    show(figures())
    show_growth()
    show_start()
