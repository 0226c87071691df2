"""Figure of superiority: how often one algorithm beats another."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette
from pqswarm.report.style import FAINT, GREY, STYLE, settle
from pqswarm.statistics import Comparison


def plot_superiority(panels: Mapping[str, Sequence[Comparison]], palette: Palette | None = None) -> Figure:
    """Draw the probability that a run of one algorithm beats a run of another, one panel per compared quantity."""
    palette = palette or Palette(
        [name for group in panels.values() for c in group for name in (c.algorithm, c.against)]
    )
    labels = [_names(comparisons) for comparisons in panels.values()]
    with mpl.rc_context(STYLE):
        rows = max(map(len, labels))
        figure = Figure(figsize=(7.5, 1.15 + 0.27 * rows), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, (what, comparisons), names in zip(axes, panels.items(), labels, strict=True):
            axis.axvline(0.5, color=GREY, lw=1.0, ls=(0, (5, 2)))
            for place, comparison in enumerate(comparisons):
                _draw_interval(axis, place, comparison, palette)
            axis.set(xlim=(-0.03, 1.03), ylim=(rows - 0.5, -0.5), xticks=[0, 0.25, 0.5, 0.75, 1])
            repeated = axis is not axes[0] and names == labels[0]
            axis.set_yticks(range(len(names)), [""] * len(names) if repeated else names, parse_math=False)
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="x", color=FAINT, lw=0.5, alpha=0.35)
            axis.set_axisbelow(True)
            axis.set_title(what, fontsize=9, parse_math=False)
        axes[0].set_xlabel("probability, ties counted as half")
        return settle(figure)


def _names(comparisons: Sequence[Comparison]) -> list[str]:
    """Names of the algorithms compared with; of pairs both names."""
    if len({comparison.algorithm for comparison in comparisons}) == 1:
        return [comparison.against for comparison in comparisons]
    return [f"{comparison.algorithm} / {comparison.against}" for comparison in comparisons]


def _draw_interval(axis: Any, place: int, comparison: Comparison, palette: Palette) -> None:
    """Draw the probability of one comparison as a marker and its interval as a line."""
    name = comparison.against
    superiority = comparison.superiority
    color = palette.color(name)
    ends = superiority.ends or (superiority.estimate, superiority.estimate)
    tip = (
        f"{comparison.algorithm} against {name}: {superiority.estimate:.3f} ({ends[0]:.3f} to {ends[1]:.3f}), "
        f"p = {comparison.p_hommel:#.2g}"
    )
    (line,) = axis.plot(ends, [place] * 2, color=color, lw=1.6)
    (dot,) = axis.plot([superiority.estimate], [place], ls="", marker=palette.marker(name), ms=6, color=color)
    mark(line, name)
    mark(dot, name, [tip])
