"""The algorithms by name: built in, and of other packages."""

from pqswarm._base.registry import Registry
from pqswarm.search.aco import ACO
from pqswarm.search.base import Search
from pqswarm.search.bpso import BPSO
from pqswarm.search.catfish import CatfishBPSO
from pqswarm.search.chaotic import ChaoticBPSO
from pqswarm.search.ga import GA
from pqswarm.search.ga_sparse import SparseGA
from pqswarm.search.merit import Merit
from pqswarm.search.ranking import Ranking
from pqswarm.search.sffs import SFFS
from pqswarm.search.umda import UMDA
from pqswarm.search.upso2d import UPSO2D

ALGORITHMS: Registry[type[Search]] = Registry(
    "algorithm",
    Search,
    (UPSO2D, GA, ACO, BPSO, CatfishBPSO, ChaoticBPSO, SFFS, Ranking, Merit, SparseGA, UMDA),
    group="pqswarm.search",
)
"""All search classes by name."""


def search_class(algorithm: object) -> type[Search]:
    """Return the class of an algorithm, given by its name in :data:`ALGORITHMS` or as a class."""
    if isinstance(algorithm, type) and issubclass(algorithm, Search):
        return algorithm
    return ALGORITHMS.find(algorithm)
