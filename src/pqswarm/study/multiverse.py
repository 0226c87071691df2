"""The multiverse of a plan: what a paper leaves open, varied in many specifications of it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from pqswarm._base.random import stream
from pqswarm.errors import unknown_name
from pqswarm.study.plan_data import DatasetName, Seed, whole_preset_file

_TABLES = ("dataset", "folds", "classifiers", "algorithms", "runs", "max_evaluations", "seed")
_MOST = 10_000  # specifications

Changes = dict[str, Any]
"""New values of keys of a plan, by dotted name; see :func:`pqswarm.study.changes.change_plan`."""


@dataclass(frozen=True)
class Specification:
    """One specification of what is open."""

    name: str  # a number after r, or the name of a marked specification
    chosen: dict[str, str]  # the alternative of each choice
    changes: Changes
    marked: bool = False  # whether the plan names it: it is shown, but not counted among those of the design


class MultiversePlan(BaseModel):
    """Which choices to vary, and in which combinations.

    Attributes
    ----------
    choices : dict
        The alternatives of each choice, the first one being that of the plan: a list of values for a key, given by its
        dotted name, or a table with a name for each alternative and the keys that it changes.
    design : {"array", "full", "random", "one-at-a-time"}
        An orthogonal array, in which every two choices meet in all combinations equally often; all combinations; random
        ones; or one change at a time.
    specifications : int or None
        Number of specifications of an array (a power of two, by default the smallest possible) or of random ones (64).
    seed : int
        Seed of the design.
    marked : dict
        Further specifications to show by name, such as published ones, each with the alternatives that are not the
        first.

    Examples
    --------
    >>> choices = {"dataset.features.border": ["symmetric", "zero"], "folds.number": [10, 5]}
    >>> MultiversePlan(choices=choices, design="one-at-a-time").list_specifications()[1].chosen
    {'dataset.features.border': 'zero', 'folds.number': '10'}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: Annotated[dict[str, dict[str, Changes]], Field(min_length=1, max_length=100)]
    design: Literal["array", "full", "random", "one-at-a-time"] = "array"
    specifications: Annotated[int, Field(ge=2, le=_MOST, strict=True)] | None = None
    seed: Seed = 0
    marked: dict[DatasetName, dict[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _name_alternatives(cls, given: Any, info: ValidationInfo) -> Any:
        """Turn lists of values into alternatives with names and changes."""
        if not isinstance(given, dict) or not isinstance(given.get("choices"), dict):
            return given
        folder = (info.context or {}).get("folder", Path())
        choices: dict[str, Any] = {}
        for choice, alternatives in _dotted(given["choices"]).items():
            if isinstance(alternatives, list | tuple):
                names = [str(one) if isinstance(one, str) else format(one) for one in alternatives]
                if len(set(names)) < len(names):
                    raise ValueError(f"choices: {choice} contains an alternative twice")
                changes = [{choice: one} for one in alternatives]
            elif isinstance(alternatives, dict) and all(isinstance(one, dict) for one in alternatives.values()):
                names = list(alternatives)
                changes = [_dotted(one) for one in alternatives.values()]
            else:
                raise ValueError(f"choices: {choice} must be a list of values, or a table of alternatives")
            if len(names) < 2:
                raise ValueError(f"choices: {choice} needs at least two alternatives")
            whole = [{key: whole_preset_file(key, value, folder) for key, value in one.items()} for one in changes]
            choices[choice] = dict(zip(names, whole, strict=True))
        return given | {"choices": choices}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.specifications is not None and self.design in ("full", "one-at-a-time"):
            raise ValueError(f"specifications: a {self.design} design has {len(self._combinations())}: remove it")
        for name, chosen in self.marked.items():
            if name[0] == "r" and name[1:].isdigit():
                raise ValueError(f"marked: {name} is the name of a specification of the design: choose another")
            for choice, alternative in chosen.items():
                if choice not in self.choices:
                    raise ValueError(str(unknown_name(f"choice of marked.{name}", choice, self.choices)))
                if alternative not in self.choices[choice]:
                    known = self.choices[choice]
                    raise ValueError(str(unknown_name(f"alternative of marked.{name}.{choice}", alternative, known)))
        self._combinations()
        return self

    def list_specifications(self) -> list[Specification]:
        """Return the specifications of the design, followed by the marked ones."""
        combinations = self._combinations()
        digits = len(str(len(combinations)))
        names = {choice: list(alternatives) for choice, alternatives in self.choices.items()}
        first = {choice: alternatives[0] for choice, alternatives in names.items()}
        specifications = []
        for number, row in enumerate(combinations, 1):
            chosen = {choice: names[choice][k] for choice, k in zip(names, row, strict=True)}
            specifications.append(self._specification(f"r{number:0{digits}}", chosen))
        for name, changed in self.marked.items():
            specifications.append(self._specification(name, first | changed, marked=True))
        return specifications

    def _specification(self, name: str, chosen: dict[str, str], marked: bool = False) -> Specification:
        changes: Changes = {}
        for choice, alternative in chosen.items():
            changes |= self.choices[choice][alternative]
        return Specification(name, chosen, changes, marked)

    def _combinations(self) -> list[tuple[int, ...]]:
        """The number of the alternative of each choice, in each specification of the design."""
        levels = [len(alternatives) for alternatives in self.choices.values()]
        if self.design == "one-at-a-time":
            rows = [tuple(k * (i == j) for j in range(len(levels))) for i, n in enumerate(levels) for k in range(1, n)]
            return [(0,) * len(levels), *rows]
        total = prod(levels)
        if self.design == "full":
            if total > _MOST:
                raise ValueError(
                    f"a full design has {total} specifications, above {_MOST}: use an array or random ones"
                )
            return list(itertools.product(*map(range, levels)))
        rng = stream(self.seed, ())
        if self.design == "array":
            return orthogonal_array(levels, self.specifications, rng)
        wanted = 64 if self.specifications is None else self.specifications
        if wanted > total:
            raise ValueError(f"specifications: there are only {total} combinations of the choices")
        rows_drawn: dict[tuple[int, ...], None] = {}
        while len(rows_drawn) < wanted:
            rows_drawn[tuple(int(rng.integers(n)) for n in levels)] = None
        return list(rows_drawn)


def orthogonal_array(levels: Sequence[int], rows: int | None, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return an orthogonal array for choices of 2 or 4 alternatives: every two meet in all combinations equally often.

    Rows are the vectors of GF(2)^m; a choice of two alternatives is a linear function of them, one of four a pair of
    functions. Functions of an odd number of coordinates come first: no main effect is then aliased with an interaction
    of two choices, as long as they suffice. The alternatives are relabelled at random.

    >>> orthogonal_array([2, 2, 2], 4, np.random.default_rng(0))
    [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0)]
    """
    odd = [i for i, n in enumerate(levels) if n not in (2, 4)]
    if odd:
        raise ValueError(f"an array takes choices of 2 or 4 alternatives, not {levels[odd[0]]}: use another design")
    needed = sum(n - 1 for n in levels)
    m = 2
    while (2**m if rows is None else rows) - 1 < needed or (rows is None and _functions(levels, m) is None):
        if rows is not None:
            raise ValueError(f"specifications: an array of these choices needs more than {needed} specifications")
        m += 1
    m = m if rows is None else round(log2(rows))
    if rows is not None and 2**m != rows:
        raise ValueError(f"specifications of an array must be a power of two, such as {2**m}, not {rows}")
    functions = _functions(levels, m)
    if functions is None:
        raise ValueError(f"specifications: {2**m} are too few for an array of these choices: use {2 ** (m + 1)}")
    relabeled = [rng.permutation(n).tolist() for n in levels]
    return [
        tuple(
            names[sum((row & one).bit_count() % 2 << place for place, one in enumerate(own))]
            for own, names in zip(functions, relabeled, strict=True)
        )
        for row in range(2**m)
    ]


def _functions(levels: Sequence[int], m: int) -> list[tuple[int, ...]] | None:
    """For each choice one linear function on GF(2)^m, or two, so that all are independent in pairs; None if too few."""
    ordered = sorted(range(1, 2**m), key=lambda v: (v.bit_count() % 2 == 0, v.bit_count(), v))
    taken: set[int] = set()
    functions: dict[int, tuple[int, ...]] = {}
    for i in sorted(range(len(levels)), key=lambda i: -levels[i]):  # those of four need three functions each
        free = [one for one in ordered if one not in taken]
        space = next(_spaces(free, taken, levels[i]), None)
        if space is None:
            return None
        functions[i] = space
        taken |= {space[0], space[-1], space[0] ^ space[-1]} - {0}
    return [functions[i] for i in range(len(levels))]


def _spaces(free: Sequence[int], taken: set[int], levels: int) -> Iterator[tuple[int, ...]]:
    if levels == 2:
        yield from ((one,) for one in free)
        return
    yield from ((one, two) for one, two in itertools.combinations(free, 2) if one ^ two not in taken)


def _dotted(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table whose keys, if they are those of a plan, are dotted: TOML reads a.b = 1 as a table in a table."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if key in _TABLES and isinstance(value, Mapping):
            flat |= {f"{key}.{rest}": below for rest, below in _flattened(value).items()}
        else:
            flat[key] = value
    return flat


def _flattened(table: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        below = _flattened(value) if isinstance(value, Mapping) and value else {"": value}
        flat |= {f"{key}.{rest}" if rest else key: one for rest, one in below.items()}
    return flat
