"""What is written in figures, whether it can be read, and which lines belong to a series."""

import itertools

from pqswarm.report.style import mark_of


def boxes(figure):
    figure.draw_without_rendering()
    found = []
    for axis in figure.axes:
        ticks = []
        for ruler in (axis.xaxis, axis.yaxis) if axis.axison else ():
            low, high = sorted(ruler.get_view_interval())
            ticks += [tick.label1 for tick in ruler.get_major_ticks() if low <= tick.get_loc() <= high]
        found += [t for t in [*axis.texts, *ticks, axis.xaxis.label, axis.yaxis.label] if t.get_text()]
        found += [t for t in (axis._left_title,) if t.get_text()]
    return {text: text.get_window_extent() for text in found if text.get_visible()}


def assert_legible(figure):
    """No two texts overlap, and none leaves the figure; turned ones are left to the eye. Returns the texts."""
    found = boxes(figure)
    upright = {text: box for text, box in found.items() if text.get_rotation() == 0}
    for (one, a), (two, b) in itertools.combinations(upright.items(), 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(shared) < 0.5, (one.get_text(), two.get_text())
    page = figure.bbox.padded(1)
    for text, box in found.items():
        assert page.contains(box.x0, box.y0), text.get_text()
        assert page.contains(box.x1, box.y1), text.get_text()
    return list(found)


def lines_of(axis, title):
    return [line for line in axis.lines if mark_of(line).series == title]
