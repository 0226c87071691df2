"""The question "Does a plain sequential search do as well?": one run of it beside all runs of the others."""

from typing import Any

import numpy as np

from pqswarm.report.section import Content
from pqswarm.report.shared.sentences import features, percent
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import SOURCE, STUDY, Table

__all__ = ["content"]

_OF_RANKINGS = (
    " A ranking tries its first feature, its first two, and so on; the filter that made it looked at the data alone."
)


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Lay each sequential search beside the best subset of the reference, and beside every run of every algorithm."""
    if not found.sequential:
        return Content()
    told = {title: _told(study, title) for title in found.sequential}
    ranked = any(algorithm.search.needs_order for algorithm in study.plan.sequential)
    return Content(
        tables=[_against_best(found, told, ranked), _against_runs(found)],
        answer=[_sentence(found, title, told[title]) for title in found.sequential],
    )


def _told(study: StudySummary, title: str) -> str | None:
    """Who told a sequential search the size of the subset to find, if somebody did."""
    plan = next(algorithm for algorithm in study.plan.sequential if algorithm.title == title)
    return study.reference if plan.needs_size else "the plan" if plan.settings.get("size") is not None else None


def _contest(found: ClassifierSummary, search: str, title: str) -> dict[str, int]:
    """How many runs of an algorithm the one run of a sequential search beats, ties and loses to, by error rate."""
    margin = np.round(found.errors(title) - found.sequential[search].error, 12)  # free of rounding
    return {"beats": int((margin > 0).sum()), "ties": int((margin == 0).sum()), "loses": int((margin < 0).sum())}


def _evaluations(found: ClassifierSummary, title: str) -> list[int]:
    """Evaluations of each run of an algorithm."""
    return [record.result.n_evaluations for record in found.runs[title]]


def _against_best(found: ClassifierSummary, told: dict[str, str | None], ranked: bool) -> Table:
    best = found.best(found.reference)
    reference = {"reference": found.reference, "reference_size": best.size, "reference_J": best.error}
    reference["reference_evaluations"] = sum(_evaluations(found, found.reference))
    rows: list[dict[str, Any]] = [
        {"search": title, SOURCE: STUDY, "told": told[title], "size": record.size, "J": record.error}
        | {"evaluations": record.result.n_evaluations, **reference}
        for title, record in found.sequential.items()
    ]
    rows += [dict(row) for row in found.paper.sequential]
    return Table(
        "sequential",
        f"One run of a sequential search against the best of all runs of {found.reference} with {found.name}",
        rows,
        {
            "told": ("size told by", ""),
            "size": ("ξ", ""),
            "J": ("J", ".4f"),
            "reference": ("against", ""),
            "reference_size": ("ξ", ""),
            "reference_J": ("J", ".4f"),
            "reference_evaluations": ("evaluations of all its runs", ""),
        },
        note="A sequential search adds and removes one feature at a time, and runs once: nothing in it is left to "
        "chance. Where it was told a size, the evaluations that found that size are not counted as its own."
        + (_OF_RANKINGS if ranked else ""),
    )


def _against_runs(found: ClassifierSummary) -> Table:
    rows = [
        {"search": search, "evaluations": record.result.n_evaluations, "algorithm": title, "runs": len(records)}
        | {"each": float(np.mean(_evaluations(found, title))), **_contest(found, search, title)}
        for search, record in found.sequential.items()
        for title, records in found.runs.items()
    ]
    return Table(
        "sequential-runs",
        f"One run of a sequential search against each run of the other algorithms with {found.name}",
        rows,
        {"algorithm": ("against", ""), "each": ("evaluations of each", ".0f"), "loses": ("loses to", "")},
        note="Beats, ties, loses to: numbers of runs with a higher, the same and a lower error rate.",
    )


def _sentence(found: ClassifierSummary, search: str, told: str | None) -> str:
    """Say in one breath what the search was told, found and cost, and what the runs of the reference found and cost."""
    record, best, reference = found.sequential[search], found.best(found.reference), found.reference
    spent = _evaluations(found, reference)
    beats, ties, loses = _contest(found, search, reference).values()
    if len(spent) > 1:
        outcome = f"beats {beats}, ties {ties} and loses to {loses} of the {len(spent)} runs"
        cost = f"{' to '.join(str(n) for n in sorted({min(spent), max(spent)}))} evaluations each"
        who = f"the best of the {len(spent)}, {sum(spent)} evaluations together,"
    else:
        outcome = f"{'beats' if beats else 'ties' if ties else 'loses to'} the one run"
        cost, who = f"{spent[0]} evaluations", "that run"
    points = round(100 * (best.error - record.error), 10)
    apart = f"{abs(points):.2f} percentage points {'more' if points > 0 else 'less'}" if points else "the same"
    hints = {None: "told no size", reference: f"told the size of the best subset of {reference}"}
    return (
        f"One run of {search}, {hints.get(told, 'told the size by the plan')}, has an error rate of "
        f"{percent(record.error)} with {features(record.size)} after {record.result.n_evaluations} evaluations, and "
        f"{outcome} of {reference} with {cost}; {who} has {percent(best.error)} with {features(best.size)}, {apart}."
    )
