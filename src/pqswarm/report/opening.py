"""The first screen of a report: what was found, in one line, one chart and one table, and what cannot be told."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.claims import adjusted_p, claims_table
from pqswarm.report.section import Content, Drawing
from pqswarm.report.shared.palette import label_ends
from pqswarm.report.shared.run_points import draw_points, run_points
from pqswarm.report.shared.sentences import count, enumerate_words, percent, runs
from pqswarm.report.style import NARROW, STYLE, WIDE
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.study import load_plan

__all__ = ["opening", "plot_overview", "say_limits"]

_ALPHA = 0.05
_SEEN = 2.8  # standard errors of a difference that a two-sided test at 5 % finds in 8 of 10 studies


def opening(study: StudySummary) -> Content:
    """Return what stands first: the answer is a line for each classifier, the words are what cannot be told."""
    drawing = Drawing(
        "overview",
        "Error rate against number of features",
        "Down and to the left is better. Small marks are runs, large ones means, hollow ones searches that run once.",
        lambda: plot_overview(study),
        narrow=lambda: plot_overview(study, narrow=True),
    )
    return Content(
        answer=[_finding(found) for found in study.classifiers],
        drawings=[drawing],
        tables=[claims_table(study) or _means(study)],
        words=[say_limits(study)],
    )


def _finding(found: ClassifierSummary) -> str:
    """What was found with one classifier, in a sentence: who leads, and who cannot be told from the leader."""
    errors = {title: np.round(found.errors(title), 12) for title in found.runs}
    means = {title: (float(values.mean()), float(found.sizes(title).mean())) for title, values in errors.items()}
    leader = min(means, key=lambda title: means[title])
    p = adjusted_p(errors, leader)
    level = sorted((t for t in means if t == leader or p[t] > _ALPHA), key=lambda title: means[title])
    smallest = min(level, key=lambda title: means[title][::-1])
    (error, size), n = means[leader], found.n_features
    mean, whole = "mean " if found.n_runs > 1 else "", f"all {n} features {percent(found.all_features)}"
    if error >= found.all_features:
        return f"{found.name}: no algorithm has a lower {mean}error rate than {whole}."
    if found.n_runs == 1 or len(level) == 1:
        best = f"the lowest {mean}error rate," if len(means) > 1 else f"a {mean}error rate of"
        return f"{found.name}: {leader} has {best} {percent(error)} with {count(round(size, 1))} features; {whole}."
    if len(level) == len(means):
        told = f"{found.name}: the algorithms cannot be told apart by their mean error rates"
        return f"{told} ({_span(means, level)}; {whole})."
    return (
        f"{found.name}: {enumerate_words(level)} have the lowest mean error rates, which cannot be told apart "
        f"({_span(means, level)}; {whole}); of them {smallest} selects the fewest features, "
        f"{count(round(means[smallest][1], 1))}."
    )


def _span(means: dict[str, tuple[float, float]], titles: Sequence[str]) -> str:
    """The range of mean error rates."""
    least, most = (f"{100 * bound(means[title][0] for title in titles):.2f}" for bound in (min, max))
    return f"{least} %" if least == most else f"{least} to {most} %"


def say_limits(study: StudySummary) -> str:
    """Return in a sentence what a study of this size cannot tell."""
    gaps = [gap for found in study.classifiers if (gap := _visible(found)) is not None]
    parts = []
    if gaps:
        seen = enumerate_words([f"{100 * gap:.2f} ({name})" for name, gap in gaps])
        parts.append(
            f"mean error rates that lie less than about {seen} percentage points apart (what a test at 5 % finds in 8 "
            f"of 10 such studies)"
        )
    else:
        parts.append("whether another run would have found the same")
    parts.append(f"error rates less than {100 / study.n_events:.2g} points apart, which is one {study.item}")
    paper, plan = load_plan("paper"), study.plan
    if plan.paper and plan.max_evaluations < paper.max_evaluations:
        parts.append(f"what the paper's {paper.max_evaluations} evaluations would have found")
    number = min(found.n_runs for found in study.classifiers)
    return (
        f"What {runs(number)} of {plan.max_evaluations} evaluations on {study.n_events} {study.item}s cannot tell: "
        f"{'; '.join(parts)}. All of it holds for these {study.item}s, and for others only as far as these resemble "
        f"them."
    )


def _visible(found: ClassifierSummary) -> tuple[str, float] | None:
    """The difference of two mean errors that so many runs would show, by the spread of the two best algorithms."""
    if found.n_runs < 2:
        return None
    best = sorted((found.errors(title) for title in found.runs), key=lambda errors: float(errors.mean()))[:2]
    variance = float(np.mean([errors.var(ddof=1) for errors in best]))
    # Runs that all end alike say nothing about those that would not.
    return (found.name, _SEEN * sqrt(2 * variance / found.n_runs)) if variance > 1e-20 else None


def _means(study: StudySummary) -> Table:
    """The means of the algorithms, a row for each, where there is no paper to compare with."""
    first = study.classifiers[0]
    rows: list[dict[str, Any]] = [{"algorithm": title} for title in first.runs]
    columns: dict[str, tuple[str, str]] = {"algorithm": ("Algorithm", "")}
    lowest: list[str] = []
    for found in study.classifiers:
        keys = f"error {found.name}", f"size {found.name}"
        for row in rows:
            errors, sizes = found.errors(row["algorithm"]), found.sizes(row["algorithm"])
            row |= dict(zip(keys, (100 * float(errors.mean()), float(sizes.mean())), strict=True))
        columns |= {keys[0]: (f"error rate [%], {found.name}", ".2f"), keys[1]: (f"features, {found.name}", ".1f")}
        lowest += keys
    whole = enumerate_words([f"{percent(found.all_features)} ({found.name})" for found in study.classifiers])
    return Table(
        "means",
        f"Means of {runs(min(found.n_runs for found in study.classifiers))}",
        rows,
        columns,
        lowest=tuple(lowest),
        note=f"The lowest of each column in bold. All {first.n_features} features have an error rate of {whole}.",
    )


def plot_overview(study: "StudySummary", *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers of a study, side by side.

    Parameters
    ----------
    study : StudySummary
        What :func:`summarize` has read.
    narrow : bool
        Draw it for the screen of a phone: one below the other.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each classifier; small marks are runs, large ones their means, and each name stands at the median
        error of its runs.

    Examples
    --------
    >>> from pqswarm.study import Store
    >>> def first_look(folder):
    ...     with Store(folder) as store:
    ...         return plot_overview(summarize(store))
    """
    n = len(study.classifiers)
    columns = 1 if narrow or n == 1 else 2
    rows = -(-n // columns)
    most = max(len(found.runs) + len(found.sequential) for found in study.classifiers)
    with mpl.rc_context(STYLE):
        height = max(2.7, 0.8 + 0.22 * most)
        figure = Figure(
            figsize=(NARROW if narrow else 9.2 if columns > 1 else WIDE, rows * height), layout="constrained"
        )
        labels = []
        for i, found in enumerate(study.classifiers):
            axis = figure.add_subplot(rows, columns, i + 1)
            points, fronts, numbers = run_points(found)
            whole = (found.n_features, found.all_features)
            labels += draw_points(axis, points, whole, study.palette, fronts, numbers)
            axis.set_title(found.name, fontweight="bold", parse_math=False)
            if i % columns == 0:
                axis.set_ylabel("error rate [%]")
            if i + columns >= n:
                axis.set_xlabel("features selected")
        return label_ends(figure, labels)
