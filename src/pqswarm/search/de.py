"""DE: binary differential evolution with adaptive rates."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch

__all__ = ["DifferentialEvolution", "DifferentialEvolutionParameters", "trial"]


def trial(
    parents: BoolArray,
    best: BoolArray,
    one: BoolArray,
    other: BoolArray,
    rates: FloatArray,
    crossover_rates: FloatArray,
    draws: FloatArray,
) -> BoolArray:
    """Return the children of differential evolution on bits, current to p-best with one difference.

    Where a parent differs from one of the `best`, it takes its bit with probability F of `rates`; then, where `one` and
    `other` differ, the bit of `one`, with the same probability. The child takes each bit of this mutant with
    probability CR of `crossover_rates`, at least one. `draws`, uniform, has shape (3, m, n).
    """
    rate = rates[:, np.newaxis]
    mutants = np.where(draws[0] < rate, best, parents)
    mutants = np.where((one ^ other) & (draws[1] < rate), one, mutants)
    crossed = (draws[2] < crossover_rates[:, np.newaxis]) | (draws[2] == draws[2].min(axis=1, keepdims=True))
    return np.asarray(np.where(crossed, mutants, parents))


@parameters
class DifferentialEvolutionParameters(SearchParameters):
    """Parameters of binary differential evolution."""

    population_size: int = option(default=30, meaning="subsets", low=4, high=100_000)
    start_size: int = option(default=30, meaning="maximum number of features of an initial subset", low=1)
    best_share: float = option(
        default=0.15, meaning="fraction of the subsets that count as best, at least two", low=0, high=1, symbol="p"
    )
    memory: int = option(default=5, meaning="number of stored pairs of rates", low=1, high=1000, symbol="H")


class DifferentialEvolution(DistinctSearch):
    """Binary differential evolution with p-best, an archive, and rates adapted by success history.

    Differences of bits replace differences of numbers. The population does not shrink, since the search does not know
    its budget. The binary form and the sparse start are our choice.

    References
    ----------
    R. Tanabe, A. Fukunaga, "Success-history based parameter adaptation for differential evolution", IEEE Congress
    on Evolutionary Computation (2013).
    """

    name = "de"
    title = "DE"
    Parameters: ClassVar[type[SearchParameters]] = DifferentialEvolutionParameters
    parameters: DifferentialEvolutionParameters
    state_fields: ClassVar[tuple[str, ...]] = (
        *DistinctSearch.state_fields,
        *("population", "errors", "archive", "rates", "memory", "place"),
    )
    growing_fields: ClassVar[tuple[str, ...]] = (*DistinctSearch.growing_fields, "population", "errors", "archive")

    def _start(self) -> None:
        super()._start()
        p = self.parameters
        self.population: BoolArray = np.zeros((0, self.n_features), dtype=np.bool_)
        self.errors: FloatArray = np.empty(0)
        self.archive: BoolArray = np.zeros((0, self.n_features), dtype=np.bool_)  # beaten parents
        self.rates: FloatArray = np.full((2, p.population_size), 0.5)  # F and CR of the requested children
        self.memory: FloatArray = np.full((2, p.memory), 0.5)
        self.place = np.array(0)  # next position of the memory to write

    def _next(self) -> BoolArray:
        p, count = self.parameters, len(self.population)
        if not count:
            return self._make_distinct(self._sparse_subsets(p.population_size, p.start_size))
        self.rates = self._new_rates(count)
        leaders = np.argsort(self.errors, kind="stable")[: max(2, round(p.best_share * count))]
        pool = np.concatenate([self.population, self.archive])
        best, one, other = (self._choose(size, count) for size in (len(leaders), count, len(pool)))
        donors = self.population[leaders[best]], self.population[one], pool[other]
        draws = self.rng.random((3, count, self.n_features))
        children = trial(self.population, *donors, self.rates[0], self.rates[1], draws)
        return self._make_distinct(children)

    def _choose(self, size: int, count: int) -> IntArray:
        """Draw `count` numbers below `size`."""
        return np.asarray((self.rng.random((count, 1))[:, 0] * size).astype(np.int64))

    def _new_rates(self, count: int) -> FloatArray:
        """Draw F (Cauchy) and CR (normal) around stored pairs."""
        from pqswarm._kernels.math import make_normal, tangents

        chosen = self.memory[:, self._choose(self.parameters.memory, count)]
        u = self.rng.random((3, count, 1))[..., 0]
        normal, cauchy = u[:2].T.ravel(), tangents(np.pi * (u[2] - 0.5))
        make_normal(normal)
        return np.stack(
            [np.clip(chosen[0] + 0.1 * cauchy, 0.05, 1.0), np.clip(chosen[1] + 0.1 * normal[::2], 0.0, 1.0)]
        )

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        if not len(self.population):
            self.population, self.errors = masks, errors
            return
        before, rates = self.errors[: len(errors)], self.rates[:, : len(errors)]  # fewer at the end
        better = errors < before
        if better.any():
            self._adapt(np.where(np.isfinite(before), before - errors, 1.0)[better], rates[:, better])
            archive = np.concatenate([self.archive, self.population[: len(errors)][better]])
            kept = np.argsort(self.rng.random((len(archive), 1))[:, 0], kind="stable")[
                : self.parameters.population_size
            ]
            self.archive = archive[kept]
        taken = np.flatnonzero(errors <= before)
        self.population[taken], self.errors[taken] = masks[taken], errors[taken]

    def _adapt(self, gains: FloatArray, rates: FloatArray) -> None:
        """Store the rates of successful children: the Lehmer mean of F and the mean of CR, weighted by gain."""
        weights = gains / gains.sum()
        # Sums instead of matrix products, whose order depends on the library.
        once, twice = (weights * rates).sum(axis=1), (weights * np.square(rates[0])).sum()
        self.memory[:, self.place] = twice / once[0], once[1]
        self.place = (self.place + 1) % self.parameters.memory
