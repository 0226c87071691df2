"""Options that several commands share, and how their values are read."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from pqswarm.errors import PqswarmError

__all__ = [
    "Border",
    "EventsPerClass",
    "Jobs",
    "Level",
    "Overwrite",
    "Parameters",
    "Preset",
    "Seed",
    "Snr",
    "Stopped",
    "Wavelet",
    "check_writable",
    "complete_event",
    "complete_preset",
    "read_assignments",
    "read_levels",
]


class Stopped(Exception):  # noqa: N818 (not an error)
    """The user pressed Ctrl-C; the message says what became of the work."""


def complete_preset(incomplete: str) -> list[str]:
    """Presets, and TOML files, that begin with what was typed."""
    from pqswarm.events import PRESETS

    folder, name = Path(incomplete).parent, "" if incomplete.endswith("/") else Path(incomplete).name
    files = sorted(str(path) for path in folder.glob("*.toml") if path.name.startswith(name))
    return [*(name for name in PRESETS if name.startswith(incomplete)), *files]


def complete_event(incomplete: str) -> list[str]:
    """Event classes, and ``all``, that begin with what was typed."""
    from pqswarm.events import EVENT_CLASSES

    return [name for name in (*EVENT_CLASSES, "all") if name.startswith(incomplete)]


def complete_wavelet(incomplete: str) -> list[str]:
    """Wavelets that begin with what was typed."""
    from pqswarm.features import WAVELETS

    return [name for name in WAVELETS if name.startswith(incomplete)]


def complete_border(incomplete: str) -> list[str]:
    """Border modes that begin with what was typed."""
    from pqswarm.features import BORDERS

    return [name for name in BORDERS if name.startswith(incomplete)]


Preset = Annotated[
    str,
    typer.Option(
        help="paper, paper-stepped, paper-printed, field, one of another package, or a TOML file.",
        autocompletion=complete_preset,
    ),
]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="Fix a parameter, such as depth=0.4 or cycles=10; repeatable.")
]
EventsPerClass = Annotated[int, typer.Option(help="Events of each class of the preset.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 uses all cores.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same result.")]
Wavelet = Annotated[
    str, typer.Option(help="db1 to db10, sym4 to sym10, or coif1 to coif5.", autocompletion=complete_wavelet)
]
Level = Annotated[
    int | None, typer.Option(help="Levels of the wavelet transform.", show_default="by the paper's rule of thumb")
]
Border = Annotated[
    str,
    typer.Option(
        help="How a signal is continued at its ends: symmetric, reflect, periodic, periodization, constant or zero.",
        autocompletion=complete_border,
    ),
]
Snr = Annotated[float, typer.Option(help="Signal-to-noise ratio in dB; inf is without noise.")]


def check_writable(path: Path, overwrite: bool) -> None:
    """Raise an error now, before any work, if the file cannot be written later."""
    if not path.name or path.is_dir():
        raise PqswarmError(f"{path} is a folder: give the name of a file to write.")
    if path.exists() and not overwrite:
        raise PqswarmError(f"{path} exists: give --overwrite to replace it, or another name.")
    probe = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")  # as the file is called while it is written
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        probe.open("xb").close()  # a file of its own: links are not followed
        probe.unlink()
    except OSError as error:
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error


def read_levels(text: str) -> list[float]:
    """Read noise levels such as ``inf,50,20`` [dB]."""
    from pqswarm.events import check_snr

    try:
        return [check_snr(float(part)) for part in text.split(",")]
    except ValueError:
        raise PqswarmError(
            f"--snr must be numbers of decibels separated by commas, such as inf,50,20, not {text!r}."
        ) from None


def read_assignments(assignments: Iterable[str] | None) -> dict[str, float]:
    """Read parameters such as ``depth=0.4``."""
    values = {}
    for text in assignments or ():
        name, separator, value = text.partition("=")
        try:
            values[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise PqswarmError(f"--set must be a parameter and a number, such as depth=0.4, not {text!r}.")
    return values
