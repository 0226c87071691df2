"""Figures of features: how often each was selected, and how they differ between classes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events import class_title
from pqswarm.features import FUNCTIONS, describe_band
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette
from pqswarm.report.style import FAINT, NARROW, STYLE, WIDE, draw_cell, draw_grid, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm.datasets import Dataset

_FULL = "#0a58b0"  # of a feature that every run selected; white numbers are legible on it
_MAX_LISTED = 20  # features
Edges = Sequence[tuple[float, float]]


def plot_feature_map(
    frequency: FloatArray,
    bands: Sequence[str],
    functions: Sequence[str],
    edges: Edges | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw how often each feature was selected, as a map of wavelet bands by functions.

    Parameters
    ----------
    frequency : array of float, shape (n_bands, n_functions)
        Fraction of the runs that selected the feature, 0 to 1.
    bands, functions : sequence of str
        Names of the rows and of the columns.
    edges : sequence of (float, float), optional
        Frequency range [Hz] of each band, shown after its name; see :func:`pqswarm.features.band_edges`.
    narrow : bool
        Draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with percentages in the cells of features that were ever selected.

    Examples
    --------
    >>> shares, edges = np.array([[0.0, 0.25], [1.0, 0.0]]), [(25.0, 50.0), (0.0, 25.0)]
    >>> figure = plot_feature_map(shares, ["D1", "A1"], ["energy", "mean_deviation"], edges)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25', '100']
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['D1  25 to 50 Hz', 'A1  below 25 Hz']
    """
    shares = _check_shares(frequency, bands, functions)
    with mpl.rc_context(STYLE):
        wide = min(WIDE, 2.2 + 0.55 * len(functions))
        figure = Figure(figsize=(NARROW if narrow else wide, 1.3 + 0.33 * len(bands)), layout="constrained")
        axis = figure.subplots()
        _draw_map(axis, shares, bands, functions, size=8.0 if narrow else 9.0)
        _name_bands(axis, bands, edges, "\n" if narrow else "  ", 7.5 if narrow else 9.0)
        return settle(figure)


def plot_feature_maps(
    frequencies: Mapping[str, FloatArray],
    bands: Sequence[str],
    functions: Sequence[str],
    edges: Edges | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw small maps of the selected features of several algorithms, side by side.

    Parameters
    ----------
    frequencies : mapping of str to array of float, shape (n_bands, n_functions)
        Fraction of the runs of each algorithm that selected the feature, 0 to 1.
    bands, functions, edges, narrow
        As in :func:`plot_feature_map`.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per algorithm; the darker a cell, the more runs selected the feature.

    Examples
    --------
    >>> shares = {"GA": np.array([[0.0, 0.25]]), "ACO": np.array([[1.0, 0.5]])}
    >>> figure = plot_feature_maps(shares, ["D1"], ["energy", "entropy"])
    >>> [axis.get_title(loc="left") for axis in figure.axes]
    ['GA', 'ACO']
    """
    if not frequencies:
        raise PqswarmError("frequencies is empty: a figure needs at least one algorithm.")
    columns = min(2 if narrow else 3, len(frequencies))
    rows = -(-len(frequencies) // columns)
    with mpl.rc_context(STYLE):
        size = (NARROW if narrow else WIDE, 1.1 + rows * (0.35 + 0.175 * len(bands)))
        figure = Figure(figsize=size, layout="constrained")
        for i, (title, frequency) in enumerate(frequencies.items()):
            axis = figure.add_subplot(rows, columns, i + 1)
            shares = _check_shares(frequency, bands, functions)
            last = i + columns >= len(frequencies)
            _draw_map(axis, shares, bands, functions if last else [""] * len(functions), size=None, rotation=90)
            _name_bands(axis, bands, None if narrow else edges, "  ", 7.5)
            axis.tick_params(labelleft=i % columns == 0, labelsize=7.5)
            axis.set_title(title, fontweight="bold", parse_math=False)
        return settle(figure)


def _check_shares(frequency: FloatArray, bands: Sequence[str], functions: Sequence[str]) -> FloatArray:
    shares = np.asarray(frequency, dtype=np.float64)
    if shares.shape != (len(bands), len(functions)) or not ((shares >= 0) & (shares <= 1)).all():
        raise PqswarmError(
            f"frequency of shape {shares.shape} must hold fractions from 0 to 1 for {len(bands)} bands by "
            f"{len(functions)} functions."
        )
    return shares


def _draw_map(
    axis: "Axes", shares: FloatArray, bands: Sequence[str], functions: Sequence[str], size: float | None,
    rotation: float = 40.0,
) -> None:  # fmt: skip
    """Draw the cells of a map, with percentages in the given font size, or without."""
    draw_grid(axis, *shares.shape)
    names = [name.replace("_", " ").capitalize() for name in functions]
    for place, share in np.ndenumerate(shares):
        if share > 0:
            i, j = place
            figures = "<1" if share < 0.005 else str(int(100 * share + 0.5))
            tip = f"{bands[i]} {names[j].lower()}: selected in {figures} % of the runs"
            draw_cell(axis, (i, j), _FULL, 0.06 + 0.94 * share, "" if size is None else figures, size or 9.0, tip)
    turn: dict[str, Any] = {"rotation": rotation, "ha": "right", "rotation_mode": "anchor", "va": "center"}
    axis.set_xticks(range(len(functions)), names, fontsize=8.5, parse_math=False, **turn)


def _name_bands(axis: "Axes", bands: Sequence[str], edges: Edges | None, between: str, size: float) -> None:
    words = (
        bands
        if edges is None
        else [f"{band}{between}{describe_band(*edge)}" for band, edge in zip(bands, edges, strict=True)]
    )
    axis.set_yticks(range(len(bands)), words, fontsize=size, parse_math=False)


def plot_selected_features(
    frequencies: Mapping[str, FloatArray], names: Sequence[str], palette: Palette | None = None, *, narrow: bool = False
) -> Figure:
    """Draw the most frequently selected features as a bar chart.

    Parameters
    ----------
    frequencies : mapping of str to array of float, shape (n_features,)
        Fraction of the runs of each algorithm that selected the feature, 0 to 1.
    names : sequence of str
        Names of the features.
    palette : Palette, optional
        Colours; bars show the emphasised algorithm, or the first one, markers the others.
    narrow : bool
        Draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with at most 20 features.

    Examples
    --------
    >>> shares = {"GA": np.array([0.2, 1.0, 0.0]), "ACO": np.array([0.1, 0.5, 0.0])}
    >>> figure = plot_selected_features(shares, ["alcohol", "hue", "ash"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['hue', 'alcohol']
    """
    if not frequencies:
        raise PqswarmError("frequencies is empty: a figure needs at least one algorithm.")
    shares = {title: _check_shares(np.atleast_2d(share), [""], names)[0] for title, share in frequencies.items()}
    palette = palette or Palette(shares)
    hero = palette.reference if palette.reference in shares else next(iter(shares))
    mean = np.mean([*shares.values()], axis=0)
    order = sorted(range(len(names)), key=lambda i: (-shares[hero][i], -mean[i], i))
    listed = [i for i in order if mean[i] > 0][:_MAX_LISTED] or order[:1]
    with mpl.rc_context(STYLE):
        height = 0.9 + 0.22 * len(listed) + 0.2 * -(-len(shares) // 3)
        figure = Figure(figsize=(NARROW if narrow else WIDE, height), layout="constrained")
        axis = figure.subplots()
        axis.grid(axis="x", color=FAINT, lw=0.5, alpha=0.35)
        axis.set_axisbelow(True)
        for title in (hero, *(title for title in shares if title != hero)):
            percents = 100 * shares[title][listed]
            tips = [f"{title}: {names[i]} in {p:.0f} % of the runs" for i, p in zip(listed, percents, strict=True)]
            if title == hero:
                bars = axis.barh(
                    range(len(listed)), percents, 0.62, color=palette.colour(title), alpha=0.4, label=title
                )
                for bar, tip in zip(bars, tips, strict=True):
                    mark(bar, title, [tip])
            else:
                look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "mew": 0.0, "ms": 5.0, "alpha": 0.9}
                (line,) = axis.plot(
                    percents, range(len(listed)), color=palette.colour(title), label=title, clip_on=False, **look
                )
                mark(line, title, tips)
        axis.set_yticks(
            range(len(listed)),
            [_shorten_name_on_feature_map(names[i], 20 if narrow else 40) for i in listed],
            parse_math=False,
        )
        axis.set(ylim=(len(listed) - 0.4, -0.6), xlim=(0, 100), xlabel="selected in [% of the runs]")
        axis.tick_params(axis="y", length=0)
        axis.spines["left"].set_visible(False)
        key = figure.legend(loc="outside upper left", ncols=3 if narrow else 6, frameon=False, fontsize=8.5)
        for text in key.get_texts():
            text.set_parse_math(False)
        return settle(figure)


def _shorten_name_on_feature_map(name: str, length: int) -> str:
    """Shorten a name in the middle, since names often differ at their ends."""
    return name if len(name) <= length else f"{name[: (length - 1) // 2]}…{name[-(length // 2) :]}"


def plot_features(dataset: "Dataset", snr: float = float("inf")) -> Figure:
    """Draw how the features differ between classes, as a map of classes by features, at a noise level `snr` [dB].

    Each feature is replaced by its rank among all events (0 lowest, 1 highest), so that energies and entropies share
    one scale; the colour is the median rank of the class. A column whose colour changes from row to row separates
    classes.

    Examples
    --------
    >>> from pqswarm.datasets import make_dataset
    >>> figure = plot_features(make_dataset(2, snr=float("inf")))
    """
    from scipy.stats import rankdata

    ranks = (rankdata(dataset.X(snr), axis=0) - 1) / max(len(dataset) - 1, 1)
    medians = np.array([np.median(ranks[dataset.y == label], axis=0) for label in range(len(dataset.class_names))])
    n_classes, n_features = medians.shape
    bands = list(dict.fromkeys(name.split(".")[0] for name in dataset.feature_names))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(17.0, 6.2), layout="constrained")
        axis = figure.subplots()
        image = axis.imshow(medians, aspect="auto", cmap="PuOr_r", vmin=0.0, vmax=1.0, interpolation="nearest")
        axis.set_yticks(range(n_classes), [class_title(name) for name in dataset.class_names])
        functions = [name.split(".")[1].replace("_", " ") for name in dataset.feature_names]
        axis.set_xticks(range(n_features), functions, rotation=90, fontsize=6.5)
        axis.tick_params(length=0)
        width = len(FUNCTIONS)
        for i, band in enumerate(bands):
            if i:
                axis.axvline(i * width - 0.5, color="black", lw=1.2)
            axis.text((i + 0.5) * width - 0.5, -0.75, band, ha="center", va="bottom", fontweight="bold")
        noise = "no noise" if snr == float("inf") else f"SNR {snr:g} dB"
        title = f"{n_features} features of {len(dataset)} events, {noise}: median rank of each class\n"
        axis.set_title(title, fontsize=12, fontweight="bold")
        figure.colorbar(image, ax=axis, label="rank among all events", pad=0.01, aspect=30)
        return settle(figure)
