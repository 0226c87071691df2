"""Figures made of cells: numbers on coloured ground, legible on light and on dark pages."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from pqswarm.report.style import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_cell", "draw_grid"]

_MIDDLE = 0.2  # luminance on which white and ink show equally well


def draw_grid(axis: "Axes", rows: int, columns: int) -> None:
    """Empty cells: what is not drawn stays the colour of the page."""
    axis.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=FAINT, lw=0.5, alpha=0.5)
    axis.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def draw_cell(
    axis: "Axes", i: int, j: int, colour: str, opacity: float, text: str, size: float, faint: bool = False
) -> None:
    """A cell over the page, whatever its colour; only on a nearly full one the text cannot be ink."""
    axis.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=colour, ec="none", alpha=round(opacity, 3)))
    ink = "#ffffff" if _luminance(colour, opacity) < _MIDDLE else INK
    axis.text(j, i, text, ha="center", va="center_baseline", fontsize=size, color=ink, alpha=0.6 if faint else None)


def _luminance(colour: str, opacity: float) -> float:
    """Relative luminance (WCAG) of a colour laid over white; over black, white shows on all of ours."""
    rgb = 1 - opacity * (1 - np.array(to_rgb(colour)))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
