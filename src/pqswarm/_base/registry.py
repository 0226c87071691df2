"""Things by name: ours, and those of other packages, which are found by their entry points."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from pqswarm._base.checks import check_name
from pqswarm.errors import PqswarmError

__all__ = ["Registry"]


class _Named(Protocol):
    @property
    def name(self) -> str:
        """The name under which it is registered."""


_Member = TypeVar("_Member", bound=_Named)


class Registry(Mapping[str, _Member]):
    """Classes, or objects, that can be asked for by name; those of other packages are imported when first looked up.

    Another package offers a member by an entry point in its ``pyproject.toml``, for example a search algorithm::

        [project.entry-points."pqswarm.search"]
        my-search = "my_package.my_module:MySearch"

    A member of this process alone, in a notebook say, is added by :meth:`register`. Names of `ours` cannot be taken.
    Members are instances of `base`, or classes derived from it; `what` they are called stands in messages.
    """

    def __init__(self, what: str, group: str, base: type, ours: Iterable[_Member]) -> None:
        self._what, self._group, self._base = what, group, base
        self._members = {member.name: member for member in ours}
        self._ours = frozenset(self._members)

    @property
    def ours(self) -> dict[str, _Member]:
        """The members that come with pqswarm, whatever other packages there are."""
        return {name: member for name, member in self._members.items() if name in self._ours}

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        """Entry points of other packages."""
        return {point.name: point for point in entry_points(group=self._group) if point.name not in self._ours}

    def register(self, member: _Member) -> _Member:
        """Add a member in this process, and return it, so that it can decorate a class.

        Its `name` must be none of ours; what was registered under that name before is replaced.
        """
        name = getattr(member, "name", None)
        if not isinstance(name, str) or name in self._ours:
            raise PqswarmError(f"{self._what} {name!r} cannot be registered: it must have a name of its own.")
        self._members[name] = self._check(member, f"{self._what} {name!r}")
        return member

    def _check(self, found: object, said: str) -> _Member:
        if not (isinstance(found, self._base) or (isinstance(found, type) and issubclass(found, self._base))):
            raise PqswarmError(f"{said}, must be derived from {self._base.__module__}.{self._base.__qualname__}.")
        return found  # type: ignore[return-value]

    def find(self, name: object) -> _Member:
        """Return the member of that name, or raise an error that names the nearest known one."""
        return self[check_name(self._what, name, self)]

    def __getitem__(self, name: str) -> _Member:
        if name not in self._members:
            if name not in self._entry_points:
                raise KeyError(name)
            point = self._entry_points[name]
            said = f"{self._what} {name!r}, {point.value}"
            try:
                found = point.load()
            except Exception as error:  # the code of others may fail in any way
                raise PqswarmError(f"{said}, cannot be loaded: {error}.") from error
            member = self._check(found, said)
            if member.name != name:
                raise PqswarmError(f"{said}, calls itself {member.name!r}: the names must agree.")
            self._members[name] = member
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return name in self._members or name in self._entry_points

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._members, *self._entry_points]))

    def __len__(self) -> int:
        return len(self._members.keys() | self._entry_points.keys())

    def __repr__(self) -> str:
        return f"<{self._what}: {', '.join(self)}>"
