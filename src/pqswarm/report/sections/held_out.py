"""What error rate to expect on new data, and whether the selection is stable."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from pqswarm.report.section import Content, Table, enumerate_words, features, percent, points
from pqswarm.report.summary import ClassifierSummary, DatasetSummary
from pqswarm.statistics import selection_stability
from pqswarm.statistics.intervals import t_interval
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR


def held_out_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare error rates on held-out events with those of the search, and with the change for all features."""
    if not classifier.held_out:
        return Content()
    n_sets = len(classifier.held_out[ALL_FEATURES])
    increase = {
        subset: errors - _before_held_out(classifier, subset)[1] for subset, errors in classifier.held_out.items()
    }
    rows: dict[str, dict[str, Any]] = {}
    for subset, errors in classifier.held_out.items():
        size, searched = _before_held_out(classifier, subset)
        optimism = t_interval(increase[subset] - increase[ALL_FEATURES])
        whole = subset == ALL_FEATURES
        rows[subset] = {"subset": subset, "size": size, "J": searched, "held_out": float(errors.mean())}
        rows[subset] |= {
            "increase": float(increase[subset].mean()),
            "optimism": None if whole else float(optimism.mean),
        }
        ends = {"low": float(optimism.low), "high": float(optimism.high)}
        rows[subset] |= {key: None if whole or isnan(end) else end for key, end in ends.items()}
    several = (
        f"The interval is Student's 95 % t interval over the {n_sets} sets of held-out {study.item}s; it describes how "
        f"well the optimism of these subsets is known, not how other subsets would perform."
        if n_sets > 1
        else f"With one set of held-out {study.item}s there is no interval."
    )
    table = Table(
        "held-out",
        f"Optimism: best subsets on held-out {study.item}s, unseen by the searches, with {classifier.name}",
        list(rows.values()),
        {
            "size": ("ξ", ""),
            "J": ("J in the search", ".4f"),
            "held_out": (f"error rate on held-out {study.item}s", ".4f"),
            "increase": ("increase", "+.4f"),
            "optimism": ("optimism", "+.4f"),
            "low": ("95 % interval from", "+.4f"),
            "high": ("to", "+.4f"),
        },
        lowest=("J", "held_out"),
        note=f"The classifier was trained on all {study.item}s of the study; error rates are means over the sets. "
        f"Increase: how much the error rate on held-out {study.item}s exceeds J, the cross-validated one. A search "
        f"picks the lowest of many J, which is optimistic; but the error rate of all features, which involve no "
        f"selection, may increase too. Optimism: the increase of a subset minus that of all features. {several} One "
        f"standard error: the smallest subset found within one standard error of the best of {classifier.baseline}.",
    )
    return Content(tables=[table], answer=_held_out_sentences(study, classifier.baseline, rows, n_sets))


def _before_held_out(classifier: ClassifierSummary, subset: str) -> tuple[int, float]:
    """Size of a subset and its error rate in the search, by the title of the algorithm or the name of the subset."""
    if subset == ALL_FEATURES:
        return classifier.n_features, classifier.all_features
    if subset == ONE_STANDARD_ERROR and classifier.smaller is not None:
        return int(classifier.smaller.mask.sum()), classifier.smaller.error
    return classifier.best(subset).size, classifier.best(subset).error


def _held_out_sentences(
    study: DatasetSummary, baseline: str, rows: Mapping[str, Mapping[str, Any]], n_sets: int
) -> list[str]:
    if baseline not in rows or ALL_FEATURES not in rows:
        return []
    best = rows[baseline]
    whole = rows[ALL_FEATURES]
    sets = f" ({n_sets} sets)" if n_sets > 1 else ""
    if best["low"] is None:
        conclusion = " (one set, no interval)"
    else:
        low, high = _held_out_points(best["low"]), _held_out_points(best["high"])
        conclusion = f" (95 % t interval over the {n_sets} sets: {low} to {high}): "
        chance = best["low"] <= 0 <= best["high"]
        conclusion += "not significant" if chance else "significant" if best["optimism"] > 0 else "not optimistic"
    return [
        f"On held-out {study.item}s, unseen by the searches{sets}, the best subset of {baseline} "
        f"({features(best['size'])}) has an error rate of {percent(best['held_out'])}, compared with "
        f"{percent(best['J'])} in the search; all features have {percent(whole['held_out'])}. Its error rate changes "
        f"by {_held_out_points(best['increase'], '+')} percentage points, that of all features by "
        f"{_held_out_points(whole['increase'], '+')}. The difference, the optimism due to selection, is "
        f"{_held_out_points(best['optimism'])} percentage points{conclusion}."
    ]


def _held_out_points(difference: float, sign: str = "") -> str:
    """A difference of error rates in percentage points."""
    text = points(100 * difference)
    return f"+{text}" if sign and not text.startswith("-") else text


def stability_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:  # noqa: ARG001 (what sections take)
    """Show how similar the subsets of the runs of each algorithm are."""
    if classifier.n_runs < 2:
        return Content()
    rows: list[dict[str, Any]] = []
    for title in classifier.runs:
        result = selection_stability(classifier.masks(title))
        values = {"stability": result.stability, "low": result.lower, "high": result.upper}
        rows.append({"algorithm": title} | {key: None if isnan(value) else value for key, value in values.items()})
    table = Table(
        "stability",
        f"Stability of the selection over the runs with {classifier.name}",
        rows,
        {"stability": ("stability", ".3f"), "low": ("95 % interval from", ".3f"), "high": ("to", ".3f")},
        highest=("stability",),
        note="Nogueira's measure. 1: every run selects the same features; 0: no more similar than by chance.",
    )
    return Content(words=_stability_sentences(classifier.baseline, rows), tables=[table])


def _stability_sentences(baseline: str, rows: list[dict[str, Any]]) -> list[str]:
    known = {row["algorithm"]: row for row in rows if row["stability"] is not None}
    if baseline not in known:
        return []
    mine = known.pop(baseline)
    first = f"Over its runs, the selection of {baseline} has a stability of {mine['stability']:.2f}"
    above = [title for title, row in known.items() if row["low"] > mine["high"]]
    below = [title for title, row in known.items() if row["high"] < mine["low"]]
    parts = [f"lower than that of {enumerate_words(above)}"] if above else []
    parts += [f"higher than that of {enumerate_words(below)}"] if below else []
    apart = f", {' and '.join(parts)} (intervals do not overlap)" if parts else ""
    return [f"{first}{apart}."]
