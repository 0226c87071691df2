"""Which algorithm is best over the data sets: means, ranks, tests and differences."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pqswarm.report.datasets.figures import plot_differences
from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sections.chance.ranks import plot_ranks
from pqswarm.report.shared.sentences import at_most, count, enumerate_words, percent, probability
from pqswarm.report.tables import Table
from pqswarm.statistics import critical_difference, friedman
from pqswarm.statistics.paired import PairedComparison, compare_datasets

_ALPHA = 0.05
_MIN_DATASETS = 6
"""With fewer, Wilcoxon's test cannot reach p < 0.05."""
_ENOUGH = 10
"""Data sets from which the bootstrap is about wide enough."""

Measure = Literal["error", "size"]


def compare_over_datasets(
    study: DatasetsSummary, found: OverDatasets, measure: Measure, control: str | None
) -> list[PairedComparison]:
    """Compare the control, by default the best, with every other algorithm."""
    values = {title: (found.errors if measure == "error" else found.sizes)(title) for title in found.titles}
    return compare_datasets(values, control=control, margin=study.plan.margin)


def say_leader(study: DatasetsSummary, found: OverDatasets) -> str:
    """Return the result with one classifier in one or two sentences: who has the lowest error, and against whom."""
    k, leader = len(found.members), min(found.titles, key=lambda title: float(found.mean_errors(title).mean()))
    error, size = float(found.mean_errors(leader).mean()), count(round(float(found.mean_sizes(leader).mean()), 1))
    whole = f"all features: {percent(float(found.all_features.mean()))}"
    means = [round(float(found.mean_errors(title).mean()), 9) for title in found.titles]
    alone = f"{leader} has a mean error rate" if len(means) == 1 else "all algorithms have the same mean error rate"
    lowest = alone if len(set(means)) == 1 else f"{leader} has the lowest mean error rate"
    which = f" of {leader}" * (len(set(means)) == 1 < len(means))
    first = f"{found.name}: {lowest} over {k} data sets, {percent(error)} with {size} features{which} ({whole})."
    if len(found.titles) < 2 or k < _MIN_DATASETS:
        few = f" With fewer than {_MIN_DATASETS} data sets no pair can differ significantly (Wilcoxon test)."
        return first + few * (k < _MIN_DATASETS)
    return f"{first} {_say_against(compare_over_datasets(study, found, 'error', leader))}"


def _say_against(comparisons: Sequence[PairedComparison]) -> str:
    """Against whom the first algorithm is better, equal or inconclusive."""
    groups: dict[str, list[PairedComparison]] = {}
    for one in comparisons:
        groups.setdefault(one.verdict, []).append(one)
    parts = []
    if better := groups.get("better"):
        wins = min(one.wins for one in better)
        names, p = enumerate_words([one.against for one in better]), max(one.p_hommel for one in better)
        k, each = better[0].n_datasets, "at least " if len(better) > 1 else ""
        where = f"all {k}" if wins == k else f"{each}{wins} of {k}"
        parts.append(f"lower than that of {names} (on {where} data sets, {at_most(p)})")
    if equal := groups.get("practically equal"):
        parts.append(f"practically equal to that of {enumerate_words([one.against for one in equal])}")
    if unsure := groups.get("inconclusive"):
        parts.append(f"inconclusive against {enumerate_words([one.against for one in unsure])}")
    return f"It is {enumerate_words(parts)}." if parts else ""


def show_means(study: DatasetsSummary, found: OverDatasets) -> Content:
    """Show the mean of the runs on each data set, and the mean ranks of the algorithms."""
    columns = {title: 100 * found.mean_errors(title) for title in found.titles}
    columns["all features"] = 100 * found.all_features
    rows: list[dict[str, Any]] = [
        {"data set": name} | {title: float(values[i]) for title, values in columns.items()}
        for i, name in enumerate(found.members)
    ]
    rows.append({"data set": "mean"} | {title: float(values.mean()) for title, values in columns.items()})
    several = len(found.members) > 1
    rows.append({"data set": "SD"} | {t: float(v.std(ddof=1)) if several else 0.0 for t, v in columns.items()})
    sizes = {title: float(found.mean_sizes(title).mean()) for title in found.titles}
    n_features = np.mean([one.n_features for one in found.members.values()])
    rows.append({"data set": "features"} | {t: sizes.get(t, float(n_features)) for t in columns})
    table = Table(
        "datasets",
        f"Mean error rate [%] of the runs on each data set, with {found.name}",
        rows,
        {title: (title, ".2f") for title in columns},
        note="Each data set counts once, whatever the number of runs on it. SD: standard deviation between data sets. "
        "Features: mean number selected.",
    )
    if len(found.titles) < 2 or len(found.members) < 2:
        return Content(tables=[table])
    ranks = friedman(np.array([found.mean_errors(title) for title in found.titles]).T, names=found.titles)
    statistic, df1, df2, p = ranks.iman_davenport()
    gap = critical_difference(len(found.titles), len(found.members))
    means = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))
    words = (
        f"Friedman's test over the {len(found.members)} data sets, in the form of Iman and Davenport: F({df1}, {df2}) "
        f"= {statistic:.3g}, {probability(p)}: the algorithms "
        f"{'differ' if p <= _ALPHA else 'do not differ significantly'}."
    )
    drawing = Drawing(
        "ranks",
        f"Mean ranks of the algorithms over the data sets, with {found.name}",
        "Rank 1 is the lowest mean error rate on a data set. Algorithms joined by a bar do not differ significantly "
        "(Nemenyi test at 5 %).",
        lambda: plot_ranks(means, gap, study.palette),
    )
    return Content(words=[words], drawings=[drawing], tables=[table])


def show_comparison(study: DatasetsSummary, found: OverDatasets) -> Content:
    """Compare the control with every other algorithm, in error and in size."""
    if len(found.titles) < 2 or len(found.members) < 2:
        return Content()
    results: dict[str, list[PairedComparison]] = {
        "error": compare_over_datasets(study, found, "error", study.control),
        "size": compare_over_datasets(study, found, "size", study.control),
    }
    control = results["error"][0].algorithm
    margin = study.plan.margin
    tables = [_comparison_table(found, measure, each, margin) for measure, each in results.items()]
    for number, both in enumerate(study.plan.comparisons):
        pair = [study.plan.title_of(name) for name in both]
        for measure, values in (("error", found.errors), ("size", found.sizes)):
            compared = compare_datasets(
                {title: values(title) for title in pair}, pairs=[(pair[0], pair[1])], margin=margin
            )
            tables.append(_comparison_table(found, measure, compared, margin, f"-pair-{number + 1}"))
    drawing = Drawing(
        "differences",
        f"{control} minus every other algorithm, on each data set, with {found.name}",
        f"Left of the line {control} has the lower error rate, or the fewer features. Small markers are data sets; "
        "large ones their mean, with the 95 % interval of the hierarchical bootstrap (data sets, then runs).",
        lambda: plot_differences(found, control, results, study.palette),
        narrow=lambda: plot_differences(found, control, results, study.palette, narrow=True),
    )
    sizes = [one for one in results["size"] if one.verdict == "better"]
    answer = [f"Over {len(found.members)} data sets, the error rate of {control}: {_say_verdicts(results['error'])}."]
    if sizes:
        names = enumerate_words([one.against for one in sizes])
        answer.append(
            f"{control} selects fewer features than {names} ({at_most(max(one.p_hommel for one in sizes))}, Wilcoxon)."
        )
    return Content(drawings=[drawing], tables=tables, answer=answer)


def _say_verdicts(comparisons: Sequence[PairedComparison]) -> str:
    words = {"better": "lower than", "worse": "higher than"}
    words |= {"practically equal": "practically equal to", "inconclusive": "inconclusive against"}
    parts = []
    for verdict, phrase in words.items():
        mine = [one for one in comparisons if one.verdict == verdict]
        if mine:
            each = [f"{one.against} ({one.wins} of {one.n_datasets}, {probability(one.p_hommel)})" for one in mine]
            parts.append(f"{phrase} {enumerate_words(each)}")
    return "; ".join(parts)


def _comparison_table(
    found: OverDatasets, measure: str, comparisons: Sequence[PairedComparison], margin: float, suffix: str = ""
) -> Table:
    factor, form = (100.0, ".2f") if measure == "error" else (1.0, ".1f")
    what = "error rate [%]" if measure == "error" else "features"
    rows = []
    for one in comparisons:
        row = one.row()
        ends = one.difference.ends
        rows.append(
            {
                "against": one.against,
                "mean": factor * one.mean_against,
                "tally": f"{one.wins} / {one.ties} / {one.losses}",
                "difference": factor * one.difference.estimate,
                "difference_interval": None if ends is None else tuple(factor * end for end in ends),
                "p": one.p_value,
                "p_hommel": one.p_hommel,
                "better": row["p_better"],
                "equal": row["p_equal"],
                "worse": row["p_worse"],
                "verdict": one.verdict,
            }
        )
    first = comparisons[0]
    others = first.against if suffix else "every other algorithm"
    few = ", too narrow with fewer than about ten data sets" if first.n_datasets < _ENOUGH else ""
    return Table(
        f"over-datasets-{measure}{suffix}",
        f"{first.algorithm} (mean {factor * first.mean:{form}}) against {others}: {what}, with {found.name}",
        rows,
        {
            "against": ("against", ""),
            "mean": (f"its mean {what}", form),
            "tally": ("wins / ties / losses", ""),
            "difference": ("difference", f"+{form}"),
            "difference_interval": ("95 % interval", f"+{form}"),
            "p": ("p, Wilcoxon", "#.2g"),
            "p_hommel": ("p, Hommel-adjusted", "#.2g"),
            "better": ("P(lower)", ".3f"),
            "equal": ("P(equal)", ".3f"),
            "worse": ("P(higher)", ".3f"),
        },
        note=f"Unit: the data set ({first.n_datasets}). p: Wilcoxon signed-rank test of the means. Interval: "
        f"hierarchical bootstrap{few}. P: Bayesian signed-rank test; equal within "
        f"{factor * first.posterior.margin:{form}}, {margin:.0%} of the mean of {first.algorithm} (our choice).",
    )
