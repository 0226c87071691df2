"""2D-CLPSO: each particle learns from the personal best of another, chosen by tournament."""

from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.learning2d import Learning2D, Learning2DParameters


def tournament(contenders: IntArray, pbest_errors: FloatArray) -> IntArray:
    """Return the contender with the best personal best in each row; of equals the first."""
    best = pbest_errors[contenders].argmin(axis=1)
    return np.asarray(contenders[np.arange(len(contenders)), best])


@parameters
class CLPSO2DParameters(Learning2DParameters):
    """Parameters of 2D-CLPSO."""

    acceleration: float = option("weight of the exemplar", default=2.0, low=0, high=100, symbol="c")
    tournament_size: int = option("number of particles in a tournament for the exemplar", default=2, low=1, high=100)
    exemplar_gap: int = option(
        "iterations without a better personal best after which another exemplar is chosen", default=7, low=1, symbol="m"
    )


class CLPSO2D(Learning2D):
    r"""Comprehensive-learning particle swarm optimisation with learning in two dimensions.

    .. math:: \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c\, r\, \mathcal{L}_{exemplar} + \Delta_i \mathcal{L}_i

    The exemplar of a particle is the best of `tournament_size` other particles' personal bests, kept while the
    particle improves.

    References
    ----------
    J. J. Liang, A. K. Qin, P. N. Suganthan, S. Baskar, "Comprehensive learning particle swarm optimizer for global
    optimization of multimodal functions", IEEE Transactions on Evolutionary Computation 10 (2006).
    """

    name = "2d-clpso"
    title = "2D-CLPSO"
    Parameters: ClassVar[type[SearchParameters]] = CLPSO2DParameters
    parameters: CLPSO2DParameters
    state_fields: ClassVar[tuple[str, ...]] = (*Learning2D.state_fields, "exemplars", "exemplar_age")

    def _start(self) -> None:
        super()._start()
        count = self.parameters.swarm_size
        self.exemplars = np.arange(count)
        self.exemplar_age = np.full(count, self.parameters.exemplar_gap)

    def _learnt_velocities(self) -> FloatArray:
        self._choose_exemplars()
        own, r = self.pbest[self.exemplars], self._random_numbers()
        return self._learn_from(own, own, r, r, cognitive=self.parameters.acceleration, social=0.0, unification=1.0)

    def _choose_exemplars(self) -> None:
        """Choose new exemplars by tournament for particles that have stalled."""
        count, k = self.parameters.swarm_size, self.parameters.tournament_size
        steps = 1 + (self.rng.random((count, k)) * (count - 1)).astype(np.int64)
        winners = tournament((np.arange(count)[:, np.newaxis] + steps) % count, self.pbest_errors)
        tired = self.exemplar_age >= self.parameters.exemplar_gap
        self.exemplars = np.where(tired, winners, self.exemplars)
        self.exemplar_age = np.where(tired, 0, self.exemplar_age)

    def _notice(self, errors: FloatArray, better: BoolArray, improved: bool) -> None:
        super()._notice(errors, better, improved)
        if self.iteration > 0:
            self.exemplar_age = np.where(better, 0, self.exemplar_age + 1)
