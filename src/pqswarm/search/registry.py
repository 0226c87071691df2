"""The algorithms by name: ours, and those of other packages."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.search.aco import ACO
from pqswarm.search.base import Search
from pqswarm.search.bpso import BPSO
from pqswarm.search.catfish import CatfishBPSO
from pqswarm.search.chaotic import ChaoticBPSO
from pqswarm.search.clpso2d import CLPSO2D
from pqswarm.search.ga import GA
from pqswarm.search.gpso2d import GPSO2D
from pqswarm.search.lpso2d import LPSO2D
from pqswarm.search.sffs import SFFS
from pqswarm.search.upso2d import UPSO2D

__all__ = ["ALGORITHMS", "Registry", "search_class"]

_GROUP = "pqswarm.search"
_OURS: tuple[type[Search], ...] = (UPSO2D, GPSO2D, LPSO2D, CLPSO2D, GA, ACO, BPSO, CatfishBPSO, ChaoticBPSO, SFFS)


class Registry(Mapping[str, type[Search]]):
    """Search classes by name; those of other packages are imported when they are first looked up.

    Another package offers an algorithm by an entry point in its ``pyproject.toml``::

        [project.entry-points."pqswarm.search"]
        my-search = "my_package.my_module:MySearch"

    where MySearch derives from :class:`Search`. Names of ours cannot be taken.

    Examples
    --------
    >>> ALGORITHMS["2d-upso"].title
    '2D-UPSO'
    """

    def __init__(self, ours: tuple[type[Search], ...]) -> None:
        self._classes = {search.name: search for search in ours}

    @cached_property
    def _offered(self) -> dict[str, EntryPoint]:
        """Entry points of other packages."""
        return {point.name: point for point in entry_points(group=_GROUP) if point.name not in self._classes}

    def __getitem__(self, name: str) -> type[Search]:
        if name not in self._classes:
            self._classes[name] = self._loaded(name)
        return self._classes[name]

    def _loaded(self, name: str) -> type[Search]:
        """Import an algorithm of another package."""
        if name not in self._offered:
            raise KeyError(name)
        point = self._offered[name]
        try:
            found = point.load()
        except Exception as error:  # the code of others may fail in any way
            raise PqswarmError(f"algorithm {name!r} cannot be loaded from {point.value}: {error}.") from error
        if not (isinstance(found, type) and issubclass(found, Search)):
            raise PqswarmError(
                f"algorithm {name!r}, {point.value}, must be a class derived from pqswarm.search.Search."
            )
        if found.name != name:
            raise PqswarmError(f"algorithm {name!r}, {point.value}, calls itself {found.name!r}: the names must agree.")
        return found

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*(search.name for search in _OURS), *self._classes, *self._offered]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<algorithms: {', '.join(self)}>"


ALGORITHMS = Registry(_OURS)
"""All search classes by name."""


def search_class(algorithm: object) -> type[Search]:
    """Return the class of an algorithm that was given by name or as a class.

    Parameters
    ----------
    algorithm : str or type
        A name in :data:`ALGORITHMS`, or a class derived from :class:`Search`.

    Returns
    -------
    type
        The class.
    """
    if isinstance(algorithm, type) and issubclass(algorithm, Search):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise unknown_name("algorithm", algorithm, ALGORITHMS)
    return ALGORITHMS[algorithm]
