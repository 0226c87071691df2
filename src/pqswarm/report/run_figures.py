"""Figures of the runs of a study: the errors and sizes of the subsets that they ended with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.interactive import mark
from pqswarm.report.sentences import features, percent, runs
from pqswarm.report.style import FAINT, GREY, INK, NARROW, STYLE, WIDE, EndLabel, Palette, label_ends, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm.report.summary import ClassifierSummary, StudySummary

__all__ = ["plot_boxes", "plot_error_against_size", "plot_overview"]

ALL_FEATURES = "All features"  # the series of what is drawn for them
_GOLDEN = 0.6180339887498949  # its multiples, without their integers, are evenly spread however many there are
Points = Mapping[str, tuple[IntArray, FloatArray]]


def plot_error_against_size(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    fronts: Points | None = None,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw each run as a point: the size of the subset it found, and the error of it.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        For each algorithm the sizes and the errors of its runs. A single run is drawn as a ring, which hides nothing.
    all_features : (int, float), optional
        The number of all features and the error with them, for a line.
    palette : Palette, optional
        Colours and markers, and which algorithm is emphasised.
    fronts : mapping of str to (array of int, array of float), optional
        For algorithms that find a subset of each size: sizes, and the lowest error of each, for a line.
    numbers : sequence of int, optional
        Numbers of the runs; 0, 1, 2, ... by default.
    narrow : bool
        Draw it for the screen of a phone.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; each name stands at the median error of its runs, on the right.

    Examples
    --------
    >>> figure = plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['GA', 'All 99 features']
    """
    checked = _check_points(points)
    palette = palette or Palette(checked)
    with mpl.rc_context(STYLE):
        least = 1.2 + 0.24 * len(checked)
        figure = Figure(figsize=(NARROW, max(3.7, least)) if narrow else (WIDE, max(4.4, least)), layout="constrained")
        axis = figure.subplots()
        labels = draw_points(axis, checked, all_features, palette, _check_points(fronts or {}, empty=True), numbers)
        axis.set_xlabel("features selected")
        axis.set_ylabel("error rate [%]")
        return label_ends(figure, labels)


def plot_overview(study: "StudySummary", *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers of a study, side by side.

    Parameters
    ----------
    study : StudySummary
        What :func:`summarize` has read.
    narrow : bool
        Draw it for the screen of a phone: one below the other.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each classifier; small marks are runs, large ones their means, and each name stands at the median
        error of its runs.

    Examples
    --------
    >>> from pqswarm.study import Store
    >>> def first_look(folder):
    ...     with Store(folder) as store:
    ...         return plot_overview(summarize(store))
    """
    n = len(study.classifiers)
    columns = 1 if narrow or n == 1 else 2
    rows = -(-n // columns)
    most = max(len(found.runs) + len(found.sequential) for found in study.classifiers)
    with mpl.rc_context(STYLE):
        height = max(2.7, 0.8 + 0.22 * most)
        figure = Figure(
            figsize=(NARROW if narrow else 9.2 if columns > 1 else WIDE, rows * height), layout="constrained"
        )
        labels = []
        for i, found in enumerate(study.classifiers):
            axis = figure.add_subplot(rows, columns, i + 1)
            points, fronts, numbers = run_points(found)
            whole = (found.n_features, found.all_features)
            labels += draw_points(axis, points, whole, study.palette, fronts, numbers)
            axis.set_title(found.name, fontweight="bold", parse_math=False)
            if i % columns == 0:
                axis.set_ylabel("error rate [%]")
            if i + columns >= n:
                axis.set_xlabel("features selected")
        return label_ends(figure, labels)


def run_points(found: "ClassifierSummary") -> tuple[Points, Points, list[int]]:
    """Return sizes and errors of the runs of each algorithm, and of the fronts of those that run once, and numbers."""
    points = {title: (found.sizes(title).astype(np.int64), found.errors(title)) for title in found.runs}
    points |= {title: (np.array([r.size]), np.array([r.error])) for title, r in found.sequential.items()}
    fronts = {}
    for title, record in found.sequential.items():
        masks, errors = record.result.front_masks, record.result.front_errors
        if masks is not None and errors is not None and len(errors) > 1:  # one that was told a size has that alone
            fronts[title] = masks.sum(axis=1), errors
    return points, fronts, [record.key.run for record in found.runs[found.reference]]


def _check_points(points: Points, empty: bool = False) -> Points:
    if not points and not empty:
        raise PqswarmError("points is empty: a figure needs at least one algorithm.")
    checked = {}
    for title, (given_sizes, given_errors) in points.items():
        sizes, errors = np.asarray(given_sizes), np.asarray(given_errors, dtype=np.float64)
        if sizes.ndim != 1 or sizes.shape != errors.shape or not sizes.size or not np.isfinite(errors).all():
            raise PqswarmError(f"the points of {title!r} must be a size and a finite error for each run.")
        checked[title] = sizes, errors
    return checked


def _run_tips(title: str, sizes: IntArray, errors: FloatArray, numbers: Sequence[int] | None) -> list[str]:
    which = [""] if sizes.size == 1 else [f", run {i}" for i in numbers or range(sizes.size)]
    return [
        f"{title}{run}: error {percent(error)}, {features(int(size))}"
        for run, size, error in zip(which, sizes, errors, strict=True)
    ]


def draw_points(
    axis: "Axes",
    points: Points,
    all_features: tuple[int, float] | None,
    palette: Palette,
    fronts: Points,
    numbers: Sequence[int] | None,
) -> list[EndLabel]:
    """Draw runs as points and return their names; single runs are rings on top, fronts are lines."""
    axis.grid(color=FAINT, lw=0.5, alpha=0.35)
    axis.set_axisbelow(True)
    labels = []
    several = any(sizes.size > 1 for sizes, _ in points.values())
    largest = max(float(sizes.max()) for sizes, _ in points.values())
    edge = 1.04 * largest
    for title in palette.drawn(points):
        sizes, errors = points[title]
        style: dict[str, Any] = palette.line(title) | {"ls": "", "marker": palette.marker(title)}
        if several and sizes.size == 1:
            style |= {"ms": 10.0, "mew": 1.8, "mfc": "none", "zorder": 4.0}
        else:
            style |= {"ms": 4.5, "mew": 0.0, "alpha": 0.5}
        mark(axis.plot(sizes, 100 * errors, **style)[0], title, _run_tips(title, sizes, errors, numbers))
        if sizes.size > 1:
            mean = float(sizes.mean()), float(errors.mean())
            tip = f"{title}, mean of {runs(sizes.size)}: error {percent(mean[1])}, {mean[0]:.1f} features"
            style |= {"ms": 8.0, "mew": 0.9, "mec": INK, "alpha": 1.0, "zorder": 3.5}
            mark(axis.plot([mean[0]], [100 * mean[1]], **style)[0], title, [tip])
        labels.append(palette.label(axis, title, edge, 100 * float(np.median(errors)), marked=True))
    values = [100 * errors for _, errors in points.values()]
    if all_features is not None:
        number, error = all_features
        line = axis.axhline(100 * error, color=GREY, lw=1.3, ls=(0, (5, 2)))
        mark(line, ALL_FEATURES, [f"All {number} features: error {percent(error)}"])
        labels.append(EndLabel(axis, f"All {number} features", edge, 100 * error, GREY, series=ALL_FEATURES))
        values.append(np.array([100 * error]))
    low, high = float(np.concatenate(values).min()), float(np.concatenate(values).max())
    margin = 0.07 * max(high - low, 0.02 * high, 1e-6)
    axis.set(xlim=(0, edge), ylim=(low - margin, high + margin))
    for title, (sizes, errors) in fronts.items():  # beyond the limits that the runs set, it is not of interest
        style = {"color": palette.colour(title), "lw": 1.0, "marker": ".", "ms": 3.0, "zorder": 1.8}
        tips = [f"{title} at {features(int(s))}: error {percent(e)}" for s, e in zip(sizes, errors, strict=True)]
        mark(axis.plot(sizes, 100 * errors, **style)[0], title, tips)
    return labels


def plot_boxes(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw boxes of the errors and of the sizes of the subsets that the runs of each algorithm found.

    Parameters
    ----------
    points, all_features, palette, numbers
        As :func:`plot_error_against_size` takes them.
    narrow : bool
        Draw it for the screen of a phone: errors above sizes.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels, with the lowest median error on top. A box goes from the lower to the upper quartile, the line in it
        is the median; every run is a point. A single run is a point alone.

    Examples
    --------
    >>> figure = plot_boxes({"GA": ([30, 28], [0.09, 0.08]), "ACO": ([31, 22], [0.07, 0.08])}, (99, 0.12))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ACO', 'GA']
    """
    checked = _check_points(points)
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
                _draw_box(axis, row, title, 100 * errors if kind == "error" else sizes, palette)
                mark(axis.lines[-1], title, _run_tips(title, sizes, errors, numbers))
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


def _draw_box(axis: "Axes", row: int, title: str, values: FloatArray | IntArray, palette: Palette) -> None:
    """Draw a box between the quartiles, a line at the median, and last all runs as points."""
    colour = palette.colour(title)
    low, middle, high = np.percentile(values, [25, 50, 75])
    offsets: Any = np.zeros(1)
    if values.size > 1:
        unit = "" if np.issubdtype(values.dtype, np.integer) else " %"
        words = [f"{value:.4g}{unit}" for value in (middle, low, high)]
        tip = f"{title}: median {words[0]}, half of {runs(values.size)} between {words[1]} and {words[2]}"
        box = axis.barh(row, high - low, 0.56, left=low, fc=colour, ec=colour, lw=1.0)[0]
        box.set(alpha=0.22)
        mark(box, title, [tip])
        mark(axis.plot([middle, middle], [row - 0.28, row + 0.28], color=colour, lw=2.4)[0], title, [tip])
        offsets = 0.4 * ((_GOLDEN * np.arange(values.size)) % 1.0 - 0.5)
    look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "mew": 0.0, "ms": 4.5, "alpha": 0.8}
    axis.plot(values, row + offsets, color=colour, **look)
