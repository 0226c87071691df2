"""ACO: ant colony optimization over the features, take or leave."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import Search, SearchParameters, errors_as_rates


def pheromone_probability(pheromone: FloatArray) -> FloatArray:
    """Return the probability, (n,), that an ant takes each feature, from the pheromone, (2, n)."""
    return np.asarray(pheromone[0] / pheromone.sum(axis=0))


class ACOParameters(SearchParameters):
    """Parameters of ant colony optimization."""

    colony_size: int = parameter("ants", default=50, low=1, high=100_000, symbol="as")
    factor: float = parameter("scale of the deposited pheromone", default=5.0, low=1e-6, high=1e6, symbol="a")
    factor_as: str = parameter(
        "whether deposits are divided or multiplied by it", default="divisor", choices=("divisor", "multiplier")
    )
    evaporation: float = parameter(
        "fraction of the pheromone that evaporates per iteration", default=0.2, low=0, high=1, symbol="rho"
    )
    evaporation_as: str = parameter(
        "whether that fraction evaporates or persists", default="evaporation", choices=("evaporation", "persistence")
    )
    pheromone_low: float = parameter("minimum pheromone on an edge", default=0.3, low=1e-6, high=1e6, symbol="tau_min")
    pheromone_high: float = parameter("maximum pheromone on an edge", default=1.5, low=1e-6, high=1e6, symbol="tau_max")
    depositors: str = parameter(
        "which ants deposit: the best of the iteration, its single best, or the best so far",
        default="best-fraction",
        choices=("best-fraction", "iteration-best", "global-best"),
    )
    best_fraction: float = parameter(
        "fraction of the ants that count as best, rounded, at least one", default=0.1, low=0, high=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pheromone_low > self.pheromone_high:
            raise PqswarmError(f"pheromone_low is {self.pheromone_low}, above pheromone_high, {self.pheromone_high}.")


class ACO(Search):
    """Ant colony optimization on a line of features with two edges each, take and leave.

    The paper gives the colony size, the factor, the evaporation and the limits. The initial pheromone of 1 on all edges
    (or the nearest allowed value), and which ants deposit how much, are our choice. The factor is a divisor, since
    one deposit multiplied by 5 reaches the upper limit at any error below 0.7.

    References
    ----------
    H. Yu, G. Gu, H. Liu, J. Shen, J. Zhao, "A modified ant colony optimization algorithm for tumor marker gene
    selection", Genomics, Proteomics & Bioinformatics 7 (2009).
    """

    name = "aco"
    title = "ACO"
    Parameters = ACOParameters
    parameters: ACOParameters
    may_ask_empty = True
    equivariant = True
    state_fields = ("pheromone", "best", "best_error")

    def _start(self) -> None:
        p = self.parameters
        self.pheromone: FloatArray = np.clip(np.ones((2, self.n_features)), p.pheromone_low, p.pheromone_high)
        self.best: BoolArray = np.zeros(self.n_features, dtype=np.bool_)
        self.best_error = np.array(np.inf)

    def _next(self) -> BoolArray:
        draws = self.rng.random((self.parameters.colony_size, self.n_features))
        return np.asarray(draws < pheromone_probability(self.pheromone))

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        from pqswarm.search._kernels import deposit_pheromone

        p = self.parameters
        order = np.argsort(errors, kind="stable")
        if errors[order[0]] < self.best_error:
            self.best, self.best_error = masks[order[0]].copy(), np.array(errors[order[0]])
        if p.depositors == "global-best":
            masks = np.vstack([self.best, masks])
            errors = np.append(self.best_error, errors)
            order = np.array([0])
        count = max(1, round(p.best_fraction * len(errors))) if p.depositors == "best-fraction" else 1
        self.pheromone = deposit_pheromone(
            self.pheromone,
            masks[order[:count]],
            errors_as_rates(errors)[order[:count]],
            float(p.factor if p.factor_as == "divisor" else 1.0 / p.factor),
            float(p.evaporation if p.evaporation_as == "evaporation" else 1.0 - p.evaporation),
            float(p.pheromone_low),
            float(p.pheromone_high),
        )
