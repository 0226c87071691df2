"""TOML files of the user: reading, checking against pydantic models, and writing of plain values."""

import difflib
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pqswarm._base.files import read_regular
from pqswarm.errors import PqswarmError, shorten

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_MAX_BYTES = 10_000_000  # of a file
_MAX_DEPTH = 50  # of tables and lists in one another
_MAX_MISTAKES = 20  # listed at once
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

_IN_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table of keys",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_type": "must be an integer",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "missing": "is missing",
    "model_type": "must be a table of keys",
    "string_too_long": "must be at most {max_length} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "too_long": "must hold at most {max_length}",
    "too_short": "must hold at least {min_length}",
    "tuple_type": "must be a list",
}
"""Kinds of mistakes, by pydantic's names for them, where its own words are not plain."""


def read_toml_text(path: str | Path, what: str = "") -> str:
    """Return the text of a TOML file; no such file is a FileNotFoundError, all else a PqswarmError that says `what`."""
    try:
        return read_regular(path, _MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PqswarmError(f"cannot read {what}{path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise PqswarmError(f"cannot read {what}{path}: byte {error.start} is not UTF-8 text.") from None


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Return what a text of TOML says; messages name its `source`."""
    too_large = PqswarmError(f"{source} cannot be used: it holds an integer of more than 64 bits.")
    too_deep = PqswarmError(f"{source} cannot be used: its values are nested too deeply.")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PqswarmError(f"{source} is not valid TOML: {shorten(str(error), 200)}.") from None
    except RecursionError:
        raise too_deep from None
    except ValueError:  # of int
        raise too_large from None
    waiting: list[tuple[Any, int]] = [(table, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            raise too_deep
        if isinstance(value, int) and abs(value) >= 2**64:  # in hexadecimal digits it may be too long to be printed
            raise too_large
        below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += ((member, depth + 1) for member in below)
    return table


def explain_mistakes(
    error: "ValidationError",
    *models: "type[BaseModel]",
    tags: Collection[str] = (),
    words: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the mistakes that pydantic found in a table as sentences, at most 20: key, what is wrong, and value.

    The `models` that the table was checked against name the keys that are known; `tags` of unions, which pydantic names
    next to keys, are left out; `words` are sentences for more kinds of mistakes, by pydantic's names.
    """
    phrases = {**_IN_WORDS, **(words or {})}
    mistakes = error.errors(include_url=False)
    deeper = {mistake["loc"][:1] for mistake in mistakes if len(mistake["loc"]) > 1}
    # Of a list that is too short because a member was refused, that is said already.
    told = [mistake for mistake in mistakes if mistake["type"] != "too_short" or mistake["loc"] not in deeper]
    lines = [_explain_mistake(mistake, models, tags, phrases) for mistake in told[:_MAX_MISTAKES]]
    if len(told) > _MAX_MISTAKES:
        lines.append(f"and {len(mistakes) - _MAX_MISTAKES} more.")
    return lines


def _explain_mistake(
    mistake: "ErrorDetails", models: "tuple[type[BaseModel], ...]", tags: Collection[str], phrases: Mapping[str, str]
) -> str:
    """One mistake as a sentence."""
    kind = mistake["type"]
    loc = [part for part in mistake["loc"] if part != "[key]"]
    loc = loc[: (at := next((i for i, part in enumerate(loc) if part in tags), len(loc)))] + loc[at + 1 :]
    place = shorten("".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip("."))
    message = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be").rstrip(".")
    if kind in phrases:
        limits = mistake.get("ctx", {}).items()
        message = phrases[kind].format(**{key: f"{v:g}" if isinstance(v, float) else v for key, v in limits})
    if kind == "extra_forbidden":
        message = f"unknown key; {_known_toml_keys(models, loc)}"
    elif kind not in ("value_error", "missing"):
        message = f"{message}, not {shorten(repr(mistake['input']))}"
    return f"{place + ': ' if place else ''}{message}{'' if message[-1:] in '.?' else '.'}"


def table_error(source: str, mistakes: list[str]) -> PqswarmError:
    """Build the error of a table that cannot be used: one line for one mistake, else a list."""
    if len(mistakes) == 1:
        return PqswarmError(f"{source}: {mistakes[0]}" if source else mistakes[0])
    head = f"{source} cannot be used:" if source else "this cannot be used:"
    return PqswarmError("\n  ".join([head, *mistakes]))


def _known_toml_keys(models: "tuple[type[BaseModel], ...]", loc: list[int | str]) -> str:
    """The key that was meant, or all that a table can have."""
    owners = list(models)
    for part in loc[:-1]:
        fields = [owner.model_fields[str(part)] for owner in owners if part in owner.model_fields]
        owners = [model for field in fields for model in _toml_models_in(field.annotation)] or owners
    names = list(dict.fromkeys(name for owner in owners for name, field in owner.model_fields.items() if field.repr))
    close = difflib.get_close_matches(str(loc[-1]), names)
    return f"did you mean {close[0]!r}?" if close else f"known here are {', '.join(names)}."


def _toml_models_in(annotation: Any) -> "Iterator[type[BaseModel]]":
    """The models that a type is made of."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _toml_models_in(part)


def toml_key(name: str) -> str:
    """Return a key of TOML, in quotes if necessary."""
    return name if _BARE_KEY.fullmatch(name) else to_toml(name)


def to_toml(value: Any) -> str:
    """Return a value in one line of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML, but for what cannot be seen
        return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in text)
    if isinstance(value, tuple | list):
        return f"[{', '.join(to_toml(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(name)} = {to_toml(entry)}" for name, entry in value.items())
        return f"{{ {inside} }}" if value else "{}"
    return str(value)
