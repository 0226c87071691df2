"""What error rate to expect on new data, and whether the selection is stable."""

from collections.abc import Mapping
from math import isnan, nan
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.report.section import Content, Table, enumerate_words, features, percent, points
from pqswarm.report.summary import ClassifierSummary, DatasetSummary
from pqswarm.statistics import selection_stability
from pqswarm.statistics.intervals import t_interval
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, mean_name
from pqswarm.study.plan import StudyPlan

ENSEMBLES_NOTE = (
    " Mean of several: the classifiers of an algorithm's best distinct subsets are averaged, in general their class "
    "probabilities; ξ is then the size of the union."
)


def held_out_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare error rates on held-out events with those of the search, and with the change for all features."""
    if not classifier.held_out:
        return Content()
    n_sets = len(classifier.held_out[ALL_FEATURES])
    increase = {
        subset: errors - before_held_out(classifier, subset)[1] for subset, errors in classifier.held_out.items()
    }
    rows: dict[str, dict[str, Any]] = {}
    for subset, errors in classifier.held_out.items():
        size, searched = before_held_out(classifier, subset)
        optimism = t_interval(increase[subset] - (nan if subset == ALL_FEATURES else increase[ALL_FEATURES]))
        values = {"J": searched, "held_out": float(errors.mean()), "increase": float(increase[subset].mean())}
        values |= {"optimism": float(optimism.mean), "low": float(optimism.low), "high": float(optimism.high)}
        rows[subset] = {"subset": subset, "size": size}
        rows[subset] |= {key: None if isnan(value) else value for key, value in values.items()}
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
        f"standard error: the smallest subset found within one standard error of the best of {classifier.baseline}."
        f"{ENSEMBLES_NOTE if classifier.ensembles else ''}",
    )
    answer = _held_out_sentences(study, classifier.baseline, rows, n_sets)
    return Content(tables=[table], answer=answer + say_averaging(study.plan, classifier.held_out, "set"))


def before_held_out(classifier: ClassifierSummary, subset: str) -> tuple[int, float]:
    """Size of a subset, or of the union of a mean, and its error rate in the search, NaN of a mean, by its title."""
    if subset == ALL_FEATURES:
        return classifier.n_features, classifier.all_features
    if subset in classifier.ensembles:
        return int(classifier.ensembles[subset].any(axis=0).sum()), nan
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


def say_averaging(plan: StudyPlan, errors: Mapping[str, FloatArray], unit: str) -> list[str]:
    """Say what averaging does to the baseline: `errors` on new data, one per `unit`, by title; nothing if none is."""
    title = plan.algorithm(plan.baseline).title
    mean = mean_name(title, plan.averaged)
    if mean not in errors:
        return []
    single = errors[title]
    change = np.round(errors[mean] - single, 12)
    return [
        f"Averaging the classifiers of the {plan.averaged} best subsets of {title} changes the error rate on new data "
        f"by {_held_out_points(float(change.mean()), '+')} percentage points, from {percent(float(single.mean()))} to "
        f"{percent(float(errors[mean].mean()))}: it is lower on {int((change < 0).sum())} and higher on "
        f"{int((change > 0).sum())} of {len(change)} {unit}{'s' * (len(change) > 1)}."
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
