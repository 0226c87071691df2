"""``pqswarm plot``: draw an event, or one of every class."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import (
    FIGURES,
    Parameters,
    Preset,
    Seed,
    Snr,
    argument,
    check_ending,
    complete_event,
    option,
    read_assignments,
)


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
    snr: Snr = float("inf"),
    seed: Seed = 0,
    preset: Preset = "paper",
    source: Annotated[str, option("SOURCE", "model, or bench for the simulated laboratory.")] = "model",
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
