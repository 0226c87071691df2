"""Figures for narrow screens: the same figure in a narrow layout, if it stays legible."""

import warnings
from itertools import combinations
from textwrap import fill

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from pqswarm.report.style import settle

_WIDTH = 4.0  # inches: text is then as large as that of the page
_LONG = 0.8  # of that width, beyond which text is wrapped
_MAX_TEXTS = 200
_MIN_AXES = 1.6  # inches


def narrowed(figure: Figure) -> Figure | None:
    """Lay a figure out for a narrow screen; return None, and leave it unusable, if texts would overlap."""
    if figure.get_figwidth() <= _WIDTH:
        return figure
    if any(axis.get_subplotspec() is None for axis in figure.axes) or len(figure.findobj(Text)) > _MAX_TEXTS:
        return None  # placed by hand, or too much text
    for axis in figure.axes:
        axis.set_in_layout(True)  # settle() took it out of the layout
    figure.set_layout_engine("constrained")
    figure.set_size_inches(_WIDTH, figure.get_figheight())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about axes without space, checked below
        settle(figure)
        for text, width in [(text, box.width / figure.bbox.width) for text, box in _visible_texts_when_narrow(figure)]:
            if width > _LONG:
                text.set_text(fill(text.get_text(), int(_LONG * len(text.get_text()) / width)))
    if any(axis.get_window_extent().width < _MIN_AXES * figure.dpi for axis in figure.axes if axis.get_visible()):
        return None
    page = figure.bbox.padded(1.0)
    boxes = [box for _, box in _visible_texts_when_narrow(figure)]
    inside = all(page.contains(*box.min) and page.contains(*box.max) for box in boxes)
    apart = not any(_overlap_when_narrow(a, b) for a, b in combinations(boxes, 2))
    return figure if inside and apart else None


def _visible_texts_when_narrow(figure: Figure) -> list[tuple[Text, Bbox]]:
    """The visible texts and their boxes in pixels."""
    ticks = {label for axis in figure.axes for one in (axis.xaxis, axis.yaxis) for label in _tick_labels(one)}
    shown = [text for text in figure.findobj(Text) if isinstance(text, Text) and text not in ticks]
    return [(text, text.get_window_extent()) for text in shown if text.get_visible() and text.get_text().strip()]


def _tick_labels(axis: Axis) -> list[Text]:
    """Labels of ticks outside the axes, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [label for tick in ticks if not low <= tick.get_loc() <= high for label in (tick.label1, tick.label2)]


def _overlap_when_narrow(a: Bbox, b: Bbox) -> bool:
    """Whether two boxes overlap beyond their borders."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return bool(width > 1.0 and height > 0.25 * min(a.height, b.height))
