"""Which classes are confused: confusion matrices with all and with the selected features."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.typing import IntArray
from pqswarm.events import class_title
from pqswarm.report.section import Content, Table, adaptive_drawing
from pqswarm.report.style import FAINT, LOSS, NARROW, draw_cell, draw_grid, settle_layout, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, NoiseSummary

_MAX_LISTED = 8  # pairs of classes


def confusion_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show the confusion matrices of stage II."""
    noise = classifier.noise
    if noise is None:
        return Content()
    drawing = adaptive_drawing(
        "",
        f"Confusion matrices: all features, and the best subset of {classifier.baseline}",
        f"Rows are true classes, columns predicted ones, for {study.searched_on}. The diagonal counts correct "
        f"classifications, red cells errors. Recall: percentage of the {study.item}s of a class that are recognized; "
        f"precision: percentage of the {study.item}s assigned to a class that belong to it. 100 means all.",
        plot_confusion,
        noise.before,
        noise.after,
        study.class_names,
    )
    return Content(drawings=[drawing], tables=_most_frequent_confusions(classifier, noise, study.class_names))


def _most_frequent_confusions(
    classifier: ClassifierSummary, noise: NoiseSummary, class_names: Sequence[str]
) -> list[Table]:
    """Return the table of the most frequently confused pairs of classes; empty if there are no errors."""
    wrong = [matrix + matrix.T for matrix in (noise.before, noise.after)]
    pairs = list(combinations(range(len(class_names)), 2))
    totals = [max(1, sum(int(both[pair]) for pair in pairs)) for both in wrong]
    often = sorted(pairs, key=lambda pair: [-int(both[pair]) for both in wrong])[:_MAX_LISTED]
    before, after = wrong
    rows = [
        {
            "classes": " and ".join(class_title(class_names[i]) for i in pair),
            "before": int(before[pair]),
            "before_fraction": 100 * int(before[pair]) / totals[0],
            "after": int(after[pair]),
            "after_fraction": 100 * int(after[pair]) / totals[1],
        }
        for pair in often
        if before[pair] or after[pair]
    ]
    if not rows:
        return []
    return [
        Table(
            "confusions",
            f"Most frequent confusions with {classifier.name}",
            rows,
            {
                "before": ("all features", ""),
                "before_fraction": ("% of all errors", ".1f"),
                "after": ("selected features", ""),
                "after_fraction": ("% of all errors", ".1f"),
            },
            note=f"Misclassifications within each pair of classes, in either direction, in the matrices above: with "
            f"all features, which determine the order, and with the best subset of {classifier.baseline}.",
        )
    ]


@styled
def plot_confusion(before: IntArray, after: IntArray, class_names: Sequence[str], *, narrow: bool = False) -> Figure:
    """Draw two confusion matrices on one color scale, with recall on the right and precision at the bottom [%]."""
    n = len(class_names)
    panels = {"All features": before, "Selected features": after}
    worst = max(1, *(int(matrix[~np.eye(n, dtype=bool)].max(initial=0)) for matrix in panels.values()))
    names = [class_title(name) for name in class_names]
    label = 0.08 * max(map(len, names))
    if narrow:
        figure = Figure(figsize=(NARROW, 2 * (1.15 + 0.2 * (n + 1))), layout="constrained")
        axes = figure.subplots(2, 1)
    else:
        width = 0.9 + label + 2 * max(0.28 * (n + 1.8), 4.2)
        figure = Figure(figsize=(width, 1.1 + label + 0.28 * (n + 1)), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
    titles = []
    for axis, (name, matrix) in zip(axes, panels.items(), strict=True):
        _draw_confusion_matrix(axis, matrix, names, worst, narrow)
        wrong = int(matrix.sum() - np.trace(matrix))
        total = int(matrix.sum())
        words = f"{name}: {wrong} of {total} misclassified ({100 * wrong / max(total, 1):#.3g} %)"
        titles.append(axis.set_title(words, fontsize=9.0 if narrow else 10.5, fontweight="bold"))
        axis.set_xlabel("predicted class")
    if not narrow:
        axes[0].set_ylabel("true class")
    settle_layout(figure)
    for axis, title in zip(axes, titles, strict=True):
        if narrow:  # from the left end of the figure, since it is longer than the axes are wide
            title.set_x(round((5.0 - axis.bbox.x0) / axis.bbox.width, 4))
    return figure


def _draw_confusion_matrix(axis: Axes, matrix: IntArray, names: Sequence[str], worst: int, narrow: bool) -> None:
    """Draw counts as cells, with recall on the right and precision at the bottom."""
    n = len(names)
    is_dense = narrow and n > 8
    size = 8.5 if narrow else 9.0
    recall_width = 1.8 if n > 8 else 1.0  # columns that the recall takes
    if is_dense:
        size = 7.6
        recall_width = 2.3
    recall_place = n - 0.5 + recall_width / 2
    draw_grid(axis, n, n)
    _draw_confusion_counts(axis, matrix, names, worst, size, is_dense)
    look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": size}
    turned = {"rotation": 90.0, "va": "center"} if is_dense else {}
    for i in range(n):
        correct = int(matrix[i, i])
        axis.text(recall_place, i, _confusion_percentage(correct, int(matrix[i].sum())), **look)
        axis.text(i, n + 0.15 * is_dense, _confusion_percentage(correct, int(matrix[:, i].sum())), **look | turned)
    axis.set(xlim=(-0.5, n - 0.5 + recall_width), ylim=(n + (1.0 if is_dense else 0.5), -0.5))
    recall = "recall\n[%]" if is_dense else "recall [%]"
    ticks: dict[str, Any] = {"fontsize": 8.0 if narrow else 9.5, "parse_math": False}
    # In the narrow figure rows are numbered and columns have only the numbers. In the wide one each name is anchored at
    # its column, whatever the reader's font.
    if narrow:
        rows = [f"{title}  {i + 1}" for i, title in enumerate(names)]
        axis.set_xticks([*range(n), recall_place], [*(str(i + 1) for i in range(n)), recall], **ticks)
    else:
        rows = [*names]
        anchored: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
        axis.set_xticks([*range(n), recall_place], [*names, recall], **ticks, **anchored)
    axis.set_yticks(range(n + 1), [*rows, "precision [%]"], **ticks)
    axis.tick_params(pad=2)


def _draw_confusion_counts(
    axis: Axes, matrix: IntArray, names: Sequence[str], worst: int, size: float, is_dense: bool
) -> None:
    """Draw a cell for each pair of classes that occurs; errors are red, the darker the more frequent."""
    totals = matrix.sum(axis=1)
    for i, j in zip(*np.nonzero(matrix), strict=True):
        count = int(matrix[i, j])
        text = str(count) if not is_dense or count < 100 else ""  # three digits would not fit
        if i == j:
            draw_cell(axis, (i, j), FAINT, 0.28, text, size, f"{names[i]}: {count} of {totals[i]} correct")
        else:
            tip = f"{names[i]} misclassified as {names[j]}: {count} of {totals[i]}"
            draw_cell(axis, (i, j), LOSS, 0.2 + 0.8 * count / worst, text, size, tip)


def _confusion_percentage(part: int, whole: int) -> str:
    """A fraction in percent, rounded, but 100 only if it is all, and 0 only if it is nothing."""
    if not whole:
        return "–"  # noqa: RUF001 (a dash, as in print)
    return str(100 * part // whole if part == whole or not part else min(max(round(100 * part / whole), 1), 99))
