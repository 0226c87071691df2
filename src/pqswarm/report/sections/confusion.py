"""The question "Which classes are confused?": confusion matrices with all and with the selected features."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._typing import IntArray
from pqswarm.errors import PqswarmError
from pqswarm.events import class_title
from pqswarm.report.section import Content, Drawing
from pqswarm.report.style import FAINT, LOSS, STYLE, draw_cell, draw_grid, settle
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table

__all__ = ["content", "plot_confusion"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Show the confusion matrices of stage II."""
    noise = found.noise
    if noise is None:
        return Content()
    drawing = Drawing(
        "",
        f"Confusion matrices: all features, and the best subset of {found.reference}",
        f"Rows are the true classes, columns the predicted ones, of {study.searched_on}. The diagonal counts the "
        f"{study.noun}s that are classified correctly, the red cells those that are not.",
        lambda: plot_confusion(noise.before, noise.after, study.class_names),
    )
    return Content(drawings=[drawing], tables=most_frequent(found, study.class_names))


def most_frequent(found: ClassifierSummary, class_names: Sequence[str], count: int = 8) -> list[Table]:
    """Return the table of the pairs of classes that are most often taken for each other; none if no event is wrong."""
    if found.noise is None:
        return []
    wrong = [matrix + matrix.T for matrix in (found.noise.before, found.noise.after)]
    pairs = list(combinations(range(len(class_names)), 2))
    totals = [max(1, sum(int(both[pair]) for pair in pairs)) for both in wrong]
    often = sorted(pairs, key=lambda pair: [-int(both[pair]) for both in wrong])[:count]
    rows: list[dict[str, Any]] = []
    for pair in often:
        before, after = (int(both[pair]) for both in wrong)
        if before or after:
            names = " and ".join(class_title(class_names[i]) for i in pair)
            row = {"classes": names, "before": before, "before_share": 100 * before / totals[0]}
            rows.append(row | {"after": after, "after_share": 100 * after / totals[1]})
    if not rows:
        return []
    return [
        Table(
            "confusions",
            f"Most frequent confusions with {found.name}",
            rows,
            {
                "before": ("all features", ""),
                "before_share": ("% of all errors", ".1f"),
                "after": ("selected features", ""),
                "after_share": ("% of all errors", ".1f"),
            },
            note=f"Events of one class taken for the other, either way round, without noise, in the folds of stage II: "
            f"with all features, by which the pairs are sorted, and with the best subset of {found.reference}.",
        )
    ]


def plot_confusion(before: IntArray, after: IntArray, class_names: Sequence[str]) -> Figure:
    """Draw two confusion matrices: with all features, and with the selected ones.

    Parameters
    ----------
    before, after : array of int, shape (n_classes, n_classes)
        Numbers of events with all and with the selected features; rows are true classes, columns predicted ones.
    class_names : sequence of str
        Names of the classes, in the order of the rows.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels; the redder a cell, the more errors, on one scale.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_confusion(np.array([[8, 2], [1, 9]]), np.array([[10, 0], [1, 9]]), ["sag", "swell"])
    >>> [axis.get_title(loc="left") for axis in figure.axes]
    ['All features: 3 of 20 misclassified (15.0 %)', 'Selected features: 1 of 20 misclassified (5.00 %)']
    """
    n = len(class_names)
    panels = {"All features": np.asarray(before), "Selected features": np.asarray(after)}
    for name, matrix in panels.items():
        if matrix.shape != (n, n) or n == 0 or (matrix < 0).any():
            raise PqswarmError(f"the matrix of {name.lower()} must hold {n} x {n} counts, as there are {n} classes.")
    worst = max(1, *(int(matrix[~np.eye(n, dtype=bool)].max(initial=0)) for matrix in panels.values()))
    names = [class_title(name) for name in class_names]
    with mpl.rc_context(STYLE):
        label = 0.075 * max(map(len, names))
        figure = Figure(figsize=(0.8 + label + 2 * max(0.265 * n, 2.8), 0.9 + label + 0.265 * n), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for axis, (name, matrix) in zip(axes, panels.items(), strict=True):
            draw_grid(axis, n, n)
            for (i, j), count in np.ndenumerate(matrix):
                if count and i == j:
                    draw_cell(axis, i, j, FAINT, 0.28, str(count), 7.0, faint=True)
                elif count:
                    draw_cell(axis, i, j, LOSS, 0.2 + 0.8 * int(count) / worst, str(count), 7.5)
            # The end of each name is held at its column, however wide the reader's font is.
            held: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
            axis.set_xticks(range(n), names, fontsize=8, parse_math=False, **held)
            axis.set_yticks(range(n), names, fontsize=8, parse_math=False)
            wrong, total = int(matrix.sum() - np.trace(matrix)), int(matrix.sum())
            axis.set_title(
                f"{name}: {wrong} of {total} misclassified ({100 * wrong / max(total, 1):#.3g} %)", fontsize=9
            )
            axis.set_xlabel("predicted")
        axes[0].set_ylabel("true")
        return settle(figure)
