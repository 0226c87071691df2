"""Figures of a study on several data sets: error against size, and the differences on each data set."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette
from pqswarm.report.shared.run_points import Panel, draw_panels, run_points
from pqswarm.report.style import FAINT, GREY, NARROW, STYLE, WIDE, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
    from pqswarm.statistics.paired import PairedComparison


def plot_over_datasets(study: "DatasetsSummary", *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers: small markers are data sets (means over runs), large ones means."""
    panels = {found.name: datasets_panel(found) for found in study.classifiers}
    return draw_panels(panels, study.palette, narrow, "data set")


def datasets_panel(found: "OverDatasets", by_run: bool = False) -> Panel:
    """Return the points of one classifier: the means on each data set, or the runs on the first."""
    first = next(iter(found.members.values()))
    whole = (first.n_features, float(found.all_features.mean()))
    if by_run:
        return *run_points(first), whole
    points = {title: (found.mean_sizes(title), found.mean_errors(title)) for title in found.titles}
    return points, {}, list(found.members), whole


def plot_differences(
    found: "OverDatasets", control: str, results: "Mapping[str, Sequence[PairedComparison]]", palette: Palette, *,
    narrow: bool = False,
) -> Figure:  # fmt: skip
    """Draw control minus each other algorithm on each data set, and the mean with its interval: error and size."""
    others = [one.against for one in results["error"]]
    names = list(found.members)
    with mpl.rc_context(STYLE):
        height = 0.9 + 0.27 * len(others)
        size = (NARROW, 2 * height) if narrow else (WIDE, height)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(*((2, 1) if narrow else (1, 2)))
        panels = (
            ("error", "error rate [percentage points]", 100.0, found.mean_errors),
            ("size", "features", 1.0, found.mean_sizes),
        )
        for axis, (key, what, factor, means) in zip(axes, panels, strict=True):
            axis.axvline(0.0, color=GREY, lw=1.0, ls=(0, (5, 2)))
            for place, one in enumerate(results[key]):
                title, colour = one.against, palette.colour(one.against)
                each = factor * (means(control) - means(title))
                tips = [f"{control} - {title}, {name}: {value:+.3g}" for name, value in zip(names, each, strict=True)]
                look = {"ls": "", "color": colour, "mew": 0}
                (dots,) = axis.plot(each, np.full(each.size, place + 0.18), marker="o", ms=3, alpha=0.55, **look)
                mark(dots, title, tips)
                ends = one.difference.ends
                if ends is not None:
                    (line,) = axis.plot([factor * end for end in ends], [place - 0.12] * 2, color=colour, lw=1.6)
                    mark(line, title)
                mean = factor * one.difference.estimate
                (dot,) = axis.plot([mean], [place - 0.12], marker=palette.marker(title), ms=6, **look)
                mark(dot, title, [f"{control} - {title}: {mean:+.3g}, p = {one.p_hommel:#.2g}"])
            axis.set(ylim=(len(others) - 0.5, -0.5), xlabel=what)
            repeated = axis is axes[-1] and not narrow
            axis.set_yticks(range(len(others)), [""] * len(others) if repeated else others, parse_math=False)
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="x", color=FAINT, lw=0.5, alpha=0.35)
            axis.set_axisbelow(True)
        return settle(figure)
