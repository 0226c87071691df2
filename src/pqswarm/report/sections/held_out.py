"""The question "What can be expected of new events?": error rates on events that no search saw."""

from dataclasses import dataclass

from pqswarm.report.section import ClassifierSection, Content
from pqswarm.report.sentences import percent
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["SECTION", "HeldOutError"]


@dataclass(frozen=True)
class HeldOutError:
    """A subset: its size, its error rate in the search, and that on held-out events."""

    subset: str
    size: int
    searched: float
    held_out: float

    @classmethod
    def of(cls, found: ClassifierSummary, subset: str) -> "HeldOutError":
        """Look it up, by the title of the algorithm or the name of the subset."""
        if subset == ALL_FEATURES:
            size, searched = found.n_features, found.all_features
        elif subset == ONE_STANDARD_ERROR and found.smaller is not None:
            size, searched = int(found.smaller.mask.sum()), found.smaller.error
        else:
            size, searched = found.best(subset).size, found.best(subset).error
        return cls(subset, size, searched, found.held_out[subset])


def _content(study: StudySummary, found: ClassifierSummary) -> Content:  # noqa: ARG001 (what all sections take)
    if not found.held_out:
        return Content()
    errors = {subset: HeldOutError.of(found, subset) for subset in found.held_out}
    rows = [
        {"subset": e.subset, "size": e.size, "J": e.searched, "held_out": e.held_out, "gap": e.held_out - e.searched}
        for e in errors.values()
    ]
    table = Table(
        "held-out",
        f"Best subsets on held-out events, which no search saw, with {found.name}",
        rows,
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
    return Content(tables=[table], answer=_sentences(found.reference, errors))


SECTION = ClassifierSection("held-out", "What can be expected of new events?", _content)


def _sentences(reference: str, errors: dict[str, HeldOutError]) -> list[str]:
    if reference not in errors or ALL_FEATURES not in errors:
        return []
    best = errors[reference]
    return [
        f"On held-out events, which no search saw, the best subset of {reference} ({best.size} features) has an error "
        f"rate of {percent(best.held_out)}, where the search promised {percent(best.searched)}; all features have one "
        f"of {percent(errors[ALL_FEATURES].held_out)}."
    ]
