"""Fold racing against full evaluation: the same winners, the share of folds saved, and times.

    python research/racing.py [--device cuda] [--events 250]

Batches are the steps of SFFS: all subsets with one feature more than a subset of 5, 10 or 15 of the 99 features of
power-quality events; and random subsets of 5 to 40. Both sides run in one process, in turn, on one core. Last, SFFS up
to 15 features, with and without racing. A decision tree, which scikit-learn fits in each fold, is compared on the CPU.
"""

import argparse
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, Folds, GenericEvaluator, RacingEvaluator, race
from pqswarm.search import minimize

REPEATS, SFFS_SIZE = 3, 15


def batches(n_features, rng):
    """Yield the name of a kind of batch and some batches."""
    for size in (5, 10, 15):
        found = []
        for _ in range(4):
            start = np.argsort(rng.random(n_features)) < size
            masks = np.tile(start, (n_features - size, 1))
            masks[np.arange(len(masks)), np.flatnonzero(~start)] = True
            found.append(masks)
        yield f"one feature added to {size}", found
    yield "random", [rng.random((90, n_features)) < rng.uniform(5, 40, (90, 1)) / n_features for _ in range(4)]


def timed(work):
    """Return the result and the shortest time of some calls."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return found, best


def compare(title, evaluator, size=SFFS_SIZE):
    """Print winners, folds and times for each kind of batch, and for SFFS."""
    n_folds = evaluator.folds.n_folds
    for kind, masks in batches(evaluator.n_features, np.random.default_rng(1)):
        same, saved, ratio = 0, [], []
        for batch in masks:
            errors, full = timed(lambda batch=batch: evaluator.errors(batch))
            found, raced = timed(lambda batch=batch: race(evaluator, batch))
            same += found.best == errors.argmin() and found.errors[found.best] == errors.min()
            saved.append(1.0 - found.folds.mean() / n_folds)
            ratio.append(raced / full)
        print(
            f"  {title:12} {kind:24} same winner in {same} of {len(masks)}, folds saved {np.mean(saved):.0%}, "
            f"time {np.mean(ratio):.2f} of a full evaluation",
            flush=True,
        )
    racing = RacingEvaluator(evaluator)
    start = time.perf_counter()
    full = minimize("sffs", evaluator, 10**6, parameters={"size": size})
    middle = time.perf_counter()
    raced = minimize("sffs", racing, 10**6, parameters={"size": size})
    end = time.perf_counter()
    same = full.error == raced.error and np.array_equal(full.front_masks, raced.front_masks)
    saved = 1.0 - racing.n_evaluations / full.n_evaluations
    print(
        f"  {title:12} SFFS: {'the same' if same else 'ANOTHER'} result and front, {full.n_evaluations} evaluations, "
        f"raced {racing.n_evaluations:.0f} by folds (saved {saved:.0%}), time {(end - middle) / (middle - start):.2f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--events", type=int, default=250, help="per class")
    given = parser.parse_args()
    data = make_dataset(given.events, seed=0)
    X, y = data.X(), data.y
    folds = Folds.stratified(y)
    print(f"{len(X)} events, {X.shape[1]} features, {folds.n_folds} folds, {given.device}")
    for name in ("k-nn", "kernel-nb", "gaussian-nb", "lda"):
        classifier = CLASSIFIERS[name]()
        if given.device in classifier.devices:
            compare(classifier.title, classifier.evaluator(X, y, folds, device=given.device, n_jobs=1))
    if given.device == "cpu":
        tree = DecisionTreeClassifier(max_depth=6, random_state=0)
        compare("tree", GenericEvaluator(X, y, folds, tree, n_jobs=1), size=3)


if __name__ == "__main__":
    main()
