"""The questions "What can be expected of new data?" and "Is the selection stable?": optimism, and other runs."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from pqswarm.report.section import Content
from pqswarm.report.shared.sentences import enumerate_words, features, percent, points
from pqswarm.report.shared.spread import t_interval
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.statistics import selection_stability
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["content", "stability_content"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Lay error rates on held-out events beside those of the search, and beside what all features lose."""
    if not found.held_out:
        return Content()
    n_sets = len(found.held_out[ALL_FEATURES])
    lost = {subset: errors - _searched(found, subset)[1] for subset, errors in found.held_out.items()}
    rows: dict[str, dict[str, Any]] = {}
    for subset, errors in found.held_out.items():
        size, searched = _searched(found, subset)
        net = t_interval(lost[subset] - lost[ALL_FEATURES])
        whole = subset == ALL_FEATURES
        rows[subset] = {"subset": subset, "size": size, "J": searched, "held_out": float(errors.mean())}
        rows[subset] |= {"loss": float(lost[subset].mean()), "net": None if whole else float(net.mean)}
        ends = {"low": float(net.low), "high": float(net.high)}
        rows[subset] |= {key: None if whole or isnan(end) else end for key, end in ends.items()}
    several = (
        f"The interval is Student's t over the {n_sets} sets of held-out {study.item}s, 95 %; it says how well the net "
        f"loss of these subsets is known, not how other subsets would fare."
        if n_sets > 1
        else f"There is one set of held-out {study.item}s, and so no interval."
    )
    table = Table(
        "held-out",
        f"Optimism: best subsets on held-out {study.item}s, which no search saw, with {found.name}",
        list(rows.values()),
        {
            "size": ("ξ", ""),
            "J": ("J in the search", ".4f"),
            "held_out": (f"error rate on held-out {study.item}s", ".4f"),
            "loss": ("loss", "+.4f"),
            "net": ("net loss", "+.4f"),
            "low": ("95 % interval from", "+.4f"),
            "high": ("to", "+.4f"),
        },
        lowest=("J", "held_out"),
        note=f"The classifier was trained on all {study.item}s of the study; error rates are means over the sets. "
        f"Loss: by how much the error rate on held-out {study.item}s is above J, the cross-validated one. A search "
        f"takes the least of many J, which is too good to be true; but all features, which nobody selected, lose as "
        f"well. Net loss: what a subset loses more than they do. {several} One standard error: the smallest "
        f"subset found that is within one standard error of the best of {found.reference}.",
    )
    return Content(tables=[table], answer=_sentences(study, found.reference, rows, n_sets))


def _searched(found: ClassifierSummary, subset: str) -> tuple[int, float]:
    """Size of a subset and its error rate in the search, by the title of the algorithm or the name of the subset."""
    if subset == ALL_FEATURES:
        return found.n_features, found.all_features
    if subset == ONE_STANDARD_ERROR and found.smaller is not None:
        return int(found.smaller.mask.sum()), found.smaller.error
    return found.best(subset).size, found.best(subset).error


def _sentences(study: StudySummary, reference: str, rows: Mapping[str, Mapping[str, Any]], n_sets: int) -> list[str]:
    if reference not in rows or ALL_FEATURES not in rows:
        return []
    best, whole = rows[reference], rows[ALL_FEATURES]
    sets = f" ({n_sets} sets)" if n_sets > 1 else ""
    net = f"What it loses more than they do, its net loss, is {_points(best['net'])} percentage points"
    if best["low"] is None:
        net += ", from one set, without an interval."
    else:
        verdict = "chance can explain it"
        if not best["low"] <= 0 <= best["high"]:
            verdict = (
                "more than chance explains, optimism of the selection" if best["net"] > 0 else "not optimism at all"
            )
        ends = f"{_points(best['low'])} to {_points(best['high'])}"
        net += f" (95 % t interval over the {n_sets} sets: {ends}): {verdict}."
    return [
        f"On held-out {study.item}s, which no search saw{sets}, the best subset of {reference} "
        f"({features(best['size'])}) has an error rate of {percent(best['held_out'])}, where the search promised "
        f"{percent(best['J'])}; all features have one of {percent(whole['held_out'])}. It loses "
        f"{_points(best['loss'])} percentage points, all features, which nobody selected, {_points(whole['loss'])}. "
        f"{net}"
    ]


def _points(share: float) -> str:
    """A difference of shares in percentage points."""
    return points(100 * share)


def stability_content(study: StudySummary, found: ClassifierSummary) -> Content:  # noqa: ARG001 (what sections take)
    """Tell how alike the subsets of the runs of each algorithm are."""
    if found.n_runs < 2:
        return Content()
    rows: list[dict[str, Any]] = []
    for title in found.runs:
        result = selection_stability(found.masks(title))
        values = {"stability": result.stability, "low": result.lower, "high": result.upper}
        rows.append({"algorithm": title} | {key: None if isnan(value) else value for key, value in values.items()})
    table = Table(
        "stability",
        f"Stability of the selection over the runs with {found.name}",
        rows,
        {"stability": ("stability", ".3f"), "low": ("95 % interval from", ".3f"), "high": ("to", ".3f")},
        highest=("stability",),
        note="Nogueira's measure. 1: every run selects the same features; 0: as alike as by chance.",
    )
    return Content(words=_stability_words(found.reference, rows), tables=[table])


def _stability_words(reference: str, rows: list[dict[str, Any]]) -> list[str]:
    known = {row["algorithm"]: row for row in rows if row["stability"] is not None}
    if reference not in known:
        return []
    mine = known.pop(reference)
    first = f"Over its runs {reference} selects with a stability of {mine['stability']:.2f}"
    above = [title for title, row in known.items() if row["low"] > mine["high"]]
    below = [title for title, row in known.items() if row["high"] < mine["low"]]
    parts = [f"less than {enumerate_words(above)}"] if above else []
    parts += [f"more than {enumerate_words(below)}"] if below else []
    apart = f": {' and '.join(parts)}, by intervals that do not overlap" if parts else ""
    return [f"{first}{apart}."]
