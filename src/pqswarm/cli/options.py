"""Options shared by several commands, and how their values are read."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from pqswarm.errors import PqswarmError, unknown_name

FIGURES = (".png", ".svg", ".pdf")
"""Suffixes of figures."""


class Stopped(Exception):  # noqa: N818 (not an error)
    """The user pressed Ctrl-C; the message says what was kept."""


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:  # noqa: A002 (as typer calls it)
    """Return an option with a value, called `metavar` in its help; `names` replace that of the parameter."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:  # noqa: A002 (as typer calls it)
    """Return an argument, called `metavar` in its help."""
    return typer.Argument(metavar=metavar, help=help, **more)


def complete_preset(incomplete: str) -> list[str]:
    """Presets and TOML files that start with the typed text."""
    from pqswarm.events import PRESETS

    folder = Path(incomplete).parent
    name = "" if incomplete.endswith("/") else Path(incomplete).name
    files = sorted(str(path) for path in folder.glob("*.toml") if path.name.startswith(name))
    return [*(name for name in PRESETS if name.startswith(incomplete)), *files]


def complete_event(incomplete: str) -> list[str]:
    """Event classes that presets can draw, and ``all``, that start with what was typed."""
    from pqswarm.events import EVENT_CLASSES

    names = [name for name in EVENT_CLASSES if EVENT_CLASSES[name].model is not None]
    return [name for name in (*names, "all") if name.startswith(incomplete)]


def complete_names(module: str, collection: str) -> Callable[[str], list[str]]:
    """Return a function that lists the names in a collection of a module that start with the typed text."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in getattr(import_module(module), collection) if name.startswith(incomplete)]

    return complete


PlanName = Annotated[
    str,
    argument(
        "PLAN",
        "quick, paper, as-printed, paper-grid, replication, multiverse, smoke, or a plan file.",
        autocompletion=complete_names("pqswarm.study", "PLANS"),
    ),
]
Preset = Annotated[
    str,
    option(
        "NAME",
        "paper, paper-grid, paper-printed, field, field-extended, or a TOML file.",
        autocompletion=complete_preset,
    ),
]
Parameters = Annotated[
    list[str] | None, option("NAME=VALUE", "Fix a parameter, such as frequency=60; repeatable.", "--set")
]
Jobs = Annotated[int, option("N", "Processes; -1 uses all cores.", "--jobs", "-j")]
Changes = Annotated[
    list[str] | None, option("KEY=VALUE", "Change a key of the plan, such as runs=5; repeatable.", "--set")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]
Seed = Annotated[int, option("N", "Seed; the same seed gives the same result.")]


def check_writable(path: Path, overwrite: bool) -> None:
    """Raise an error, before any work, if the file cannot be written."""
    if not path.name or path.is_dir():
        raise PqswarmError(f"{path} is a folder: give a file name.")
    if path.exists() and not overwrite:
        raise PqswarmError(f"{path} exists: use --overwrite to replace it, or choose another name.")
    folder = path.absolute().parent
    try:
        while not folder.exists():  # missing folders are created on writing
            folder = folder.parent
        probe = folder / f".{path.name[:200]}.{secrets.token_hex(4)}.probe"
        probe.open("xb").close()  # a new file: links are not followed
        probe.unlink()
    except OSError as error:
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error


def check_range(option: str, value: float | None, low: float, high: float, unit: str = "") -> float | None:
    """Return the value of an option; raise an error if it is not within the limits."""
    if value is not None and not low <= value <= high:
        raise PqswarmError(f"{option} must be {low:,.15g} to {high:,.15g}{unit and ' '}{unit}, not {value:g}.")
    return value


def check_ending(option: str, path: Path, endings: Sequence[str], remedy: str = "") -> None:
    """Raise an error if the output file has the wrong suffix."""
    if path.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise PqswarmError(f"{option} must end in {allowed}, not {path.name or str(path)!r}{remedy}.")


def choose_format(given: str | None, out: Path | None, endings: Mapping[str, str], usual: str) -> str:
    """Return the format given by name, by the suffix of the output file, or the usual one."""
    if given is not None and given not in endings:
        raise unknown_name("format", given, endings)
    if out is None or not out.suffix:
        return given or usual
    by_ending = {ending: name for name, ending in endings.items() if ending}
    by_suffix = by_ending.get(out.suffix.lower())
    if given is None and by_suffix is None:
        raise PqswarmError(f"--out must end in {', '.join(by_ending)}, not {out.name!r}, unless --format is given.")
    if given is not None and by_suffix not in (None, given):
        raise PqswarmError(f"--format {given} and --out {out} contradict each other: give only one.")
    return given or str(by_suffix)


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
    """Read parameters such as ``frequency=60``."""
    values = {}
    for text in assignments or ():
        name, separator, value = (part.strip() for part in text.partition("="))
        try:
            values[name] = float(value)
        except ValueError:
            separator = ""
        if not separator or not name:
            raise PqswarmError(f"--set must be a parameter and a number, such as frequency=60, not {text!r}.")
    return values


Channels = Annotated[
    list[str] | None, option("NAME", "Name or phase of a channel to analyze; repeatable.", "--channel", "-c")
]
States = Annotated[
    list[str] | None,
    option(
        "NAME=STATE", "What a channel is: connected, disconnected, partial, derived, auxiliary; repeatable.", "--state"
    ),
]
ModelFile = Annotated[Path | None, option("FILE", "Model written by `pqswarm train`.", show_default="the bundled one")]
ReferenceChoice = Annotated[
    str | None,
    option(
        "CHOICE",
        "Voltage of 1 pu: auto, nominal, pre-event, or a value such as 230 or 20kV (RMS).",
        show_default="that of the site file, or auto",
    ),
]
Nominal = Annotated[str | None, option("VOLTS", "Nominal voltage (RMS) of the recorded channels, such as 230 or 20kV.")]
Rate = Annotated[float | None, option("HZ", "Sampling rate in Hz; overrides that of the file.")]
Frequency = Annotated[float | None, option("HZ", "Nominal frequency in Hz; overrides that of the file.")]
ArchiveFolder = Annotated[
    Path | None,
    option("DIR", "Folder of the archive (one SQLite file).", "--archive", show_default="next to the folder"),
]
SiteFile = Annotated[Path | None, option("FILE", "Site file (TOML); `pqswarm site-file FILE` prints one to edit.")]
MaxMegabytes = Annotated[
    float | None, option("MB", "Maximum memory for the samples of a file, in MB.", show_default="512")
]

ANALYSIS_OPTIONS = ("--channel", "--frequency", "--max-mb", "--nominal", "--rate")
"""Options that messages of the library may name."""


def read_analysis_options(
    site: Path | None,
    model: Path | None,
    channel: list[str] | None,
    state: list[str] | None,
    reference: str | None,
    nominal: str | None,
    rate: float | None,
    frequency: float | None,
    max_mb: float | None,
) -> dict[str, Any]:
    """Return the arguments of :func:`pqswarm.identify.identify_file`, checked before any file is read."""
    from pqswarm._base.checks import check_name
    from pqswarm.identify import default_model, load_model, load_site
    from pqswarm.recordings import STATES, Site
    from pqswarm.recordings.site import read_reference, read_site_voltage

    given = None if site is None else load_site(site)
    if state:
        parts = [text.rpartition("=") for text in state]
        if wrong := next((one for one, (name, *_) in zip(state, parts, strict=True) if not name), None):
            raise PqswarmError(f"--state must be NAME=STATE, such as U2=derived, not {wrong!r}.")
        states = {name: check_name("--state", what, STATES) for name, _, what in parts}
        given = (given or Site(source="--state")).with_states(states)
    reading = {
        "sampling_rate": check_range("--rate", rate, 1e-3, 1e9, "Hz"),
        "nominal_frequency": check_range("--frequency", frequency, 5, 1000, "Hz"),
    }
    if max_mb is not None:
        reading["max_bytes"] = int(1e6 * (check_range("--max-mb", max_mb, 1, 1e6, "MB") or 0))
    return {
        "site": given,
        "channels": channel or None,
        "reference": None if reference is None else read_reference("--reference", reference),
        "nominal_voltage": None if nominal is None else read_site_voltage("--nominal", nominal),
        "reading": reading,
        "model": default_model() if model is None else load_model(model),
    }
