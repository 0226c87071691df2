"""How figures look and are saved: colors of algorithms, labels next to lines, tooltips; without global state."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.rcsetup import cycler
from matplotlib.transforms import ScaledTranslation

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name

INK = "#1b1f24"  # of text and axes; used for nothing else, so that a page can replace it (svg.inline_svg)
FAINT = "#9aa5b1"
GREY = "#9299a1"  # of all features
LOSS = "#d1344b"
FIGURE_FORMATS = ("svg", "pdf", "png")
WIDE = 7.5  # inches: shown 960 px wide, 9 points are 16 px
NARROW = 4.2  # inches: shown 360 px wide, 9 points are 11 px
COLUMN = 3.5  # inches: one column of IEEE's journals
PAGE = 7.16  # inches: two columns
# Mid tones, legible on white and black and distinct for color-blind readers; the first is the baseline's.
COLORS = (
    "#0b6fd6",
    "#d24b00",
    "#5abb8e",
    "#9e5a9e",
    "#b4ac00",
    "#d20869",
    "#1e7870",
    "#da9e5a",
    "#2d9626",
    "#e17069",
    "#5a783c",
    "#00b4da",
)
WAVE, BAND = COLORS[:2]
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "axes.prop_cycle": cycler(color=COLORS),
    "text.hinting": "none",  # otherwise text width depends on the resolution
    "figure.constrained_layout.w_pad": 0.07,
    "figure.constrained_layout.h_pad": 0.05,
    "svg.hashsalt": "pqswarm",
    "pdf.fonttype": 42,  # TrueType, which journals ask for; the default, Type 3, is refused by some
    "path.simplify": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
styled = mpl.rc_context(STYLE)
"""Decorator of functions that draw a figure."""
_NO_LAYOUT: Any = {"figure.autolayout": False, "figure.constrained_layout.use": False}
_MIDDLE = 0.2  # luminance at which white and ink are equally legible


def save_figure(figure: Figure, path: str | Path, width: float | None = None) -> Path:
    """Save a figure as PNG, SVG or PDF, by its suffix, and return the path; the same figure gives the same bytes.

    Parameters
    ----------
    figure, path : matplotlib.figure.Figure, str or Path
        The figure, and the file; missing folders are created.
    width : float, default=None
        Width to which a PDF is scaled, with its text [inches].

    Returns
    -------
    Path
        The file written.
    """
    from pqswarm._base.files import write_atomically

    path = Path(path)
    ending = path.suffix.lower()[1:]
    if ending not in FIGURE_FORMATS:
        endings = ", ".join(f".{name}" for name in FIGURE_FORMATS)
        raise PqswarmError(f"cannot write a figure as {path.name!r}: the name must end in {endings}.")
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    with mpl.rc_context(STYLE):
        if width is not None and ending == "pdf":
            return write_atomically(path, lambda file: _save_scaled_pdf_figure(figure, file, width, stamps))
        return write_atomically(path, lambda file: figure.savefig(file, format=ending, dpi=150, metadata=stamps))


def _save_scaled_pdf_figure(figure: Figure, file: IO[bytes], width: float, stamps: dict[str, None]) -> None:
    """Write a page on which text and lines are scaled with the axes, which another size of the figure would not do."""
    from matplotlib.backends import backend_pdf

    backend: Any = backend_pdf  # has no types
    figure.set_dpi(72)
    size = figure.get_size_inches()
    scale = width / size[0]
    pdf = backend.PdfFile(file, metadata=stamps)
    pdf.newPage(*(scale * size))
    pdf.width, pdf.height = size  # markers outside of it are left out
    pdf.output(scale, 0, 0, scale, 0, 0, backend.Op.concat_matrix)
    renderer = backend.RendererPdf(pdf, 72, size[1], size[0])
    figure.draw(renderer)
    renderer.finalize()
    pdf.finalize()
    pdf.close()


def settle_layout(figure: Figure) -> Figure:
    """Lay the figure out once and round the positions: the last bits of the solver differ between runs."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    with mpl.rc_context(_NO_LAYOUT):
        figure.set_layout_engine(None)  # "none" leaves a placeholder that makes saving draw the figure twice
    for axis in figure.axes:
        left, bottom, width, height = (round(value, 4) for value in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))
    return figure


def draw_guides(axis: Axes, which: Literal["both", "x", "y"] = "both") -> None:
    """Draw faint lines at the ticks, below everything else."""
    axis.grid(axis=which, color=FAINT, lw=0.5, alpha=0.35)
    axis.set_axisbelow(True)


def draw_rows(axis: Axes, names: Sequence[str]) -> None:
    """Name the rows of a figure from top to bottom, without ticks, with faint vertical lines."""
    axis.set_yticks(range(len(names)), names, parse_math=False)
    axis.tick_params(axis="y", length=0)
    draw_guides(axis, "x")


def draw_grid(axis: Axes, rows: int, columns: int) -> None:
    """Draw a grid of empty cells, transparent to the page."""
    axis.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def draw_cell(
    axis: Axes, place: tuple[int, int], color: str, opacity: float, text: str = "", size: float = 9.0, tip: str = ""
) -> None:
    """Draw a translucent cell; only on a nearly opaque one the text is white."""
    i, j = place
    look: dict[str, Any] = {"fc": color, "ec": "none", "alpha": round(opacity, 3)}
    cell = Rectangle((j - 0.5, i - 0.5), 1, 1, **look)
    axis.add_artist(mark(cell, tips=[tip] if tip else []))  # add_artist does not change the limits
    cell.set_in_layout(False)  # it lies inside the axes
    if text:
        ink = "#ffffff" if _color_luminance(color, opacity) < _MIDDLE else INK
        axis.text(j, i, text, ha="center", va="center_baseline", fontsize=size, color=ink).set_in_layout(False)


def _color_luminance(color: str, opacity: float) -> float:
    """Relative luminance (WCAG) of a color over white; over black, white is legible on all of ours."""
    rgb = 1 - opacity * (1 - np.array(to_rgb(color)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


_Artist = TypeVar("_Artist", bound=Artist)
_ATTRIBUTE = "_pqswarm_mark"


@dataclass(frozen=True)
class SeriesMark:
    """The series of an artist, empty for none, its tooltips: none, one for the artist, or one per point, and a key."""

    series: str = ""
    tips: tuple[str, ...] = ()
    key: str = ""


def mark(artist: _Artist, series: str = "", tips: Sequence[str] = (), key: str = "") -> _Artist:
    """Set series and tooltips of an artist on a page, and the key of a specification, and return the artist."""
    setattr(artist, _ATTRIBUTE, SeriesMark(series, tuple(tips), key))
    return artist


def mark_of(artist: Artist) -> SeriesMark:
    """Return the series and tooltips that :func:`mark` set."""
    known: SeriesMark = getattr(artist, _ATTRIBUTE, SeriesMark())
    return known


_MARKERS = "osD^vPX<>ph"  # one fewer than colors, so that repeated colors have other markers
_DASHES = ("-", "--", "-.")
_USUAL = ("2D-UPSO", "GA", "ACO", "BPSO", "CBPSO", "MERIT", "SFFS", "SFFS all sizes", "chBPSO")
"""Algorithms that look the same in every report."""


class Palette:
    """The colors and markers of the algorithms of a study, and which one is emphasized.

    The algorithms of the built-in plans look the same everywhere. Others have what is left, the baseline first. With
    many algorithms colors repeat, with other markers and dashes.

    Parameters
    ----------
    titles : iterable of str
        Titles of the algorithms, in the order of the plan.
    baseline : str, default=None
        Title of the algorithm to emphasize.

    Examples
    --------
    >>> palette = Palette(["GA", "mine", "yours"], baseline="mine")
    >>> [(palette.color(title), palette.marker(title)) for title in ("mine", "GA", "yours")]
    [('#0b6fd6', 'o'), ('#d24b00', 's'), ('#5abb8e', 'D')]
    """

    def __init__(self, titles: Iterable[str], baseline: str | None = None) -> None:
        self.baseline = baseline
        dashes = (kind for kind in cycle(_DASHES) for _ in COLORS)
        looks = zip(cycle(COLORS), cycle(_MARKERS), dashes, strict=False)
        order = list(dict.fromkeys(titles if baseline is None else [baseline, *titles]))
        usual = dict(zip(_USUAL, looks, strict=False))
        kept = {title: usual.pop(title) for title in order if title in usual}
        free = chain(usual.values(), looks)
        self._looks = {title: kept[title] if title in kept else next(free) for title in order}

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
        """Return titles in drawing order: the emphasized one last, on top."""
        return sorted(titles, key=lambda title: title == self.baseline)

    def line(self, title: str) -> dict[str, Any]:
        """Return matplotlib's line properties of an algorithm."""
        color, _, dashes = self._look(title)
        strong = title == self.baseline
        return {"color": color, "ls": dashes, "lw": 2.2 if strong else 1.3, "zorder": 3.0 if strong else 2.0}

    def label(
        self, axis: Axes, title: str, x: float, y: float, *, marked: bool = False, joined: bool = True
    ) -> "EndLabel":
        """Return the label for the end of an algorithm's line, or for points, to which it is not joined."""
        marker = self.marker(title) if marked else ""
        return EndLabel(axis, title, x, y, self.color(title), title == self.baseline, marker, title, joined)


class EndLabel(NamedTuple):
    """A label next to the end of a line, joined to it: axes, text, end in data coordinates, look and series."""

    axis: Axes
    text: str
    x: float
    y: float
    color: str
    strong: bool = False
    marker: str = ""
    series: str = ""
    joined: bool = True


def spread_line_labels(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> FloatArray:
    """Move positions apart (least squares), in order, to a gap apart, if need be beyond `low` and `high`."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(order))
    level = np.asarray(isotonic_regression(np.asarray(places, float)[order] - steps).x)
    result = np.empty(len(order))
    result[order] = np.clip(level, low, max(low, high - steps[-1])) + steps
    return result


def label_line_ends(figure: Figure, labels: Sequence[EndLabel]) -> Figure:
    """Settle a figure and write labels next to its axes, near the ends of the lines, without overlap."""
    start = 21.0 if any(label.marker for label in labels) else 13.0  # points beyond the axes
    texts = []
    for label in labels:
        axis = label.axis
        look: dict[str, Any] = {
            "va": "center_baseline",
            "fontweight": "bold" if label.strong else "normal",
            "transform": axis.transAxes + ScaledTranslation(start / 72, 0.0, figure.dpi_scale_trans),
        }
        texts.append(mark(axis.text(1.0, 0.5, label.text, parse_math=False, **look), label.series))
    settle_layout(figure)
    for axis in dict.fromkeys(label.axis for label in labels):
        mine = [(label, text) for label, text in zip(labels, texts, strict=True) if label.axis is axis]
        to_axes = (axis.transData - axis.transAxes).transform
        ends = to_axes([(label.x, label.y) for label, _ in mine])
        height = max(text.get_window_extent().height for _, text in mine) / axis.bbox.height
        places = spread_line_labels(ends[:, 1].tolist(), 1.1 * height, 0.3 * height, 1.0).round(5)
        bend, stop, middle = (1.0 + np.array([6.0, 11.0, 14.5]) * figure.dpi / 72 / axis.bbox.width).round(5)
        for (label, text), (x, y), place in zip(mine, ends.round(5), places, strict=True):
            text.set_y(place)
            style: dict[str, Any] = {"color": label.color, "transform": axis.transAxes, "clip_on": False}
            lines = []
            if label.joined:
                lines += axis.plot([x, max(x, 1.0)], [y, y], lw=1.0, ls=":" if x < 0.95 else "-", zorder=1.5, **style)
                lines += axis.plot([max(x, 1.0), bend, stop], [y, place, place], lw=1.4, solid_capstyle="butt", **style)
            if label.marker:
                lines += axis.plot([middle], [place], ls="", marker=label.marker, ms=5.5, **style)
            for line in lines:
                mark(line, label.series)
    return figure
