"""``pqswarm dataset``: make a data set."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import Preset, Seed, Stopped, read_levels
from pqswarm.errors import PqswarmError

__all__ = ["dataset"]


def dataset(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path("dataset.npz"),
    events_per_class: Annotated[int, typer.Option(help="Events of each of the 14 classes.")] = 250,
    snr: Annotated[str, typer.Option(help="Noise levels in dB, separated by commas.")] = "inf,50,45,40,35,30,25,20",
    seed: Seed = 0,
    preset: Preset = "paper",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")] = -1,
    csv: Annotated[Path | None, typer.Option(help="Also write the events at the first noise level as CSV.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Make a data set: events of all classes and their wavelet features at every noise level.

    Example: pqswarm dataset --out dataset.npz --events-per-class 250
    """
    for path in (out, csv):
        if path is not None and path.is_dir():
            raise PqswarmError(f"{path} is a folder: give the name of a file to write.")
        if path is not None and path.exists() and not overwrite:
            raise PqswarmError(f"{path} exists: give --overwrite to replace it, or another name.")
    levels = read_levels(snr)

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from pqswarm.datasets import make_dataset

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("events", total=None)
            made = make_dataset(
                events_per_class=events_per_class,
                snr=levels,
                seed=seed,
                preset=preset,
                n_jobs=jobs,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing was written.") from None
    written = made.save(out)
    typer.echo(
        f"wrote {written}: {len(made)} events of {len(made.class_names)} classes, {len(made.feature_names)} features, "
        f"{len(made.snr)} noise levels, {written.stat().st_size / 1e6:.1f} MB"
    )
    if csv is not None:
        typer.echo(f"wrote {made.write_csv(csv, levels[0])}")
