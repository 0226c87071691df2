"""What the subsets are worth beyond the search: noise, the events of the other data sets, and further data sets."""

from math import inf
from typing import Any

import numpy as np

from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
from pqswarm.report.section import Content
from pqswarm.report.shared.sentences import decibel, percent, points
from pqswarm.report.shared.spread import t_interval
from pqswarm.report.tables import Table
from pqswarm.statistics.power import detectable_difference, measure_variances
from pqswarm.study.findings import ALL_FEATURES
from pqswarm.study.plan_data import HeldOutPlan

_DATASETS, _RUNS = (3, 6, 12, 24), (1, 2, 5, 10, 40)
"""Numbers of data sets, and of runs on each, in the table of power."""


def show_noise(study: DatasetsSummary, found: OverDatasets) -> Content:
    """Show the gain of the best subset of each algorithm over all features, at each noise level."""
    noise = [one.noise for one in found.members.values() if one.noise is not None]
    if len(noise) < len(found.members) or study.levels == (inf,):
        return Content()
    gains = {title: np.array([one.gain(title) for one in noise]) for title in found.titles}  # data sets x levels
    rows: list[dict[str, Any]] = []
    for i, level in enumerate(study.levels):
        row: dict[str, Any] = {"level": decibel(level), "all": float(np.mean([one.all_features[i] for one in noise]))}
        rows.append(row | {title: float(each[:, i].mean()) for title, each in gains.items()})
    table = Table(
        "noise",
        f"Gain in accuracy of the best subset over all features [percentage points], with {found.name}",
        rows,
        {"level": ("SNR", ""), "all": ("accuracy of all features [%]", ".2f")} | {t: (t, "+.2f") for t in gains},
        signed=tuple(gains),
        note=f"Means over {len(noise)} data sets, in cross-validation with another partition than the search.",
    )
    mine = gains[found.reference]
    robust = int((mine >= 0).all(axis=1).sum())
    lowest = t_interval(mine.min(axis=1))
    answer = (
        f"At every noise level the best subset of {found.reference} is at least as accurate as all features on "
        f"{robust} "
        f"of {len(noise)} data sets; its minimum gain is {points(float(lowest.mean))} percentage points on average"
    )
    if len(noise) > 1:
        answer += f" (95 % t interval over data sets: {points(float(lowest.low))} to {points(float(lowest.high))})"
    return Content(tables=[table], answer=[f"{answer}."])


def show_held_out(study: DatasetsSummary, found: OverDatasets) -> Content:
    """Show the error of each data set's best subsets on held-out data, by default the events of the other data sets."""
    members = found.members.values()
    if not all(one.held_out for one in members):
        return Content()
    rows: list[dict[str, Any]] = []
    increases: dict[str, Any] = {}
    for title in (*found.titles, ALL_FEATURES):
        seen = np.array([one.all_features if title == ALL_FEATURES else one.best(title).error for one in members])
        new = np.array([one.held_out[title].mean() for one in members])
        increases[title] = new - seen
        sizes = [one.n_features if title == ALL_FEATURES else one.best(title).size for one in members]
        rows.append({"subset": title, "size": float(np.mean(sizes)), "J": float(seen.mean()), "new": float(new.mean())})
    for row in rows:
        optimism = t_interval(increases[row["subset"]] - increases[ALL_FEATURES])
        whole = row["subset"] == ALL_FEATURES or len(found.members) < 2
        row |= {"increase": float(increases[row["subset"]].mean()), "optimism": None if whole else float(optimism.mean)}
        row["optimism_interval"] = None if whole else (float(optimism.low), float(optimism.high))
    others = isinstance(study.plan.held_out, HeldOutPlan) and study.plan.held_out.cross_dataset
    where = f"the {study.item}s of the other data sets" if others else f"held-out {study.item}s"
    table = Table(
        "held-out",
        f"Best subset of each data set on {where}, with {found.name}",
        rows,
        {
            "size": ("ξ", ".1f"),
            "J": ("J in the search", ".4f"),
            "new": ("error rate there", ".4f"),
            "increase": ("increase", "+.4f"),
            "optimism": ("optimism", "+.4f"),
            "optimism_interval": ("95 % interval", "+.4f"),
        },
        lowest=("J", "new"),
        note=f"Means over {len(found.members)} data sets. The classifier was trained on all {study.item}s of the data "
        f"set of the search. Optimism: the increase of a subset's error rate minus that of all features; t interval "
        f"over the data sets.",
    )
    mine = next(row for row in rows if row["subset"] == found.reference)
    answer = (
        f"On {where}, the best subset of {found.reference} has an error rate of {percent(mine['new'])}, compared with "
        f"{percent(mine['J'])} in the search."
    )
    return Content(tables=[table], answer=[answer])


def show_power(study: DatasetsSummary, found: OverDatasets) -> Content:  # noqa: ARG001 (what sections take)
    """Show which differences in error other numbers of data sets and runs would find."""
    repeated = [title for title in found.titles if all(each.size > 1 for each in found.errors(title))]
    rivals = [title for title in repeated if title != found.reference]
    if not rivals or found.reference not in repeated or len(found.members) < 3:
        return Content()
    rival = min(rivals, key=lambda title: float(found.mean_errors(title).mean()))
    variances = measure_variances(found.errors(found.reference), found.errors(rival))
    rows = [{"datasets": k} | {str(r): 100 * detectable_difference(variances, k, r) for r in _RUNS} for k in _DATASETS]
    table = Table(
        "power",
        f"Difference in mean error rate [percentage points] that a study would detect, with {found.name}",
        rows,
        {"datasets": ("data sets", "")} | {str(r): (f"{r} run{'s' * (r > 1)} each", ".2f") for r in _RUNS},
        note=f"80 % power, 5 % level, paired t test over data sets. From the standard deviations of {found.reference} "
        f"minus {rival} in this study: {100 * variances.between:.2f} points between data sets, "
        f"{100 * variances.within:.2f} between runs on one data set.",
    )
    return Content(tables=[table])
