"""The colours and markers of the algorithms of a study, and names beside the ends of their lines."""

from collections.abc import Iterable, Sequence
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from pqswarm.errors import unknown_name
from pqswarm.report.shared.interactive import mark
from pqswarm.report.style import COLORS, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm._base.typing import FloatArray

_MARKERS = "osD^vPX<>ph"  # one fewer than colours, so that repeated colours have other markers
_DASHES = ("-", "--", "-.")
_USUAL = ("GA", "ACO", "BPSO", "CBPSO", "chBPSO", "SFFS", "SFFS all sizes", "MOSAIC", "MERIT", "2D-UPSO")
"""Algorithms that look the same in every report."""


class Palette:
    """The colours and markers of the algorithms of a study, and which one is emphasised.

    The baseline, or the first algorithm if there is none, is a blue circle. With many algorithms colours repeat, with
    other markers and dashes.

    Parameters
    ----------
    titles : iterable of str
        Titles of the algorithms, in the order of the plan.
    baseline : str, optional
        Title of the algorithm to emphasise.

    Examples
    --------
    >>> palette = Palette(["GA", "mine", "yours"], baseline="mine")
    >>> [(palette.color(title), palette.marker(title)) for title in ("mine", "GA", "yours")]
    [('#0b6fd6', 'o'), ('#d24b00', 's'), ('#5abb8e', 'D')]
    """

    def __init__(self, titles: Iterable[str], baseline: str | None = None) -> None:
        self.baseline = baseline
        dashes = (kind for kind in cycle(_DASHES) for _ in COLORS[1:])
        others = zip(cycle(COLORS[1:]), cycle(_MARKERS[1:]), dashes, strict=False)
        order = list(dict.fromkeys(titles if baseline is None else [baseline, *titles]))
        self._looks = dict.fromkeys(order[:1], (COLORS[0], _MARKERS[0], _DASHES[0]))
        rest = order[1:]
        usual = dict(zip(_USUAL, others, strict=False))
        kept = {title: usual.pop(title) for title in rest if title in usual}
        free = chain(usual.values(), others)
        self._looks |= {title: kept[title] if title in kept else next(free) for title in rest}

    def _look(self, title: str) -> tuple[str, str, str]:
        if title not in self._looks:
            raise unknown_name("algorithm", title, self._looks)
        return self._looks[title]

    def color(self, title: str) -> str:
        """Return the color of an algorithm, such as ``"#0b6fd6"``."""
        return self._look(title)[0]

    def marker(self, title: str) -> str:
        """Return the matplotlib marker of an algorithm."""
        return self._look(title)[1]

    def drawn(self, titles: Iterable[str]) -> list[str]:
        """Return titles in drawing order: the emphasised one last, on top."""
        return sorted(titles, key=lambda title: title == self.baseline)

    def line(self, title: str) -> dict[str, Any]:
        """Return matplotlib's line properties of an algorithm."""
        color, _, dashes = self._look(title)
        strong = title == self.baseline
        return {"color": color, "ls": dashes, "lw": 2.2 if strong else 1.3, "zorder": 3.0 if strong else 2.0}

    def label(self, axis: "Axes", title: str, x: float, y: float, marked: bool = False) -> "EndLabel":
        """Return the label for the end of an algorithm's line."""
        marker = self.marker(title) if marked else ""
        return EndLabel(axis, title, x, y, self.color(title), title == self.baseline, marker, title)


class EndLabel(NamedTuple):
    """A label beside the end of a line: axes, text, end in data coordinates, look and series."""

    axis: "Axes"
    text: str
    x: float
    y: float
    color: str
    strong: bool = False
    marker: str = ""
    series: str = ""


def spread_end_labels(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> "FloatArray":
    """Move positions apart (least squares), in order, to a gap apart, if need be beyond `low` and `high`."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    level = np.asarray(isotonic_regression(np.asarray(places, float)[order] - steps).x)
    result = np.empty(len(order))
    result[order] = np.clip(level, low, max(low, high - steps[-1])) + steps
    return result


def label_ends(figure: Figure, labels: Sequence[EndLabel]) -> Figure:
    """Settle a figure and write labels beside its axes, near the ends of the lines, without overlap."""
    start = 21.0 if any(label.marker for label in labels) else 13.0  # points beyond the axes
    texts = []
    for label in labels:
        axis = label.axis
        look: dict[str, Any] = {"va": "center_baseline", "fontweight": "bold" if label.strong else "normal"}
        look["transform"] = axis.transAxes + ScaledTranslation(start / 72, 0.0, figure.dpi_scale_trans)
        texts.append(mark(axis.text(1.0, 0.5, label.text, parse_math=False, **look), label.series))
    settle(figure)
    for axis in dict.fromkeys(label.axis for label in labels):
        mine = [(label, text) for label, text in zip(labels, texts, strict=True) if label.axis is axis]
        to_axes = (axis.transData - axis.transAxes).transform
        ends = to_axes([(label.x, label.y) for label, _ in mine])
        height = max(text.get_window_extent().height for _, text in mine) / axis.bbox.height
        places = spread_end_labels(ends[:, 1].tolist(), 1.1 * height, 0.3 * height, 1.0).round(5)
        bend, stop, middle = (1.0 + np.array([6.0, 11.0, 14.5]) * figure.dpi / 72 / axis.bbox.width).round(5)
        for (label, text), (x, y), place in zip(mine, ends.round(5), places, strict=True):
            text.set_y(place)
            style: dict[str, Any] = {"color": label.color, "transform": axis.transAxes, "clip_on": False}
            lines = axis.plot([x, max(x, 1.0)], [y, y], lw=1.0, ls=":" if x < 0.95 else "-", zorder=1.5, **style)
            lines += axis.plot([max(x, 1.0), bend, stop], [y, place, place], lw=1.4, solid_capstyle="butt", **style)
            if label.marker:
                lines += axis.plot([middle], [place], ls="", marker=label.marker, ms=5.5, **style)
            for line in lines:
                mark(line, label.series)
    return figure
