"""How the study was run: hyperparameters, version, machine, time, seeds, the plan, and the paper that it follows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.paper import INCONSISTENCIES
from pqswarm.report.section import Content, adaptive_drawing, duration
from pqswarm.report.style import FAINT, INK, NARROW, WIDE, EndLabel, label_line_ends, mark, settle_layout, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, Summary
from pqswarm.study import format_plan


def how_content(study: Summary) -> Content:
    """State version, machine and time, and show the plan, which has the seeds."""
    machine = study.about.machine
    run_on = (
        f"pqswarm {study.about.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']})."
    )
    seconds = getattr(study, "seconds", None)  # of a multiverse they are not read
    took = "" if seconds is None else f" All searches together took {duration(seconds)} of computing time."
    words = f"{run_on}{took} The same plan gives the same numbers, regardless of workers, device and interruptions."
    return Content(words=[words], listings={"The plan, to repeat the study": format_plan(study.plan)})


def how_paper_is_inconsistent(_: Summary) -> Content:
    """List the inconsistencies of the paper."""
    words = (
        "The study follows F. Hafiz, A. Swain, C. Naik, N. Patel, “Efficient feature selection of power quality events "
        "using two dimensional (2D) particle swarms”, Applied Soft Computing 81 (2019). What to know about its values:"
    )
    return Content(words=[words], points=INCONSISTENCIES)


def grid_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show the grid search, unless the paper's part does."""
    return Content() if study.plan.paper else hyperparameters_content(study, classifier)


def hyperparameters_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show the grid search, if there was one."""
    grid = classifier.grid
    theirs = classifier.paper.hyperparameters
    if grid is None:
        return Content()
    kind = type(classifier.classifier)
    used = classifier.classifier.describe()
    words = f"The best point of the grid is {kind(grid.best).describe()}. This study used {used}"
    if theirs:
        words += (
            ", as the paper did" if kind(theirs).describe() == used else f", the paper used {kind(theirs).describe()}"
        )
    caption = "Accuracy of all features against hyperparameters"
    marked = {"used here": classifier.classifier.settings} | ({"the paper's": theirs} if theirs else {})
    note = (
        f"{words}. Mean accuracy over the folds with all features, on {study.searched_on}. Circle: the best usable "
        f"point; diamond: the point that was used{'; square: that of the paper' if theirs else ''}."
    )
    return Content(drawings=[adaptive_drawing("", caption, note, plot_hyperparameter_grid, grid, marked)])


_GRID_MARKERS = ("D", "s")


@styled
def plot_hyperparameter_grid(
    grid: GridSearchResult, marked: Mapping[str, Mapping[str, Any]] | None = None, *, narrow: bool = False
) -> Figure:
    """Draw accuracy against the last hyperparameter, one named line per value of the others, and marked points."""
    figure = grid.plot()
    figure.set_size_inches(NARROW if narrow else WIDE, 3.3 if narrow else 4.2)
    (axis,) = figure.axes
    if (legend := axis.get_legend()) is not None:
        legend.remove()
    axis.grid(color=FAINT, lw=0.5, alpha=0.35)
    *lines, ring = axis.get_lines()
    name = axis.get_xlabel()
    labels = []
    mark(ring, tips=[f"best: {float(np.ravel(ring.get_ydata())[0]):.2f} %"])
    for (what, settings), shape in zip((marked or {}).items(), _GRID_MARKERS, strict=False):
        point = tuple(settings.get(hyperparameter) for hyperparameter in grid.names)
        if point in grid.points:
            accuracy = 100 * float(grid.accuracies[grid.points.index(point)])
            size = 15 if shape == "s" else 9
            look: dict[str, Any] = {"ls": "", "marker": shape, "ms": size, "mfc": "none", "mec": INK, "mew": 1.4}
            mark(axis.plot([point[-1]], [accuracy], zorder=4, **look)[0], tips=[f"{what}: {accuracy:.2f} %"])
    for line in lines:
        title = "" if str(line.get_label()).startswith("_") else str(line.get_label())
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        said = f"{title}, {name}" if title else name
        mark(line, title, [f"{said} {at:g}: {value:.2f} %" for at, value in zip(x, y, strict=True)])
        if title:
            end = int(x.argmax())
            labels.append(EndLabel(axis, title, x[end], y[end], str(line.get_color()), series=title))
    if axis.get_xscale() == "log":
        axis.xaxis.set_major_formatter("{x:g}")  # exponents would be too small on a narrow screen
    elif narrow and len(axis.get_xticks()) > 8:
        axis.set_xticks(axis.get_xticks()[::2])
    return label_line_ends(figure, labels) if labels else settle_layout(figure)
