"""Tables of a comparison of searches; a problem is the unit."""

import csv
from pathlib import Path

import numpy as np

from pqswarm.statistics import critical_difference, friedman, wilcoxon_signed_rank

CLASSIFIED = ("k-nn", "gaussian-nb", "lda")
QUANTITIES = {"J": "J", "held_out": "held-out error", "size": "features"}


def by_problem(records, estimators, mark, quantity, algorithms):
    """Return the problems and an array, problems x algorithms: means over splits, then over estimators."""
    cells = {}
    for r in records:
        if r["estimator"] in estimators and int(r["mark"]) == mark and r["algorithm"] in algorithms:
            cells.setdefault((r["problem"], r["estimator"]), {}).setdefault(r["algorithm"], []).append(
                float(r[quantity])
            )
    rows = {}
    for (problem, _), found in cells.items():
        if len(found) == len(algorithms):
            rows.setdefault(problem, []).append([np.mean(found[name]) for name in algorithms])
    return list(rows), np.array([np.mean(values, axis=0) for values in rows.values()]).reshape(-1, len(algorithms))


def compared(values, reference):
    """Return the p-value of each column against the reference (Wilcoxon over problems), None for the reference."""
    return [
        None if k == reference else float(wilcoxon_signed_rank(values[:, k], values[:, reference]))
        for k in range(values.shape[1])
    ]


def render(records, algorithms, reference):
    """Return Markdown: for each group of estimators and mark the means, mean ranks and p-values."""
    marks = sorted({int(r["mark"]) for r in records})
    present = {r["estimator"] for r in records}
    groups = [("mean over classifiers", CLASSIFIED), *((name, (name,)) for name in (*CLASSIFIED, "ridge"))]
    parts = []
    for title, estimators in groups:
        if not present & set(estimators):
            continue
        rows, n = [], 0
        for mark in marks:
            for quantity, label in QUANTITIES.items():
                problems, values = by_problem(records, estimators, mark, quantity, algorithms)
                if not len(values):
                    continue
                n = len(problems)
                cells = [f"{label} at {mark}"]
                ranks = friedman(values, names=algorithms).mean_ranks if n > 1 else np.full(len(algorithms), np.nan)
                p = compared(values, algorithms.index(reference)) if n > 1 else [None] * len(algorithms)
                for mean, rank, chance in zip(values.mean(axis=0), ranks, p, strict=True):
                    shown = f"{mean:.1f}" if quantity == "size" else f"{mean:.4f}"
                    cells.append(f"{shown} ({rank:.2f})" + ("" if chance is None else f", p {chance:.2g}"))
                rows.append(cells)
        cd = f"critical difference of mean ranks {critical_difference(len(algorithms), n):.2f}" if n > 1 else ""
        head = ["", *algorithms]
        lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
        parts.append(f"**{title}**, {n} problems; {cd}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def diagram(records, algorithms, mark, quantity, path):
    """Draw the critical-difference diagram of the mean over classifiers."""
    from pqswarm.report.sections.chance import plot_ranks

    problems, values = by_problem(records, CLASSIFIED, mark, quantity, algorithms)
    ranks = friedman(values, names=algorithms).mean_ranks
    difference = critical_difference(len(algorithms), len(problems))
    figure = plot_ranks(dict(zip(algorithms, ranks, strict=True)), difference)
    figure.savefig(path, bbox_inches="tight")


def means(records):
    """Return one record per problem, estimator, algorithm and mark: means over the splits."""
    groups = {}
    for r in records:
        groups.setdefault((r["problem"], r["estimator"], r["algorithm"], int(r["mark"])), []).append(r)
    for (problem, estimator, algorithm, mark), rows in groups.items():
        numbers = {q: round(float(np.mean([float(r[q]) for r in rows])), 5) for q in (*QUANTITIES, "own_us")}
        case = {"problem": problem, "estimator": estimator, "algorithm": algorithm, "mark": mark, "splits": len(rows)}
        yield case | numbers


def write_means(records, path):
    """Write :func:`means` as a CSV file."""
    rows = list(means(records))
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
