"""Small problems with all subsets evaluated, so that the optimum is known."""

from functools import cache

import numpy as np

from pqswarm.evaluation import GaussianNBEvaluator, KNNEvaluator
from tests.evaluation.data import dataset

# Name: data set, its columns, evaluator.
_PROBLEMS = {
    "wine, 8 features, 3-NN": ("wine", slice(0, 8), KNNEvaluator),
    "digits, 12 features, Gaussian NB": ("digits", slice(18, 42, 2), GaussianNBEvaluator),
    "power quality, 10 features, 3-NN": ("pq", slice(0, 70, 7), KNNEvaluator),
    "breast cancer, 12 features, Gaussian NB": ("breast-cancer", slice(0, 12), GaussianNBEvaluator),
    "power quality, 12 features, Gaussian NB": ("pq", slice(0, 84, 7), GaussianNBEvaluator),
}
PROBLEMS = tuple(_PROBLEMS)


class Table:
    """An evaluator that knows the error of every subset of a few features."""

    def __init__(self, errors):
        self.table = np.asarray(errors, dtype=np.float64)
        self.n_features = int(np.log2(self.table.size))

    def errors(self, masks):
        return self.table[masks @ (1 << np.arange(self.n_features))]

    @property
    def optimum(self):
        return self.table[1:].min()


@cache
def problem(name):
    data, columns, evaluator = _PROBLEMS[name]
    X, y, folds = dataset(data)
    X = X[:, columns]
    n = X.shape[1]
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    return Table(evaluator(X, y, folds).errors(every))
