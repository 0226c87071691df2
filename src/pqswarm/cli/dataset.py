"""``pqswarm dataset``: generate a data set."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pqswarm._base.text import count_text, unit_text
from pqswarm.cli.options import (
    Border,
    EventsPerClass,
    Level,
    Overwrite,
    Parameters,
    Preset,
    Seed,
    Stopped,
    Wavelet,
    check_ending,
    check_writable,
    option,
    read_assignments,
    read_levels,
)
from pqswarm.cli.progress import progress_bars
from pqswarm.errors import PqswarmError


def dataset(
    out: Annotated[Path, option("FILE", "Output file (npz).", "--out", "-o")] = Path("dataset.npz"),
    events_per_class: EventsPerClass = 250,
    snr: Annotated[
        str, option("DB,...", "Noise levels in dB, separated by commas; inf means no noise.")
    ] = "inf,50,45,40,35,30,25,20",
    seed: Seed = 0,
    preset: Preset = "paper",
    parameters: Parameters = None,
    jobs: Annotated[int, option("N", "Threads; -1 uses all cores.", "--jobs", "-j")] = -1,
    csv: Annotated[Path | None, option("FILE", "Also write the features at the first noise level as CSV.")] = None,
    wavelet: Wavelet = "sym6",
    level: Level = None,
    border: Border = "symmetric",
    overwrite: Overwrite = False,
) -> None:
    """Generate a data set: events and their wavelet features.

    It has all classes of a preset, at every noise level.

    Example: pqswarm dataset --out dataset.npz --events-per-class 250

    For 60 Hz: pqswarm dataset --set frequency=60 --out sixty.npz

    With another wavelet: pqswarm dataset --wavelet db4 --level 6 --out db4.npz
    """
    from pqswarm.datasets import make_dataset
    from pqswarm.events import get_preset
    from pqswarm.features import FeatureOptions

    if csv is not None and csv.resolve() == out.resolve():
        raise PqswarmError(f"--out and --csv are the same file, {out}: give different names.")
    check_ending("--out", out, [".npz"], "; --csv writes a table of the features")
    if csv is not None:
        check_ending("--csv", csv, [".csv"])
    for path in (out, csv):
        if path is not None:
            check_writable(path, overwrite)
    levels = read_levels(snr)
    if len(set(levels)) < len(levels):
        raise PqswarmError(f"--snr must name each noise level once, not {snr!r}.")
    options = FeatureOptions(wavelet=wavelet, level=level, border=border)
    chosen = get_preset(preset).fixed(**read_assignments(parameters))
    try:
        with progress_bars() as show:
            report = partial(show, "events")
            events = make_dataset(events_per_class, levels, seed, chosen, jobs, report, options)
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing was written.") from None
    written = events.save(out)
    typer.echo(
        f"wrote {written}: {count_text(len(events), 'event')} of {len(events.class_names)} classes, "
        f"{len(events.feature_names)} features, {count_text(len(events.snr), 'noise level')}, "
        f"{unit_text(written.stat().st_size, 'B')}"
    )
    if csv is not None:
        typer.echo(f"wrote {events.write_csv(csv, levels[0])}")
