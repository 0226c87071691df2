"""2D-LPSO: each particle learns from the best of its neighbours."""

from typing import ClassVar

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.learning2d import SocialLearning2D, SocialParameters


@parameters
class LPSO2DParameters(SocialParameters):
    """Parameters of 2D-LPSO."""

    neighbours: int = option("neighbours on each side of a particle, on a ring", default=1, low=1)


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

    def _others(self) -> tuple[BoolArray, float]:
        return self._neighbours_best(self.parameters.neighbours), 0.0
