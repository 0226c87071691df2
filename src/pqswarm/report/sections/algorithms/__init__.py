"""Which algorithm finds the best subsets: performance, convergence, error rate against size."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.section import Content, Drawing, adaptive_drawing
from pqswarm.report.sections.algorithms.convergence import plot_convergence
from pqswarm.report.sections.algorithms.points import plot_error_against_size
from pqswarm.report.shared.curves import convergence_curves, convergence_grid, evaluation_ends
from pqswarm.report.shared.run_points import run_points
from pqswarm.report.shared.sentences import count, count_runs, enumerate_words, percent
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table
from pqswarm.statistics import bootstrap_mean

if TYPE_CHECKING:
    from pqswarm.report.summary import ClassifierSummary, DatasetSummary

_PAPER_RUNS = 40


def algorithms_content(study: "DatasetSummary", classifier: "ClassifierSummary") -> Content:
    """Compare error rates, subset sizes and convergence of the algorithms."""
    fared = {title: _performance(classifier, title) for title in classifier.runs}
    best = classifier.best(classifier.baseline)
    return Content(
        drawings=[_scatter(study, classifier), _convergence(study, classifier)],
        tables=[_performances(study, classifier, fared), *_gap(classifier)],
        answer=_sentences(study, classifier, fared),
        numbers={
            "features": f"{best.size} of {best.mask.size}",
            "error rate": percent(best.error),
            "error rate of all features": percent(classifier.all_features),
        },
    )


def _sentences(
    study: "DatasetSummary", classifier: "ClassifierSummary", fared: Mapping[str, dict[str, Any]]
) -> list[str]:
    n = classifier.n_features
    whole = classifier.all_features
    means = {title: (round(p["mean_J"], 12), p["mean_size"]) for title, p in fared.items()}
    leader = min(means, key=lambda title: means[title])
    smallest = min(means, key=lambda title: means[title][::-1])
    error, size = means[leader]
    tied = [title for title, (other, _) in means.items() if other == error]
    mean, average = ("mean ", " on average") if classifier.n_runs > 1 else ("", "")
    once = [algorithm.title for algorithm in study.plan.sequential]
    which = f"with {classifier.n_runs} runs" if classifier.n_runs > 1 else f"other than {enumerate_words(once or [''])}"
    among = f" of the algorithms {which}" if once else ""  # a single run is not compared with a mean
    subset = f"{count(size)} of the {n} features{average}"
    names = enumerate_words(tied)
    several = len(tied) > 1
    has = ("both have" if len(tied) == 2 else "all have") if several else "has"
    who = leader if several else "It"
    if error >= whole:
        first = (
            f"{'None' if once else 'No algorithm'}{among} does better than all features: the best, {names}, {has} an "
            f"error rate of {percent(error)}, all features {percent(whole)}. {who} selects {subset}."
        )
    else:
        verb = (
            f"the lowest {mean}error rate{among}" if len(fared) > 1 else f"a lower {mean}error rate than all features"
        )
        first = (
            f"{names} {has} {verb}: {percent(error)}, compared with {percent(whole)} for all features "
            f"({100 * (whole - error) / whole:.0f} % lower). {who} selects {subset} ({100 * (n - size) / n:.0f} % "
            f"fewer)."
        )
    smallest_error, smallest_size = means[smallest]
    if smallest_size >= size:
        return [first]
    return [
        first,
        f"{smallest} finds the smallest subsets{among}: {count(smallest_size)} features, with an error rate of "
        f"{percent(smallest_error)}{average}.",
    ]


def _performance(classifier: "ClassifierSummary", title: str) -> dict[str, Any]:
    """Error rate and size of the subsets of one algorithm, and their reduction against all features [%]."""
    errors = classifier.errors(title)
    sizes = classifier.sizes(title)
    n = classifier.n_features
    whole = classifier.all_features
    several = errors.size > 1
    return {
        "mean_J": float(errors.mean()),
        "sd_J": float(errors.std(ddof=1)) if several else None,
        "J_interval": bootstrap_mean(errors).ends,
        "PI": float(100 * (whole - errors.mean()) / whole) if whole else None,
        "mean_size": float(sizes.mean()),
        "sd_size": float(sizes.std(ddof=1)) if several else None,
        "size_interval": bootstrap_mean(sizes).ends,
        "Xi": float(100 * (n - sizes.mean()) / n),
        "score": float((sizes / n * errors).mean()),
    }


def _performances(
    study: "DatasetSummary", classifier: "ClassifierSummary", fared: Mapping[str, dict[str, Any]]
) -> Table:
    n = classifier.n_features
    paper = classifier.paper
    rows = []
    for title, values in fared.items():
        rows.append({"algorithm": title, SOURCE: STUDY, **values})
        if title in paper.performance:
            printed = {key: paper.performance[title].get(key) for key in values}
            score = paper.performance[title]["score"] / _PAPER_RUNS
            rows.append({"algorithm": title, SOURCE: PAPER} | printed | {"score": score})
    level = f" (paper: {paper.all_features:.4f})" if paper else ""
    return Table(
        "performance",
        f"Search performance with {classifier.name}, {count_runs(classifier.n_runs)}",
        rows,
        {
            "mean_J": ("mean J", ".5f"),
            "sd_J": ("SD J", ".5f"),
            "J_interval": ("95 % interval of the mean", ".5f"),
            "PI": ("PI [%]", ".1f"),
            "mean_size": ("mean ξ", ".1f"),
            "sd_size": ("SD ξ", ".1f"),
            "size_interval": ("95 % interval of the mean", ".1f"),
            "Xi": ("Ξ [%]", ".1f"),
            "score": ("overall score", ".5f"),
        },
        lowest=("mean_J", "mean_size", "score"),
        highest=("PI", "Xi"),
        note=f"J: error rate, the fraction of misclassified {study.item}s, averaged over the folds; all {n} features "
        f"have J(U) = {classifier.all_features:.4f}{level}. PI: reduction of J against J(U). ξ: number of selected "
        f"features; Ξ: reduction of ξ against {n}. SD: standard deviation over the runs; intervals by bootstrap (BCa). "
        f"Overall score: mean over the runs of (ξ/{n}) J"
        f"{f'; the paper prints the sum over its {_PAPER_RUNS} runs' if paper else ''}.",
    )


def _gap(classifier: "ClassifierSummary") -> list[Table]:
    """Gap between the algorithms and the best known subset, if one is known for these events."""
    known = classifier.best_known
    if known is None:
        return []
    rows = []
    for title in (*classifier.runs, *classifier.sequential):
        errors = (
            classifier.errors(title) if title in classifier.runs else np.array([classifier.sequential[title].error])
        )
        gaps = 100 * (errors - known["error"])
        values = {"mean": gaps.mean(), "minimum": gaps.min(), "maximum": gaps.max()}
        rows.append({"algorithm": title} | {key: float(value) for key, value in values.items()})
    return [
        Table(
            "gap",
            f"Gap to the best known subset, with {classifier.name}",
            rows,
            {
                "mean": ("mean gap [percentage points]", ".2f"),
                "minimum": ("minimum", ".2f"),
                "maximum": ("maximum", ".2f"),
            },
            lowest=("mean", "minimum", "maximum"),
            note=f"The best known subset for these events has {len(known['features'])} features and an error rate of "
            f"{percent(known['error'])}. It was found with {known['evaluations'] / 1e6:.1f} million evaluations; "
            f"adding or removing one or two features, or exchanging one, does not improve it.",
        )
    ]


def _scatter(study: "DatasetSummary", classifier: "ClassifierSummary") -> Drawing:
    points, fronts, numbers = run_points(classifier)
    whole = (classifier.n_features, classifier.all_features)

    hollow = (
        " Hollow markers are searches that run only once." if classifier.sequential and classifier.n_runs > 1 else ""
    )
    line = f" Lines join the best subsets of each size found by {enumerate_words(list(fronts))}." if fronts else ""
    return adaptive_drawing(
        "size",
        "Error rate against number of features, one marker per run",
        f"Lower left is better: a lower error rate with fewer features. Each name is placed at the median error rate "
        f"of its runs.{hollow}{line}",
        partial(plot_error_against_size, fronts=fronts, numbers=numbers),
        points,
        whole,
        study.palette,
    )


def _convergence(study: "DatasetSummary", classifier: "ClassifierSummary") -> Drawing:
    budget = study.plan.max_evaluations
    known = classifier.best_known
    ends = evaluation_ends(classifier.groups)
    grid = convergence_grid(classifier.groups, budget)

    def draw(narrow: bool = False) -> Figure:
        curves = convergence_curves(classifier.groups, budget)
        best = min(float(curve.min()) for curve in curves.values())
        args: dict[str, Any] = {"best": min(best, known["error"]) if known else best, "known": bool(known)}
        return plot_convergence(curves, grid, study.palette, budget=budget, narrow=narrow, **args)

    beyond = [title for title, end in ends.items() if end > budget]
    more = f" The budget does not apply to {enumerate_words(beyond)}." if beyond else ""
    lines = "Lines are medians over the runs; the bars on the right span their quartiles. "
    return adaptive_drawing(
        "convergence",
        "Distance of the lowest error rate so far from the best, against evaluations",
        f"One evaluation tests one subset. {lines if classifier.n_runs > 1 else ''}Zero is the lowest error rate "
        f"{'known for these events' if known else 'found by any run'}. Both axes are logarithmic, to show the end of "
        f"the search. Lower is better; a line that drops early finds good subsets soon.{more}",
        draw,
    )
