"""Changes of single keys of a plan by dotted names, such as ``dataset.features.border`` or ``algorithms.ga.elites``."""

import copy
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from pqswarm._base.toml import parse_toml
from pqswarm.errors import PqswarmError, unknown_name

_OWN_KEYS = {
    "algorithms": ("name", "id", "algorithm", "parameters"),
    "classifiers": ("name", "id", "kind", "parameters", "scaling", "grid_search", "estimator"),
}
_LISTS = (*_OWN_KEYS, "datasets")


def parse_changes(given: Iterable[str]) -> dict[str, Any]:
    """Return changes written as ``key=value``, with values as in TOML; what is not TOML is text.

    >>> parse_changes(["runs=5", "dataset.seeds=[1, 2]", "dataset.preset=field"])
    {'runs': 5, 'dataset.seeds': [1, 2], 'dataset.preset': 'field'}
    """
    changes: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise PqswarmError(f"--set takes KEY=VALUE, such as --set runs=5, not {text!r}.")
        try:
            changes[key.strip()] = parse_toml(f"value = {value}", key)["value"]
        except PqswarmError:
            changes[key.strip()] = value.strip()
    return changes


def change_plan(tree: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan, as read from TOML, with new values by dotted key.

    A classifier, algorithm or data set is given by its name, or ``*`` for all. Keys of algorithms and classifiers that
    are not their own are parameters, which ``*`` changes where they exist. A preset given by name becomes one that
    extends it.
    """
    changed = copy.deepcopy(dict(tree))
    for key, value in changes.items():
        _change(changed, key, key.split("."), copy.deepcopy(value))
    return changed


def _change(tree: dict[str, Any], key: str, parts: list[str], value: Any) -> None:
    first, *rest = parts
    if not rest:
        tree[first] = value
        return
    if first in _LISTS:
        _change_members(tree, key, parts, value)
        return
    below = tree.setdefault(first, {})
    if first == "preset" and isinstance(below, str):
        below = tree[first] = {"extends": below}
    if not isinstance(below, dict):
        raise PqswarmError(f"{key}: {first} is not a table of the plan, so it has no key {rest[0]!r}.")
    _change(below, key, rest, value)


def _change_members(tree: dict[str, Any], key: str, parts: list[str], value: Any) -> None:
    kind, wanted, *rest = parts
    members = tree.get(kind, [])
    named = {_member_name(one): one for one in members if isinstance(one, dict)}
    if wanted != "*" and wanted not in named:
        raise unknown_name(f"name in {key!r}:", wanted, [*named, "*"])
    if not rest:
        raise PqswarmError(f"{key} is a table: name one of its keys, such as {key}.name.")
    touched = 0
    for name, member in named.items():
        if wanted not in ("*", name):
            continue
        if kind not in _OWN_KEYS or rest[0] in (*_OWN_KEYS[kind], *member):
            _change(member, key, rest, value)
        elif wanted != "*" or _has_parameter(kind, member, rest[0]):
            _change(member.setdefault("parameters", {}), key, rest, value)
        else:
            continue
        touched += 1
    if not touched:
        raise PqswarmError(f"{key}: none of the {kind} has a parameter {rest[0]!r}.")


def _member_name(member: Mapping[str, Any]) -> str:
    """The name of a classifier, algorithm or data set, by default that of its algorithm, file or preset."""
    given = member.get("name", member.get("algorithm", member.get("kind")))
    return str(given if given is not None else PurePath(str(member.get("file", member.get("preset", "paper")))).stem)


def _has_parameter(kind: str, member: Mapping[str, Any], parameter: str) -> bool:
    from dataclasses import fields

    from pqswarm.evaluation import CLASSIFIERS
    from pqswarm.search import ALGORITHMS

    if kind == "classifiers":
        known = fields(CLASSIFIERS.find(str(member.get("kind", "estimator"))).Hyperparameters)
    else:
        known = fields(ALGORITHMS.find(str(member.get("algorithm"))).Parameters)
    return parameter in {field.name for field in known}
