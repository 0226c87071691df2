"""How figures look and are saved; none uses matplotlib's global state."""

from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.rcsetup import cycler

from pqswarm.errors import PqswarmError
from pqswarm.report.shared.interactive import mark

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
_NO_LAYOUT: Any = {"figure.autolayout": False, "figure.constrained_layout.use": False}
_MIDDLE = 0.2  # luminance at which white and ink are equally legible


def save_figure(figure: Figure, path: str | Path, width: float | None = None) -> Path:
    """Save a figure as PNG, SVG or PDF, by its suffix, and return the path; the same figure gives the same bytes.

    Parameters
    ----------
    figure, path : matplotlib.figure.Figure, str or Path
        The figure, and the file; missing folders are created.
    width : float, optional
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
            return write_atomically(path, lambda file: _write_scaled_pdf(figure, file, width, stamps))
        return write_atomically(path, lambda file: figure.savefig(file, format=ending, dpi=150, metadata=stamps))


def _write_scaled_pdf(figure: Figure, file: IO[bytes], width: float, stamps: dict[str, None]) -> None:
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


def settle(figure: Figure) -> Figure:
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
        ink = "#ffffff" if _luminance(color, opacity) < _MIDDLE else INK
        axis.text(j, i, text, ha="center", va="center_baseline", fontsize=size, color=ink).set_in_layout(False)


def _luminance(color: str, opacity: float) -> float:
    """Relative luminance (WCAG) of a color over white; over black, white is legible on all of ours."""
    rgb = 1 - opacity * (1 - np.array(to_rgb(color)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
