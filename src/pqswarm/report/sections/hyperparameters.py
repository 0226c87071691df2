"""The question "How were the hyperparameters chosen?": the grid search with all features."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.evaluation import GridSearch
from pqswarm.report.paper import paper_overlay
from pqswarm.report.section import ClassifierSection, Content, Drawing
from pqswarm.report.sentences import describe_settings
from pqswarm.report.style import FAINT, INK, STYLE, settle
from pqswarm.report.summary import ClassifierSummary, StudySummary

__all__ = ["SECTION", "plot_grid"]


def _content(study: StudySummary, found: ClassifierSummary) -> Content:
    grid, theirs = found.grid, paper_overlay(study.plan, found.name).hyperparameters
    if grid is None:
        return Content()
    words = f"The best is {describe_settings(grid.best)}. This study used {describe_settings(found.hyperparameters)}"
    if theirs:
        words += ", as the paper did" if found.hyperparameters == theirs else f", the paper {describe_settings(theirs)}"
    drawing = Drawing(
        "",
        "Accuracy of all features for other hyperparameters",
        "Mean accuracy over the folds with all features, without noise. Ringed is the best.",
        lambda: plot_grid(grid),
    )
    return Content(words=[f"{words}."], drawings=[drawing])


SECTION = ClassifierSection("hyperparameters", "How were the hyperparameters chosen?", _content)


def plot_grid(grid: GridSearch) -> Figure:
    """Draw the accuracy against the last hyperparameter, a line for each value of the others.

    Parameters
    ----------
    grid : GridSearch
        The search.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; the best is ringed.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axis = figure.subplots()
        for name in dict.fromkeys(point[:-1] for point in grid.points):
            mine = [i for i, point in enumerate(grid.points) if point[:-1] == name]
            label = ", ".join(map(str, name)) or None
            axis.plot([grid.points[i][-1] for i in mine], 100 * grid.accuracies[mine], "o-", ms=4, lw=1.2, label=label)
        best = int(grid.accuracies.argmax())
        axis.plot(grid.points[best][-1], 100 * grid.accuracies[best], "o", ms=13, mfc="none", mec=INK, label="best")
        values = sorted({point[-1] for point in grid.points})
        if all(isinstance(value, float) and value > 0 for value in values):
            axis.set_xscale("log")
        elif all(isinstance(value, int) for value in values):
            axis.set_xticks(np.array(values))
        axis.set_xlabel({"width": "kernel width", "n_neighbors": "neighbours"}.get(grid.names[-1], grid.names[-1]))
        axis.set_ylabel("mean accuracy over the folds [%]")
        axis.legend(frameon=False)
        axis.grid(color=FAINT, alpha=0.35)
        return settle(figure)
