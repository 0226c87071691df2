"""Data sets for the tests of the evaluators."""

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds


@cache
def dataset(name):
    """X, y and folds."""
    if name == "pq":
        made = make_dataset(40, snr=float("inf"), seed=2)
        X, y = made.X(), made.y
    else:
        loaders = {"wine": load_wine, "breast-cancer": load_breast_cancer, "digits": load_digits}
        X, y = loaders[name](return_X_y=True)
    return X, y, Folds.stratified(y, seed=7)


def random_masks(count, n_features, seed):
    """Masks of all sizes, each size equally likely, none empty."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((count, n_features), dtype=bool)
    for row in masks:
        row[rng.permutation(n_features)[: rng.integers(1, n_features + 1)]] = True
    return masks
