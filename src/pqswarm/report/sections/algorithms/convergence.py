"""Figures of convergence: the lowest error so far against the evaluations."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.shared.curves import quartile_curve
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette, label_ends
from pqswarm.report.shared.sentences import percent
from pqswarm.report.style import FAINT, INK, NARROW, STYLE, WIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_START = 1 / 200  # fraction of the evaluations at which their axis starts
_STRIP = 1.45  # where it ends, relative to the last: room for the final errors


def plot_convergence(
    curves: Mapping[str, FloatArray],
    evaluations: IntArray | None = None,
    palette: Palette | None = None,
    *,
    best: float | None = None,
    known: bool = False,
    budget: int | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the distance of the lowest error so far from the best error, against the evaluations.

    Lines are medians over the runs. The bars on the right span the quartiles of the final errors.

    Parameters
    ----------
    curves : mapping of str to array of float, shape (n_runs, n_points)
        Lowest error of each run after each number of evaluations; infinite before the first. Curves with fewer points
        than others are extended by a dotted line.
    evaluations : array of int, optional
        Numbers of evaluations; 1, 2, 3, ... by default.
    palette : Palette, optional
        Colours, and the algorithm to emphasise.
    best : float, optional
        Error from which the distance is measured; by default the lowest of all curves.
    known : bool
        Whether `best` is known from elsewhere rather than found by these runs; for the axis label.
    budget : int, optional
        Evaluations allowed per run, drawn as a line; by default the last of `evaluations`.
    narrow : bool
        Draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Both axes are logarithmic, the distance linear close to zero; the first 0.5 % of the evaluations are
        not shown.

    Examples
    --------
    >>> figure = plot_convergence({"GA": np.array([[0.5, 0.2, 0.1], [0.4, 0.4, 0.3]])})
    >>> figure.axes[0].get_xlabel()
    'evaluations'
    """
    if not curves:
        raise PqswarmError("curves is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(curves)
    longest = max(np.shape(curve)[-1] for curve in curves.values())
    at = np.arange(1, longest + 1) if evaluations is None else np.asarray(evaluations)
    lines = {title: quartile_curve(title, curves[title], at) for title in palette.drawn(curves)}
    origin = min(float(np.min(curve)) for curve in curves.values()) if best is None else float(best)
    last = max(int(after[-1]) for after, _ in lines.values())
    with mpl.rc_context(STYLE):
        size = (NARROW, max(3.9, 1.3 + 0.21 * len(lines))) if narrow else (WIDE, max(4.2, 1.3 + 0.24 * len(lines)))
        figure = Figure(figsize=size, layout="constrained")
        axis = figure.subplots()
        labels = []
        ends = []
        shown = []
        strip = np.geomspace(last * 1.03, last * (_STRIP - 0.02), 2 * len(lines) + 1)[1::2]
        for title, place in zip(sorted(lines, key=lambda title: -lines[title][1][1, -1]), strip, strict=True):
            after, errors = lines[title]
            gaps = 100 * (errors - origin)
            line = palette.line(title)
            finite = np.isfinite(gaps[1])
            tip = _convergence_tip(title, after, errors, len(curves[title]))
            x, y = after[finite], gaps[1, finite]
            mark(axis.plot(x, y, drawstyle="steps-post", **line)[0], title, [tip])
            dot: dict[str, Any] = {"marker": palette.marker(title), "ms": 5.0, "mew": 0.0, "zorder": 3.5}
            if after[-1] < last:
                mark(axis.plot([after[-1], last], [y[-1]] * 2, **line | {"ls": ":", "lw": 1.0})[0], title)
                mark(axis.plot([after[-1]], [y[-1]], ls="", color=line["color"], **dot)[0], title, [tip])
            low, middle, high = gaps[:, -1]
            bar: dict[str, Any] = {"color": line["color"], "solid_capstyle": "butt"}
            mark(axis.plot([last, place], [middle] * 2, lw=0.8, **bar)[0], title)
            mark(axis.plot([place, place], [low, high], lw=2.2, **bar)[0], title, [tip])
            mark(axis.plot([place], [middle], ls="", color=line["color"], **dot)[0], title, [tip])
            labels.append(palette.label(axis, title, place, float(middle)))
            ends += [float(low), float(middle), float(high)]
            shown += y[x >= _START * last].tolist()
        _scale_convergence_gaps(axis, ends, shown)
        _scale_convergence_evaluations(axis, last, budget or last, (1, 3) if narrow else (1, 2, 5))
        axis.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
        axis.set_ylabel(f"above the lowest error rate {'known' if known else 'found'},\n{percent(origin)} [% points]")
        return label_ends(figure, labels)


def _convergence_tip(title: str, after: IntArray, errors: FloatArray, n_runs: int) -> str:
    low, middle, high = errors[:, -1]
    if n_runs == 1:
        return f"{title}, one run: error {percent(middle)} after {after[-1]} evaluations"
    early = int(np.searchsorted(after, 0.1 * after[-1], side="right")) - 1
    way = f" ({percent(errors[1, early])} after {after[-1] // 10})" if early >= 0 and errors[1, early] < 1 else ""
    spread = f"quartiles {percent(low)} and {percent(high)}"
    return f"{title}: median error {percent(middle)} after {after[-1]} evaluations{way}, {spread}"


def _scale_convergence_gaps(axis: "Axes", ends: Sequence[float], shown: Sequence[float]) -> None:
    """Set a scale that gives the final errors as much room as the way to them."""
    top = max(*ends, *shown, 1e-6)
    positive = [gap for gap in ends if gap > 1e-9]
    smallest = max(min(positive, default=top), 0.003 * top)
    axis.set_yscale("symlog", linthresh=smallest, linscale=0.35)
    bottom = -0.25 * smallest if min(ends) < smallest else 0.85 * min(ends)
    axis.set_ylim(bottom, 1.15 * top)
    steps = [digit * 10.0**power for power in range(-7, 3) for digit in (1, 2, 5)]
    ticks = [step for step in steps if max(smallest, bottom) <= step <= 1.15 * top]
    axis.yaxis.set_major_locator(FixedLocator([0.0, *ticks] if bottom < 0 else ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _scale_convergence_evaluations(axis: "Axes", last: int, budget: int, digits: Sequence[int]) -> None:
    """Set a logarithmic scale, mark the budget, and leave a strip beyond it."""
    axis.set_xscale("log")
    start = max(1.0, _START * last)
    axis.set_xlim(start, _STRIP * max(last, 2))
    steps = [digit * 10**power for power in range(12) for digit in digits]
    ticks = [step for step in steps if start <= step <= last and not 0.45 < step / budget < 2.0]
    axis.xaxis.set_major_locator(FixedLocator([*ticks, budget]))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axis.axvline(budget, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.7)
    look: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 8.5}
    axis.annotate("budget", (budget, 1.0), (-3, -2), ha="right", va="top", **look)
    axis.set_xlabel("evaluations")
