"""The first screen of a report: one sentence per classifier, one figure, one table, and the limits of the study."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import BoolArray
from pqswarm.report.claims import adjusted_p, check_claims_in_specifications, claims_table, table_of_fractions
from pqswarm.report.section import Content, adaptive_drawing
from pqswarm.report.sections.datasets import say_leader
from pqswarm.report.sections.specifications import specification_curve
from pqswarm.report.shared.run_points import Panel, draw_panels, run_points
from pqswarm.report.shared.sentences import count, count_runs, enumerate_words, percent
from pqswarm.report.summary import (
    ClassifierAcrossDatasets,
    ClassifierAcrossSpecifications,
    ClassifierSummary,
    DatasetSummary,
    MultiverseSummary,
    StudySummary,
)
from pqswarm.report.tables import Table
from pqswarm.study import load_plan

_ALPHA = 0.05
_MIN_RUNS = 4  # of each algorithm, for a significant difference at 5 %
_DETECTABLE = 2.8  # standard errors of a difference that a two-sided test at 5 % detects with a power of 80 %


def overview_of_dataset(study: DatasetSummary) -> Content:
    """Return the first screen of the report on one data set, where the unit is the run."""
    drawing = adaptive_drawing(
        "overview",
        "Error rate against number of features",
        "Lower left is better. Small markers are runs, large ones means, hollow ones searches that run only once.",
        plot_overview,
        study,
    )
    return Content(
        answer=[_say_best(classifier) for classifier in study.classifiers],
        drawings=[drawing],
        tables=[claims_table(study) or _means_table(study)],
        words=[say_limits(study)],
    )


def overview_of_study(study: StudySummary) -> Content:
    """Return the first screen of the report on several data sets, which are the unit."""
    drawing = adaptive_drawing(
        "overview",
        "Error rate against number of features",
        "Lower left is better. Small markers are data sets (means over runs), large ones their means.",
        plot_overview,
        study,
    )
    claims = claims_table(study)
    words = (
        f"The unit of all tests is the data set ({len(study.datasets)}), not the run: the results say what to expect "
        f"on further data sets of the same kind. For the report on one data set: pqswarm report DIR --dataset NAME."
    )
    return Content(
        answer=[say_leader(study, classifier) for classifier in study.classifiers],
        drawings=[drawing],
        tables=[] if claims is None else [claims],
        words=[words],
    )


def overview_of_multiverse(study: MultiverseSummary) -> Content:
    """Return the first screen of the report of a multiverse, where the unit is the specification."""
    claims = {each.name: check_claims_in_specifications(study, each) for each in study.classifiers}
    first = study.classifiers[0]
    n_datasets = len(study.datasets)
    over = "are over runs"
    if n_datasets > 1:
        over = f"and intervals are over {n_datasets} data sets, the same seeds in all specifications"
    words = (
        f"A specification is one way to settle what the plan leaves open; its means {over}. Click a specification in a "
        f"figure for the keys it sets; filter specifications by choice above the figure."
    )
    return Content(
        answer=[_say_fractions(study, each, claims[each.name]) for each in study.classifiers],
        drawings=[specification_curve(study, first, "error", f"{first.slug}-curve-error")],
        tables=[table_of_fractions(study, claims)],
        words=[words],
    )


def plot_overview(study: DatasetSummary | StudySummary, *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers of a study: runs, or means on data sets, and larger, their means."""
    if isinstance(study, DatasetSummary):
        return draw_panels({each.name: runs_panel(each) for each in study.classifiers}, study.palette, narrow)
    panels = {each.name: datasets_panel(each) for each in study.classifiers}
    return draw_panels(panels, study.palette, narrow, "data set")


def runs_panel(classifier: ClassifierSummary) -> Panel:
    """Return the points of the runs with one classifier."""
    return *run_points(classifier), (classifier.n_features, classifier.all_features)


def datasets_panel(classifier: ClassifierAcrossDatasets) -> Panel:
    """Return the points of the means on each data set with one classifier."""
    first = next(iter(classifier.datasets.values()))
    points = {title: (classifier.means("size", title), classifier.means("error", title)) for title in classifier.titles}
    return points, {}, list(classifier.datasets), (first.n_features, float(classifier.all_features.mean()))


def _say_best(classifier: ClassifierSummary) -> str:
    """The result with one classifier: the best algorithms, and a search that runs only once if it has a lower error."""
    sentence = _say_best_repeated(classifier)
    lowest = min(float(classifier.errors(title).mean()) for title in classifier.runs)
    single = min(classifier.sequential, key=lambda title: (classifier.sequential[title].error, title), default=None)
    if single is None or round(classifier.sequential[single].error, 12) >= round(lowest, 12):
        return sentence
    record = classifier.sequential[single]
    return (
        f"{sentence} The single run of {single} is lower: {percent(record.error)} with {count(record.size)} features."
    )


def _say_best_repeated(classifier: ClassifierSummary) -> str:
    """The repeated algorithms with the lowest mean error, and those not significantly different, in one sentence."""
    errors = {title: np.round(classifier.errors(title), 12) for title in classifier.runs}
    means = {title: (float(values.mean()), float(classifier.sizes(title).mean())) for title, values in errors.items()}
    leader = min(means, key=lambda title: means[title])
    p = adjusted_p(errors, leader)
    level = sorted((t for t in means if t == leader or p[t] > _ALPHA), key=lambda title: means[title])
    smallest = min(level, key=lambda title: means[title][::-1])
    error, size = means[leader]
    name = f"{classifier.name}, on this data set"
    mean = "mean " if classifier.n_runs > 1 else ""
    whole = f"all {classifier.n_features} features: {percent(classifier.all_features)}"
    if error >= classifier.all_features:
        return f"{name}: no algorithm has a lower {mean}error rate than {whole.replace(':', ' with')}."
    if classifier.n_runs == 1 or len(level) == 1:
        best = f"the lowest {mean}error rate," if len(means) > 1 else f"a {mean}error rate of"
        return f"{name}: {leader} has {best} {percent(error)} with {count(round(size, 1))} features ({whole})."
    bounds = _say_error_range([means[title][0] for title in level])
    if len(level) == len(means):
        return f"{name}: the mean error rates of the algorithms do not differ significantly ({bounds}; {whole})."
    return (
        f"{name}: {enumerate_words(level)} have the lowest mean error rates, with no significant difference "
        f"({bounds}; {whole}). {smallest} selects the fewest features of these, "
        f"{count(round(means[smallest][1], 1))}."
    )


def _say_error_range(errors: Sequence[float]) -> str:
    low = f"{100 * min(errors):.2f}"
    high = f"{100 * max(errors):.2f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _say_fractions(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, claims: Mapping[str, BoolArray]
) -> str:
    """In how many specifications the baseline is ahead, and which others are ahead of it."""
    error, size = list(claims.values())[:2]
    text = (
        f"{classifier.name}: over {study.n_counted} specifications of the plan{study.restriction}, "
        f"{classifier.baseline} has the lowest mean error rate in {int(error.sum())} and the smallest subsets in "
        f"{int(size.sum())}"
    )
    ahead = [
        f"{claim.partition(' has ')[0]} has a lower error rate than {classifier.baseline} in {int(holds.sum())}"
        for claim, holds in claims.items()
        if claim.endswith(f"than {classifier.baseline}")
    ]
    return f"{text}; {enumerate_words(ahead)}." if ahead else f"{text}."


def say_limits(study: DatasetSummary) -> str:
    """Return what a study of this size can detect, and what it cannot."""
    plan = study.plan
    item = study.item
    n_runs = min(classifier.n_runs for classifier in study.classifiers)
    size = f"With {count_runs(n_runs)} of {plan.max_evaluations} evaluations on {study.n_events} {item}s, this study"
    gaps = {classifier.name: _detectable_difference(classifier) for classifier in study.classifiers}
    detectable = [f"{100 * gap:.2f} ({name})" for name, gap in gaps.items() if gap is not None]
    if detectable:
        power = "percentage points or more (80 % power at the 5 % level)"
        can = f"can detect differences in mean error rate of about {enumerate_words(detectable)} {power}."
    elif n_runs > 1:
        can = f"cannot show significant differences: at least {_MIN_RUNS} runs per algorithm are needed."
    else:
        can = "cannot tell whether another run would give the same result."
    sentences = [
        f"{size} {can}",
        f"One misclassified {item} changes an error rate by {100 / study.n_events:.2g} percentage points.",
    ]
    paper = load_plan("paper")
    if plan.paper and plan.max_evaluations < paper.max_evaluations:
        sentences.append(f"The paper's {paper.max_evaluations} evaluations might give other results.")
    several = "[dataset] seeds" if study.generated else "[[datasets]]"
    sentences.append(f"All this is said of one data set: several show what holds on others ({several} in a plan).")
    return " ".join(sentences)


def _detectable_difference(classifier: ClassifierSummary) -> float | None:
    """The difference in mean error that the runs can detect, from the variance of the two best algorithms."""
    if classifier.n_runs < _MIN_RUNS:
        return None
    errors = sorted((classifier.errors(title) for title in classifier.runs), key=lambda each: float(each.mean()))
    variance = float(np.mean([each.var(ddof=1) for each in errors[:2]]))
    # Runs that all end with the same error say nothing about the variance.
    return _DETECTABLE * sqrt(2 * variance / classifier.n_runs) if variance > 1e-20 else None


def _means_table(study: DatasetSummary) -> Table:
    """The means of the algorithms, one row each, for studies without a comparison with the paper."""
    first = study.classifiers[0]
    rows: list[dict[str, Any]] = [{"algorithm": title} for title in first.runs]
    columns: dict[str, tuple[str, str]] = {"algorithm": ("Algorithm", "")}
    for classifier in study.classifiers:
        error = f"error {classifier.name}"
        size = f"size {classifier.name}"
        for row in rows:
            row[error] = 100 * float(classifier.errors(row["algorithm"]).mean())
            row[size] = float(classifier.sizes(row["algorithm"]).mean())
        columns[error] = (f"error rate [%], {classifier.name}", ".2f")
        columns[size] = (f"features, {classifier.name}", ".1f")
    whole = enumerate_words([f"{percent(each.all_features)} ({each.name})" for each in study.classifiers])
    return Table(
        "means",
        f"Means over {count_runs(min(classifier.n_runs for classifier in study.classifiers))}",
        rows,
        columns,
        lowest=tuple(key for key in columns if key != "algorithm"),
        note=f"The lowest value of each column is in bold. Error rate of all {first.n_features} features: {whole}.",
    )
