"""Options that several commands share, and how their values are read."""

from collections.abc import Iterable
from math import inf
from typing import Annotated

import typer

from pqswarm.errors import PqswarmError

__all__ = ["Preset", "Seed", "Snr", "Stopped", "complete_event", "complete_preset", "read_assignments", "read_levels"]


class Stopped(Exception):  # noqa: N818 (not an error)
    """The user pressed Ctrl-C; the message says what became of the work."""


def complete_preset(incomplete: str) -> list[str]:
    """Presets that begin with what was typed."""
    from pqswarm.events import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_event(incomplete: str) -> list[str]:
    """Event classes, and ``all``, that begin with what was typed."""
    from pqswarm.events import EVENT_CLASSES

    return [name for name in (*EVENT_CLASSES, "all") if name.startswith(incomplete)]


Preset = Annotated[
    str,
    typer.Option(help="Ranges to draw from: paper, paper-printed or field.", autocompletion=complete_preset),
]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same result.")]
Snr = Annotated[float, typer.Option(help="Signal-to-noise ratio in dB; inf is without noise.")]


def read_levels(text: str) -> list[float]:
    """Read noise levels such as ``inf,50,20`` [dB].

    Examples
    --------
    >>> read_levels("inf, 50")
    [inf, 50.0]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise PqswarmError(
            f"--snr must be numbers of decibels separated by commas, such as inf,50,20, not {text!r}."
        ) from None


def read_assignments(assignments: Iterable[str]) -> dict[str, float]:
    """Read parameters such as ``depth=0.4``.

    Examples
    --------
    >>> read_assignments(["depth=0.4", "snr=inf"])
    {'depth': 0.4, 'snr': inf}
    """
    values = {}
    for text in assignments:
        name, separator, value = text.partition("=")
        try:
            values[name.strip()] = inf if value.strip() == "inf" else float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise PqswarmError(f"--set must be a parameter and a number, such as depth=0.4, not {text!r}.")
    return values
