"""The question "What can be expected of new events?": error rates on events that no search saw."""

from collections.abc import Mapping
from typing import Any

from pqswarm.report.section import Content
from pqswarm.report.sentences import features, percent
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["content"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:  # noqa: ARG001 (what all sections take)
    """Lay error rates on held-out events beside those of the search."""
    if not found.held_out:
        return Content()
    rows = {}
    for subset, error in found.held_out.items():
        size, searched = _searched(found, subset)
        rows[subset] = {"subset": subset, "size": size, "J": searched, "held_out": error, "gap": error - searched}
    table = Table(
        "held-out",
        f"Best subsets on held-out events, which no search saw, with {found.name}",
        list(rows.values()),
        {
            "size": ("ξ", ""),
            "J": ("J in the search", ".4f"),
            "held_out": ("error rate on held-out events", ".4f"),
            "gap": ("optimism gap", "+.4f"),
        },
        lowest=("J", "held_out"),
        note=f"The classifier was trained on all events of the study. Optimism gap: by how much the error rate on "
        f"held-out events is above what the search saw, which is an optimistic guess, being the least of many. One "
        f"standard error: the smallest subset found that is within one standard error of the best of "
        f"{found.reference}.",
    )
    return Content(tables=[table], answer=_sentences(found.reference, rows))


def _searched(found: ClassifierSummary, subset: str) -> tuple[int, float]:
    """Size of a subset and its error rate in the search, by the title of the algorithm or the name of the subset."""
    if subset == ALL_FEATURES:
        return found.n_features, found.all_features
    if subset == ONE_STANDARD_ERROR and found.smaller is not None:
        return int(found.smaller.mask.sum()), found.smaller.error
    return found.best(subset).size, found.best(subset).error


def _sentences(reference: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if reference not in rows or ALL_FEATURES not in rows:
        return []
    best = rows[reference]
    return [
        f"On held-out events, which no search saw, the best subset of {reference} ({features(best['size'])}) has an "
        f"error rate of {percent(best['held_out'])}, where the search promised {percent(best['J'])}; all features have "
        f"one of {percent(rows[ALL_FEATURES]['held_out'])}."
    ]
