"""Digests of results that must be the same on every processor, with every BLAS and any number of threads.

python -m tests.results_to_compare              prints them, and the golden numbers of data sets,
python -m tests.results_to_compare --quickly    only those whose kernels are compiled in seconds: elementary functions,
                                                kernel NB, two-dimensional swarms and the bundled model.
"""

import gc
import hashlib
import json
import sys

import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from threadpoolctl import threadpool_info

from pqswarm import KernelNB
from pqswarm._kernels.math import exponentials, logarithms, sines
from pqswarm.evaluation import CLASSIFIERS, FILTERS, REGRESSORS, Folds, KernelNBEvaluator
from pqswarm.identify import FEATURES, default_model
from pqswarm.search import Run
from pqswarm.search.bpso import take_probability
from pqswarm.statistics import mann_whitney, superiority
from tests.evaluation.data import random_masks
from tests.golden.make import compute_golden
from tests.search.golden import ALGORITHMS, OURS

QUICK = ("kernel-nb", "2d-upso")
CLASSIFIED = {
    "k-nn": ({}, {"metric": "euclidean", "n_neighbors": 5}, {"metric": "chebyshev"}),
    "kernel-nb": ({"bandwidth": 0.05}, {"floor": 0.001}),
    "gaussian-nb": ({},),
    "lda": ({}, {"solver": "lsqr", "shrinkage": 0.1}),
}


def digest(*arrays):
    """Digest of arrays, to the last bit."""
    told = hashlib.sha256()
    for array in arrays:
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()[:16]


def of_functions():
    """The functions that replace those of NumPy and the C library."""
    numbers = np.random.default_rng(1).random(20_000)
    wide = 60.0 * numbers - 30.0
    return {
        "elementary functions": digest(exponentials(wide), logarithms(numbers), sines(wide)),
        "velocities": digest(take_probability(wide.reshape(100, 200))),
    }


def of_libraries():
    """Results rounded by the libraries: not compared, they show whether other libraries are in use."""
    matrix = np.random.default_rng(3).random((200, 30))
    kinds = [info.get("architecture") for info in threadpool_info() if info["user_api"] == "blas"]
    return {"BLAS": kinds, "products": digest(matrix.T @ matrix)}


def of_classifiers(names):
    """Misclassified events of each fold, on the original features and on integers, which have many ties."""
    X, y = load_wine(return_X_y=True)
    folds, masks = Folds.stratified(y, 5, seed=3), random_masks(25, X.shape[1], 4)
    few = np.round(6.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0))
    found = {}
    for name in names:
        for settings in CLASSIFIED[name]:
            for scaling in ("once", "standard"):
                evaluator = CLASSIFIERS[name](settings).evaluator(X, y, folds, scaling=scaling)
                found[f"{name} {settings} {scaling}"] = digest(evaluator.error_counts(masks))
            if name in ("k-nn", "kernel-nb"):
                evaluator = CLASSIFIERS[name](settings).evaluator(few, y, folds)
                found[f"{name} {settings} of integers"] = digest(evaluator.error_counts(masks))
    tables = [KernelNBEvaluator(X, y, folds, floor=floor) for floor in (0.0, 0.001)]
    found["tables of kernel-nb"] = digest(*(table.table for table in tables), tables[0].priors)
    found["predictions of kernel-nb"] = digest(KernelNB(0.1).fit(X, y).predict(X))
    return found


def of_regressors():
    """Errors of nearest neighbours to the last bit, and of linear systems to nine digits."""
    X, y = load_diabetes(return_X_y=True)
    folds, masks = Folds(np.arange(len(y)) % 7), random_masks(10, X.shape[1], 5)
    errors = {name: REGRESSORS[name]().evaluator(X, y, folds).errors(masks) for name in REGRESSORS}
    return {name: digest(found if name == "k-nn-regression" else np.round(found, 9)) for name, found in errors.items()}


def of_filters():
    """The rankings of the features."""
    X, y = load_wine(return_X_y=True)
    X = np.hstack([X, X[:, :4], np.round(X)])  # with copies, which are ties
    return {name: digest(FILTERS[name].rank(X, y)) for name in FILTERS}


def of_searches(names):
    """All requests and the final state of a run of each algorithm, on errors with many ties."""
    weights = np.arange(40) * 7919 % 41
    found = {}
    for name in names:
        run = Run(ALGORITHMS[name](weights.size, seed=5), 400)
        asked = []
        while not run.done:
            masks = run.ask()
            asked.append(masks)
            run.tell((masks @ weights % 101 + masks.sum(axis=1)) / 150)
        state = run.search.state()
        found[name] = digest(*asked, *(state[field] for field in run.search.state_fields))
    return found


def of_the_rest():
    """The bundled model: classes, and probabilities to nine digits; p-values."""
    model, rng = default_model(), np.random.default_rng(2)
    rows = np.zeros((8, len(FEATURES)))
    for name, knots in zip(model.subsets[0].columns, model.tables[0].knots, strict=True):
        rows[:, FEATURES.index(name)] = knots[(rng.random(8) * knots.size).astype(int)]
    predicted = model.predict(rows)
    one, other = rng.integers(0, 30, 40), rng.integers(4, 33, 40)
    return {
        "model": digest(predicted.labels, predicted.known, np.round(predicted.probabilities, 9)),
        "statistics": digest(mann_whitney(one, other)[0], np.round(superiority(one, other).lower, 9)),
    }


def compute_all(*, quickly=False):
    if quickly:
        found = of_classifiers([name for name in CLASSIFIED if name in QUICK])
        return found | of_functions() | of_searches([name for name in OURS if name in QUICK]) | of_the_rest()
    found = of_functions() | of_classifiers(CLASSIFIED) | of_regressors() | of_filters()
    return found | of_searches(OURS) | of_the_rest()


if __name__ == "__main__":
    gc.disable()  # it takes a fifth of the time of compiling
    quickly = "--quickly" in sys.argv
    found = {"results": compute_all(quickly=quickly), "libraries": of_libraries()}
    if not quickly:
        found["golden"] = compute_golden()
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
