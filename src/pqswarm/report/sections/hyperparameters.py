"""How the hyperparameters were chosen: the grid search with all features."""

import numpy as np
from matplotlib.figure import Figure

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.section import Content, adaptive_drawing
from pqswarm.report.style import FAINT, NARROW, WIDE, EndLabel, label_line_ends, mark, settle_layout, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary


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
    note = f"Mean accuracy over the folds with all features, on {study.searched_on}. Circled: the best usable point."
    return Content(words=[f"{words}."], drawings=[adaptive_drawing("", caption, note, plot_hyperparameter_grid, grid)])


@styled
def plot_hyperparameter_grid(grid: GridSearchResult, *, narrow: bool = False) -> Figure:
    """Draw accuracy against the last hyperparameter, one named line per value of the others; the best is circled."""
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
