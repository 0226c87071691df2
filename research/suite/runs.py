"""Run searches on the splits of a problem, and record what they have found at some numbers of evaluations."""

import time

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pqswarm.evaluation import Folds, GaussianNBEvaluator, KNNEvaluator, LDAEvaluator, LinearEvaluator
from pqswarm.search import ALGORITHMS, Run, advance_runs

MARKS = (300, 1000, 3000, 10_000)
LDA_FEATURES = 100  # LDA is slow beyond


def knn(X, y, folds):
    return KNNEvaluator(X, y, folds, 3, "manhattan", scaling="once", n_jobs=1)


def naive_bayes(X, y, folds):
    return GaussianNBEvaluator(X, y, folds, scaling="none", n_jobs=1)


def lda(X, y, folds):
    return LDAEvaluator(X, y, folds, "lsqr", 0.1, scaling="once", n_jobs=1)


def ridge(X, y, folds):
    return LinearEvaluator(X, y, folds, alpha=1.0, scaling="standard", n_jobs=1)


CLASSIFIERS = {
    "k-nn": (knn, lambda: make_pipeline(MinMaxScaler(), KNeighborsClassifier(3, metric="manhattan"))),
    "gaussian-nb": (naive_bayes, GaussianNB),
    "lda": (lda, lambda: make_pipeline(MinMaxScaler(), LinearDiscriminantAnalysis("lsqr", shrinkage=0.1))),
}
REGRESSORS = {"ridge": (ridge, lambda: make_pipeline(StandardScaler(), Ridge(1.0)))}


def estimators_of(problem, n_features):
    """Return the names of the estimators that run on a problem."""
    if problem.regression:
        return tuple(REGRESSORS)
    return tuple(name for name in CLASSIFIERS if name != "lda" or n_features <= LDA_FEATURES)


def partitions_of(problem, y, seed, count=1):
    """Return several partitions of the events to search on into ten folds, fewer if a class has fewer events."""
    if problem.regression:
        rngs = [np.random.default_rng(seed if k == 0 else [seed, k]) for k in range(count)]
        return [Folds(rng.permutation(len(y)) % 10) for rng in rngs]
    n_folds = min(10, int(np.bincount(y).min()))
    return [Folds.stratified(y, n_folds, seed=seed + 1000 * k) for k in range(count)]


def compare(problem, data, estimator, split, algorithms, budget):
    """Yield a record per algorithm and mark: J, held-out error, size, seconds of the search itself."""
    X, y = data
    searched, held_out = problem.split(y, split)
    make, fresh = (REGRESSORS if problem.regression else CLASSIFIERS)[estimator]
    folds = partitions_of(problem, y[searched], split)[0]
    evaluator = make(X[searched], y[searched], folds)

    def score(mask):
        fitted = fresh().fit(X[np.ix_(searched, mask)], y[searched])
        return 1.0 - float(fitted.score(X[np.ix_(held_out, mask)], y[held_out]))

    for name, search in algorithms.items():
        for mark, (error, mask, seconds) in follow(search(evaluator.n_features, split), evaluator, budget).items():
            numbers = {"J": round(error, 6), "held_out": round(score(np.flatnonzero(mask)), 6), "size": int(mask.sum())}
            case = {"problem": problem.name, "estimator": estimator, "split": split, "algorithm": name, "mark": mark}
            yield case | numbers | {"own_us": round(1e6 * seconds / mark, 2)}


class _Timed:
    """An evaluator that measures its seconds."""

    def __init__(self, evaluator):
        self.n_features, self.blocks, self._evaluator, self.seconds = (
            evaluator.n_features,
            evaluator.blocks,
            evaluator,
            0.0,
        )

    def errors(self, masks):
        return self._timed(self._evaluator.errors, masks)

    def raced(self, *given):
        return self._timed(self._evaluator.raced, *given)

    def _timed(self, evaluate, *given):
        start = time.perf_counter()
        found = evaluate(*given)
        self.seconds += time.perf_counter() - start
        return found


def follow(search, evaluator, budget):
    """Return error, subset and seconds of the search itself, without evaluations, at each mark up to the budget.

    A search that races counts its evaluations in folds: all have tested the same number of folds at a mark.
    """
    timed, found, start = _Timed(evaluator), {}, time.perf_counter()
    run = Run(search, blocks=evaluator.blocks)
    for run.max_evaluations in (mark for mark in MARKS if mark <= budget):
        while not run.done:
            advance_runs([run], timed)
        found[run.max_evaluations] = (run.best_error, run.best, time.perf_counter() - start - timed.seconds)
    return found


def named(names):
    """Return the searches of these names."""
    return {name: ALGORITHMS[name] for name in names}
