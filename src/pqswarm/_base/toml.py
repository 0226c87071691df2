"""TOML of the user's: read, and plain values written."""

import json
import tomllib
from collections.abc import Mapping
from math import inf, isnan
from pathlib import Path
from typing import Any

from pqswarm._base.files import read_regular
from pqswarm.errors import PqswarmError, shorten

__all__ = ["parse_toml", "read_toml_text", "to_toml"]

_LONGEST = 10_000_000  # bytes of a file


def read_toml_text(path: str | Path, what: str = "") -> str:
    """Return the text of a TOML file; no such file is a FileNotFoundError, all else a PqswarmError that says `what`."""
    try:
        return read_regular(path, _LONGEST).decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PqswarmError(f"cannot read {what}{path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise PqswarmError(f"cannot read {what}{path}: byte {error.start} is not UTF-8 text.") from None


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Return what a text of TOML says; messages name its `source`.

    Examples
    --------
    >>> parse_toml("runs = 40", "the plan")
    {'runs': 40}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PqswarmError(f"{source} is not valid TOML: {shorten(str(error), 200)}.") from None
    except RecursionError:
        raise PqswarmError(f"{source} cannot be used: its values are nested too deeply.") from None
    except ValueError:  # of int
        raise PqswarmError(f"{source} cannot be used: it holds an integer of thousands of digits.") from None


def to_toml(value: Any) -> str:
    """Return a value in one line of TOML.

    Examples
    --------
    >>> to_toml({"uniform": [0.1, 0.9], "unit": "cycles"})
    '{ uniform = [0.1, 0.9], unit = "cycles" }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML, but for what cannot be seen
        return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)
    if isinstance(value, tuple | list):
        return f"[{', '.join(to_toml(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {to_toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, float) and (isnan(value) or value in (inf, -inf)):
        return str(value)
    return repr(value)
