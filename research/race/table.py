"""Tables of a race: the problem is the unit; its value is the mean over its estimators, of each over its splits."""

import numpy as np

from pqswarm.statistics import critical_difference, friedman, wilcoxon_signed_rank
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


def render(records):
    """Return Markdown: a table of the methods by mean rank, the errors of each problem, our losses, and versions."""
    methods, problems, errors, ranks = ranked(records)
    if not problems:
        return "No problem has been run with every method.\n"
    ours = methods.index(OURS) if OURS in methods else None
    limit = next(iter({r["limit"] for r in records}))
    cases = cases_of(records, methods)[1]
    each = sorted(sum(case[0] == name for case in cases) for name in problems)
    columns = {q: by_problem(records, q, methods)[1].mean(axis=0) for q in ("J", "size", "seconds")}
    rows = []
    for k, method in enumerate(methods):
        mine = [r for r in records if r["method"] == method and r["problem"] in problems]
        versus = ["", ""]
        if ours is not None and k != ours and len(problems) > 1:
            gap = errors[:, k] - errors[:, ours]
            p = float(wilcoxon_signed_rank(errors[:, k], errors[:, ours])) if gap.any() else 1.0
            versus = [f"{(gap > 0).sum()}, {(gap == 0).sum()}, {(gap < 0).sum()}", f"{p:.2g}"]
        cut = sum(r["status"] == "over" for r in mine) / len(mine)
        numbers = [f"{errors[:, k].mean():.4f}", f"{ranks[k]:.2f}", *versus, f"{columns['J'][k]:.4f}"]
        costs = [f"{columns['size'][k]:.0f}", f"{columns['seconds'][k]:.2g}", f"{cut:.0%}"]
        rows.append([METHODS[method].title, *numbers, *costs])
    heads = [
        "method",
        "held-out error",
        "mean rank",
        "problems: ours lower, equal, higher",
        "p",
        "J",
        "features",
        "CPU s",
        "stopped by the limit",
    ]
    difference = f"{critical_difference(len(methods), len(problems)):.2f}" if len(problems) > 1 else "unknown"
    intro = (
        f"{len(problems)} problems, {len(cases)} cases: {each[0]} to {each[-1]} of each problem, a split with an "
        f"estimator; {limit} s of CPU time per fit. p: "
        f"Wilcoxon over problems against SwarmSelector, unadjusted; critical difference of mean ranks {difference}."
    )
    parts = [intro, table(heads, rows), losses(methods, problems, errors), versions(records)]
    single = [[name, *(mark(row, k) for k in range(len(methods)))] for name, row in zip(problems, errors, strict=True)]
    parts.append("Held-out error of each problem, lowest in bold:")
    parts.append(table(["", *(METHODS[m].title.replace("scikit-learn ", "") for m in methods)], single))
    return "\n\n".join(part for part in parts if part) + "\n"


def mark(row, k):
    return f"**{row[k]:.3f}**" if row[k] == row.min() else f"{row[k]:.3f}"


def losses(methods, problems, errors):
    """Return a sentence: on which problems a peer is ahead of SwarmSelector, and by how much."""
    if OURS not in methods:
        return ""
    gaps = errors[:, methods.index(OURS)] - errors.min(axis=1)
    found = [
        f"{problems[k]} ({errors[k].min() + gaps[k]:.3f}; {METHODS[methods[int(errors[k].argmin())]].title} "
        f"{errors[k].min():.3f})"
        for k in np.argsort(-gaps, kind="stable")
        if gaps[k] > 0
    ]
    return f"SwarmSelector is not the best on {len(found)} of {len(problems)}: {', '.join(found)}." if found else ""


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


def insert(page, text, name):
    """Return the page with the text between its two markers of that name."""
    first, last = f"<!-- race {name}: begin -->", f"<!-- race {name}: end -->"
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise SystemExit(f"the page must contain the lines {first} and {last}, in this order.")
    return f"{before}{first}\n\n{text}\n{last}{after}"


def table(heads, rows):
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)
