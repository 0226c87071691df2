"""NSGA-II: minimise error and size."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch, flip_balanced

__all__ = ["NSGA2", "FrontParameters", "FrontSearch", "NSGA2Parameters", "crowding", "front_ranks"]


def front_ranks(errors: FloatArray, sizes: IntArray) -> IntArray:
    """Return the front of each subset: 0 if it is not dominated in size and error, and so on.

    Of subsets with equal size and error, only the first can be in a front.
    """
    ranks = np.zeros(len(errors), dtype=np.int64)
    left, rank = np.lexsort((errors, sizes)), 0
    while left.size:
        lowest = np.minimum.accumulate(errors[left])
        front = np.append(True, lowest[1:] < lowest[:-1])
        ranks[left[front]] = rank
        left, rank = left[~front], rank + 1
    return ranks


def crowding(errors: FloatArray, sizes: IntArray, ranks: IntArray) -> FloatArray:
    """Return the crowding distance of each subset in its front: in size and error, relative to the range of the front.

    It is infinite at the ends of a front.
    """
    order = np.lexsort((sizes, ranks))  # within a front, errors fall with size
    at = ranks[order]
    inner = np.flatnonzero((at[2:] == at[1:-1]) & (at[:-2] == at[1:-1])) + 1
    first, last = np.searchsorted(at, at[inner], side="left"), np.searchsorted(at, at[inner], side="right") - 1
    distance = np.full(len(errors), np.inf)
    shares = np.zeros(len(inner))
    for values in (errors[order], sizes[order].astype(np.float64)):
        finite = np.where(np.isfinite(values), values, 0.0)
        shares += np.abs(finite[inner + 1] - finite[inner - 1]) / np.maximum(
            np.abs(finite[last] - finite[first]), 1e-300
        )
    distance[order[inner]] = shares
    return distance


@parameters
class FrontParameters(SearchParameters):
    """Parameters of the searches for a front."""

    population_size: int = option(default=60, meaning="surviving subsets, and children", low=2, high=100_000)


class FrontSearch(DistinctSearch):
    """A search whose population is the best fronts of size and error; a variant defines start and children.

    The population is ordered by front, and within a front by falling crowding distance.
    """

    Parameters: ClassVar[type[SearchParameters]] = FrontParameters
    parameters: FrontParameters
    state_fields: ClassVar[tuple[str, ...]] = (*DistinctSearch.state_fields, "population", "errors")
    growing_fields: ClassVar[tuple[str, ...]] = state_fields

    def _start(self) -> None:
        super()._start()
        self.population: BoolArray = np.zeros((0, self.n_features), dtype=np.bool_)
        self.errors: FloatArray = np.empty(0)

    def _parents(self) -> tuple[BoolArray, BoolArray]:
        """Choose two parents per child, each by a tournament of two."""
        draws = self.rng.random((2, self.parameters.population_size, 2))
        one, other = self.population[(draws * len(self.population)).astype(np.int64).min(axis=2)]
        return one, other

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        masks, errors = np.concatenate([self.population, masks]), np.concatenate([self.errors, errors])
        sizes = masks.sum(axis=1)
        ranks = front_ranks(errors, sizes)
        best = np.lexsort((-crowding(errors, sizes, ranks), ranks))[: self.parameters.population_size]
        self.population, self.errors = masks[best], errors[best]


@parameters
class NSGA2Parameters(FrontParameters):
    """Parameters of NSGA-II."""

    start_size: int = option(default=30, meaning="maximum number of features of an initial subset", low=1)
    crossover_probability: float = option(
        default=0.9, meaning="probability that a child has two parents", low=0, high=1
    )
    flips: float = option(
        default=1.0,
        meaning="mean number of features that mutation changes, balanced between added and dropped",
        low=0,
        high=1000,
    )


class NSGA2(FrontSearch):
    """The non-dominated sorting genetic algorithm: its result is the front of size and error.

    Uniform crossover, a mutation that adds as many features as it drops on average, a sparse start and distinct subsets
    are our choice.

    References
    ----------
    K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE
    Transactions on Evolutionary Computation 6 (2002).
    """

    name = "nsga2"
    title = "NSGA-II"
    Parameters: ClassVar[type[SearchParameters]] = NSGA2Parameters
    parameters: NSGA2Parameters

    def _next(self) -> BoolArray:
        p = self.parameters
        if not len(self.population):
            return self._make_distinct(self._sparse_subsets(p.population_size, p.start_size))
        one, other = self._parents()
        crossed = self.rng.random((len(one), 1)) < p.crossover_probability
        children = np.where(crossed & (self.rng.random(one.shape) < 0.5), other, one)
        return self._make_distinct(flip_balanced(children, p.flips, self.rng.random(one.shape)))
