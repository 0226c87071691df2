"""``pqswarm preset``: show the built-in presets or check your own."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.command import Command, CommandGroup
from pqswarm.cli.options import argument, check_no_folder, complete_preset

app = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Show the built-in presets or check your own."
)


@app.command(cls=Command)
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


@app.command(cls=Command)
def check(path: Annotated[Path, argument("FILE", "Preset file in TOML.")]) -> None:
    """Check a preset without generating events.

    Example: pqswarm preset check mine.toml
    """
    from pqswarm.events import load_preset
    from pqswarm.events.ranges import Fixed

    check_no_folder(path, "a preset in TOML")
    preset = load_preset(path)
    n_classes = len(preset.classes)
    drawn = {
        (label, name)
        for label in preset.classes
        for name, spec in preset.ranges(label).items()
        if not isinstance(spec, Fixed)
    }
    part = sum(map(preset.fraction_from_bench, preset.classes)) / n_classes
    share = f"{100 * part:.3g} % of the events from the bench" if part else "no bench"
    typer.echo(
        f"{path} is valid: preset {preset.name!r}, {n_classes} class{'es' * (n_classes != 1)}, {len(drawn)} parameters "
        f"drawn, {share}."
    )
