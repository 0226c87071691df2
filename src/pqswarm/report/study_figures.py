"""Figures of a study: how the algorithms fared, against effort, size and noise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.style import (
    ALL_FEATURES,
    FAINT,
    HERO,
    LOSS,
    STYLE,
    EndLabel,
    colour_of,
    label_ends,
    marker_of,
)

__all__ = ["plot_convergence", "plot_error_against_size", "plot_robustness"]

T = TypeVar("T")

_STEPS = 150
_HUGE = 1e300


def plot_convergence(curves: Mapping[str, FloatArray]) -> Figure:
    """Draw the least error so far against the evaluations: the median of the runs, and where 8 of 10 lie.

    Parameters
    ----------
    curves : mapping of str to array of float, shape (n_runs, n_evaluations)
        For each algorithm, the least error of each run after each evaluation; infinite before the first. One
        that stopped before the others is carried on with a dotted line.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; very early errors may lie above it.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_convergence({"GA": np.array([[0.5, 0.2, 0.1], [0.4, 0.4, 0.3]])})
    >>> figure.axes[0].get_xlabel()
    'evaluations'
    """
    checked = {title: _curve(title, curve) for title, curve in _some("curves", curves).items()}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, max(4.0, 1.2 + 0.24 * len(checked))), layout="constrained")
        axis = figure.subplots()
        labels, early, final = [], [], []
        for title in _hero_last(checked):
            curve = checked[title]
            after, values = _percentiles(curve)
            low, middle, high = values
            style: dict[str, Any] = {"color": colour_of(title), "zorder": 3.0 if title == HERO else 2.0}
            shown = np.isfinite(low) & np.isfinite(high)
            alpha = 0.22 if title == HERO else 0.12
            axis.fill_between(after[shown], low[shown], high[shown], step="post", alpha=alpha, lw=0, **style)
            shown = np.isfinite(middle)
            width = 2.2 if title == HERO else 1.3
            axis.plot(after[shown], middle[shown], drawstyle="steps-post", lw=width, **style)
            labels.append(EndLabel(axis, title, float(after[-1]), float(middle[-1])))
            final += [float(low[-1]), float(high[-1])]
            settling = high[np.isfinite(high) & (after >= 0.03 * after[-1])]
            early.append(float(settling[0]) if settling.size else float(middle[-1]))
        axis.set_ylim(*_settled_limits(min(final), max(final), float(np.median(early))))
        axis.set_xlim(0, max(curve.shape[1] for curve in checked.values()))
        axis.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
        axis.set_xlabel("evaluations")
        axis.set_ylabel("least error J so far")
        if any(len(curve) > 1 for curve in checked.values()):
            axis.set_title("line: median of the runs; band: 10th to 90th percentile", fontsize=8)
        return label_ends(figure, labels)


def _curve(title: str, curve: FloatArray) -> FloatArray:
    curve = np.asarray(curve, dtype=np.float64)
    if curve.ndim != 2 or 0 in curve.shape:
        raise PqswarmError(f"the curves of {title!r} have shape {curve.shape}: needed is (n_runs, n_evaluations).")
    if np.isnan(curve).any() or not np.isfinite(curve[:, -1]).all():
        raise PqswarmError(f"the curves of {title!r} must hold numbers and end in finite errors.")
    return curve


def _percentiles(curve: FloatArray) -> tuple[IntArray, FloatArray]:
    """Evaluations, and the 10th, 50th and 90th percentile after them; steps that change nothing are left out."""
    n = curve.shape[1]
    chosen = np.arange(n)
    if n > _STEPS:  # close together at the start, where much happens, but everywhere fine enough for the eye
        both = np.concatenate([np.geomspace(1, n, _STEPS // 2), np.linspace(1, n, _STEPS // 2)])
        chosen = np.unique(both.round().astype(np.int64)) - 1
    finite = np.minimum(curve[:, chosen], _HUGE)  # numpy interpolates with infinities as well, to nan
    values = np.percentile(finite, [10, 50, 90], axis=0)
    values[values > _HUGE**0.5] = np.inf
    changed = np.any(values[:, 1:] != values[:, :-1], axis=0)
    kept = np.r_[True, changed]
    kept[-1] = True
    return chosen[kept] + 1, values[:, kept]


def _settled_limits(least: float, most: float, early: float) -> tuple[float, float]:
    """Limits that show how the final errors differ, and as much of the way there as leaves room for that."""
    span = max(most - least, 0.12 * abs(least), 1e-6)
    top = min(max(early, most + 0.3 * span), least + 5.0 * span)
    return least - 0.06 * (top - least), top + 0.04 * (top - least)


def plot_error_against_size(
    points: Mapping[str, tuple[IntArray, FloatArray]], all_features: tuple[int, float] | None
) -> Figure:
    """Draw each run as a point: the size of the subset it found, and the error of it.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        For each algorithm the sizes and the errors of its runs.
    all_features : (int, float) or None
        The number of all features and the error with them, for a line.

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
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, max(4.2, 1.2 + 0.24 * len(_some("points", points)))), layout="constrained")
        axis = figure.subplots()
        largest, medians = 0.0, {}
        for title in _hero_last(points):
            sizes, errors = (np.asarray(values, dtype=np.float64) for values in points[title])
            if sizes.ndim != 1 or sizes.shape != errors.shape or not sizes.size or not np.isfinite(errors).all():
                raise PqswarmError(f"the points of {title!r} must be a size and a finite error for each run.")
            style: dict[str, Any] = {"color": colour_of(title), "mew": 0, "zorder": 3.0 if title == HERO else 2.0}
            axis.plot(sizes, errors, ls="", marker=marker_of(title), ms=5.5, alpha=0.8, **style)
            medians[title] = float(np.median(errors))
            largest = max(largest, float(sizes.max()))
        axis.set_xlim(0, 1.04 * largest)
        edge = axis.get_xlim()[1]
        labels = [EndLabel(axis, title, edge, median) for title, median in medians.items()]
        if all_features is not None:
            count, error = all_features
            axis.axhline(error, color=colour_of(ALL_FEATURES), lw=1.3, ls=(0, (5, 2)))
            labels.append(EndLabel(axis, ALL_FEATURES, edge, error, f"All {count} features"))
        axis.margins(y=0.07)
        axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        axis.set_axisbelow(True)
        axis.set_xlabel("features selected")
        axis.set_ylabel("error J of the selected features")
        axis.set_title("one mark for each run; each name stands at the median error of its runs", fontsize=8)
        return label_ends(figure, labels, marked=True)


def plot_robustness(levels: Sequence[float], accuracy: Mapping[str, FloatArray], all_features: FloatArray) -> Figure:
    """Draw the accuracy against the noise, and what the selection of features gained or lost.

    Parameters
    ----------
    levels : sequence of float
        Signal-to-noise ratios [dB], in the order in which to draw them.
    accuracy : mapping of str to array of float, shape (n_levels,)
        For each algorithm, the accuracy Theta with its features [%].
    all_features : array of float, shape (n_levels,)
        The accuracy with all features [%].

    Returns
    -------
    matplotlib.figure.Figure
        Two panels; below, what is worse than all features is ringed in red on a red ground.

    Examples
    --------
    >>> figure = plot_robustness([float("inf"), 20], {"GA": [99.0, 80.0]}, [95.0, 85.0])
    >>> figure.axes[1].get_title(loc="left")
    'ringed in red: worse than all features'
    """
    base = _row(ALL_FEATURES, all_features, len(levels))
    rows = {title: _row(title, values, len(levels)) for title, values in _some("accuracy", accuracy).items()}
    places = np.arange(len(levels))
    labels = []
    with mpl.rc_context(STYLE):
        height = max(2.6, 0.5 + 0.22 * (len(rows) + 1))
        figure = Figure(figsize=(7.5, 2 * height + 0.8), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for title, values in ((ALL_FEATURES, base), *((title, rows[title]) for title in _hero_last(rows))):
            style: dict[str, Any] = {
                "color": colour_of(title),
                "lw": 2.2 if title == HERO else 1.3,
                "ms": 4.5,
                "mew": 0,
            }
            style |= {"ls": (0, (5, 2)), "ms": 0} if title == ALL_FEATURES else {"marker": marker_of(title)}
            for axis, line in ((upper, values), (lower, values - base)):
                axis.plot(places, line, clip_on=False, **style)
                labels.append(EndLabel(axis, title, float(places[-1]), float(line[-1])))
        gains = np.array([values - base for values in rows.values()])
        low, high = min(float(gains.min()), 0.0), max(float(gains.max()), 0.0)
        margin = max(0.08 * (high - low), 0.05)
        lower.set_ylim(low - margin, high + margin)
        if low < 0.0:
            worse = np.nonzero(gains < 0.0)
            lower.axhspan(low - margin, 0.0, color=LOSS, alpha=0.12, lw=0, zorder=0)
            ring: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": "none", "mec": LOSS, "mew": 1.4}
            lower.plot(places[worse[1]], gains[worse], ls="", clip_on=False, **ring)
            lower.set_title("ringed in red: worse than all features", fontsize=8, color=LOSS)
        for axis in (upper, lower):
            axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        upper.set_ylabel("accuracy Θ [%]")
        lower.set_ylabel("gain θ [percentage points]")
        lower.set_xlabel("signal-to-noise ratio [dB]")
        lower.set_xticks(places, ["∞ dB" if np.isinf(level) else f"{level:g}" for level in levels])
        lower.set_xlim(-0.15, places[-1] + 0.1)
        return label_ends(figure, labels)


def _row(title: str, values: FloatArray, n: int) -> FloatArray:
    row = np.asarray(values, dtype=np.float64)
    if n == 0 or row.shape != (n,) or not np.isfinite(row).all():
        raise PqswarmError(f"the accuracy of {title!r} must be one finite number for each of {n} noise levels.")
    return row


def _some(what: str, mapping: Mapping[str, T]) -> Mapping[str, T]:
    if not mapping:
        raise PqswarmError(f"{what} is empty: a figure needs at least one algorithm.")
    return mapping


def _hero_last(titles: Iterable[str]) -> list[str]:
    """The order of drawing: what comes last lies on top."""
    return sorted(titles, key=lambda title: title == HERO)
