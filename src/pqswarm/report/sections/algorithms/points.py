"""The figure of errors and subset sizes of the runs of a study."""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from pqswarm.report.shared.palette import Palette, label_ends
from pqswarm.report.shared.run_points import Points, check_points, draw_points
from pqswarm.report.style import NARROW, STYLE, WIDE


def plot_error_against_size(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    fronts: Points | None = None,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the error of each run against the size of its subset.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        Sizes and errors of the runs of each algorithm. A single run is drawn as a ring.
    all_features : (int, float), optional
        Number of all features and their error, drawn as a line.
    palette : Palette, optional
        Colours and markers, and the algorithm to emphasise.
    fronts : mapping of str to (array of int, array of float), optional
        Sizes and lowest errors of algorithms that find a subset of each size, drawn as a line.
    numbers : sequence of int, optional
        Run numbers; 0, 1, 2, ... by default.
    narrow : bool
        Draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; each name is on the right, at the median error of its runs.

    Examples
    --------
    >>> figure = plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['GA', 'All 99 features']
    """
    checked = check_points(points)
    palette = palette or Palette(checked)
    with mpl.rc_context(STYLE):
        height = 1.2 + 0.24 * len(checked)
        figure = Figure(
            figsize=(NARROW, max(3.7, height)) if narrow else (WIDE, max(4.4, height)), layout="constrained"
        )
        axis = figure.subplots()
        labels = draw_points(axis, checked, all_features, palette, check_points(fronts or {}, empty=True), numbers)
        axis.set_xlabel("features selected")
        axis.set_ylabel("error rate [%]")
        return label_ends(figure, labels)
