"""Figures of errors and subset sizes of the runs of a study."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette, label_ends
from pqswarm.report.shared.run_points import ALL_FEATURES, Points, check_points, draw_points, run_tips
from pqswarm.report.shared.sentences import count_runs, percent
from pqswarm.report.style import FAINT, GREY, NARROW, STYLE, WIDE, settle

_GOLDEN = 0.6180339887498949  # the fractional parts of its multiples are evenly spread


def plot_error_against_size(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    fronts: Points | None = None,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the error of each run against the size of its subset.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        Sizes and errors of the runs of each algorithm. A single run is drawn as a ring.
    all_features : (int, float), optional
        Number of all features and their error, drawn as a line.
    palette : Palette, optional
        Colours and markers, and the algorithm to emphasise.
    fronts : mapping of str to (array of int, array of float), optional
        Sizes and lowest errors of algorithms that find a subset of each size, drawn as a line.
    numbers : sequence of int, optional
        Run numbers; 0, 1, 2, ... by default.
    narrow : bool
        Draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; each name is on the right, at the median error of its runs.

    Examples
    --------
    >>> figure = plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['GA', 'All 99 features']
    """
    checked = check_points(points)
    palette = palette or Palette(checked)
    with mpl.rc_context(STYLE):
        height = 1.2 + 0.24 * len(checked)
        figure = Figure(
            figsize=(NARROW, max(3.7, height)) if narrow else (WIDE, max(4.4, height)), layout="constrained"
        )
        axis = figure.subplots()
        labels = draw_points(axis, checked, all_features, palette, check_points(fronts or {}, empty=True), numbers)
        axis.set_xlabel("features selected")
        axis.set_ylabel("error rate [%]")
        return label_ends(figure, labels)


def plot_boxes(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw box plots of the errors and subset sizes of each algorithm.

    Parameters
    ----------
    points, all_features, palette, numbers
        As in :func:`plot_error_against_size`.
    narrow : bool
        Draw it for a narrow screen, errors above sizes.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels, sorted by median error. Boxes span the quartiles, the line inside is the median, and each run is a
        point.

    Examples
    --------
    >>> figure = plot_boxes({"GA": ([30, 28], [0.09, 0.08]), "ACO": ([31, 22], [0.07, 0.08])}, (99, 0.12))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ACO', 'GA']
    """
    checked = check_points(points)
    palette = palette or Palette(checked)
    order = sorted(checked, key=lambda title: (np.median(checked[title][1]), np.median(checked[title][0])))
    whole = {} if all_features is None else {"error": 100 * all_features[1]}
    with mpl.rc_context(STYLE):
        height = 0.75 + 0.36 * len(order)
        figure = Figure(figsize=(NARROW, 2 * height) if narrow else (WIDE, height), layout="constrained")
        axes = figure.subplots(2, 1) if narrow else figure.subplots(1, 2, sharey=True)
        for axis, kind in zip(axes, ("error", "size"), strict=True):
            axis.grid(axis="x", color=FAINT, lw=0.5, alpha=0.35)
            axis.set_axisbelow(True)
            for row, title in enumerate(order):
                sizes, errors = checked[title]
                _draw_box_and_points(axis, row, title, 100 * errors if kind == "error" else sizes, palette)
                mark(axis.lines[-1], title, run_tips(title, sizes, errors, numbers))
            if kind in whole:
                tip = f"All features: error {percent(whole[kind] / 100)}"
                line = axis.axvline(whole[kind], color=GREY, lw=1.3, ls=(0, (5, 2)))
                mark(line, ALL_FEATURES, [tip])
            axis.set_ylim(len(order) - 0.4, -0.6)
            axis.set_yticks(range(len(order)), order, parse_math=False)
            for label in axis.get_yticklabels():
                label.set_fontweight("bold" if label.get_text() == palette.reference else "normal")
            axis.tick_params(axis="y", length=0)
            axis.spines["left"].set_visible(False)
        axes[0].set_xlabel("error rate [%]" + (", dashed: all features" if whole else ""))
        axes[1].set_xlabel("features selected")
        return settle(figure)


def _draw_box_and_points(axis: Axes, row: int, title: str, values: FloatArray | IntArray, palette: Palette) -> None:
    """Draw a box between the quartiles, a line at the median, and finally the runs as points."""
    colour = palette.colour(title)
    low, middle, high = np.percentile(values, [25, 50, 75])
    offsets: Any = np.zeros(1)
    if values.size > 1:
        unit = "" if np.issubdtype(values.dtype, np.integer) else " %"
        words = [f"{value:.4g}{unit}" for value in (middle, low, high)]
        tip = f"{title}, {count_runs(values.size)}: median {words[0]}, quartiles {words[1]} and {words[2]}"
        box = axis.barh(row, high - low, 0.56, left=low, fc=colour, ec=colour, lw=1.0)[0]
        box.set(alpha=0.22)
        mark(box, title, [tip])
        mark(axis.plot([middle, middle], [row - 0.28, row + 0.28], color=colour, lw=2.4)[0], title, [tip])
        offsets = 0.4 * ((_GOLDEN * np.arange(values.size)) % 1.0 - 0.5)
    look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "mew": 0.0, "ms": 4.5, "alpha": 0.8}
    axis.plot(values, row + offsets, color=colour, **look)
