"""Figures of searches."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pqswarm.report.style import BAND, STYLE, WAVE, settle
from pqswarm.search import SearchResult

__all__ = ["plot_front", "plot_searches"]


def plot_searches(results: Sequence[SearchResult]) -> Figure:
    """Draw the lowest error, and the size of its subset, against the evaluations, one line for each run.

    Parameters
    ----------
    results : sequence of SearchResult
        Runs; that with the lowest error is drawn in colour, the others are faint.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import Folds, GaussianNBEvaluator
    >>> from pqswarm.search import minimize_many
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> figure = plot_searches(minimize_many("bpso", evaluator, seeds=[0, 1], max_evaluations=100))
    >>> [axis.get_ylabel() for axis in figure.axes]
    ['lowest error', 'features in its subset']
    """
    best = min(results, key=lambda result: (result.error, result.size))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 5), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for result in sorted(results, key=lambda result: result is best):
            strong, steps = result is best, np.vstack([result.improvements, result.improvements[-1]])
            after = np.append(result.improvements[:, 0] + 1, result.n_evaluations)
            style = {"lw": 1.8 if strong else 0.8, "alpha": 1.0 if strong else 0.35, "drawstyle": "steps-post"}
            upper.plot(after, steps[:, 1], color=WAVE, **style)
            lower.plot(after, steps[:, 2], color=BAND, **style)
        runs = "one run" if len(results) == 1 else f"the best of {len(results)} runs in full colour"
        found = f"{best.algorithm}: error {best.error:.4g} with {best.size} of {best.mask.size} features"
        upper.set_title(f"{found} ({runs})", fontsize=10)
        upper.set_ylabel("lowest error")
        lower.set_ylabel("features in its subset")
        lower.set_xlabel("evaluations")
        lower.set_ylim(bottom=0)
        return settle(figure)


def plot_front(sizes: npt.ArrayLike, scores: npt.ArrayLike, stds: npt.ArrayLike, chosen: int | None = None) -> Figure:
    """Draw the best score of each size, and its spread.

    Parameters
    ----------
    sizes, scores, stds : array_like of shape (k,)
        Number of features, mean score and its standard deviation over the splits, of each subset on the front; a
        standard deviation may be NaN.
    chosen : int, optional
        The size of the subset that was selected.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = plot_front([1, 2, 4], [0.8, 0.9, 0.93], [0.05, 0.04, 0.04], chosen=2)
    >>> figure.axes[0].get_xlabel()
    'features'
    """
    size, score, std = (np.asarray(values, dtype=np.float64) for values in (sizes, scores, stds))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.errorbar(size, score, np.nan_to_num(std), color=WAVE, marker="o", ms=4, lw=1.2, elinewidth=0.8, capsize=2)
        if chosen is not None:
            axes.plot(size[size == chosen], score[size == chosen], "o", ms=10, mfc="none", mec=BAND, mew=1.8)
            axes.set_title(f"selected: {chosen} features", fontsize=10)
        axes.set_xlabel("features")
        axes.set_ylabel("score, mean and standard deviation over the splits")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return settle(figure)
