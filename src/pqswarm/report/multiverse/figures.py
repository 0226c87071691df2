"""Figures of a multiverse: the specification curve, and effects against closeness to the paper."""

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.report.shared.interactive import mark
from pqswarm.report.style import COLOURS, FAINT, GREY, INK, NARROW, STYLE, WIDE, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm.report.multiverse.summary import MultiverseSummary, OverReadings
    from pqswarm.study.multiverse import Specification

_BETTER, _WORSE = COLOURS[0], COLOURS[1]
_ROW = 0.135  # inches of the height of an alternative
_NOUNS = {"error": "error rate", "size": "number of features"}


def as_percent(effects: FloatArray) -> FloatArray:
    """Return log ratios as differences in percent."""
    return 100.0 * np.expm1(effects)


def plot_curve(study: "MultiverseSummary", found: "OverReadings", what: str, *, narrow: bool = False) -> Figure:
    """Draw the specification curve: sorted effects [%] with 95 % t intervals, above the choices of each reading."""
    assert study.plan.multiverse is not None  # noqa: S101
    choices = study.plan.multiverse.choices
    seen = {pair for reading in study.readings for pair in reading.chosen.items()}
    rows = [(choice, name) for choice, names in choices.items() for name in names if (choice, name) in seen]
    mean, low, high = (as_percent(each) for each in found.spread(what))
    rivals, order = found.best_rivals(what), np.argsort(mean, kind="stable")
    with mpl.rc_context(STYLE):
        heights = (2.3, _ROW * (len(rows) + 0.5 * len(choices)))
        figure = Figure(figsize=(NARROW if narrow else WIDE, sum(heights) + 0.5), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=heights)
        above.axhline(0.0, color=INK, lw=0.8)
        places = _matrix_rows(below, rows, narrow)
        _draw_paper(above, found, what)
        for x, i in enumerate(order.tolist()):
            reading = study.readings[i]
            tip = _describe(reading, mean[i], low[i], high[i], rivals[i])
            sure = _BETTER if high[i] < 0 else _WORSE if low[i] > 0 else GREY
            look: dict[str, Any] = {"color": sure, "solid_capstyle": "butt", "clip_on": False}
            if np.isfinite(low[i]):
                mark(above.plot([x, x], [low[i], high[i]], lw=1.2, alpha=0.6, **look)[0], key=reading.name)
            shape = {"marker": "D", "ms": 5.5} if reading.marked else {"marker": "o", "ms": 3.5}
            mark(above.plot([x], [mean[i]], ls="", mew=0, **shape, **look)[0], tips=[tip], key=reading.name)
            if reading.marked:
                end = high[i] if np.isfinite(high[i]) else mean[i]
                above.annotate(reading.name, (x, end), (0, 4), textcoords="offset points", ha="center", fontsize=7)
            ys = [places[choice, name] for choice, name in reading.chosen.items()]
            cells = below.plot([x] * len(ys), ys, ls="", marker="s", ms=2.1 if narrow else 3.1, mew=0, **look)
            mark(cells[0], tips=[f"{reading.name}: {c}: {a}" for c, a in reading.chosen.items()], key=reading.name)
        above.set(ylabel=f"{found.reference} vs. best rival [%]\n{_NOUNS[what]}", xlim=(-1, len(order)))
        above.tick_params(axis="x", length=0, labelbottom=False)
        above.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
        below.set_xlabel(f"readings, sorted by the {_NOUNS[what]} of {found.reference}")
        return settle(figure)


def _matrix_rows(axis: "Axes", rows: list[tuple[str, str]], narrow: bool) -> dict[tuple[str, str], float]:
    """Label the rows of the matrix, choice by choice, and return their places."""
    places: dict[tuple[str, str], float] = {}
    y = 0.0
    for (choice, name), before in zip(rows, [None, *rows], strict=False):
        first = before is None or before[0] != choice
        y += 1.5 if first and before is not None else 1.0
        places[choice, name] = y
    short = 24 if narrow else 34
    labels = [
        name if i and rows[i - 1][0] == choice else f"{choice.rpartition('.')[2]}:  {name}"
        for i, (choice, name) in enumerate(rows)
    ]
    labels = [label if len(label) <= short else f"{label[: short - 1]}…" for label in labels]
    axis.set_yticks(list(places.values()), labels, fontsize=6.5, parse_math=False)
    axis.set(ylim=(y + 0.7, 0.3), xticks=[])
    axis.tick_params(axis="y", length=0)
    axis.spines[["left", "bottom"]].set_visible(False)
    return places


def _draw_paper(axis: "Axes", found: "OverReadings", what: str) -> None:
    """Draw the paper's own effect as a line."""
    key = {"error": "mean_J", "size": "mean_size"}[what]
    printed = {title: row[key] for title, row in found.paper.performance.items()}
    if found.reference not in printed:
        return
    best = min(value for title, value in printed.items() if title != found.reference)
    effect = float(as_percent(np.log(np.array(printed[found.reference] / best))))
    line = axis.axhline(effect, color=INK, lw=0.8, ls=(0, (5, 3)))
    mark(line, tips=[f"the paper: {effect:+.1f} %"])
    axis.annotate("the paper", (1.0, effect), (-2, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                  ha="right", fontsize=7)  # fmt: skip


def _describe(reading: "Specification", mean: float, low: float, high: float, rival: str) -> str:
    ends = f" ({low:+.1f} to {high:+.1f} %)" if np.isfinite(low) else ""
    chosen = "; ".join(f"{choice.rpartition('.')[2]} {name}" for choice, name in reading.chosen.items())
    return f"{reading.name}: {mean:+.1f} %{ends} vs. {rival}. {chosen}"


def plot_closeness(study: "MultiverseSummary", found: "OverReadings", *, narrow: bool = False) -> Figure:
    """Draw the effect on the error rate of each reading against the error rate of all features over the paper's."""
    mean, _, _ = (as_percent(each) for each in found.spread("error"))
    printed = found.paper.all_features
    assert printed is not None  # noqa: S101
    ratio = found.all_features.mean(axis=1) / printed
    rivals = found.best_rivals("error")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(NARROW if narrow else WIDE, 3.0), layout="constrained")
        axis = figure.subplots()
        axis.axhline(0.0, color=INK, lw=0.8)
        axis.axvline(1.0, color=INK, lw=0.8, ls=(0, (5, 3)))
        for i, reading in enumerate(study.readings):
            shape = {"marker": "D", "ms": 6} if reading.marked else {"marker": "o", "ms": 4.5}
            colour = _BETTER if mean[i] < 0 else _WORSE
            (dot,) = axis.plot([ratio[i]], [mean[i]], ls="", mew=0, color=colour, alpha=0.75, **shape)  # type: ignore[arg-type]
            tip = _describe(reading, mean[i], np.nan, np.nan, rivals[i])
            mark(dot, tips=[f"all features {ratio[i]:.2g} times the paper's; {tip}"], key=reading.name)
        axis.set(
            xscale="log",
            xlabel="error rate of all features relative to the paper's",
            ylabel=f"{found.reference} vs. best rival [%]\nerror rate",
        )
        axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        return settle(figure)
