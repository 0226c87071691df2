"""Plain values as TOML."""

import json
from collections.abc import Mapping
from math import inf, isnan
from typing import Any

__all__ = ["to_toml"]


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
        return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
    if isinstance(value, tuple | list):
        return f"[{', '.join(to_toml(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {to_toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, float) and (isnan(value) or value in (inf, -inf)):
        return str(value)
    return repr(value)
