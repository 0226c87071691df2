"""Figures of what a study found: who differs from whom, which features, and which events stay confused."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pqswarm._typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.style import ALL_FEATURES, FAINT, HERO, INK, LOSS, STYLE, colour_of, in_words, settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_confusion", "plot_feature_map", "plot_ranks", "rank_groups"]

_FULL = "#0a58b0"  # of a feature that every run selected; white figures show on it
_MIDDLE = 0.2  # luminance on which white and ink show equally well


def plot_ranks(mean_ranks: Mapping[str, float], critical_difference: float) -> Figure:
    """Draw mean ranks on a line, and join those that do not differ.

    Parameters
    ----------
    mean_ranks : mapping of str to float
        Mean rank of each algorithm, 1 the best.
    critical_difference : float
        Ranks that are this far apart, or more, differ.

    Returns
    -------
    matplotlib.figure.Figure
        The critical-difference diagram of Demšar.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", J. Mach. Learn. Res. 7, 2006.

    Examples
    --------
    >>> figure = plot_ranks({"2D-UPSO": 1.2, "GA": 2.1, "ACO": 2.7}, 0.8)
    >>> [text.get_text() for text in figure.axes[0].texts][-3:]
    ['2D-UPSO (1.20)', 'GA (2.10)', 'ACO (2.70)']
    """
    ranks = {title: float(rank) for title, rank in mean_ranks.items()}
    if not ranks:
        raise PqswarmError("mean_ranks is empty: a figure needs at least one algorithm.")
    if not (np.isfinite([*ranks.values(), critical_difference]).all() and critical_difference >= 0):
        raise PqswarmError("mean ranks and critical_difference must be finite, the latter not negative.")
    titles = sorted(ranks, key=lambda title: ranks[title])
    places = [ranks[title] for title in titles]
    bars = _levels(rank_groups(places, critical_difference))
    last = max(len(titles), 2, int(np.ceil(places[-1])))
    names = [f"{title} ({rank:.2f})" for title, rank in zip(titles, places, strict=True)]
    side = 0.3 + 0.085 * max(map(len, names))  # all lengths in inches; y grows downwards
    scale = max(4.6, 7.5 - 2 * side) / (last - 1)
    width, line = 2 * side + scale * (last - 1), 0.64
    first = line + 0.3 + 0.13 * (1 + max((level for _, _, level in bars), default=-1))
    left = (len(titles) + 1) // 2

    def x(rank: Any) -> Any:
        return side + scale * (rank - 1)

    with mpl.rc_context(STYLE):
        height = first + 0.23 * left
        figure = Figure(figsize=(width, height))
        axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axis.set(xlim=(0, width), ylim=(height, 0))
        axis.axis("off")
        axis.plot([x(1), x(last)], [line, line], color=INK, lw=1.0)
        for rank in range(1, last + 1):
            axis.plot([x(rank)] * 2, [line - 0.07, line], color=INK, lw=1.0)
            axis.text(x(rank), line - 0.1, str(rank), ha="center", va="bottom")
        axis.text(x(last) + 0.12, line, "mean rank", va="center", fontsize=8)
        if critical_difference <= last - 1:
            ends = np.array([1, 1, 1 + critical_difference, 1 + critical_difference])
            axis.plot(x(ends), [0.27, 0.22, 0.22, 0.27], color=INK, lw=1.0)
        axis.text(x(1), 0.17, f"critical difference {critical_difference:.2f}", va="bottom", fontsize=8)
        for i, (title, name) in enumerate(zip(titles, names, strict=True)):
            on_left = i < left
            down = first + 0.23 * (i if on_left else len(titles) - 1 - i)
            end, sign = (side - 0.12, -1) if on_left else (width - side + 0.12, 1)
            style: dict[str, Any] = {"color": colour_of(title), "lw": 2.2 if title == HERO else 1.2}
            axis.plot([x(ranks[title])] * 2 + [end], [line, down, down], **style)
            weight = "bold" if title == HERO else "normal"
            ha = "right" if on_left else "left"
            axis.text(end + 0.06 * sign, down, name, ha=ha, va="center", weight=weight, parse_math=False)
        for start, stop, level in bars:
            down = line + 0.14 + 0.13 * level
            axis.plot([x(places[start]) - 0.05, x(places[stop]) + 0.05], [down] * 2, color=INK, lw=3.2)
        return figure


def rank_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Find the largest groups of neighbours that do not differ.

    Parameters
    ----------
    ranks : sequence of float
        In ascending order.
    critical_difference : float
        Ranks that are this far apart, or more, differ.

    Returns
    -------
    list of (int, int)
        The first and the last of each group of two or more; none lies within another.

    Examples
    --------
    >>> rank_groups([1.2, 2.0, 2.9, 3.9], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        stop = max(i for i in range(start, len(ranks)) if i == start or ranks[i] - rank < critical_difference)
        if stop > start and (not groups or stop > groups[-1][1]):
            groups.append((start, stop))
    return groups


def _levels(groups: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Give each group a level so that no two of one level touch."""
    ends: list[int] = []
    placed = []
    for start, stop in groups:
        level = next((i for i, end in enumerate(ends) if end < start), len(ends))
        ends[level : level + 1] = [stop]
        placed.append((start, stop, level))
    return placed


def plot_feature_map(frequency: FloatArray, bands: Sequence[str], functions: Sequence[str]) -> Figure:
    """Draw how often each feature was selected, as a map of wavelet bands by functions.

    Parameters
    ----------
    frequency : array of float, shape (n_bands, n_functions)
        Share of the runs that selected the feature, 0 to 1.
    bands, functions : sequence of str
        Names of the rows and of the columns.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with percentages in the cells that were ever selected.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_feature_map(np.array([[0.0, 0.25], [1.0, 0.0]]), ["D1", "A1"], ["energy", "mean_deviation"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25', '100']
    """
    frequency = np.asarray(frequency, dtype=np.float64)
    if frequency.shape != (len(bands), len(functions)) or not ((frequency >= 0) & (frequency <= 1)).all():
        raise PqswarmError(
            f"frequency of shape {frequency.shape} must hold shares from 0 to 1 for {len(bands)} bands by "
            f"{len(functions)} functions."
        )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.2 + 0.58 * len(functions), 1.4 + 0.36 * len(bands)), layout="constrained")
        axis = figure.subplots()
        _grid(axis, *frequency.shape)
        for (i, j), share in np.ndenumerate(frequency):
            if share > 0:
                figures = "<1" if share < 0.005 else str(int(100 * share + 0.5))
                _cell(axis, i, j, _FULL, 0.06 + 0.94 * share, figures, 8.5)
        axis.set_yticks(range(len(bands)), bands, parse_math=False)
        names = [in_words(name) for name in functions]
        axis.set_xticks(range(len(functions)), names, rotation=35, ha="right", rotation_mode="anchor", parse_math=False)
        axis.set_ylabel("wavelet band")
        axis.set_title("share of the runs that selected the feature [%]", fontsize=8)
        return settled(figure)


def plot_confusion(before: IntArray, after: IntArray, class_names: Sequence[str]) -> Figure:
    """Draw which classes are taken for which, with all features and with the selected ones.

    Parameters
    ----------
    before, after : array of int, shape (n_classes, n_classes)
        Numbers of events with all and with the selected features; rows are true classes, columns predicted ones.
    class_names : sequence of str
        Such as :data:`pqswarm.events.EVENT_CLASSES`.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels; the redder a cell, the more errors, on one scale.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_confusion(np.array([[8, 2], [1, 9]]), np.array([[10, 0], [1, 9]]), ["sag", "swell"])
    >>> [axis.get_title(loc="left") for axis in figure.axes]
    ['All features: 3 of 20 wrong (15.0 %)', 'Selected features: 1 of 20 wrong (5.00 %)']
    """
    n = len(class_names)
    panels = {ALL_FEATURES: np.asarray(before), "Selected features": np.asarray(after)}
    for name, matrix in panels.items():
        if matrix.shape != (n, n) or n == 0 or (matrix < 0).any():
            raise PqswarmError(f"the matrix of {name.lower()} must hold {n} x {n} counts, as there are {n} classes.")
    worst = max(1, *(int(matrix[~np.eye(n, dtype=bool)].max(initial=0)) for matrix in panels.values()))
    names = [in_words(name) for name in class_names]
    with mpl.rc_context(STYLE):
        label = 0.075 * max(map(len, names))
        figure = Figure(figsize=(0.8 + label + 2 * max(0.265 * n, 2.8), 0.9 + label + 0.265 * n), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for axis, (name, matrix) in zip(axes, panels.items(), strict=True):
            _grid(axis, n, n)
            for (i, j), count in np.ndenumerate(matrix):
                if count and i == j:
                    _cell(axis, i, j, FAINT, 0.28, str(count), 7.0, faint=True)
                elif count:
                    _cell(axis, i, j, LOSS, 0.2 + 0.8 * int(count) / worst, str(count), 7.5)
            # The end of each name is held at its column, however wide the reader's font is.
            held: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
            axis.set_xticks(range(n), names, fontsize=8, parse_math=False, **held)
            axis.set_yticks(range(n), names, fontsize=8, parse_math=False)
            wrong, total = int(matrix.sum() - np.trace(matrix)), int(matrix.sum())
            axis.set_title(f"{name}: {wrong} of {total} wrong ({100 * wrong / max(total, 1):#.3g} %)", fontsize=9)
            axis.set_xlabel("predicted")
        axes[0].set_ylabel("true")
        return settled(figure)


def _grid(axis: "Axes", rows: int, columns: int) -> None:
    """Empty cells: what is not drawn stays the colour of the page."""
    axis.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def _cell(
    axis: "Axes", i: int, j: int, colour: str, opacity: float, text: str, size: float, faint: bool = False
) -> None:
    """A cell over the page, whatever its colour; only on a nearly full one the text cannot be ink."""
    axis.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=colour, ec="none", alpha=round(opacity, 3)))
    ink = "#ffffff" if _luminance(colour, opacity) < _MIDDLE else INK
    axis.text(j, i, text, ha="center", va="center_baseline", fontsize=size, color=ink, alpha=0.6 if faint else None)


def _luminance(colour: str, opacity: float) -> float:
    """Relative luminance (WCAG) of a colour laid over white; over black, white shows on all of ours."""
    rgb = 1 - opacity * (1 - np.array(to_rgb(colour)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
