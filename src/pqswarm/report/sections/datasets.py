"""Sections of the report on several data sets, which are the unit of every test."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.text import noise_level_text
from pqswarm.report.section import (
    Content,
    Drawing,
    Table,
    adaptive_drawing,
    points,
    probability,
)
from pqswarm.report.sections.algorithms import say_leaders
from pqswarm.report.sections.chance import plot_ranks, say_comparisons
from pqswarm.report.sections.held_out import ENSEMBLES_NOTE, before_held_out, say_averaging
from pqswarm.report.style import GREY, NARROW, WIDE, Palette, draw_rows, mark, settle_layout, styled
from pqswarm.report.summary import (
    ALPHA,
    MEASURE_FACTORS,
    MEASURE_FORMATS,
    MEASURE_NOUNS,
    MEASURES,
    ClassifierAcrossDatasets,
    Measure,
    StudySummary,
)
from pqswarm.statistics import critical_difference, friedman
from pqswarm.statistics.comparisons import PairedComparison, compare_datasets
from pqswarm.statistics.intervals import t_interval
from pqswarm.statistics.power import detectable_difference, measure_variances
from pqswarm.study.findings import ALL_FEATURES

_QUANTITIES: dict[Measure, str] = {"error": "error rate", "size": "number of features"}
_MIN_DATASETS = 6
"""With fewer, Wilcoxon's test cannot reach p < 0.05."""
_ENOUGH = 10
"""Data sets from which the bootstrap is about wide enough."""
_POWER_DATASETS = (3, 6, 12, 24)
_POWER_RUNS = (1, 2, 5, 10, 40)
"""Numbers of data sets, and of runs on each, in the table of power."""


def means_over_datasets(study: StudySummary, classifier: ClassifierAcrossDatasets) -> Content:
    """Show the mean of the runs on each data set, and the mean ranks of the algorithms."""
    table = _datasets_means_table(classifier)
    k = classifier.n_datasets
    means = {
        title: (round(classifier.mean("error", title), 12), classifier.mean("size", title))
        for title in classifier.titles
    }
    answer = say_leaders(means, classifier.n_features, float(classifier.all_features.mean()), study.plan)
    if len(classifier.titles) < 2 or k < 2:
        return Content(tables=[table], answer=answer)
    errors = np.array([classifier.means("error", title) for title in classifier.titles]).T
    ranks = friedman(errors, names=classifier.titles)
    statistic, df1, df2, p = ranks.iman_davenport()
    gap = critical_difference(len(classifier.titles), k)
    mean_ranks = dict(zip(ranks.names, ranks.mean_ranks.tolist(), strict=True))
    words = (
        f"Friedman's test over the {k} data sets, in the form of Iman and Davenport: F({df1}, {df2}) "
        f"= {statistic:.3g}, {probability(p)}: the algorithms "
        f"{'differ' if p <= ALPHA else 'do not differ significantly'}."
    )
    drawing = Drawing(
        "ranks",
        f"Mean ranks of the algorithms over the data sets, with {classifier.name}",
        "Rank 1 is the lowest mean error rate on a data set. Algorithms joined by a bar do not differ significantly "
        "(Nemenyi test at 5 %).",
        lambda: plot_ranks(mean_ranks, gap, study.palette),
    )
    return Content(words=[words], drawings=[drawing], tables=[table], answer=answer)


def _datasets_means_table(classifier: ClassifierAcrossDatasets) -> Table:
    columns = {title: 100 * classifier.means("error", title) for title in classifier.titles}
    columns["all features"] = 100 * classifier.all_features
    several = classifier.n_datasets > 1
    deviations = {title: float(values.std(ddof=1)) if several else 0.0 for title, values in columns.items()}
    sizes = {title: classifier.mean("size", title) for title in classifier.titles}
    sizes["all features"] = float(np.mean([dataset.n_features for dataset in classifier.datasets.values()]))
    rows: list[dict[str, Any]] = [
        {"data set": name} | {title: float(values[i]) for title, values in columns.items()}
        for i, name in enumerate(classifier.datasets)
    ]
    rows += [
        {"data set": "mean"} | {title: float(values.mean()) for title, values in columns.items()},
        {"data set": "SD"} | deviations,
        {"data set": "features"} | sizes,
    ]
    return Table(
        "datasets",
        f"Mean error rate [%] of the runs on each data set, with {classifier.name}",
        rows,
        {title: (title, ".2f") for title in columns},
        note="Each data set counts once, whatever the number of runs on it. SD: standard deviation between data sets. "
        "Features: mean number selected.",
    )


def control_over_datasets(study: StudySummary, classifier: ClassifierAcrossDatasets) -> Content:
    """Compare the control with every other algorithm, in error and in size."""
    if len(classifier.titles) < 2 or classifier.n_datasets < 2:
        return Content()
    margin = study.plan.margin
    results = {
        measure: compare_datasets(classifier.values(measure), control=study.control, margin=margin)
        for measure in MEASURES
    }
    control = results["error"][0].algorithm
    tables = [_datasets_comparison_table(classifier, measure, each, margin) for measure, each in results.items()]
    for number, pair in enumerate(study.plan.comparisons, start=1):
        first, second = (study.plan.title_of(name) for name in pair)
        for measure in MEASURES:
            values = {title: classifier.values(measure)[title] for title in (first, second)}
            compared = compare_datasets(values, pairs=[(first, second)], margin=margin)
            tables.append(_datasets_comparison_table(classifier, measure, compared, margin, f"-pair-{number}"))
    drawing = adaptive_drawing(
        "differences",
        f"{control} minus every other algorithm, on each data set, with {classifier.name}",
        f"Left of the line {control} has the lower error rate, or the fewer features. Small markers are data sets; "
        "large ones their mean, with the 95 % interval of the hierarchical bootstrap (data sets, then runs).",
        plot_differences_over_datasets,
        classifier,
        results,
        study.palette,
    )
    words = [say_comparisons(f"mean {_QUANTITIES[measure]}", each) for measure, each in results.items()]
    if classifier.n_datasets < _MIN_DATASETS:
        words.append(f"With fewer than {_MIN_DATASETS} data sets no difference can be significant, however large.")
    return Content(words=[" ".join(words)], drawings=[drawing], tables=tables)


def _datasets_comparison_table(
    classifier: ClassifierAcrossDatasets,
    measure: Measure,
    comparisons: Sequence[PairedComparison],
    margin: float,
    suffix: str = "",
) -> Table:
    factor = MEASURE_FACTORS[measure]
    form = MEASURE_FORMATS[measure]
    noun = MEASURE_NOUNS[measure]
    rows = []
    for comparison in comparisons:
        row = comparison.row()
        ends = comparison.difference.ends
        rows.append(
            {
                "against": comparison.against,
                "conclusion": comparison.conclusion,
                "mean": factor * comparison.mean_against,
                "tally": f"{comparison.wins} / {comparison.ties} / {comparison.losses}",
                "difference": factor * comparison.difference.estimate,
                "difference_interval": None if ends is None else tuple(factor * end for end in ends),
                "p": comparison.p_value,
                "p_hommel": comparison.p_hommel,
                "better": row["p_better"],
                "equal": row["p_equal"],
                "worse": row["p_worse"],
            }
        )
    first = comparisons[0]
    others = first.against if suffix else "every other algorithm"
    few = ", too narrow with fewer than about ten data sets" if first.n_datasets < _ENOUGH else ""
    return Table(
        f"over-datasets-{measure}{suffix}",
        f"{first.algorithm} (mean {factor * first.mean:{form}}) against {others}: {noun}, with {classifier.name}",
        rows,
        {
            "against": ("against", ""),
            "mean": (f"mean {noun}", form),
            "tally": ("wins / ties / losses", ""),
            "difference": ("difference", f"+{form}"),
            "difference_interval": ("95 % interval", f"+{form}"),
            "p": ("p, Wilcoxon", "#.2g"),
            "p_hommel": ("p, Hommel-adjusted", "#.2g"),
            "better": ("P(lower)", ".3f"),
            "equal": ("P(equal)", ".3f"),
            "worse": ("P(higher)", ".3f"),
        },
        conclusions={"conclusion": ("p", "p_hommel", "better", "equal", "worse")},
        note=f"Unit: the data set ({first.n_datasets}). p: Wilcoxon signed-rank test of the means. Interval: "
        f"hierarchical bootstrap{few}. P: Bayesian signed-rank test; equal within "
        f"{factor * first.posterior.margin:{form}}, {100 * margin:.0f} % of the mean of {first.algorithm}.",
    )


@styled
def plot_differences_over_datasets(
    classifier: ClassifierAcrossDatasets,
    results: Mapping[Measure, Sequence[PairedComparison]],
    palette: Palette,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw control minus each other algorithm on each data set, and the mean with its interval: error and size."""
    others = [comparison.against for comparison in results["error"]]
    labels: dict[Measure, str] = {"error": "percentage points", "size": "features"}
    height = 0.9 + 0.27 * len(others)
    figure = Figure(figsize=(NARROW, 2 * height) if narrow else (WIDE, height), layout="constrained")
    axes = figure.subplots(2, 1) if narrow else figure.subplots(1, 2)
    for axis, measure in zip(axes, MEASURES, strict=True):
        axis.axvline(0.0, color=GREY, lw=1.0, ls=(0, (5, 2)))
        for place, comparison in enumerate(results[measure]):
            _draw_difference_over_datasets(axis, place, classifier, comparison, measure, palette)
        axis.set(ylim=(len(others) - 0.5, -0.5), xlabel=labels[measure])
        axis.set_title(f"difference in {measure}", fontsize=9)
        repeated = axis is axes[-1] and not narrow
        draw_rows(axis, [""] * len(others) if repeated else others)
    return settle_layout(figure)


def _draw_difference_over_datasets(
    axis: Any,
    place: int,
    classifier: ClassifierAcrossDatasets,
    comparison: PairedComparison,
    measure: Measure,
    palette: Palette,
) -> None:
    factor = MEASURE_FACTORS[measure]
    title = comparison.against
    pair = f"{comparison.algorithm} - {title}"
    each = factor * (classifier.means(measure, comparison.algorithm) - classifier.means(measure, title))
    tips = [f"{pair}, {name}: {value:+.3g}" for name, value in zip(classifier.datasets, each, strict=True)]
    look = {"ls": "", "color": palette.color(title), "mew": 0}
    mark(axis.plot(each, np.full(each.size, place + 0.18), marker="o", ms=3, alpha=0.55, **look)[0], title, tips)
    ends = comparison.difference.ends
    if ends is not None:
        span = [factor * end for end in ends]
        mark(axis.plot(span, [place - 0.12] * 2, color=palette.color(title), lw=1.6)[0], title)
    mean = factor * comparison.difference.estimate
    tip = f"{pair}: {mean:+.3g}, p = {comparison.p_hommel:#.2g}"
    mark(axis.plot([mean], [place - 0.12], marker=palette.marker(title), ms=6, **look)[0], title, [tip])


def noise_over_datasets(study: StudySummary, classifier: ClassifierAcrossDatasets) -> Content:
    """Show the gain of the best subset of each algorithm over all features, at each noise level."""
    noise = [dataset.noise for dataset in classifier.datasets.values() if dataset.noise is not None]
    if len(noise) < classifier.n_datasets or study.levels == (inf,):
        return Content()
    # data sets x levels
    titles = (*classifier.titles, *classifier.ensembles)
    gains = {title: np.array([each.gain(title) for each in noise]) for title in titles}
    whole = np.array([each.all_features for each in noise])
    rows: list[dict[str, Any]] = [
        {"level": noise_level_text(level), "all": float(np.mean(whole[:, i]))}
        | {title: float(gain[:, i].mean()) for title, gain in gains.items()}
        for i, level in enumerate(study.levels)
    ]
    table = Table(
        "noise-over-datasets",
        f"Gain in accuracy of the best subset over all features [percentage points], with {classifier.name}",
        rows,
        {"level": ("SNR", ""), "all": ("accuracy of all features [%]", ".2f")} | {t: (t, "+.2f") for t in gains},
        signed=tuple(gains),
        note=f"Means over {len(noise)} data sets, in cross-validation.",
    )
    gain = gains[classifier.baseline]
    lowest = t_interval(gain.min(axis=1))
    words = (
        f"At every noise level the best subset of {classifier.baseline} is at least as accurate as all features on "
        f"{int((gain >= 0).all(axis=1).sum())} of {len(noise)} data sets; its minimum gain is "
        f"{points(float(lowest.mean))} percentage points on average"
    )
    if len(noise) > 1:
        words += f" (95 % t interval over data sets: {points(float(lowest.low))} to {points(float(lowest.high))})"
    return Content(words=[f"{words}."], tables=[table])


def held_out_over_datasets(study: StudySummary, classifier: ClassifierAcrossDatasets) -> Content:
    """Show the error of each data set's best subsets on held-out data, by default the events of the other data sets."""
    datasets = classifier.datasets.values()
    if not all(dataset.held_out for dataset in datasets):
        return Content()
    titles = (*classifier.titles, *classifier.ensembles, ALL_FEATURES)
    before = {title: np.array([before_held_out(dataset, title) for dataset in datasets]).T for title in titles}
    errors = {title: np.array([dataset.held_out[title].mean() for dataset in datasets]) for title in titles}
    increases = {title: errors[title] - before[title][1] for title in titles}
    rows: list[dict[str, Any]] = []
    for title, increase in increases.items():
        sizes, searched = before[title]
        optimism = t_interval(increase - increases[ALL_FEATURES])
        is_mean = title in classifier.ensembles
        is_unknown = is_mean or title == ALL_FEATURES or classifier.n_datasets < 2
        rows.append(
            {
                "subset": title,
                "size": float(sizes.mean()),
                "J": None if is_mean else float(searched.mean()),
                "new": float(errors[title].mean()),
                "increase": None if is_mean else float(increase.mean()),
                "optimism": None if is_unknown else float(optimism.mean),
                "optimism_interval": None if is_unknown else (float(optimism.low), float(optimism.high)),
            }
        )
    where = f"the {study.item}s of the other data sets" if study.plan.is_tested_across else f"held-out {study.item}s"
    table = Table(
        "held-out",
        f"Best subset of each data set on {where}, with {classifier.name}",
        rows,
        {
            "size": ("features", ".1f"),
            "J": ("cross-validated", ".2%"),
            "new": ("on new data", ".2%"),
            "increase": ("increase", "+.2%"),
            "optimism": ("optimism", "+.2%"),
            "optimism_interval": ("95 % interval", "+.2%"),
        },
        lowest=("J", "new"),
        note=f"Means over {classifier.n_datasets} data sets. The classifier was trained on all {study.item}s of the "
        f"data set of the search. Optimism: the increase of a subset's error rate minus that of all features; t "
        f"interval over the data sets.{ENSEMBLES_NOTE if classifier.ensembles else ''}",
    )
    return Content(words=say_averaging(study.plan, errors, "data set"), tables=[table])


def power_over_datasets(_: StudySummary, classifier: ClassifierAcrossDatasets) -> Content:
    """Show which differences in error other numbers of data sets and runs would find."""
    repeated = [title for title, runs in classifier.errors.items() if all(each.size > 1 for each in runs)]
    rivals = [title for title in repeated if title != classifier.baseline]
    if not rivals or classifier.baseline not in repeated or classifier.n_datasets < 3:
        return Content()
    rival = min(rivals, key=lambda title: classifier.mean("error", title))
    variances = measure_variances(classifier.errors[classifier.baseline], classifier.errors[rival])
    rows = [
        {"datasets": k} | {str(n_runs): 100 * detectable_difference(variances, k, n_runs) for n_runs in _POWER_RUNS}
        for k in _POWER_DATASETS
    ]
    table = Table(
        "power",
        f"Difference in mean error rate [percentage points] that a study would detect, with {classifier.name}",
        rows,
        {"datasets": ("data sets", "")} | {str(n): (f"{n} run{'s' * (n > 1)} each", ".2f") for n in _POWER_RUNS},
        note=f"80 % power, 5 % level, paired t test over data sets. From the standard deviations of "
        f"{classifier.baseline} minus {rival} in this study: {100 * variances.between:.2f} points between data sets, "
        f"{100 * variances.within:.2f} between runs on one data set.",
    )
    return Content(tables=[table])
