"""``pqswarm dataset``, ``plot``, ``preset``, ``make-samples`` and ``site-file``: what other commands read."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pqswarm._base.text import count_text, unit_text
from pqswarm._kernels.compile_times import call_when_compiling
from pqswarm.cli.options import (
    FIGURES,
    Overwrite,
    Parameters,
    Preset,
    Rate,
    Seed,
    argument,
    check_ending,
    check_writable,
    complete_event,
    complete_names,
    complete_preset,
    option,
    read_assignments,
    read_levels,
)
from pqswarm.cli.terminal import Command, CommandGroup, progress_bars
from pqswarm.errors import PqswarmError


def dataset(
    out: Annotated[Path, option("FILE", "Output file (npz).", "--out", "-o")] = Path("dataset.npz"),
    events_per_class: Annotated[int, option("N", "Events per class of the preset.")] = 250,
    snr: Annotated[
        str, option("DB,...", "Noise levels in dB, separated by commas; inf means no noise.")
    ] = "inf,50,45,40,35,30,25,20",
    seed: Seed = 0,
    preset: Preset = "paper",
    parameters: Parameters = None,
    jobs: Annotated[int, option("N", "Threads; -1 uses all cores.", "--jobs", "-j")] = -1,
    csv: Annotated[Path | None, option("FILE", "Also write the features at the first noise level as CSV.")] = None,
    wavelet: Annotated[
        str,
        option(
            "NAME",
            "db1 (haar) to db10, sym4 to sym10, or coif1 to coif5.",
            autocompletion=complete_names("pqswarm.features", "WAVELETS"),
        ),
    ] = "sym6",
    level: Annotated[
        int | None, option("N", "Levels of the wavelet transform.", show_default="by the paper's rule of thumb")
    ] = None,
    border: Annotated[
        str,
        option(
            "MODE",
            "Extension of the signal at its ends: symmetric, reflect, periodic, periodization, constant or zero.",
            autocompletion=complete_names("pqswarm.features", "BORDERS"),
        ),
    ] = "symmetric",
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
    options = FeatureOptions(wavelet=wavelet, level=level, border=border)
    chosen = get_preset(preset).fixed(**read_assignments(parameters))
    with progress_bars() as show:
        report = partial(show, "events")
        events = make_dataset(events_per_class, levels, seed, chosen, jobs, report, options)
    written = events.save(out)
    typer.echo(
        f"wrote {written}: {count_text(len(events), 'event')} of {len(events.class_names)} classes, "
        f"{len(events.feature_names)} features, {count_text(len(events.snr), 'noise level')}, "
        f"{unit_text(written.stat().st_size, 'B')}"
    )
    if csv is not None:
        typer.echo(f"wrote {events.write_csv(csv, levels[0])}")


def plot(
    event: Annotated[
        str,
        argument(
            "EVENT", "Event class, such as sag, or all for a gallery of the preset.", autocompletion=complete_event
        ),
    ],
    out: Annotated[
        Path | None, option("FILE", "Output file: PNG, SVG or PDF.", "--out", "-o", show_default="EVENT.png")
    ] = None,
    snr: Annotated[float, option("DB", "Signal-to-noise ratio in dB; inf means no noise.")] = float("inf"),
    seed: Seed = 0,
    preset: Preset = "paper",
    source: Annotated[str, option("NAME", "model, or bench for the simulated test bench.")] = "model",
    parameters: Parameters = None,
) -> None:
    """Draw an event and its wavelet bands, or one of every class.

    Example: pqswarm plot sag_with_transient --snr 30 --out sag.svg
    """
    from pqswarm.events import generate, get_preset
    from pqswarm.report import plot_event, plot_gallery, save_figure

    if out is not None:
        check_ending("--out", out, FIGURES)
    given = read_assignments(parameters)
    chosen = get_preset(preset)
    name = event.strip().lower().replace("-", "_").replace(" ", "_")
    if name == "all":
        events = [generate(event_class, seed, chosen, source=source, **given) for event_class in chosen.classes]
        figure = plot_gallery(events, snr)
    else:
        figure = plot_event(generate(name, seed, chosen, source=source, **given), snr)
    typer.echo(f"wrote {save_figure(figure, out or Path(f'{name}.png'))}")


def make_samples(
    folder: Annotated[Path, argument("DIR", "Folder to write; it must be new or empty.")],
    seed: Seed = 0,
    minutes: Annotated[float, option("N", "Length of the long recording, 10.8 MB per minute.")] = 2.0,
) -> None:
    """Write sample recordings with known disturbances.

    COMTRADE and CSV files, a long recording, a site file, and a table of the true disturbances.

    Example: pqswarm make-samples samples && pqswarm identify samples --site samples/site.toml
    """
    from pqswarm.recordings import write_samples

    for path in write_samples(folder, seed=seed, minutes=minutes):
        typer.echo(f"wrote {path}")


def site_file(
    recording: Annotated[Path, argument("FILE", "A recording of the meter.", dir_okay=False)], rate: Rate = None
) -> None:
    """Print a site file for the meter of a recording.

    It lists all channels of the recording, ready to edit.

    Example: pqswarm site-file fault.cfg > north.toml
    """
    from pqswarm.recordings import Site, open_recordings

    typer.echo(Site.template(open_recordings(recording, sampling_rate=rate)[0]), nl=False)


preset_commands = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Show the built-in presets or check your own."
)


@preset_commands.command(cls=Command)
def show(
    name: Annotated[
        str, argument("PRESET", "Preset such as paper or field, or a TOML file.", autocompletion=complete_preset)
    ],
) -> None:
    """Print a preset as TOML, to edit.

    Example: pqswarm preset show paper > mine.toml
    """
    from pqswarm.events import format_preset, get_preset

    typer.echo(format_preset(get_preset(name)), nl=False)


@preset_commands.command(cls=Command)
def check(path: Annotated[Path, argument("FILE", "Preset file in TOML.", dir_okay=False)]) -> None:
    """Check a preset without generating events.

    Example: pqswarm preset check mine.toml
    """
    from pqswarm.events import load_preset
    from pqswarm.events.parameters import Fixed

    call_when_compiling(None)  # what a trial draw needs takes a second
    preset = load_preset(path)
    n_classes = len(preset.classes)
    drawn = {
        (label, name)
        for label in preset.classes
        for name, spec in preset.ranges(label).items()
        if not isinstance(spec, Fixed)
    }
    part = sum(map(preset.fraction_from_bench, preset.classes)) / n_classes
    bench = f"{100 * part:.3g} % of the events from the bench" if part else "no bench"
    typer.echo(
        f"{path} is valid: preset {preset.name!r}, {n_classes} class{'es' * (n_classes != 1)}, {len(drawn)} parameters "
        f"drawn, {bench}."
    )
