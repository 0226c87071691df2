"""Format the records of a race as Markdown."""

import statistics

from race.data import DATA, ESTIMATORS
from race.methods import METHODS

BEGIN, END = "<!-- race: begin -->", "<!-- race: end -->"


def render(records):
    """Return a table of accuracies by method and race, then a detailed table for each race."""
    races = [(d, e) for d in DATA for e in ESTIMATORS if any((r["data"], r["estimator"]) == (d, e) for r in records)]
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    cells = {
        (race, m): [r for r in records if ((r["data"], r["estimator"]), r["method"]) == (race, m)]
        for race in races
        for m in methods
    }
    parts = [overview(races, methods, cells), versions(methods, records)]
    for race in races:
        here = {m: cells[race, m] for m in methods if cells[race, m]}
        parts += [f"### {DATA[race[0]].title}: {ESTIMATORS[race[1]]}", details(here, DATA[race[0]].informative)]
    return "\n\n".join(parts) + "\n"


def insert(page, text):
    """Return the page with the text between its two markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"the page must contain the lines {BEGIN} and {END}, in this order.")
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"


def overview(races, methods, cells):
    """Return mean outer accuracies, the best of each race in bold, and mean ranks of methods in all races."""
    accuracy = {key: mean_of(records, "accuracy") for key, records in cells.items()}
    ranks = {m: [] for m in methods}
    for race in races:
        raced = [m for m in methods if any(r["status"] != "missing" for r in cells[race, m])]
        there = {m: -1.0 if accuracy[race, m] is None else accuracy[race, m] for m in raced}
        for m, value in there.items():
            better, same = (sum(f(other) for other in there.values()) for f in (value.__lt__, value.__eq__))
            ranks[m].append(better + (same + 1) / 2)
    heads = [f"{d}, {ESTIMATORS[e]}" for d, e in races]
    rows = []
    for m in methods:
        shown = [number(accuracy[race, m], 3) or why_not(cells[race, m], short=True) for race in races]
        tops = [number(max((accuracy[race, n] or 0.0) for n in methods), 3) for race in races]
        shown = [f"**{cell}**" if cell == top else cell for cell, top in zip(shown, tops, strict=True)]
        rows.append(
            [METHODS[m].title, *shown, number(statistics.fmean(ranks[m]), 1) if len(ranks[m]) == len(races) else ""]
        )
    return table(["outer accuracy", *heads, "mean rank"], rows)


def versions(methods, records):
    """Return one sentence with the package versions."""
    found = {
        METHODS[m].distribution: r["version"] for m in methods for r in records if r["method"] == m and r["version"]
    }
    return "Versions: " + ", ".join(f"{name} {found[name]}" for name in sorted(found, key=str.lower)) + "."


def details(here, informative):
    """Return accuracy and size with their spread, time and evaluations of each method in one race."""
    best = max((mean_of(records, "accuracy") or 0.0) for records in here.values())
    heads = ["method", "outer accuracy", "features", "CPU s", "evaluations", "splits"]
    rows = []
    for m, records in here.items():
        done = [r for r in records if r["status"] == "done"]
        if not done:
            rows.append([METHODS[m].title, why_not(records)] + [""] * (5 if informative else 4))
            continue
        seconds = mean_of(done, "seconds")
        row = [
            METHODS[m].title,
            marked(spread(done, "accuracy", 3), number(mean_of(done, "accuracy"), 3) == number(best, 3)),
            spread(done, "features", 1),
            number(seconds, 2 if seconds < 10 else 0),
            number(mean_of(done, "evaluations"), 0),
            str(len(done)) if len(done) == len(records) else f"{len(done)}; {why_not(records)}",
        ]
        if informative:
            row.insert(3, spread(done, "found", 1))
        rows.append(row)
    if informative:
        heads.insert(3, f"of the {informative}")
    return table(heads, rows)


def why_not(records, short=False):
    """Return the reason of the first record without a number."""
    for r in records:
        if r["status"] == "over":
            return f"over {r['limit']:g} s"
        if r["status"] == "failed":
            return "failed" if short else f"failed: {r['reason']}"
        if r["status"] == "missing":
            return "not installed" if short else f"not installed: {r['reason']}"
    return ""


def mean_of(records, key):
    values = [r[key] for r in records if r.get(key) is not None]
    return statistics.fmean(values) if values else None


def spread(records, key, digits):
    values = [r[key] for r in records]
    shown = number(statistics.fmean(values), digits)
    return shown if len(values) < 2 else f"{shown} ± {statistics.stdev(values):.{digits}f}"


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def marked(text, best):
    return f"**{text}**" if best else text


def table(heads, rows):
    cells = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)
