"""Figure of accuracy against noise."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.interactive import mark
from pqswarm.report.sentences import decibel, points
from pqswarm.report.spread import Spread, t_interval
from pqswarm.report.style import FAINT, GREY, LOSS, STYLE, EndLabel, Palette, label_ends

__all__ = ["plot_robustness"]

_WHOLE = "All features"
_NARROW = 4.2  # inches, which fill the screen of a phone


def plot_robustness(
    levels: Sequence[float],
    accuracy: Mapping[str, FloatArray],
    all_features: FloatArray,
    palette: Palette | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the accuracy against the noise, and what the selection of features gained or lost.

    Parameters
    ----------
    levels : sequence of float
        Signal-to-noise ratios [dB], in the order in which to draw them.
    accuracy : mapping of str to array of float, shape (n_levels,) or (n_sets, n_levels)
        For each algorithm, the accuracy Theta with its features [%], on one set of events or on several: then means
        are drawn, with 95 % t intervals over the sets.
    all_features : array of float, shape (n_levels,) or (n_sets, n_levels)
        The accuracy with all features [%], on the same sets.
    palette : Palette, optional
        Colours and markers, and which algorithm is emphasised.
    narrow : bool
        Whether it is for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels; below, what is worse than all features, of several sets with the whole interval, is ringed in red.

    Examples
    --------
    >>> figure = plot_robustness([float("inf"), 20], {"GA": [99.0, 80.0]}, [95.0, 85.0])
    >>> figure.axes[1].get_title(loc="left")
    'ringed in red: worse than all features'
    """
    if not accuracy:
        raise PqswarmError("accuracy is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(accuracy)
    base = _sets("all features", all_features, len(levels))
    rows = {title: _sets(title, accuracy[title], len(levels)) for title in palette.drawn(accuracy)}
    for title, values in rows.items():
        if len(values) != len(base):
            raise PqswarmError(f"the accuracy of {title!r} must be of as many sets as that of all features.")
    several = len(base) > 1
    places = np.arange(len(levels))
    aside = dict(
        zip(rows, np.linspace(-0.2, 0.2, len(rows)) if several and len(rows) > 1 else [0.0] * len(rows), strict=True)
    )
    labels = []
    with mpl.rc_context(STYLE):
        height = max(2.6, 0.5 + 0.22 * (len(rows) + 1))
        figure = Figure(figsize=(_NARROW if narrow else 7.5, 2 * height + 0.8), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axis, values in ((upper, base), (lower, 0.0 * base)):
            known = t_interval(values)
            (line,) = axis.plot(places, known.mean, color=GREY, lw=1.3, ls=(0, (5, 2)), clip_on=False)
            mark(line, _WHOLE, _tips(_WHOLE, levels, known, "%"))
            if several and axis is upper:
                mark(axis.fill_between(places, known.low, known.high, color=GREY, alpha=0.25, lw=0), _WHOLE)
            labels.append(EndLabel(axis, _WHOLE, float(places[-1]), float(known.mean[-1]), GREY))
        worst, gains = [], []
        for title, values in rows.items():
            style = palette.line(title) | {"marker": palette.marker(title), "ms": 4.5, "mew": 0}
            at = places + aside[title]
            for axis, these, unit in ((upper, values, "%"), (lower, values - base, "percentage points")):
                known = t_interval(these)
                (line,) = axis.plot(at, known.mean, clip_on=False, **style)
                mark(line, title, _tips(title, levels, known, unit))
                if several:
                    look: Any = {"color": style["color"], "lw": 0.6 * style["lw"], "zorder": style["zorder"]}
                    mark(axis.vlines(at, known.low, known.high, **look), title)
                labels.append(palette.label(axis, title, float(at[-1]), float(known.mean[-1])))
            lost = known.high < 0 if several else known.mean < 0
            worst += list(zip(at[lost].tolist(), known.mean[lost].tolist(), strict=True))
            gains += [known.low, known.high] if several else [known.mean]
        low, high = min(float(np.min(gains)), 0.0), max(float(np.max(gains)), 0.0)
        margin = max(0.08 * (high - low), 0.05)
        lower.set_ylim(low - margin, high + margin)
        if low < 0.0:
            lower.axhspan(low - margin, 0.0, color=LOSS, alpha=0.12, lw=0, zorder=0)
        if worst:
            ring: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": "none", "mec": LOSS, "mew": 1.4}
            lower.plot(*zip(*worst, strict=True), ls="", clip_on=False, **ring)
            words = "ringed in red: worse than all features"
            lower.set_title(f"{words}, with the whole interval" if several else words, fontsize=8, color=LOSS)
        for axis in (upper, lower):
            axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        upper.set_ylabel("accuracy Θ [%]")
        lower.set_ylabel("gain θ [percentage points]")
        lower.set_xlabel("signal-to-noise ratio [dB]")
        lower.set_xticks(
            places, ["∞" if narrow and np.isinf(v) else "∞ dB" if np.isinf(v) else f"{v:g}" for v in levels]
        )
        lower.set_xlim(-0.15 + min(aside.values()), places[-1] + 0.1 + max(aside.values()))
        return label_ends(figure, labels)


def _tips(title: str, levels: Sequence[float], known: Spread, unit: str) -> list[str]:
    """Words for each point of a line."""
    tips = []
    for level, mean, low, high in zip(levels, *known, strict=True):
        ends = "" if np.isnan(low) else f" (95 % interval {points(low)} to {points(high)})"
        tips.append(f"{title}, {decibel(level)}: {points(mean)} {unit}{ends}")
    return tips


def _sets(title: str, values: FloatArray, n: int) -> FloatArray:
    """Accuracies as a matrix, a row for each set of events."""
    given = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if n == 0 or given.ndim != 2 or given.shape[1] != n or not np.isfinite(given).all():
        raise PqswarmError(f"the accuracy of {title!r} must be one finite number for each of {n} noise levels.")
    return given
