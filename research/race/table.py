"""Tables of a race: the problem is the unit; its value is the mean over its estimators, of each over its splits."""

import csv

import numpy as np

from pqswarm.statistics import critical_difference, friedman, hommel, wilcoxon_signed_rank
from race.methods import METHODS, OURS

BASE = "all"  # counts for a method that failed or did not stop: without a selection, all features are used


def cases_of(records, methods):
    """Return the records by problem, estimator, split and method, and the cases that all methods ran on."""
    cells = {(r["problem"], r["estimator"], r["split"], r["method"]): r for r in records}
    return cells, sorted({key[:3] for key in cells if all((*key[:3], m) in cells for m in methods)})


def by_problem(records, quantity, methods):
    """Return the problems that all methods ran on, and an array, problems x methods."""
    cells, cases = cases_of(records, methods)
    rows = {}
    for case in cases:
        values = [cells[*case, m][quantity] or cells[*case, BASE][quantity] for m in methods]
        by_estimator = rows.setdefault(case[0], {})
        by_estimator.setdefault(case[1], []).append([float(value) for value in values])
    means = [
        np.mean([np.mean(splits, axis=0) for splits in by_estimator.values()], axis=0) for by_estimator in rows.values()
    ]
    return list(rows), np.round(means, 9).reshape(-1, len(methods))  # differences of the last bits are ties


def ranked(records):
    """Return the methods by mean rank, the problems, held-out errors (problems x methods) and mean ranks."""
    methods = [m for m in METHODS if any(r["method"] == m and r["status"] != "missing" for r in records)]
    problems, errors = by_problem(records, "held_out", methods)
    ranks = np.asarray(friedman(errors, names=methods).mean_ranks) if len(problems) > 1 else np.ones(len(methods))
    order = np.argsort(ranks, kind="stable")
    return [methods[k] for k in order], problems, errors[:, order], ranks[order]


def summary(records):
    """Return the heads and rows of a table: the methods by mean rank, with errors, comparisons and sizes."""
    methods, _, errors, ranks = ranked(records)
    ours = methods.index(OURS) if OURS in methods else None
    sizes = by_problem(records, "size", methods)[1].mean(axis=0)
    adjusted = adjusted_p(errors, ours)
    heads = ["method", "error on new data", "mean rank", "SwarmSelector lower, higher", "p", "features"]
    rows = []
    for k, method in enumerate(methods):
        versus = ["", ""]
        if k in adjusted:
            gap = errors[:, k] - errors[:, ours]
            versus = [f"{(gap > 0).sum()}, {(gap < 0).sum()}", f"{adjusted[k]:.2g}"]
        title = METHODS[method].title.replace("**", "")
        rows.append([title, f"{errors[:, k].mean():.3f}", f"{ranks[k]:.1f}", *versus, f"{sizes[k]:.0f}"])
    return heads, rows


def render(records):
    """Return Markdown: the conditions, the table, how often SwarmSelector is the best, and versions."""
    methods, problems, errors, _ = ranked(records)
    if not problems:
        return "No problem has been run with every method.\n"
    limit = next(iter({r["limit"] for r in records}))
    cases = cases_of(records, methods)[1]
    difference = f"{critical_difference(len(methods), len(problems)):.1f}" if len(problems) > 1 else "unknown"
    intro = (
        f"{len(problems)} problems, {len(cases)} cases (a split with an estimator), within {limit} s of CPU time per "
        f"fit. p: Wilcoxon over problems against SwarmSelector, Hommel-adjusted; critical difference of mean ranks "
        f"{difference}."
    )
    parts = [intro, table(*summary(records)), leads(methods, errors), versions(records)]
    return "\n\n".join(part for part in parts if part) + "\n"


def write(records, path):
    """Write the table as CSV."""
    heads, rows = summary(records)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([heads, *rows])


def adjusted_p(errors, ours):
    """Return the Hommel-adjusted p-value of each other method against SwarmSelector, by its column."""
    if ours is None or len(errors) < 2:
        return {}
    others = [k for k in range(errors.shape[1]) if k != ours]
    p = [float(wilcoxon_signed_rank(errors[:, k], errors[:, ours])) for k in others]
    return dict(zip(others, hommel(p), strict=True))


def leads(methods, errors):
    """Return a sentence: on how many problems no other method has a lower error than SwarmSelector."""
    if OURS not in methods:
        return ""
    best = int((errors[:, methods.index(OURS)] == errors.min(axis=1)).sum())
    return f"SwarmSelector has the lowest error, or shares it, on {best} of {len(errors)} problems."


def versions(records):
    """Return one sentence with the package versions."""
    found = {METHODS[r["method"]].distribution: r["version"] for r in records if r["version"]}
    return "Versions: " + ", ".join(f"{name} {found[name]}" for name in sorted(found, key=str.lower)) + "."


def diagram(records, path):
    """Draw the critical-difference diagram of the held-out error."""
    from pqswarm.report.sections.chance import plot_ranks

    methods, problems, _, ranks = ranked(records)
    titles = [METHODS[m].title.replace("**", "").replace("scikit-learn ", "") for m in methods]
    figure = plot_ranks(dict(zip(titles, ranks, strict=True)), critical_difference(len(methods), len(problems)))
    figure.savefig(path, bbox_inches="tight")


def table(heads, rows):
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)
