"""How few features are enough: the lowest error by the maximum number of features."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.report.runs import draw_error_of_all_features, errors_attained_by_run
from pqswarm.report.section import Content, Table, adaptive_drawing, count_runs, features, percent
from pqswarm.report.style import NARROW, WIDE, Palette, draw_guides, label_line_ends, mark, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary
from pqswarm.study import RunRecord

_SIZES = (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50)  # of the table


def fronts_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show the lowest error of each algorithm by subset size; empty if the runs kept no fronts."""
    groups = {
        title: group
        for title, group in classifier.groups.items()
        if all(r.result.front_masks is not None for r in group)
    }
    if not groups:
        return Content()
    attained = {
        title: np.array([errors_attained_by_run(record) for record in group]) for title, group in groups.items()
    }
    drawing = adaptive_drawing(
        "",
        "Lowest error rate by maximum number of features",
        "All subsets that a run evaluated count, not only its final one. Lines are medians over the runs; each ends "
        "where more features bring no improvement. Lower left is better.",
        plot_fronts,
        attained,
        (classifier.n_features, classifier.all_features),
        study.palette,
    )
    return Content(
        words=_front_sentences(groups, classifier), drawings=[drawing], tables=[_front_table(attained, classifier)]
    )


def _front_sentences(groups: Mapping[str, Sequence[RunRecord]], classifier: ClassifierSummary) -> list[str]:
    """State the smallest subset that does as well as all features."""
    matching = [
        (int(mask.sum()), float(error), title)
        for title, group in groups.items()
        for record in group
        for mask, error in zip(record.result.front_masks, record.result.front_errors, strict=True)  # type: ignore[arg-type]
        if error <= classifier.all_features
    ]
    if not matching:
        return [f"No run found a subset that does as well as all {classifier.n_features} features."]
    size, error, title = min(matching, key=lambda one: one[:2])
    return [
        f"The smallest subset that does as well as all {classifier.n_features} features "
        f"({percent(classifier.all_features)}) has {features(size)}: {title} found one with an error rate of "
        f"{percent(error)}."
    ]


def _front_table(attained: Mapping[str, FloatArray], classifier: ClassifierSummary) -> Table:
    medians = {title: np.median(curves, axis=0) for title, curves in attained.items()}
    last = max(_end_of_front(median) for median in medians.values())
    sizes = [size for size in _SIZES if size < last] + [last]
    rows = [
        {"algorithm": title} | {f"J_{k}": float(m[k - 1]) if np.isfinite(m[k - 1]) else None for k in sizes}
        for title, m in medians.items()
    ]
    keys = {f"J_{size}": (f"ξ ≤ {size}", ".4f") for size in sizes}
    return Table(
        "fronts",
        f"Lowest error rates by maximum number of features with {classifier.name}, {count_runs(classifier.n_runs)}",
        rows,
        keys,
        lowest=tuple(key for key in keys if any(row[key] is not None for row in rows)),
        note="Median over the runs of the lowest error rate among all evaluated subsets with at most ξ features; empty "
        "if half of the runs evaluated none.",
    )


def _end_of_front(median: FloatArray) -> int:
    """The number of features beyond which a curve does not fall."""
    return int(median.argmin()) + 1


@styled
def plot_fronts(
    attained: Mapping[str, FloatArray],
    all_features: tuple[int, float],
    palette: Palette,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the median over the runs of the lowest error with at most 1, 2, 3, ... features, as steps."""
    medians = {title: np.median(attained[title], axis=0) for title in palette.drawn(attained)}
    ends = {title: 100 * float(median.min()) for title, median in medians.items()}
    edge = 1.04 * max(map(_end_of_front, medians.values()))
    height = max(3.7 if narrow else 4.4, 1.2 + 0.24 * len(medians))
    figure = Figure(figsize=(NARROW if narrow else WIDE, height), layout="constrained")
    axis = figure.subplots()
    draw_guides(axis)
    labels = []
    for title, median in medians.items():
        sizes = np.flatnonzero(median < np.append(np.inf, median[:-1])) + 1
        steps = np.append(sizes, edge), 100 * np.append(median[sizes - 1], median.min())
        tip = _front_tip(title, median, len(attained[title]))
        mark(axis.plot(*steps, drawstyle="steps-post", **palette.line(title))[0], title, [tip])
        dots: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "ms": 4.0, "mew": 0.0, "zorder": 3.2}
        tips = [f"{title} with at most {features(int(s))}: error {percent(median[s - 1])}" for s in sizes]
        mark(axis.plot(sizes, steps[1][:-1], color=palette.color(title), **dots)[0], title, tips)
        labels.append(palette.label(axis, title, edge, ends[title], marked=True))
    shown = list(ends.values())
    labels.append(draw_error_of_all_features(axis, *all_features, edge))
    shown.append(100 * all_features[1])
    low, high = min(shown), max(shown)
    margin = max(high - low, 0.02 * high, 1e-6)
    axis.set(xlim=(0, edge), ylim=(low - 0.07 * margin, high + 0.5 * margin))
    axis.set_xlabel("maximum number of features")
    axis.set_ylabel("error rate [%]")
    return label_line_ends(figure, labels)


def _front_tip(title: str, median: FloatArray, n_runs: int) -> str:
    what = "one run" if n_runs == 1 else f"median of {count_runs(n_runs)}"
    return f"{title}, {what}: error {percent(float(median.min()))} with at most {features(_end_of_front(median))}"
