"""The first screen of a report: one sentence per classifier, one figure, one table, and the limits of the study."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.claims import adjusted_p, claims_table
from pqswarm.report.section import Content, adaptive_drawing
from pqswarm.report.shared.run_points import draw_panels, run_points
from pqswarm.report.shared.sentences import count, count_runs, enumerate_words, percent
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.study import load_plan

_ALPHA = 0.05
_MIN_RUNS = 4  # of each algorithm, for a significant difference at 5 %
_DETECTABLE = 2.8  # standard errors of a difference that a two-sided test at 5 % detects with a power of 80 %


def opening(study: StudySummary) -> Content:
    """Return the first screen: its answer has a line for each classifier, its words state the limits of the study."""
    drawing = adaptive_drawing(
        "overview",
        "Error rate against number of features",
        "Lower left is better. Small markers are runs, large ones means, hollow ones searches that run only once.",
        plot_overview,
        study,
    )
    return Content(
        answer=[_opening_sentence(found) for found in study.classifiers],
        drawings=[drawing],
        tables=[claims_table(study) or _opening_means_table(study)],
        words=[say_limits(study)],
    )


def _opening_sentence(found: ClassifierSummary) -> str:
    """The result with one classifier: the best algorithms, and a search that runs only once if it has a lower error."""
    lowest = min(float(found.errors(title).mean()) for title in found.runs)
    single = min(found.sequential, key=lambda title: (found.sequential[title].error, title), default=None)
    if single is None or round(found.sequential[single].error, 12) >= round(lowest, 12):
        return _sentence_on_best(found)
    record = found.sequential[single]
    return (
        f"{_sentence_on_best(found)} The single run of {single} is lower: {percent(record.error)} with "
        f"{count(record.size)} features."
    )


def _sentence_on_best(found: ClassifierSummary) -> str:
    """The repeated algorithms with the lowest mean error, and those not significantly different, in one sentence."""
    errors = {title: np.round(found.errors(title), 12) for title in found.runs}
    means = {title: (float(values.mean()), float(found.sizes(title).mean())) for title, values in errors.items()}
    leader = min(means, key=lambda title: means[title])
    p = adjusted_p(errors, leader)
    level = sorted((t for t in means if t == leader or p[t] > _ALPHA), key=lambda title: means[title])
    smallest = min(level, key=lambda title: means[title][::-1])
    (error, size), n = means[leader], found.n_features
    name = f"{found.name}, on this data set"
    mean, whole = "mean " if found.n_runs > 1 else "", f"all {n} features: {percent(found.all_features)}"
    if error >= found.all_features:
        return f"{name}: no algorithm has a lower {mean}error rate than {whole.replace(':', ' with')}."
    if found.n_runs == 1 or len(level) == 1:
        best = f"the lowest {mean}error rate," if len(means) > 1 else f"a {mean}error rate of"
        return f"{name}: {leader} has {best} {percent(error)} with {count(round(size, 1))} features ({whole})."
    if len(level) == len(means):
        same = f"{name}: the mean error rates of the algorithms do not differ significantly"
        return f"{same} ({_opening_error_range(means, level)}; {whole})."
    return (
        f"{name}: {enumerate_words(level)} have the lowest mean error rates, with no significant difference "
        f"({_opening_error_range(means, level)}; {whole}). {smallest} selects the fewest features of these, "
        f"{count(round(means[smallest][1], 1))}."
    )


def _opening_error_range(means: dict[str, tuple[float, float]], titles: Sequence[str]) -> str:
    """The range of mean error rates."""
    low, high = (f"{100 * bound(means[title][0] for title in titles):.2f}" for bound in (min, max))
    return f"{low} %" if low == high else f"{low} to {high} %"


def say_limits(study: StudySummary) -> str:
    """Return what a study of this size can detect, and what it cannot."""
    plan, item = study.plan, study.item
    number = min(found.n_runs for found in study.classifiers)
    size = f"With {count_runs(number)} of {plan.max_evaluations} evaluations on {study.n_events} {item}s, this study"
    gaps = [gap for found in study.classifiers if (gap := _opening_detectable_difference(found)) is not None]
    if gaps:
        points = enumerate_words([f"{100 * gap:.2f} ({name})" for name, gap in gaps])
        power = "percentage points or more (80 % power at the 5 % level)"
        sentences = [f"{size} can detect differences in mean error rate of about {points} {power}."]
    elif number > 1:
        sentences = [f"{size} cannot show significant differences: at least {_MIN_RUNS} runs per algorithm are needed."]
    else:
        sentences = [f"{size} cannot tell whether another run would give the same result."]
    sentences.append(f"One misclassified {item} changes an error rate by {100 / study.n_events:.2g} percentage points.")
    paper = load_plan("paper")
    if plan.paper and plan.max_evaluations < paper.max_evaluations:
        sentences.append(f"The paper's {paper.max_evaluations} evaluations might give other results.")
    several = "[dataset] seeds" if study.generated else "[[datasets]]"
    sentences.append(f"All this is said of one data set: several show what holds on others ({several} in a plan).")
    return " ".join(sentences)


def _opening_detectable_difference(found: ClassifierSummary) -> tuple[str, float] | None:
    """The difference in mean error that the runs can detect, from the variance of the two best algorithms."""
    if found.n_runs < _MIN_RUNS:
        return None
    best = sorted((found.errors(title) for title in found.runs), key=lambda errors: float(errors.mean()))[:2]
    variance = float(np.mean([errors.var(ddof=1) for errors in best]))
    # Runs that all end with the same error say nothing about the variance.
    return (found.name, _DETECTABLE * sqrt(2 * variance / found.n_runs)) if variance > 1e-20 else None


def _opening_means_table(study: StudySummary) -> Table:
    """The means of the algorithms, one row each, for studies without a comparison with the paper."""
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
        f"Means over {count_runs(min(found.n_runs for found in study.classifiers))}",
        rows,
        columns,
        lowest=tuple(lowest),
        note=f"The lowest value of each column is in bold. Error rate of all {first.n_features} features: {whole}.",
    )


def plot_overview(study: "StudySummary", *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers of a study, side by side: runs, and larger, their means."""
    return draw_panels(
        {found.name: (*run_points(found), (found.n_features, found.all_features)) for found in study.classifiers},
        study.palette,
        narrow,
    )
