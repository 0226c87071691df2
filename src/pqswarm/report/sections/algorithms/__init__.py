"""The question "Which algorithm finds the better subsets?": performance, convergence, error rate against size."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.section import Content, Drawing
from pqswarm.report.sections.algorithms.convergence import plot_convergence
from pqswarm.report.sections.algorithms.points import plot_boxes, plot_error_against_size
from pqswarm.report.shared.curves import convergence_curves, convergence_grid, evaluation_ends
from pqswarm.report.shared.run_points import run_points
from pqswarm.report.shared.sentences import count, enumerate_words, percent, runs
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table
from pqswarm.statistics import bootstrap_mean

if TYPE_CHECKING:
    from pqswarm.report.summary import ClassifierSummary, StudySummary

__all__ = ["content"]


def content(study: "StudySummary", found: "ClassifierSummary") -> Content:
    """Compare what the algorithms found: error rates and sizes of their subsets, and how they got there."""
    fared = {title: _performance(found, title) for title in found.runs}
    best = found.best(found.reference)
    return Content(
        drawings=[_scatter(study, found), _boxes(study, found), _convergence(study, found)],
        tables=[_performances(study, found, fared), *_gap(found)],
        answer=_sentences(study, found, fared),
        numbers={
            "features": f"{best.size} of {best.mask.size}",
            "error rate": percent(best.error),
            "error rate of all features": percent(found.all_features),
        },
    )


def _sentences(study: "StudySummary", found: "ClassifierSummary", fared: Mapping[str, dict[str, Any]]) -> list[str]:
    n, whole = found.n_features, found.all_features
    means = {title: (round(p["mean_J"], 12), p["mean_size"]) for title, p in fared.items()}
    leader = min(means, key=lambda title: means[title])
    smallest = min(means, key=lambda title: means[title][::-1])
    error, size = means[leader]
    tied = [title for title, (other, _) in means.items() if other == error]
    mean, average = ("mean ", " on average") if found.n_runs > 1 else ("", "")
    once = [algorithm.title for algorithm in study.plan.sequential]
    which = f"that run {found.n_runs} times" if found.n_runs > 1 else f"other than {enumerate_words(once or [''])}"
    among = f" of the algorithms {which}" if once else ""  # one run is not compared with a mean of several
    subset = f"{count(size)} of the {n} features{average}"
    names, several = enumerate_words(tied), len(tied) > 1
    has = ("both have" if len(tied) == 2 else "all have") if several else "has"
    who = leader if several else "It"
    if error >= whole:
        first = (
            f"{'None' if once else 'No algorithm'}{among} does better than all features: {names}, the best, {has} an "
            f"error rate of {percent(error)}, all features have one of {percent(whole)}. {who} selects {subset}."
        )
    else:
        verb = (
            f"the lowest {mean}error rate{among}" if len(fared) > 1 else f"a lower {mean}error rate than all features"
        )
        first = (
            f"{names} {has} {verb}: {percent(error)}, against {percent(whole)} with all features "
            f"({100 * (whole - error) / whole:.0f} % lower). {who} selects {subset} ({100 * (n - size) / n:.0f} % "
            f"fewer)."
        )
    least_error, least_size = means[smallest]
    if least_size >= size:
        return [first]
    return [
        first,
        f"The smallest subsets{among} come from {smallest}: {count(least_size)} features, with an error rate of "
        f"{percent(least_error)}{average}.",
    ]


def _performance(found: "ClassifierSummary", title: str) -> dict[str, Any]:
    """What the runs of one algorithm come to: error rate and size, and how far they are below those of all [%]."""
    errors, sizes, n, whole = found.errors(title), found.sizes(title), found.n_features, found.all_features
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
        "score": float((sizes / n * errors).sum()),
    }


def _performances(study: "StudySummary", found: "ClassifierSummary", fared: Mapping[str, dict[str, Any]]) -> Table:
    n, paper = found.n_features, found.paper
    rows = []
    for title, values in fared.items():
        rows.append({"algorithm": title, SOURCE: STUDY, **values})
        if title in paper.performance:
            rows.append(
                {"algorithm": title, SOURCE: PAPER} | {key: paper.performance[title].get(key) for key in values}
            )
    printed = f" (paper: {paper.all_features:.4f})" if paper else ""
    return Table(
        "performance",
        f"Search performance with {found.name}, {runs(found.n_runs)}",
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
            "score": ("overall score", ".4f"),
        },
        lowest=("mean_J", "mean_size", "score"),
        highest=("PI", "Xi"),
        note=f"J: error rate, the share of misclassified {study.item}s, mean over the folds; all {n} features have "
        f"J(U) = {found.all_features:.4f}{printed}. PI: by how much J is below J(U). ξ: number of features selected; "
        f"Ξ: by how much it is below {n}. SD: standard deviation over the runs; intervals by bootstrap (BCa). Overall "
        f"score: the sum over the runs of (ξ/{n}) J; it grows with the number of runs"
        f"{', which was 40 in the paper' if paper else ''}.",
    )


def _gap(found: "ClassifierSummary") -> list[Table]:
    """How far the algorithms stay from the best subset that is known, where one is known for these very events."""
    known = found.best_known
    if known is None:
        return []
    rows = []
    for title in (*found.runs, *found.sequential):
        errors = found.errors(title) if title in found.runs else np.array([found.sequential[title].error])
        gaps = 100 * (errors - known["error"])
        rows.append(
            {"algorithm": title, "mean": float(gaps.mean()), "least": float(gaps.min()), "most": float(gaps.max())}
        )
    return [
        Table(
            "gap",
            f"How far from the best known subset, with {found.name}",
            rows,
            {"mean": ("mean gap [percentage points]", ".2f"), "least": ("least", ".2f"), "most": ("greatest", ".2f")},
            lowest=("mean", "least", "most"),
            note=f"The best subset that is known for these events has {len(known['features'])} features and an error "
            f"rate of {percent(known['error'])}. It took {known['evaluations'] / 1e6:.1f} million evaluations, and no "
            f"adding or removing of one or two features, nor any exchange of one for another, makes it better.",
        )
    ]


def _scatter(study: "StudySummary", found: "ClassifierSummary") -> Drawing:
    points, fronts, numbers = run_points(found)
    whole = (found.n_features, found.all_features)

    def draw(narrow: bool = False) -> Figure:
        args: dict[str, Any] = {"fronts": fronts, "numbers": numbers, "narrow": narrow}
        return plot_error_against_size(points, whole, study.palette, **args)

    hollow = " Hollow marks are searches that run once." if found.sequential and found.n_runs > 1 else ""
    line = f" A line joins what {enumerate_words(list(fronts))} found for each size." if fronts else ""
    return Drawing(
        "size",
        "Error rate against number of features, one mark for each run",
        f"Down and to the left is better: a lower error rate with fewer features. Each name stands at the median error "
        f"rate of its runs.{hollow}{line}",
        draw,
        narrow=lambda: draw(narrow=True),
    )


def _boxes(study: "StudySummary", found: "ClassifierSummary") -> Drawing:
    points, _, numbers = run_points(found)
    whole = (found.n_features, found.all_features)

    def draw(narrow: bool = False) -> Figure:
        return plot_boxes(points, whole, study.palette, numbers=numbers, narrow=narrow)

    return Drawing(
        "boxes",
        "Error rates and numbers of features of all runs",
        "A box holds the middle half of the runs, the line in it is the median, and every run is a mark. The lowest "
        "median error rate stands on top.",
        draw,
        narrow=lambda: draw(narrow=True),
    )


def _convergence(study: "StudySummary", found: "ClassifierSummary") -> Drawing:
    budget, known = study.plan.max_evaluations, found.best_known
    ends, grid = evaluation_ends(found.groups), convergence_grid(found.groups, budget)

    def draw(narrow: bool = False) -> Figure:
        curves = convergence_curves(found.groups, budget)
        best = min(float(curve.min()) for curve in curves.values())
        args: dict[str, Any] = {"best": min(best, known["error"]) if known else best, "known": bool(known)}
        return plot_convergence(curves, grid, study.palette, budget=budget, narrow=narrow, **args)

    beyond = [title for title, end in ends.items() if end > budget]
    more = f" The budget does not hold for {enumerate_words(beyond)}." if beyond else ""
    lines = "Lines are medians of the runs; the bars at the right end hold the middle half of them. "
    return Drawing(
        "convergence",
        "How far the lowest error rate so far is from the best, against evaluations",
        f"An evaluation is one subset tried. {lines if found.n_runs > 1 else ''}The zero is the lowest error rate that "
        f"{'is known for these events' if known else 'any run found'}. Both scales are logarithmic, so that the end of "
        f"the contest is seen; lower is better, and a line that falls early finds good subsets soon.{more}",
        draw,
        narrow=lambda: draw(narrow=True),
    )
