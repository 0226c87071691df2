"""Figure of average ranks: the critical-difference diagram."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import Palette
from pqswarm.report.style import INK, STYLE


def plot_ranks(mean_ranks: Mapping[str, float], critical_difference: float, palette: Palette | None = None) -> Figure:
    """Draw mean ranks on a line and join those that do not differ significantly.

    Parameters
    ----------
    mean_ranks : mapping of str to float
        Mean rank of each algorithm, 1 the best.
    critical_difference : float
        Mean ranks at least this far apart differ significantly.
    palette : Palette, optional
        Colours, and the algorithm to emphasise.

    Returns
    -------
    matplotlib.figure.Figure
        The critical-difference diagram of Demšar (2006).

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
    width = 2 * side + scale * (last - 1)
    line = 0.64
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
            weight = "bold" if title == palette.baseline else "normal"
            ha = "right" if on_left else "left"
            axis.text(end + 0.06 * sign, down, name, ha=ha, va="center", weight=weight, parse_math=False)
        for start, stop, level in bars:
            down = line + 0.14 + 0.13 * level
            axis.plot([x(places[start]) - 0.05, x(places[stop]) + 0.05], [down] * 2, color=INK, lw=3.2)
        return figure


def rank_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Return the first and last index of each maximal group of ascending ranks that do not differ."""
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        stop = max(i for i in range(start, len(ranks)) if i == start or ranks[i] - rank < critical_difference)
        if stop > start and (not groups or stop > groups[-1][1]):
            groups.append((start, stop))
    return groups


def _levels(groups: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Assign a level to each group so that no two groups on one level touch."""
    ends: list[int] = []
    placed = []
    for start, stop in groups:
        level = next((i for i, end in enumerate(ends) if end < start), len(ends))
        ends[level : level + 1] = [stop]
        placed.append((start, stop, level))
    return placed
