"""GA: the simple genetic algorithm."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import Search, SearchParameters, errors_as_rates


def fitness(errors: FloatArray, kind: str = "accuracy") -> FloatArray:
    """Return the non-negative weight of each chromosome on the roulette wheel.

    "accuracy" is 1 - error (for losses above 1, the relative distance to the largest), "windowed" the distance to the
    worst of the population.
    """
    rates = errors_as_rates(errors)
    return np.asarray((1.0 if kind == "accuracy" else rates.max()) - rates)


class GAParameters(SearchParameters):
    """Parameters of the genetic algorithm."""

    population_size: int = parameter("chromosomes", default=30, low=2, high=100_000, symbol="N")
    crossover_probability: float = parameter(
        "probability that a pair is crossed", default=0.8, low=0, high=1, symbol="p_c"
    )
    mutation_probability: float = parameter(
        "probability of a flip, per bit or per chromosome", default=0.2, low=0, high=1, symbol="p_m"
    )
    mutation: str = parameter(
        "unit of that probability: each bit, or one random bit per chromosome",
        default="bit",
        choices=("bit", "chromosome"),
    )
    fitness: str = parameter(
        "weight on the roulette wheel: 1 - error, or the worst error - error",
        default="accuracy",
        choices=("accuracy", "windowed"),
    )
    elites: int = parameter("best chromosomes that survive unchanged, replacing the last children", default=0, low=0)


class GA(Search):
    """The simple genetic algorithm: roulette wheel, single-point crossover, bit flips.

    Generational, with consecutive parents paired. The paper names the three operators and the probabilities; a fitness
    of 1 - error, flips per bit and no elitism are our choice. The :class:`Run` keeps the best subset.

    References
    ----------
    W. Siedlecki, J. Sklansky, "A note on genetic algorithms for large-scale feature selection", Pattern
    Recognition Letters 10 (1989).
    """

    name = "ga"
    title = "GA"
    Parameters = GAParameters
    parameters: GAParameters
    may_ask_empty = True
    state_fields = ("generation", "population", "errors")

    def _start(self) -> None:
        self.generation = np.array(0)
        self.population = self._random_subsets(self.parameters.population_size)
        self.errors: FloatArray = np.full(len(self.population), np.inf)

    def _next(self) -> BoolArray:
        if self.generation > 0:
            self.population = self._children()
        return self.population

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:  # noqa: ARG002
        self.errors = errors
        self.generation = self.generation + 1

    def _children(self) -> BoolArray:
        from pqswarm.search._kernels import breed_population

        p = self.parameters
        count, n = self.population.shape
        each_bit = p.mutation == "bit"
        draws = self.rng.random(count + 2 * (count // 2) + count * (n if each_bit else 2))
        children = breed_population(
            self.population,
            fitness(self.errors, p.fitness),
            draws,
            p.crossover_probability,
            p.mutation_probability,
            each_bit,
        )
        children = self._resize(children)
        if p.elites:
            elites = np.argsort(self.errors, kind="stable")[: min(p.elites, count)]
            children[count - elites.size :] = self.population[elites]
        return children
