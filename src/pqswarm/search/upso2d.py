"""2D-UPSO, the paper's algorithm: unified particle swarm optimisation with learning in two dimensions."""

from typing import ClassVar

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import BoolArray
from pqswarm.search.base import SearchParameters
from pqswarm.search.learning2d import SocialLearning2D, SocialParameters


@parameters
class UPSO2DParameters(SocialParameters):
    """Parameters of 2D-UPSO."""

    unification: float = option(
        "weight of the global best relative to the neighbours' best", default=0.9, low=0, high=1, symbol="u"
    )
    neighbours: int = option("neighbours on each side of a particle, on a ring", default=1, low=1)


class UPSO2D(SocialLearning2D):
    r"""Unified particle swarm optimisation with learning in two dimensions (Algorithm 3 of the paper).

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 (u \mathcal{L}_{soc,1} + (1 - u) \mathcal{L}_{soc,2}) + \Delta_i \mathcal{L}_i

    These are the paper's equations 3 to 5 combined. The ring of neighbours, and random numbers r_1, r_2 per element of
    the velocity, are our choice.

    References
    ----------
    F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two
    dimensional (2D) particle swarms", Applied Soft Computing 81 (2019).
    """

    name = "2d-upso"
    title = "2D-UPSO"
    Parameters: ClassVar[type[SearchParameters]] = UPSO2DParameters
    parameters: UPSO2DParameters

    def _others(self) -> tuple[BoolArray, float]:
        return self._neighbours_best(self.parameters.neighbours), self.parameters.unification
