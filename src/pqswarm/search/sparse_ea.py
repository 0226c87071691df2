"""SparseEA: a search for the front, guided by the error of each single feature."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.nsga2 import FrontParameters, FrontSearch

__all__ = ["SparseEA", "SparseEAParameters", "contest"]

_BATCH = 256  # single features per batch


def contest(candidates: BoolArray, scores: FloatArray, draws: FloatArray) -> IntArray:
    """Draw two candidates per row, and return the one with the lower score, (m, n).

    The candidates with the largest numbers in `draws` are drawn; a row without candidates gives -1.
    """
    rows, keys = np.arange(len(candidates)), np.where(candidates, draws, -1.0)
    first = keys.argmax(axis=1)
    none = keys[rows, first] < 0
    keys[rows, first] = -1.0
    second = keys.argmax(axis=1)
    second = np.where(keys[rows, second] < 0, first, second)
    wins = scores[rows, second] < scores[rows, first]
    return np.asarray(np.where(none, -1, np.where(wins, second, first)))


@parameters
class SparseEAParameters(FrontParameters):
    """Parameters of SparseEA."""

    start_size: int = option(default=50, meaning="maximum number of features of an initial subset", low=1)


class SparseEA(FrontSearch):
    """SparseEA: single features first, then a front whose features change by tournaments on their scores.

    It selects as NSGA-II does, and starts with one evaluation per feature. The maximum size of initial subsets, ranks
    as scores, and distinct subsets are our choice.

    References
    ----------
    Y. Tian, X. Zhang, C. Wang, Y. Jin, "An evolutionary algorithm for large-scale sparse multiobjective optimization
    problems", IEEE Transactions on Evolutionary Computation 24 (2020).
    """

    name = "sparse-ea"
    title = "SparseEA"
    Parameters: ClassVar[type[SearchParameters]] = SparseEAParameters
    parameters: SparseEAParameters
    state_fields: ClassVar[tuple[str, ...]] = (*FrontSearch.state_fields, "alone", "n_alone")

    def _start(self) -> None:
        super()._start()
        self.alone: FloatArray = np.full(self.n_features, np.inf)  # error of each single feature
        self.n_alone = np.array(0)  # number of known ones

    @property
    def min_evaluations(self) -> int:
        """Evaluations before the first subset of the required size."""
        return 1 if self.size in (None, 1) else self.n_features + 1

    def _next(self) -> BoolArray:
        if self.n_alone < self.n_features:
            features = np.arange(self.n_features)
            return np.asarray(features[int(self.n_alone) :][:_BATCH, np.newaxis] == features)
        scores = np.searchsorted(np.sort(self.alone), self.alone).astype(np.float64)  # number of better features
        return self._make_distinct(self._children(scores) if len(self.population) else self._first(scores))

    def _first(self, scores: FloatArray) -> BoolArray:
        """Draw subsets, with features chosen by tournaments of two."""
        from pqswarm._kernels.math import logarithms

        p, n = self.parameters, self.n_features
        sizes = 1 + (self.rng.random((p.population_size, 1)) * min(p.start_size, n)).astype(np.int64)
        draws = self.rng.random((p.population_size, n))
        keys = logarithms(1.0 - draws.ravel()).reshape(draws.shape) / (2.0 * (n - scores) - 1.0)
        places = np.argsort(np.argsort(-keys, axis=1, kind="stable"), axis=1)
        return np.asarray(places < (sizes if self.size is None else self.size))

    def _children(self, scores: FloatArray) -> BoolArray:
        """Children of one parent: add a feature of the other or drop one that it lacks; then mutate one feature."""
        children, other = self._parents()
        for mate in (other, None):
            less = self.rng.random((len(children), 1)) < 0.5
            draws = self.rng.random(children.shape)
            candidates = children == less
            if mate is not None:
                candidates &= mate != less
            chosen = contest(candidates, np.where(less, -scores, scores), draws)
            rows = np.flatnonzero(chosen >= 0)
            children[rows, chosen[rows]] ^= True
        return children

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        if self.n_alone == self.n_features:
            super()._learn(masks, errors)
            return
        self.alone[masks.argmax(axis=1)] = errors
        self.n_alone = self.n_alone + len(masks)
        if self.size in (None, 1):
            self.seen.add(masks, errors)
