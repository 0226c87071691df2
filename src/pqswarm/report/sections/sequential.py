"""Whether a plain sequential search does as well: its single run against all runs of the others."""

from typing import Any

import numpy as np

from pqswarm.report.section import SOURCE, STUDY, Content, Table, enumerate_words, features, percent
from pqswarm.report.summary import ClassifierSummary, DatasetSummary

_OF_RANKINGS = (
    " A ranking search tests the first feature, the first two, and so on; the filter that ranks them uses only the "
    "data."
)


def sequential_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare each sequential search with the best subset of the baseline, and with every run of every algorithm."""
    if not classifier.sequential:
        return Content()
    given_by = {title: _sequential_size_source(study, title) for title in classifier.sequential}
    ranked = any(algorithm.search.needs_order for algorithm in study.plan.sequential)
    return Content(
        tables=[_sequential_against_best(classifier, given_by, ranked), _sequential_against_runs(classifier)],
        answer=[_sequential_sentence(classifier, title, given_by[title]) for title in classifier.sequential],
    )


def _sequential_size_source(study: DatasetSummary, title: str) -> str | None:
    """Where the subset size given to a sequential search comes from; None if none was given."""
    plan = next(algorithm for algorithm in study.plan.sequential if algorithm.title == title)
    return study.baseline if plan.needs_size else "the plan" if plan.settings.get("size") is not None else None


def _sequential_contest(classifier: ClassifierSummary, search: str, title: str) -> dict[str, int]:
    """How many runs of an algorithm a sequential search beats, ties with and loses to, by error rate."""
    margin = np.round(classifier.errors(title) - classifier.sequential[search].error, 12)  # free of rounding
    return {"beats": int((margin > 0).sum()), "ties": int((margin == 0).sum()), "loses": int((margin < 0).sum())}


def _sequential_rival_evaluations(classifier: ClassifierSummary, title: str) -> list[int]:
    """Evaluations of each run of an algorithm."""
    return [record.result.n_evaluations for record in classifier.runs[title]]


def _sequential_against_best(classifier: ClassifierSummary, given_by: dict[str, str | None], ranked: bool) -> Table:
    best = classifier.best(classifier.baseline)
    baseline = {"baseline": classifier.baseline, "baseline_size": best.size, "baseline_J": best.error}
    baseline["baseline_evaluations"] = sum(_sequential_rival_evaluations(classifier, classifier.baseline))
    rows: list[dict[str, Any]] = [
        {"search": title, SOURCE: STUDY, "given_by": given_by[title], "size": record.size, "J": record.error}
        | {"evaluations": record.result.n_evaluations, **baseline}
        for title, record in classifier.sequential.items()
    ]
    rows += [dict(row) for row in classifier.paper.sequential]
    return Table(
        "sequential",
        f"A single run of each sequential search against the best run of {classifier.baseline} with {classifier.name}",
        rows,
        {
            "given_by": ("size given by", ""),
            "size": ("ξ", ""),
            "J": ("J", ".4f"),
            "baseline": ("against", ""),
            "baseline_size": ("ξ", ""),
            "baseline_J": ("J", ".4f"),
            "baseline_evaluations": ("evaluations, all runs", ""),
        },
        note="A sequential search adds and removes one feature at a time. It is deterministic and runs once. If its "
        "size was given, the evaluations that found that size are not counted." + (_OF_RANKINGS if ranked else ""),
    )


def _sequential_against_runs(classifier: ClassifierSummary) -> Table:
    rows = [
        {"search": search, "evaluations": record.result.n_evaluations, "algorithm": title, "runs": len(records)}
        | {
            "each": float(np.mean(_sequential_rival_evaluations(classifier, title))),
            **_sequential_contest(classifier, search, title),
        }
        for search, record in classifier.sequential.items()
        for title, records in classifier.runs.items()
    ]
    return Table(
        "sequential-runs",
        f"A single run of each sequential search against every run of the other algorithms with {classifier.name}",
        rows,
        {"algorithm": ("against", ""), "each": ("evaluations per run", ".0f"), "loses": ("loses to", "")},
        note="Beats, ties, loses to: number of runs with a higher, equal and lower error rate.",
    )


def _sequential_sentence(classifier: ClassifierSummary, search: str, given_by: str | None) -> str:
    """State the result and cost of the search, and of the runs of the baseline."""
    record = classifier.sequential[search]
    best = classifier.best(classifier.baseline)
    baseline = classifier.baseline
    spent = _sequential_rival_evaluations(classifier, baseline)
    beats, ties, loses = _sequential_contest(classifier, search, baseline).values()
    points = round(100 * (best.error - record.error), 10)
    apart = f"{abs(points):.2f} percentage points {'higher' if points > 0 else 'lower'}" if points else "the same"
    reached = f"{percent(best.error)} with {features(best.size)}, {apart}"
    if len(spent) > 1:
        cost = f"{' to '.join(str(n) for n in sorted({min(spent), max(spent)}))} evaluations each"
        counts = {"beats": beats, "ties with": ties, "loses to": loses}
        results = [f"{verb} {'all ' if n == len(spent) else ''}{n}" for verb, n in counts.items() if n]
        outcome = (
            f"Of the {len(spent)} runs of {baseline} ({cost}) it {enumerate_words(results)}. The best of these runs "
            f"({sum(spent)} evaluations in total) reaches {reached}."
        )
    else:
        verb = "beats" if beats else "ties with" if ties else "loses to"
        outcome = f"It {verb} the single run of {baseline} ({spent[0]} evaluations), which reaches {reached}."
    sizes = {None: "with no size given", baseline: f"given the size of {baseline}'s best subset"}
    return (
        f"A single run of {search}, {sizes.get(given_by, 'given the size by the plan')}, reaches an error rate of "
        f"{percent(record.error)} with {features(record.size)} in {record.result.n_evaluations} evaluations. {outcome}"
    )
