"""The question "How were the hyperparameters chosen?": the grid search with all features."""

import matplotlib as mpl
from matplotlib.figure import Figure

from pqswarm.report.section import Content, Drawing
from pqswarm.report.style import STYLE, settle
from pqswarm.report.summary import ClassifierSummary, StudySummary

__all__ = ["content"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Show the grid search, if there was one."""
    grid, theirs = found.grid, found.paper.hyperparameters
    if grid is None:
        return Content()

    def draw() -> Figure:
        with mpl.rc_context(STYLE):
            figure = grid.plot()
            figure.set_size_inches(7.5, 4.2)
            return settle(figure)

    kind, used = type(found.classifier), found.classifier.describe()
    words = f"The best of the grid is {kind(grid.best).describe()}. This study used {used}"
    if theirs:
        words += ", as the paper did" if kind(theirs).describe() == used else f", the paper {kind(theirs).describe()}"
    caption = "Accuracy of all features for other hyperparameters"
    note = f"Mean accuracy over the folds with all features, on {study.searched_on}. Ringed: the best it could use."
    return Content(words=[f"{words}."], drawings=[Drawing("", caption, note, draw)])
