"""``pqswarm dataset``: make a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm.cli.options import Parameters, Preset, Seed, Stopped, check_writable, read_assignments, read_levels
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.datasets import Dataset

__all__ = ["dataset"]


def dataset(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path("dataset.npz"),
    events_per_class: Annotated[int, typer.Option(help="Events of each class of the preset.")] = 250,
    snr: Annotated[str, typer.Option(help="Noise levels in dB, separated by commas.")] = "inf,50,45,40,35,30,25,20",
    seed: Seed = 0,
    preset: Preset = "paper",
    parameters: Parameters = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")] = -1,
    csv: Annotated[Path | None, typer.Option(help="Also write the events at the first noise level as CSV.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Make a data set: events of all classes of a preset and their wavelet features at every noise level.

    Example: pqswarm dataset --out dataset.npz --events-per-class 250

    For a grid of 60 Hz: pqswarm dataset --set frequency=60 --out sixty.npz
    """
    if csv is not None and csv.resolve() == out.resolve():
        raise PqswarmError(f"--out and --csv are the same file, {out}: give two names.")
    for path in (out, csv):
        if path is not None:
            check_writable(path, overwrite)
    levels = read_levels(snr)
    given = read_assignments(parameters or [])
    try:
        made = _make_with_progress(events_per_class, levels, seed, preset, given, jobs)
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing was written.") from None
    written = made.save(out)
    typer.echo(
        f"wrote {written}: {len(made)} events of {len(made.class_names)} classes, {len(made.feature_names)} features, "
        f"{len(made.snr)} noise levels, {written.stat().st_size / 1e6:.1f} MB"
    )
    if csv is not None:
        typer.echo(f"wrote {made.write_csv(csv, levels[0])}")


def _make_with_progress(
    events_per_class: int, levels: list[float], seed: int, preset: str, given: dict[str, float], jobs: int
) -> "Dataset":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from pqswarm.datasets import make_dataset
    from pqswarm.events import get_preset

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("events", total=None)
        return make_dataset(
            events_per_class=events_per_class,
            snr=levels,
            seed=seed,
            preset=get_preset(preset).fixed(**given) if given else preset,
            n_jobs=jobs,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
