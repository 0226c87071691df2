"""2D-LPSO: each particle learns from the best of its neighbours."""

from typing import ClassVar

from pqswarm._options import option, parameters
from pqswarm._typing import FloatArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.learning2d import SocialLearning2D, SocialParameters, learning_set, neighbourhood_best

__all__ = ["LPSO2D", "LPSO2DParameters"]


@parameters
class LPSO2DParameters(SocialParameters):
    """Parameters of 2D-LPSO."""

    neighbours: int = option(default=1, meaning="neighbours on each side of a particle, on a ring", low=1)


class LPSO2D(SocialLearning2D):
    r"""Local-best particle swarm optimisation with learning in two dimensions.

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 \mathcal{L}_{nbest} + \Delta_i \mathcal{L}_i
    """

    name = "2d-lpso"
    title = "2D-LPSO"
    Parameters: ClassVar[type[SearchParameters]] = LPSO2DParameters
    parameters: LPSO2DParameters

    def _social(self) -> FloatArray:
        nbest = self.pbest[neighbourhood_best(self.pbest_errors, self.parameters.neighbours)]
        return learning_set(nbest, self.positions)
