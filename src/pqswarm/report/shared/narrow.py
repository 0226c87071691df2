"""Figures for narrow screens: the same figure, laid out anew for the width of a telephone, where that can be read."""

import warnings
from itertools import combinations
from textwrap import fill

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from pqswarm.report.style import settle

__all__ = ["narrowed"]

_WIDTH = 4.0  # inches, in which letters are as large as those of the page
_LONG = 0.8  # of that width, beyond which words are broken into lines
_MANY = 200  # words
_LEAST = 1.6  # inches that must remain for the axes


def narrowed(figure: Figure) -> Figure | None:
    """Lay a figure out for a narrow screen, and return it; None, and the figure spoilt, if words would collide then.

    Examples
    --------
    >>> figure = Figure(figsize=(7.5, 3), layout="constrained")
    >>> axis = figure.subplots()
    >>> float(narrowed(figure).get_figwidth())
    4.0
    >>> figure = Figure(figsize=(7.5, 3), layout="constrained")
    >>> axis = figure.subplots()
    >>> texts = [axis.text(x, 0.5, "a long name") for x in (0.1, 0.2, 0.3)]
    >>> narrowed(figure) is None
    True
    """
    if figure.get_figwidth() <= _WIDTH:
        return figure
    if any(axis.get_subplotspec() is None for axis in figure.axes) or len(figure.findobj(Text)) > _MANY:
        return None  # its places are of its own making, or it is full of words
    for axis in figure.axes:
        axis.set_in_layout(True)  # what was placed by hand, as settling does, is not
    figure.set_layout_engine("constrained")
    figure.set_size_inches(_WIDTH, figure.get_figheight())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of axes for which no room is left, which is seen below
        settle(figure)
        for text, width in [(text, box.width / figure.bbox.width) for text, box in _words(figure)]:
            if width > _LONG:
                text.set_text(fill(text.get_text(), int(_LONG * len(text.get_text()) / width)))
    if any(axis.get_window_extent().width < _LEAST * figure.dpi for axis in figure.axes if axis.get_visible()):
        return None
    page, boxes = figure.bbox.padded(1.0), [box for _, box in _words(figure)]
    inside = all(page.contains(*box.min) and page.contains(*box.max) for box in boxes)
    apart = not any(_overlap(a, b) for a, b in combinations(boxes, 2))
    return figure if inside and apart else None


def _words(figure: Figure) -> list[tuple[Text, Bbox]]:
    """The words that are drawn, and where they stand, in pixels."""
    ticks = {label for axis in figure.axes for one in (axis.xaxis, axis.yaxis) for label in _tick_labels(one)}
    shown = [text for text in figure.findobj(Text) if isinstance(text, Text) and text not in ticks]
    return [(text, text.get_window_extent()) for text in shown if text.get_visible() and text.get_text().strip()]


def _tick_labels(axis: Axis) -> list[Text]:
    """Labels of ticks that lie outside of the axes and are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [label for tick in ticks if not low <= tick.get_loc() <= high for label in (tick.label1, tick.label2)]


def _overlap(a: Bbox, b: Bbox) -> bool:
    """Whether two boxes share more than their borders."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return bool(width > 1.0 and height > 0.25 * min(a.height, b.height))
