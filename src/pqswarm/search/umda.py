"""UMDA: subsets drawn by the feature frequencies of the best."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctPopulation


def feature_frequencies(masks: BoolArray) -> FloatArray:
    """Return the frequency of each feature in the subsets, (n,), clipped to 1 / n and 1 - 1 / n."""
    low = min(1.0 / masks.shape[1], 0.5)
    return np.asarray(np.clip(masks.mean(axis=0), low, 1.0 - low))


class UMDAParameters(SearchParameters):
    """Parameters of the univariate marginal distribution algorithm."""

    population_size: int = parameter("subsets drawn at once", default=60, low=2, high=100_000)
    elites: int = parameter("best subsets kept with those drawn next", default=10, low=0)
    best_fraction: float = parameter(
        "fraction of the drawn subsets to learn from, at least two", default=0.3, low=0, high=1
    )
    start_size: int = parameter(
        "mean number of features of an initial subset, at most a fifth of all", default=20, low=1
    )


class UMDA(DistinctPopulation):
    """The univariate marginal distribution algorithm: features are drawn by their frequency in the best subsets.

    Starting with few features, and never drawing a subset twice, is our choice.

    References
    ----------
    H. Muehlenbein, G. Paass, "From recombination of genes to the estimation of distributions I. Binary parameters",
    Parallel Problem Solving from Nature (1996).
    """

    name = "umda"
    title = "UMDA"
    Parameters = UMDAParameters
    parameters: UMDAParameters

    def _next(self) -> BoolArray:
        p, n = self.parameters, self.n_features
        best = self.population[: max(2, round(p.best_fraction * p.population_size))]
        probability = feature_frequencies(best) if len(best) else np.full(n, min(0.2, p.start_size / n))
        return self._make_distinct(self.rng.random((p.population_size, n)) < probability)

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        elites = self.parameters.elites
        masks = np.concatenate([self.population[:elites], masks])
        errors = np.concatenate([self.errors[:elites], errors])
        order = np.argsort(errors, kind="stable")
        self.population, self.errors = masks[order], errors[order]
