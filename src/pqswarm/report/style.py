"""How figures look and are written; they are drawn on figures of their own, never on matplotlib's global state."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError

__all__ = ["BAND", "FAINT", "STYLE", "WAVE", "save_figure", "settled"]

WAVE = "#1f4e79"
BAND = "#b5541c"
FAINT = "#9aa5b1"
_FORMATS = (".png", ".svg", ".pdf")
STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "svg.hashsalt": "pqswarm",
    "path.simplify": False,
}


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
    figure.set_layout_engine("none")
    for axis in figure.axes:
        left, bottom, width, height = (round(value, 4) for value in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))
    return figure
