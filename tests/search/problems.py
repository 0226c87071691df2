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

    def error(self, features):
        return self.table[sum(1 << feature for feature in features)]

    @property
    def optimum(self):
        return self.table[1:].min()


def assert_same_as_twin(fast, slow, steps):
    """A search and its slow twin ask for the same subsets of a problem, and have the same best and velocities."""
    table = problem("breast cancer, 12 features, Gaussian NB")
    for _ in range(steps):
        masks = fast.ask()
        np.testing.assert_array_equal(masks, slow.x)
        errors = table.errors(masks)
        fast.tell(masks, errors)
        slow.see(errors)
        np.testing.assert_array_equal(fast.gbest, slow.gbest)
        slow.move()
        fast.ask()
        np.testing.assert_allclose(fast.velocities, slow.v, rtol=1e-12, atol=1e-12)
        if hasattr(slow, "count"):
            np.testing.assert_array_equal(fast.stagnation, slow.count)


@cache
def problem(name):
    data, columns, evaluator = _PROBLEMS[name]
    X, y, folds = dataset(data)
    X = X[:, columns]
    n = X.shape[1]
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    return Table(evaluator(X, y, folds).errors(every))
