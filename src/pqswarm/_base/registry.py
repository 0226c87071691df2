"""Registries by name: built-in members, and for some those of other packages, found by entry points."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from pqswarm._base.checks import check_name
from pqswarm.errors import PqswarmError


class _Named(Protocol):
    @property
    def name(self) -> str:
        """The name under which it is registered."""


_Member = TypeVar("_Member", bound=_Named)


class Registry(Mapping[str, _Member]):
    """Classes or objects by name; those of other packages are imported on first use.

    If the registry has a `group`, another package adds a member by an entry point in its ``pyproject.toml``, for
    example a search algorithm::

        [project.entry-points."pqswarm.search"]
        my-search = "my_package.my_module:MySearch"

    :meth:`register` adds a member to this process only, for example in a notebook. Names of `built_in` members cannot
    be replaced. Members are instances or subclasses of `base`; messages call them `what`.
    """

    def __init__(self, what: str, base: type, built_in: Iterable[_Member], *, group: str | None = None) -> None:
        self._what = what
        self._base = base
        self._group = group
        self._members = {member.name: member for member in built_in}
        self._built_in = frozenset(self._members)

    @property
    def built_in(self) -> dict[str, _Member]:
        """The members that come with pqswarm."""
        return {name: member for name, member in self._members.items() if name in self._built_in}

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        """Entry points of other packages."""
        points: dict[str, EntryPoint] = {}
        for point in entry_points(group=self._group) if self._group else ():
            if point.name in self._built_in or points.get(point.name, point).value != point.value:
                taken = points[point.name].value if point.name in points else "pqswarm"
                warnings.warn(f"{self._what} {point.name!r}, {point.value}, is ignored: {taken} has it.", stacklevel=2)
            else:
                points[point.name] = point
        return points

    def register(self, member: _Member) -> _Member:
        """Add a member to this process, also in place of one registered before, and return it, as a decorator does."""
        name = getattr(member, "name", None)
        if not isinstance(name, str) or name in self._built_in:
            raise PqswarmError(f"{self._what} {name!r} cannot be registered: give it a name that is not built in.")
        self._members[name] = self.checked_member(member, f"{self._what} {name!r}")
        return member

    def checked_member(self, member: object, described: str) -> _Member:
        """Return a member that can be used, or raise an error that calls it `described`."""
        if not (isinstance(member, self._base) or (isinstance(member, type) and issubclass(member, self._base))):
            raise PqswarmError(f"{described}, must be derived from {self._base.__module__}.{self._base.__qualname__}.")
        if lacking := ", ".join(sorted(getattr(member, "__abstractmethods__", ()))):
            raise PqswarmError(f"{described}, lacks {lacking}.")
        return member  # type: ignore[return-value]

    def find(self, name: object) -> _Member:
        """Return the member of that name, or raise an error with the nearest known name."""
        return self[check_name(self._what, name, self)]

    def __getitem__(self, name: str) -> _Member:
        if name not in self._members:
            if name not in self._entry_points:
                raise KeyError(name)
            point = self._entry_points[name]
            described = f"{self._what} {name!r}, {point.value}"
            try:
                loaded = point.load()
            except (Exception, SystemExit) as error:  # third-party code may raise anything
                raise PqswarmError(f"{described}, cannot be loaded: {error}.") from error
            member = self.checked_member(loaded, described)
            if member.name != name:
                raise PqswarmError(f"{described}, calls itself {member.name!r}: the names must agree.")
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
