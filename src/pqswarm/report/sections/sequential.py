"""Whether a plain sequential search does as well: its single run against all runs of the others."""

from typing import Any

import numpy as np

from pqswarm.report.section import Content
from pqswarm.report.shared.sentences import enumerate_words, features, percent
from pqswarm.report.summary import ClassifierSummary, DatasetSummary
from pqswarm.report.tables import SOURCE, STUDY, Table

_OF_RANKINGS = (
    " A ranking search tests the first feature, the first two, and so on; the filter that ranks them uses only the "
    "data."
)


def sequential_content(study: DatasetSummary, found: ClassifierSummary) -> Content:
    """Compare each sequential search with the best subset of the reference, and with every run of every algorithm."""
    if not found.sequential:
        return Content()
    given_by = {title: _source_of_sequential_size(study, title) for title in found.sequential}
    ranked = any(algorithm.search.needs_order for algorithm in study.plan.sequential)
    return Content(
        tables=[_sequential_against_best(found, given_by, ranked), _sequential_against_runs(found)],
        answer=[_sequential_sentence(found, title, given_by[title]) for title in found.sequential],
    )


def _source_of_sequential_size(study: DatasetSummary, title: str) -> str | None:
    """Where the subset size given to a sequential search comes from; None if none was given."""
    plan = next(algorithm for algorithm in study.plan.sequential if algorithm.title == title)
    return study.reference if plan.needs_size else "the plan" if plan.settings.get("size") is not None else None


def _contest(found: ClassifierSummary, search: str, title: str) -> dict[str, int]:
    """How many runs of an algorithm a sequential search beats, ties with and loses to, by error rate."""
    margin = np.round(found.errors(title) - found.sequential[search].error, 12)  # free of rounding
    return {"beats": int((margin > 0).sum()), "ties": int((margin == 0).sum()), "loses": int((margin < 0).sum())}


def _sequential_rival_evaluations(found: ClassifierSummary, title: str) -> list[int]:
    """Evaluations of each run of an algorithm."""
    return [record.result.n_evaluations for record in found.runs[title]]


def _sequential_against_best(found: ClassifierSummary, given_by: dict[str, str | None], ranked: bool) -> Table:
    best = found.best(found.reference)
    reference = {"reference": found.reference, "reference_size": best.size, "reference_J": best.error}
    reference["reference_evaluations"] = sum(_sequential_rival_evaluations(found, found.reference))
    rows: list[dict[str, Any]] = [
        {"search": title, SOURCE: STUDY, "given_by": given_by[title], "size": record.size, "J": record.error}
        | {"evaluations": record.result.n_evaluations, **reference}
        for title, record in found.sequential.items()
    ]
    rows += [dict(row) for row in found.paper.sequential]
    return Table(
        "sequential",
        f"A single run of each sequential search against the best run of {found.reference} with {found.name}",
        rows,
        {
            "given_by": ("size given by", ""),
            "size": ("ξ", ""),
            "J": ("J", ".4f"),
            "reference": ("against", ""),
            "reference_size": ("ξ", ""),
            "reference_J": ("J", ".4f"),
            "reference_evaluations": ("evaluations, all runs", ""),
        },
        note="A sequential search adds and removes one feature at a time. It is deterministic and runs once. If its "
        "size was given, the evaluations that found that size are not counted." + (_OF_RANKINGS if ranked else ""),
    )


def _sequential_against_runs(found: ClassifierSummary) -> Table:
    rows = [
        {"search": search, "evaluations": record.result.n_evaluations, "algorithm": title, "runs": len(records)}
        | {"each": float(np.mean(_sequential_rival_evaluations(found, title))), **_contest(found, search, title)}
        for search, record in found.sequential.items()
        for title, records in found.runs.items()
    ]
    return Table(
        "sequential-runs",
        f"A single run of each sequential search against every run of the other algorithms with {found.name}",
        rows,
        {"algorithm": ("against", ""), "each": ("evaluations per run", ".0f"), "loses": ("loses to", "")},
        note="Beats, ties, loses to: number of runs with a higher, equal and lower error rate.",
    )


def _sequential_sentence(found: ClassifierSummary, search: str, given_by: str | None) -> str:
    """State the result and cost of the search, and of the runs of the reference."""
    record, best, reference = found.sequential[search], found.best(found.reference), found.reference
    spent = _sequential_rival_evaluations(found, reference)
    beats, ties, loses = _contest(found, search, reference).values()
    points = round(100 * (best.error - record.error), 10)
    apart = f"{abs(points):.2f} percentage points {'higher' if points > 0 else 'lower'}" if points else "the same"
    reached = f"{percent(best.error)} with {features(best.size)}, {apart}"
    if len(spent) > 1:
        cost = f"{' to '.join(str(n) for n in sorted({min(spent), max(spent)}))} evaluations each"
        counts = {"beats": beats, "ties with": ties, "loses to": loses}
        results = [f"{verb} {'all ' if n == len(spent) else ''}{n}" for verb, n in counts.items() if n]
        outcome = (
            f"Of the {len(spent)} runs of {reference} ({cost}) it {enumerate_words(results)}. The best of these runs "
            f"({sum(spent)} evaluations in total) reaches {reached}."
        )
    else:
        verb = "beats" if beats else "ties with" if ties else "loses to"
        outcome = f"It {verb} the single run of {reference} ({spent[0]} evaluations), which reaches {reached}."
    sizes = {None: "with no size given", reference: f"given the size of {reference}'s best subset"}
    return (
        f"A single run of {search}, {sizes.get(given_by, 'given the size by the plan')}, reaches an error rate of "
        f"{percent(record.error)} with {features(record.size)} in {record.result.n_evaluations} evaluations. {outcome}"
    )
