"""The algorithms by name: built in, and of other packages."""

import re

from pqswarm._base.registry import Registry
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.base import import_member
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

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def search_class(algorithm: object) -> type[Search]:
    """Return the class of an algorithm: a name in :data:`ALGORITHMS`, an import path ``"module:Class"``, or a class."""
    if isinstance(algorithm, type) and issubclass(algorithm, Search):
        return algorithm
    if isinstance(algorithm, str) and _PATH.fullmatch(algorithm):
        return _imported_search(algorithm)
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        known = unknown_name("algorithm", algorithm, ALGORITHMS)
        raise PqswarmError(f"{known} Or give the import path of a class, such as my_module:MySearch.")
    return ALGORITHMS[algorithm]


def _imported_search(path: str) -> type[Search]:
    """The class of an import path; anything else is refused without being called."""
    module, _, name = path.partition(":")
    described = f"algorithm {path}"
    search = ALGORITHMS.checked_member(import_member(described, module, name), described)
    for attribute in ("name", "title"):
        if not isinstance(getattr(search, attribute, None), str):
            raise PqswarmError(f"{described} has no {attribute}: set one in the class.")
    return search
