"""SA: simulated annealing of several chains."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch, move

__all__ = ["SimulatedAnnealing", "SimulatedAnnealingParameters", "accepted"]


def accepted(changes: FloatArray, temperature: float, u: FloatArray) -> BoolArray:
    """Return which changes of the error are accepted by Metropolis' rule; at temperature 0, none above zero.

    A change is accepted if its number in `u`, uniform in [0, 1), is below exp(-change / temperature).
    """
    from pqswarm._kernels.math import logarithms

    if temperature <= 0:
        return np.asarray(changes <= 0)
    return np.asarray(changes <= -temperature * logarithms(1.0 - u.ravel()).reshape(u.shape))


@parameters
class SimulatedAnnealingParameters(SearchParameters):
    """Parameters of simulated annealing."""

    chains: int = option(default=6, meaning="number of parallel chains", low=1, high=10_000)
    tries: int = option(
        default=5, meaning="moves tried per chain and batch; the first accepted one is made", low=1, high=10_000
    )
    start_size: int = option(default=30, meaning="maximum number of features of an initial subset", low=1)
    hot: float = option(
        default=0.01,
        meaning="initial temperature, in standard deviations of the initial errors",
        low=1e-12,
        high=1e6,
    )
    cold: float = option(default=0.001, meaning="final temperature, in the same unit", low=1e-12, high=1e6)
    evaluations: int = option(
        default=6000, meaning="evaluations from the initial to the final temperature, after which it is reheated", low=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cold > self.hot:
            raise PqswarmError(f"cold of {self._name()} is {self.cold}, above hot, {self.hot}.")


class SimulatedAnnealing(DistinctSearch):
    """Simulated annealing: chains of single changes; worse ones are accepted with falling probability.

    A change adds, drops or exchanges a feature. Each chain evaluates several changes per batch, as if in sequence:
    those after the first accepted one are discarded. The temperature falls by a constant factor per evaluation. The
    unit of temperature, and starting chains from the best of their first tries, are our choice.

    References
    ----------
    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220 (1983).
    """

    name = "sa"
    title = "SA"
    Parameters: ClassVar[type[SearchParameters]] = SimulatedAnnealingParameters
    parameters: SimulatedAnnealingParameters
    state_fields: ClassVar[tuple[str, ...]] = (*DistinctSearch.state_fields, "current", "errors", "unit")

    def _start(self) -> None:
        super()._start()
        self.current: BoolArray = np.zeros((self.parameters.chains, self.n_features), dtype=np.bool_)
        self.errors: FloatArray = np.full(self.parameters.chains, np.inf)
        self.unit = np.array(np.nan)  # of temperature; NaN until the first errors are known

    def _next(self) -> BoolArray:
        p = self.parameters
        count = p.chains * p.tries
        if np.isnan(self.unit):
            return self._make_distinct(self._sparse_subsets(count, p.start_size))
        here, draws = np.repeat(self.current, p.tries, axis=0), self.rng.random((count, self.n_features))
        return self._make_distinct(
            move(here, self.rng.random((count, 1))[:, 0], draws, keep_size=self.size is not None)
        )

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        p, first = self.parameters, bool(np.isnan(self.unit))
        tried = np.full((p.chains, p.tries), np.inf)  # fewer may be left
        tried.flat[: len(errors)] = errors
        chains = np.arange(p.chains)
        if first:
            finite = errors[np.isfinite(errors)]
            self.unit = np.array(finite.std() if finite.size else 0.0)
            chosen = tried.argmin(axis=1)
            taken = chains * p.tries + chosen < len(errors)
        else:
            u = self.rng.random((p.chains, p.tries, 1))[..., 0]
            worse = np.subtract(
                tried, self.errors[:, np.newaxis], where=np.isfinite(tried), out=np.full(tried.shape, np.inf)
            )
            good = accepted(worse, self._temperature(), u)
            chosen, taken = good.argmax(axis=1), good.any(axis=1)
        super()._learn(masks, errors)
        rows = (chains * p.tries + chosen)[taken]
        self.current[taken], self.errors[taken] = masks[rows], errors[rows]

    def _temperature(self) -> float:
        """The current temperature, in units of the error."""
        from pqswarm._kernels.math import exponential, logarithm

        p = self.parameters
        share = len(self.seen) % p.evaluations / p.evaluations
        return float(self.unit * p.hot * exponential(share * logarithm(p.cold / p.hot)))
