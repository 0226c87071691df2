"""GA-sparse: a genetic algorithm that starts with few features and keeps the best of parents and children."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctPopulation, flip_subsets


class SparseGAParameters(SearchParameters):
    """Parameters of the genetic algorithm with a sparse start."""

    population_size: int = parameter("surviving subsets, and children", default=30, low=2, high=100_000)
    start_size: int = parameter("maximum number of features of an initial subset", default=30, low=1)
    tournament: int = parameter("tournament size for parents", default=2, low=1, high=1000)
    crossover_probability: float = parameter("probability that a child has two parents", default=0.9, low=0, high=1)
    flips: float = parameter(
        "mean number of features that mutation changes, balanced between added and dropped",
        default=1.0,
        low=0,
        high=1000,
    )


class SparseGA(DistinctPopulation):
    """A genetic algorithm with a sparse start: parents and children compete, and subsets are distinct.

    Tournaments, uniform crossover, and a mutation that adds as many features as it drops on average: flips of equal
    probability would drive subsets toward half of the features. Of equals the smaller subset survives. The combination
    of these known parts is our choice.

    References
    ----------
    G. Syswerda, "Uniform crossover in genetic algorithms", International Conference on Genetic Algorithms (1989).
    """

    name = "ga-sparse"
    title = "GA-sparse"
    Parameters = SparseGAParameters
    parameters: SparseGAParameters

    def _next(self) -> BoolArray:
        p = self.parameters
        if not len(self.population):
            return self._make_distinct(self._sparse_subsets(p.population_size, p.start_size))
        shape = (p.population_size, self.n_features)
        draws = self.rng.random((2, p.population_size, p.tournament))
        one, other = self.population[(draws * len(self.population)).astype(np.int64).min(axis=2)]
        crossed = self.rng.random(p.population_size) < p.crossover_probability
        children = np.where(crossed[:, np.newaxis] & (self.rng.random(shape) < 0.5), other, one)
        return self._make_distinct(flip_subsets(children, p.flips, self.rng.random(shape)))

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        all_masks, all_errors = np.concatenate([self.population, masks]), np.concatenate([self.errors, errors])
        best = np.lexsort((all_masks.sum(axis=1), all_errors))[: self.parameters.population_size]
        self.population, self.errors = all_masks[best], all_errors[best]
