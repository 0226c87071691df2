"""The question "Does a plain sequential search do as well?": one run of it beside the best subset of the reference."""

from typing import Any

from pqswarm.report.section import Content
from pqswarm.report.sentences import percent
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import SOURCE, STUDY, Table

__all__ = ["content"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:  # noqa: ARG001 (what all sections take)
    """Lay each sequential search beside the best subset of the reference."""
    if not found.sequential:
        return Content()
    best = found.best(found.reference)
    reference = {"reference": found.reference, "reference_size": best.size, "reference_J": best.error}
    rows: list[dict[str, Any]] = [
        {"search": title, SOURCE: STUDY, "size": record.size, "J": record.error, **reference}
        for title, record in found.sequential.items()
    ]
    rows += [dict(row) for row in found.paper.sequential]
    table = Table(
        "sequential",
        f"Sequential search against the best subset of {found.reference} with {found.name}",
        rows,
        {
            "size": ("ξ", ""),
            "J": ("J", ".4f"),
            "reference": ("against", ""),
            "reference_size": ("ξ", ""),
            "reference_J": ("J", ".4f"),
        },
        note=f"A sequential search adds and removes one feature at a time. Unless the plan says otherwise, it is told "
        f"the size of the best subset of {found.reference}. It runs once: nothing in it is left to chance.",
    )
    return Content(tables=[table], answer=_sentences(found))


def _sentences(found: ClassifierSummary) -> list[str]:
    sentences = []
    best = found.best(found.reference)
    for title, record in found.sequential.items():
        word = "lower than" if record.error < best.error else "higher than" if record.error > best.error else "equal to"
        same = record.size == best.size
        sentences.append(
            f"{title} {'at the same' if same else 'with'} {record.size} features has an error rate of "
            f"{percent(record.error)}, {word} that of the best subset of {found.reference} ({percent(best.error)}"
            f"{'' if same else f' with {best.size}'})."
        )
    return sentences
