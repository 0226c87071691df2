"""``pqswarm features``: draw the features of a data set."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.options import FIGURES, Snr, argument, check_ending, check_no_folder, option


def features(
    dataset: Annotated[Path, argument("FILE", "Data set written by `pqswarm dataset`.")],
    out: Annotated[Path, option("FILE", "Output file: PNG, SVG or PDF.", "--out", "-o")] = Path("features.png"),
    snr: Snr = float("inf"),
) -> None:
    """Draw how the features of a data set differ between classes.

    Example: pqswarm features dataset.npz --out features.png
    """
    check_ending("--out", out, FIGURES)
    check_no_folder(dataset, "a data set")
    from pqswarm.datasets import load_dataset
    from pqswarm.report import plot_features, save_figure

    made = load_dataset(dataset)
    typer.echo(f"wrote {save_figure(plot_features(made, snr), out)}: {made.feature_options.describe()}")
