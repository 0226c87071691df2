"""How figures look and are written; they are drawn on figures of their own, never on matplotlib's global state."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pqswarm._typing import FloatArray

__all__ = [
    "ALL_FEATURES",
    "BAND",
    "FAINT",
    "HERO",
    "INK",
    "LOSS",
    "STYLE",
    "WAVE",
    "EndLabel",
    "colour_of",
    "in_words",
    "label_ends",
    "marker_of",
    "save_figure",
    "settled",
    "spread",
]

INK = "#1b1f24"  # of all text and axes; a colour of its own, so that a page can replace it (svg.inline_svg)
WAVE = "#1f4e79"
BAND = "#b5541c"
FAINT = "#9aa5b1"
LOSS = "#d1344b"
HERO = "2D-UPSO"
ALL_FEATURES = "All features"
_FORMATS = (".png", ".svg", ".pdf")
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "svg.hashsalt": "pqswarm",
    "path.simplify": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
# Middle tones that show on white and on black, and differ with all kinds of colour blindness as well.
_COLOURS = {
    HERO: "#0b6fd6",
    ALL_FEATURES: "#9299a1",
    "BPSO": "#cfa105",
    "CBPSO": "#b95014",
    "chBPSO": "#b857aa",
    "GA": "#0bb35c",
    "ACO": "#756b45",
    "SFFS": "#5ea6ff",
    "2D-CLPSO": "#7a5fd0",
    "2D-GPSO": "#2a9d8f",
    "2D-LPSO": "#d9604f",
}
_MARKERS = {HERO: "o", ALL_FEATURES: "_", "BPSO": "s", "CBPSO": "D", "chBPSO": "^", "GA": "v", "ACO": "P", "SFFS": "X"}
_OTHER_COLOURS = ("#7a5fd0", "#d9604f", "#2a9d8f", "#c05a80", "#87962b", "#9a7b5c", "#5f7fa8", "#d08a4e", "#a04ac0")
_OTHER_MARKERS = ("<", ">", "p", "h", "d", "8", "*")


class EndLabel(NamedTuple):
    """A name to be written beside the end of a line: the axes, whose name, and the end in data coordinates."""

    axis: "Axes"
    title: str
    x: float
    y: float
    text: str = ""


def colour_of(title: str) -> str:
    """Return the colour of an algorithm, the same in all figures.

    Parameters
    ----------
    title : str
        As in :attr:`pqswarm.search.Search.title`, or ``"All features"``; other names get a colour that
        depends on nothing but the name.

    Returns
    -------
    str
        Such as ``"#0b6fd6"``.

    Examples
    --------
    >>> colour_of("2D-UPSO")
    '#0b6fd6'
    >>> colour_of("my own search") == colour_of("my own search")
    True
    """
    return _COLOURS.get(title) or _OTHER_COLOURS[crc32(title.encode()) % len(_OTHER_COLOURS)]


def marker_of(title: str) -> str:
    """Return the marker of an algorithm, in matplotlib's letters.

    Examples
    --------
    >>> marker_of("2D-UPSO"), marker_of("GA")
    ('o', 'v')
    """
    return _MARKERS.get(title) or _OTHER_MARKERS[crc32(title.encode()) % len(_OTHER_MARKERS)]


def in_words(name: str) -> str:
    """Return the name of a class or of a feature function in words.

    Examples
    --------
    >>> in_words("sag_with_harmonics"), in_words("dc_offset")
    ('Sag with harmonics', 'DC offset')
    """
    words = name.replace("_", " ")
    return "DC " + words[3:] if words.startswith("dc ") else words[:1].upper() + words[1:]


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
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise PqswarmError(f"cannot write a figure as {path.name!r}: its name must end in {', '.join(_FORMATS)}.")
    stamps = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(STYLE):
            figure.savefig(path, dpi=150, metadata=stamps)
    except OSError as error:
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
    return path


def settled(figure: Figure) -> Figure:
    """Lay the figure out once and round the places: the solver's last bits differ from run to run."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()  # labels of axes are placed by the first pass, and given room by the second
    figure.set_layout_engine("none")
    for axis in figure.axes:
        left, bottom, width, height = (round(value, 4) for value in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))
    return figure


def spread(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> "FloatArray":
    """Move places apart as little as possible (least squares) until neighbours are a gap apart.

    Parameters
    ----------
    places : sequence of float
        Where things would like to be, in any order.
    gap : float
        Least distance of two of them.
    low, high : float
        Limits of the result; where there is too little room the gap wins.

    Returns
    -------
    numpy.ndarray of float, shape (n,)
        Where they go; the order stays.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.0], gap=0.25).tolist()
    [0.375, 0.625, 0.0]
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    level = np.asarray(isotonic_regression(np.asarray(places, float)[order] - steps).x)
    result = np.empty(len(order))
    result[order] = np.clip(level, low, max(low, high - steps[-1])) + steps
    return result


def label_ends(figure: Figure, labels: Sequence[EndLabel], marked: bool = False) -> Figure:
    """Settle a figure and write names beside its axes, each near the end of its line, none over another.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        All else is drawn, and it has a layout engine.
    labels : sequence of EndLabel
        What to write.
    marked : bool
        Put the marker of the algorithm before its name.

    Returns
    -------
    matplotlib.figure.Figure
        The same figure.
    """
    start = 1.05 if marked else 1.035
    texts = [
        label.axis.text(
            start,
            0.5,
            label.text or label.title,
            transform=label.axis.transAxes,
            va="center_baseline",
            fontweight="bold" if label.title == HERO else "normal",
            parse_math=False,
        )
        for label in labels
    ]
    settled(figure)
    for axis in dict.fromkeys(label.axis for label in labels):
        mine = [(label, text) for label, text in zip(labels, texts, strict=True) if label.axis is axis]
        to_axes = (axis.transData - axis.transAxes).transform
        ends = to_axes([(label.x, label.y) for label, _ in mine])
        height = max(text.get_window_extent().height for _, text in mine) / axis.bbox.height
        places = spread(ends[:, 1].tolist(), 1.1 * height, 0.3 * height, 1.0).round(5)
        for (label, text), (x, y), place in zip(mine, ends.round(5), places, strict=True):
            text.set_y(place)
            style: dict[str, Any] = {"color": colour_of(label.title), "transform": axis.transAxes, "clip_on": False}
            axis.plot([x, max(x, 1.0)], [y, y], lw=1.0, ls=":" if x < 0.95 else "-", zorder=1.5, **style)
            axis.plot([max(x, 1.0), 1.02, 1.03], [y, place, place], lw=1.4, solid_capstyle="butt", **style)
            if marked and marker_of(label.title) != "_":
                axis.plot([1.035], [place], ls="", marker=marker_of(label.title), ms=5.5, **style)
    return figure
