"""Figures of comparisons: average ranks, and how often one algorithm beats another."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError
from pqswarm.report.interactive import mark
from pqswarm.report.style import FAINT, GREY, INK, STYLE, Palette, settle
from pqswarm.statistics import Comparison

__all__ = ["plot_ranks", "plot_superiority", "rank_groups"]


def plot_superiority(panels: Mapping[str, Sequence[Comparison]], palette: Palette | None = None) -> Figure:
    """Draw how probably a run of one algorithm beats a run of another, with intervals.

    Parameters
    ----------
    panels : mapping of str to sequence of Comparison
        Comparisons of the same algorithms, by what is compared, such as ``"error rate"`` and ``"features"``.
    palette : Palette, optional
        Colours and markers of those that are compared with.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each; on the line in the middle neither is ahead.

    Examples
    --------
    >>> from pqswarm.statistics import compare_runs
    >>> errors = {"2D-UPSO": [1, 2, 3, 4], "GA": [5, 6, 7, 8], "ACO": [2, 3, 5, 6]}
    >>> figure = plot_superiority({"error rate": compare_runs(errors, control="2D-UPSO")})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['GA', 'ACO']
    """
    if not panels or not all(panels.values()):
        raise PqswarmError("panels is empty: a figure needs at least one comparison.")
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
        axes[0].set_xlabel("probability, ties counted half")
        return settle(figure)


def _names(comparisons: Sequence[Comparison]) -> list[str]:
    """Whom one is compared with; or both, of pairs."""
    if len({comparison.algorithm for comparison in comparisons}) == 1:
        return [comparison.against for comparison in comparisons]
    return [f"{comparison.algorithm} / {comparison.against}" for comparison in comparisons]


def _draw_interval(axis: Any, place: int, comparison: Comparison, palette: Palette) -> None:
    """A mark at the probability of one comparison, on a line for its interval."""
    name, found = comparison.against, comparison.superiority
    colour = palette.colour(name)
    ends = found.ends or (found.estimate, found.estimate)
    tip = (
        f"{comparison.algorithm} against {name}: {found.estimate:.3f} ({ends[0]:.3f} to {ends[1]:.3f}), "
        f"p = {comparison.p_hommel:#.2g}"
    )
    (line,) = axis.plot(ends, [place] * 2, color=colour, lw=1.6)
    (dot,) = axis.plot([found.estimate], [place], ls="", marker=palette.marker(name), ms=6, color=colour)
    mark(line, name)
    mark(dot, name, [tip])


def plot_ranks(mean_ranks: Mapping[str, float], critical_difference: float, palette: Palette | None = None) -> Figure:
    """Draw mean ranks on a line, and join those that do not differ.

    Parameters
    ----------
    mean_ranks : mapping of str to float
        Mean rank of each algorithm, 1 the best.
    critical_difference : float
        Ranks that are this far apart, or more, differ.
    palette : Palette, optional
        Colours, and which algorithm is emphasised.

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
    palette = palette or Palette(ranks)
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
            (lead,) = axis.plot([x(ranks[title])] * 2 + [end], [line, down, down], **palette.line(title))
            mark(lead, title, [f"{title}: mean rank {ranks[title]:.2f}"])
            weight = "bold" if title == palette.reference else "normal"
            ha = "right" if on_left else "left"
            axis.text(end + 0.06 * sign, down, name, ha=ha, va="center", weight=weight, parse_math=False)
        for start, stop, level in bars:
            down = line + 0.14 + 0.13 * level
            axis.plot([x(places[start]) - 0.05, x(places[stop]) + 0.05], [down] * 2, color=INK, lw=3.2)
        return figure


def rank_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Return first and last of the largest groups of ascending ranks that do not differ; none lies within another."""
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
