"""What error rate to expect on new data, and whether the selection is stable."""

from collections.abc import Mapping
from math import isnan, nan
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.report.section import Content, Table, percent
from pqswarm.report.summary import ClassifierSummary, DatasetSummary
from pqswarm.statistics import selection_stability
from pqswarm.statistics.intervals import t_interval
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, mean_name
from pqswarm.study.plan import StudyPlan

ENSEMBLES_NOTE = (
    " Mean of several: the classifiers of an algorithm's best distinct subsets are averaged, in general their class "
    "probabilities; their features are then those of the union."
)


def held_out_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare error rates on held-out events with those of the search, and with the change for all features."""
    if not classifier.held_out:
        return Content()
    n_sets = len(classifier.held_out[ALL_FEATURES])
    increase = {
        subset: errors - before_held_out(classifier, subset)[1] for subset, errors in classifier.held_out.items()
    }
    rows: list[dict[str, Any]] = []
    for subset, errors in classifier.held_out.items():
        size, searched = before_held_out(classifier, subset)
        optimism = t_interval(increase[subset] - (nan if subset == ALL_FEATURES else increase[ALL_FEATURES]))
        values = {
            "J": searched,
            "held_out": float(errors.mean()),
            "increase": float(increase[subset].mean()),
            "optimism": float(optimism.mean),
            "low": float(optimism.low),
            "high": float(optimism.high),
        }
        known = {key: None if isnan(value) else value for key, value in values.items()}
        rows.append({"subset": subset, "size": size} | known)
    several = (
        f"The interval is Student's 95 % t interval over the {n_sets} sets of held-out {study.item}s; it describes how "
        f"well the optimism of these subsets is known, not how other subsets would perform."
        if n_sets > 1
        else f"With one set of held-out {study.item}s there is no interval."
    )
    table = Table(
        "held-out",
        f"Optimism: best subsets on held-out {study.item}s, unseen by the searches, with {classifier.name}",
        rows,
        {
            "size": ("features", ""),
            "J": ("cross-validated", ".2%"),
            "held_out": ("on new data", ".2%"),
            "increase": ("increase", "+.2%"),
            "optimism": ("optimism", "+.2%"),
            "low": ("95 % interval from", "+.2%"),
            "high": ("to", "+.2%"),
        },
        lowest=("J", "held_out"),
        note=f"The classifier was trained on all {study.item}s of the study; error rates are means over the sets. "
        f"Increase: how much the error rate on new data exceeds the cross-validated one. A search "
        f"picks the lowest of many, which is optimistic; but the error rate of all features, which involve no "
        f"selection, may increase too. Optimism: the increase of a subset minus that of all features. {several} One "
        f"standard error: the smallest subset found within one standard error of the best of {classifier.baseline}."
        f"{ENSEMBLES_NOTE if classifier.ensembles else ''}",
    )
    return Content(words=say_averaging(study.plan, classifier.held_out, "set"), tables=[table])


def before_held_out(classifier: ClassifierSummary, subset: str) -> tuple[int, float]:
    """Size of a subset, or of the union of a mean, and its error rate in the search, NaN of a mean, by its title."""
    if subset == ALL_FEATURES:
        return classifier.n_features, classifier.all_features
    if subset in classifier.ensembles:
        return int(classifier.ensembles[subset].any(axis=0).sum()), nan
    if subset == ONE_STANDARD_ERROR and classifier.smaller is not None:
        return int(classifier.smaller.mask.sum()), classifier.smaller.error
    return classifier.best(subset).size, classifier.best(subset).error


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
        f"by {round(100 * float(change.mean()), 2) + 0.0:+.2f} percentage points, from "
        f"{percent(float(single.mean()))} to {percent(float(errors[mean].mean()))}: it is lower on "
        f"{int((change < 0).sum())} and higher on {int((change > 0).sum())} of {len(change)} "
        f"{unit}{'s' * (len(change) > 1)}."
    ]


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
    return Content(tables=[table])
