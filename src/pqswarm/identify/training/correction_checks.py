"""Checks of the values of a correction, which may come from anywhere."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pqswarm.events.classes import is_name

_TEXTS = {"path": 4096, "digest": 64, "source": 4096, "label": 100, "by": 200, "at": 40, "note": 2000}
"""Maximum number of characters."""
_FREE = ("path", "source", "note")
"""Texts that may contain control characters."""


def find_correction_problem(values: Mapping[str, Any]) -> str:
    """Return what is wrong with the values of a correction; empty if nothing."""
    for name, longest in _TEXTS.items():
        value = values[name]
        if not isinstance(value, str) or len(value) > longest:
            return f"{name} is not a text of at most {longest} characters"
        if "\0" in value or (name not in _FREE and any(ord(letter) < 32 or ord(letter) == 127 for letter in value)):
            return f"{name} has control characters"
    if not values["path"] or not values["by"].strip():
        return "path and by must not be empty"
    if len(values["digest"]) != 64 or set(values["digest"]) - set("0123456789abcdef"):
        return "digest is not a SHA-256 in hexadecimal digits"
    if values["label"] and not is_name(values["label"]):
        return "label is not the name of a class"
    try:
        aware = datetime.fromisoformat(values["at"]).tzinfo is not None
    except ValueError:
        aware = False
    return "" if aware else "at is not a time with its zone, such as 2026-06-30T12:00:00+00:00"
