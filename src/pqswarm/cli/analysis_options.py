"""Options of the commands that analyse recordings."""

from pathlib import Path
from typing import Annotated, Any

from pqswarm.cli.options import option
from pqswarm.errors import PqswarmError

Channels = Annotated[
    list[str] | None, option("NAME", "Name or phase of a channel to analyse; repeatable.", "--channel", "-c")
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
    from pqswarm.identify import default_model, load_model, load_site
    from pqswarm.recordings import Site
    from pqswarm.recordings.site import read_reference, read_state, read_voltage

    given = None if site is None else load_site(site)
    if state:
        parts = [one.rpartition("=") for one in state]
        if wrong := next((one for one, (name, *_) in zip(state, parts, strict=True) if not name), None):
            raise PqswarmError(f"--state must be NAME=STATE, such as U2=derived, not {wrong!r}.")
        states = {name: read_state("--state", what) for name, _, what in parts}
        given = (given or Site(source="--state")).with_states(states)
    reading = {
        "sampling_rate": _check("--rate", rate, 1e-3, 1e9, "Hz"),
        "nominal_frequency": _check("--frequency", frequency, 5, 1000, "Hz"),
    }
    if max_mb is not None:
        reading["max_bytes"] = int(1e6 * (_check("--max-mb", max_mb, 1, 1e6, "MB") or 0))
    return {
        "site": given,
        "channels": channel or None,
        "reference": None if reference is None else read_reference("--reference", reference),
        "nominal_voltage": None if nominal is None else read_voltage("--nominal", nominal),
        "reading": reading,
        "model": default_model() if model is None else load_model(model),
    }


def _check(option: str, value: float | None, low: float, high: float, unit: str) -> float | None:
    if value is not None and not low <= value <= high:
        raise PqswarmError(f"{option} must be {low:,.15g} to {high:,.15g} {unit}, not {value:g}.")
    return value
