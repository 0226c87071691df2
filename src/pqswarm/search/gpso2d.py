"""2D-GPSO: all particles learn from the global best."""

from pqswarm._base.typing import BoolArray
from pqswarm.search.learning2d import SocialLearning2D


class GPSO2D(SocialLearning2D):
    r"""Global-best particle swarm optimisation with learning in two dimensions.

    .. math::
        \mathcal{V}_i \leftarrow \omega \mathcal{V}_i + c_1 r_1 \mathcal{L}_{cog}
        + c_2 r_2 \mathcal{L}_{gbest} + \Delta_i \mathcal{L}_i
    """

    name = "2d-gpso"
    title = "2D-GPSO"

    def _others(self) -> tuple[BoolArray, float]:
        return self.pbest, 1.0  # neighbours have no weight
