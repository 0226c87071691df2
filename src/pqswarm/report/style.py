"""How figures look and are written; they are drawn on figures of their own, never on matplotlib's global state."""

from collections.abc import Iterable, Sequence
from itertools import chain, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.rcsetup import cycler
from matplotlib.transforms import ScaledTranslation

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.interactive import mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm._base.typing import FloatArray

__all__ = [
    "BAND",
    "FAINT",
    "FIGURE_FORMATS",
    "GREY",
    "INK",
    "LOSS",
    "NARROW",
    "STYLE",
    "WAVE",
    "WIDE",
    "EndLabel",
    "Palette",
    "draw_cell",
    "draw_grid",
    "label_ends",
    "save_figure",
    "settle",
    "spread",
]

INK = "#1b1f24"  # of all text and axes; a colour of its own, so that a page can replace it (svg.inline_svg)
FAINT = "#9aa5b1"
GREY = "#9299a1"  # of all features, to which the selected ones are compared
LOSS = "#d1344b"
FIGURE_FORMATS = ("svg", "pdf", "png")
WIDE, NARROW = 7.5, 4.2  # inches: shown 960 and 360 px wide, 9 points are 16 and 11 px
# Middle tones that show on white and on black and differ with all kinds of colour blindness; the first is the hero's.
_COLOURS = (
    *("#0b6fd6", "#d24b00", "#5abb8e", "#9e5a9e", "#b4ac00", "#d20869"),
    *("#1e7870", "#da9e5a", "#2d9626", "#e17069", "#5a783c", "#00b4da"),
)
WAVE, BAND = _COLOURS[:2]
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "axes.prop_cycle": cycler(color=_COLOURS),
    "text.hinting": "none",  # else the width of a text depends on the resolution
    "figure.constrained_layout.w_pad": 0.07,
    "figure.constrained_layout.h_pad": 0.05,
    "svg.hashsalt": "pqswarm",
    "path.simplify": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
_MARKERS = "osD^vPX<>ph"  # one less than colours: where those repeat, the markers are others
_DASHES = ("-", "--", "-.")
_NO_LAYOUT: Any = {"figure.autolayout": False, "figure.constrained_layout.use": False}
_MIDDLE = 0.2  # luminance on which white and ink show equally well


class Palette:
    """The colours and markers of the algorithms of one study, by their order, and which one is emphasised.

    The reference, or the first if there is none, is blue and round. Of many algorithms the colours repeat, with other
    markers and dashes.

    Parameters
    ----------
    titles : iterable of str
        Titles of the algorithms, in the order of the plan.
    reference : str, optional
        Title of the one that is emphasised.

    Examples
    --------
    >>> palette = Palette(["GA", "mine", "yours"], reference="mine")
    >>> [(palette.colour(title), palette.marker(title)) for title in ("mine", "GA", "yours")]
    [('#0b6fd6', 'o'), ('#d24b00', 's'), ('#5abb8e', 'D')]
    """

    def __init__(self, titles: Iterable[str], reference: str | None = None) -> None:
        self.reference = reference
        dashes = (kind for kind in cycle(_DASHES) for _ in _COLOURS[1:])
        others = zip(cycle(_COLOURS[1:]), cycle(_MARKERS[1:]), dashes, strict=False)
        looks = chain([(_COLOURS[0], _MARKERS[0], _DASHES[0])], others)
        order = dict.fromkeys(titles if reference is None else [reference, *titles])
        self._looks = dict(zip(order, looks, strict=False))

    def _look(self, title: str) -> tuple[str, str, str]:
        if title not in self._looks:
            raise unknown_name("algorithm", title, self._looks)
        return self._looks[title]

    def colour(self, title: str) -> str:
        """Return the colour of an algorithm, such as ``"#0b6fd6"``."""
        return self._look(title)[0]

    def marker(self, title: str) -> str:
        """Return the marker of an algorithm, in matplotlib's letters."""
        return self._look(title)[1]

    def drawn(self, titles: Iterable[str]) -> list[str]:
        """Return titles in the order of drawing: the emphasised one comes last and lies on top."""
        return sorted(titles, key=lambda title: title == self.reference)

    def line(self, title: str) -> dict[str, Any]:
        """Return colour, dashes, width and depth of the line of an algorithm, in matplotlib's words."""
        colour, _, dashes = self._look(title)
        strong = title == self.reference
        return {"color": colour, "ls": dashes, "lw": 2.2 if strong else 1.3, "zorder": 3.0 if strong else 2.0}

    def label(self, axis: "Axes", title: str, x: float, y: float, marked: bool = False) -> "EndLabel":
        """Return the label of an algorithm's line, to be written beside its end."""
        marker = self.marker(title) if marked else ""
        return EndLabel(axis, title, x, y, self.colour(title), title == self.reference, marker, title)


class EndLabel(NamedTuple):
    """A name to be written beside the end of a line: the axes, the name, the end in data coordinates, look, series."""

    axis: "Axes"
    text: str
    x: float
    y: float
    colour: str
    strong: bool = False
    marker: str = ""
    series: str = ""


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG, SVG or PDF, by its suffix; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : str or Path
        Where to; missing folders are made.

    Returns
    -------
    Path
        Where it was written.
    """
    from pqswarm._base.files import write_atomically

    path = Path(path)
    ending = path.suffix.lower()[1:]
    if ending not in FIGURE_FORMATS:
        endings = ", ".join(f".{name}" for name in FIGURE_FORMATS)
        raise PqswarmError(f"cannot write a figure as {path.name!r}: its name must end in {endings}.")
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    with mpl.rc_context(STYLE):
        return write_atomically(path, lambda file: figure.savefig(file, format=ending, dpi=150, metadata=stamps))


def settle(figure: Figure) -> Figure:
    """Lay the figure out, once, and round the places: the solver's last bits differ from run to run."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    with mpl.rc_context(_NO_LAYOUT):
        figure.set_layout_engine(None)  # "none" would leave a placeholder, for which figures are drawn twice when saved
    for axis in figure.axes:
        left, bottom, width, height = (round(value, 4) for value in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))
    return figure


def spread(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> "FloatArray":
    """Move places apart as little as possible (least squares) until neighbours are a gap apart.

    The order stays; where there is too little room between `low` and `high`, the gap wins.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    level = np.asarray(isotonic_regression(np.asarray(places, float)[order] - steps).x)
    result = np.empty(len(order))
    result[order] = np.clip(level, low, max(low, high - steps[-1])) + steps
    return result


def label_ends(figure: Figure, labels: Sequence[EndLabel]) -> Figure:
    """Settle a figure and write names beside its axes, each near the end of its line, none over another."""
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
        places = spread(ends[:, 1].tolist(), 1.1 * height, 0.3 * height, 1.0).round(5)
        bend, stop, middle = (1.0 + np.array([6.0, 11.0, 14.5]) * figure.dpi / 72 / axis.bbox.width).round(5)
        for (label, text), (x, y), place in zip(mine, ends.round(5), places, strict=True):
            text.set_y(place)
            style: dict[str, Any] = {"color": label.colour, "transform": axis.transAxes, "clip_on": False}
            lines = axis.plot([x, max(x, 1.0)], [y, y], lw=1.0, ls=":" if x < 0.95 else "-", zorder=1.5, **style)
            lines += axis.plot([max(x, 1.0), bend, stop], [y, place, place], lw=1.4, solid_capstyle="butt", **style)
            if label.marker:
                lines += axis.plot([middle], [place], ls="", marker=label.marker, ms=5.5, **style)
            for line in lines:
                mark(line, label.series)
    return figure


def draw_grid(axis: "Axes", rows: int, columns: int) -> None:
    """Empty cells: what is not drawn stays the colour of the page."""
    axis.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def draw_cell(
    axis: "Axes", place: tuple[int, int], colour: str, opacity: float, text: str = "", size: float = 9.0, tip: str = ""
) -> None:
    """A cell over the page, whatever its colour; only on a nearly full one the text cannot be ink."""
    i, j = place
    look: dict[str, Any] = {"fc": colour, "ec": "none", "alpha": round(opacity, 3)}
    cell = Rectangle((j - 0.5, i - 0.5), 1, 1, **look)
    axis.add_artist(mark(cell, tips=[tip] if tip else []))  # the limits of the axes are set: it need not widen them
    cell.set_in_layout(False)  # it lies inside of the axes: laying out need not look at it
    if text:
        ink = "#ffffff" if _luminance(colour, opacity) < _MIDDLE else INK
        axis.text(j, i, text, ha="center", va="center_baseline", fontsize=size, color=ink).set_in_layout(False)


def _luminance(colour: str, opacity: float) -> float:
    """Relative luminance (WCAG) of a colour laid over white; over black, white shows on all of ours."""
    rgb = 1 - opacity * (1 - np.array(to_rgb(colour)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
