"""Plans as files: those that come with pqswarm, and one's own, in TOML."""

import difflib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pqswarm._base.toml import parse_toml, read_toml_text, to_toml
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.events.preset_text import preset_lines
from pqswarm.study.plan import AlgorithmPlan, DatasetPlan, FoldsPlan, HeldOutPlan, StudyPlan
from pqswarm.study.plan_parts import OwnDataPlan, OwnHeldOutPlan

__all__ = ["COPY", "PLANS", "format_plan", "load_plan", "plan_given_data", "plan_text", "read_plan", "restore_plan"]

PLANS: tuple[str, ...] = ("quick", "paper", "paper-stepped", "smoke")
"""The plans that come with pqswarm."""

COPY = "dataset.npz"
"""Name of the file in the folder of a study that holds its data."""

_PARTS: dict[str, type[BaseModel]] = {
    "dataset": DatasetPlan,
    "held_out": HeldOutPlan,
    "folds": FoldsPlan,
    "algorithms": AlgorithmPlan,
}

_IN_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table of keys",
    "float_type": "must be a number",
    "int_type": "must be an integer",
    "missing": "is missing",
    "model_type": "must be a table of keys",
    "string_pattern_mismatch": "must be 1 to 40 letters, digits, blanks and . _ + -, the first a letter or digit",
    "string_too_long": "must be at most {max_length} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "too_short": "must hold at least {min_length}",
    "tuple_type": "must be a list",
}
"""Kinds of mistakes, by pydantic's names for them, where its own words are not plain."""


_MOST_MISTAKES = 20  # that are told at once


def plan_text(name: str) -> str:
    """Return the text of a plan that comes with pqswarm.

    Parameters
    ----------
    name : str
        One of :data:`PLANS`.

    Returns
    -------
    str
        TOML.

    Examples
    --------
    >>> "runs = 40" in plan_text("paper")
    True
    """
    if name not in PLANS:
        raise unknown_name("plan", name, PLANS)
    return (files("pqswarm.study") / "plans" / f"{name}.toml").read_text(encoding="utf-8")


def read_plan(text: str, source: str = "the plan", folder: str | Path = ".") -> StudyPlan:
    """Read a plan from TOML.

    Parameters
    ----------
    text : str
        TOML.
    source : str
        Where it comes from, for messages.
    folder : str or Path
        To which paths in the plan are relative.

    Returns
    -------
    StudyPlan
        The plan.

    Examples
    --------
    >>> read_plan(plan_text("paper")).max_evaluations
    6000
    """
    try:
        return StudyPlan.model_validate(parse_toml(text, source), context={"folder": Path(folder)})
    except ValidationError as error:
        raise PqswarmError("\n".join([f"{source} cannot be used:", *_explained(error)])) from None


def _explained(error: ValidationError) -> list[str]:
    """One line for each mistake: the key and what is wrong with it."""
    lines: list[str] = []
    mistakes = error.errors(include_url=False)
    deeper = {mistake["loc"][:1] for mistake in mistakes if len(mistake["loc"]) > 1}
    for mistake in mistakes:
        if mistake["type"] == "too_short" and mistake["loc"] in deeper:
            continue  # a member was refused, and that is said already
        loc = tuple(part for part in mistake["loc"] if part not in ("generated", "own"))
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
        place = shorten(place)
        message = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be").rstrip(".")
        if mistake["type"] in _IN_WORDS:
            message = _IN_WORDS[mistake["type"]].format(**mistake.get("ctx", {}))
        if mistake["type"] == "extra_forbidden":
            message = f"there is no such key: {_known_keys(loc)}"
        elif mistake["type"] != "value_error" and mistake["type"] != "missing":
            message = f"{message}, not {shorten(repr(mistake['input']))}"
        if len(lines) == _MOST_MISTAKES:
            return [*lines, f"  and {len(mistakes) - _MOST_MISTAKES} more."]
        lines.append(f"  {place + ': ' if place else ''}{message}.")
    return lines


def _known_keys(place: tuple[int | str, ...]) -> str:
    owner = _PARTS.get(str(place[0]), StudyPlan) if len(place) > 1 else StudyPlan
    own = " or, for data of one's own, file, label" if owner is DatasetPlan else ""
    own = " or, for data of one's own, file, share, seed" if owner is HeldOutPlan else own
    close = difflib.get_close_matches(str(place[-1]), owner.model_fields, n=1)
    near = f"did you mean {close[0]}? Known" if close else "known"
    return f"{near} here are {', '.join(owner.model_fields)}{own}"


def load_plan(given: str | Path) -> StudyPlan:
    """Return a plan by the name of one that comes with pqswarm, or from a file.

    Parameters
    ----------
    given : str or Path
        One of :data:`PLANS`, or the path of a TOML file.

    Returns
    -------
    StudyPlan
        The plan.
    """
    if str(given) in PLANS:
        return read_plan(plan_text(str(given)), f"plan {given!s}")
    path = Path(given)
    try:
        text = read_toml_text(path, "the plan ")
    except FileNotFoundError:
        names = ", ".join(PLANS)
        raise PqswarmError(
            f"there is no plan {str(given)!r}: give the path of a TOML file, or one of {names}."
        ) from None
    plan = read_plan(text, str(path), path.parent)
    for part in (plan.dataset, plan.held_out):
        if isinstance(part, OwnDataPlan | OwnHeldOutPlan):
            part.lie_in(path.parent)
    return plan


def restore_plan(kept: Mapping[str, Any]) -> StudyPlan:
    """Return the plan that a study keeps; see :class:`pqswarm.study.findings.About`."""
    try:
        return StudyPlan.model_validate(kept)
    except ValidationError as error:
        lines = "\n".join(_explained(error))
        raise PqswarmError(f"the plan that the study keeps cannot be read:\n{lines}") from None


def plan_given_data(plan: StudyPlan) -> StudyPlan:
    """Return a plan for data that are given in Python: they stand for its file, or the copy that the study keeps."""
    if isinstance(plan.dataset, OwnDataPlan):
        return plan
    given = plan.model_dump(exclude_unset=True)
    try:
        return StudyPlan.model_validate(given | {"dataset": given.get("dataset", {}) | {"file": COPY}})
    except ValidationError as error:
        raise PqswarmError("\n".join(["data are given, but the plan speaks of others:", *_explained(error)])) from None


def format_plan(plan: StudyPlan) -> str:
    """Return a plan as TOML.

    Parameters
    ----------
    plan : StudyPlan
        The plan.

    Returns
    -------
    str
        What :func:`read_plan` reads as the same plan.

    Examples
    --------
    >>> format_plan(read_plan(plan_text("smoke"))).splitlines()[:2]
    ['title = "A smoke test"', 'runs = 3']
    """
    parts = plan.model_dump(exclude_none=True, exclude=None if plan.paper else {"paper"})
    tables = {key: [value] if isinstance(value, dict) else value for key, value in parts.items() if _is_table(value)}
    lines = [f"{key} = {to_toml(value)}" for key, value in parts.items() if key not in tables]
    for key, members in tables.items():
        for member in members:
            lines += ["", f"[{key}]" if isinstance(parts[key], dict) else f"[[{key}]]"]
            preset = member.get("preset") if key == "dataset" and isinstance(member.get("preset"), dict) else None
            own = {name: entry for name, entry in member.items() if name != "preset" or preset is None}
            lines += [f"{name} = {to_toml(entry)}" for name, entry in own.items() if entry != {}]
            if preset is not None:
                lines += ["", "[dataset.preset]", *preset_lines(preset, "dataset.preset.")]
    return "\n".join(lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, tuple) and any(isinstance(member, dict) for member in value))
