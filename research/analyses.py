"""Analyses of a folder of recordings: as a page of the docs, or compared with what is true of them.

    python research/analyses.py FOLDER [--page docs/analyses.md]
    python research/analyses.py --corpus FOLDER [FOLDER ...]

The first prints how many rows, one per event, agree, partly agree, disagree or cannot be compared. The second prints
for each recording of the first folder how many statements are right, wrong, missed or false (`corpus/expectations.py`),
and for those of all folders whether the cause is that of `corpus/causes.csv`; its exit code is 1 if a statement is not
right, or a wrong cause is stated as if it was sure.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from corpus import check_corpus, compare_causes
from corpus.causes import HIDDEN

from pqswarm.identify import Failure, default_model, find_recordings, identify_file
from pqswarm.identify.agreement import in_words
from pqswarm.identify.analysis import Analysis, EventResult

HEAD = """# Analyses of public recordings

One row per event, by `pqswarm identify` with the bundled model and nothing else given: no nominal voltage, no site
file. The recordings are third-party and not part of this project (see {doc}`recordings`). Written by
`research/analyses.py`.

{counts}

| recording | time | by the rules | cause | class |
|---|---|---|---|---|
"""


def row(analysis: Analysis, one: EventResult) -> str:
    when = one.event.at(analysis.start)
    time = f"+{one.event.start:.3f} s" if when is None else when.isoformat(sep=" ", timespec="milliseconds")
    said = f"{in_words(one.label)} ({100 * one.probability:.0f} %)" if one.known else "unknown"
    said = said if one.probabilities else "not asked"
    incident = analysis.incident_of(analysis.events.index(one))
    cause = ""
    if incident is not None and incident.stages and analysis.events[incident.events[0]] is one:
        cause = incident.title + (f" ({100 * incident.probability:.0f} %)" if incident.cause != "unknown" else "")
    cells = (analysis.source, time, one.event.sentence, cause, said)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def print_corpus(folder: Path) -> bool:
    """Print the comparison of each recording; return whether all are right."""
    totals, n_recordings, n_right = Counter[str](), 0, 0
    for one in check_corpus(folder):
        problems = {"wrong": one.wrong, "missed": one.missed, "false": one.false}
        counts = {"right": one.right} | {name: len(found) for name, found in problems.items()}
        totals.update(counts)
        n_recordings += 1
        n_right += one.is_right
        said = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        print(f"{'right' if one.is_right else 'WRONG'}  {one.name}: {said}")
        for name, found in problems.items():
            more = [f"and {len(found) - 3} more"] if len(found) > 3 else []
            for sentence in (*found[:3], *more):
                print(f"         {name}: {sentence}")
    print(f"\n{n_right} of {n_recordings} recordings right;", ", ".join(f"{n} {name}" for name, n in totals.items()))
    return n_right == n_recordings


def print_causes(folders: list[Path]) -> bool:
    """Print the comparison of each cause; return whether none is wrong as if it was sure."""
    compared = list(compare_causes(*folders))
    for one in compared:
        print(one)
    signed = [one for one in compared if one.truth != HIDDEN]
    right = sum(one.is_right for one in signed)
    grave = sum(one.is_grave for one in compared)
    print(f"\n{right} of {len(signed)} causes right, {grave} wrong with a high probability")
    return grave == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--page", type=Path, help="Markdown file to write.")
    parser.add_argument("--corpus", type=Path, nargs="+", metavar="FOLDER", help="recordings with known truth")
    options = parser.parse_args()
    if (options.folder is None) == (options.corpus is None):
        parser.error("give a folder of recordings, or --corpus FOLDER.")
    if options.corpus is not None:
        all_right = print_corpus(options.corpus[0])
        sys.exit(not (print_causes(options.corpus) and all_right))
    print_page(options.folder, options.page)


def print_page(folder: Path, page: Path | None) -> None:
    """Print how rules and model agree, and write the page."""
    paths, _ = find_recordings([folder])
    rows, counts = [], Counter[str]()
    n_recordings = 0
    for path in paths:
        for found in identify_file(path, model=default_model()):
            if isinstance(found, Failure):
                rows.append(f"| {Path(found.path).name} | | {found.reason} | | |")
                counts["not analysed"] += 1
                continue
            n_recordings += 1
            for one in found.events:
                rows.append(row(found, one))
                counts[one.agreement.partition(":")[0]] += 1
    total = sum(counts.values())
    said = ", ".join(f"{name} {n} ({100 * n / total:.0f} %)" for name, n in counts.most_common())
    text = f"{n_recordings} recordings, {total} rows: {said}."
    print(text)
    if page:
        page.write_text(HEAD.replace("{counts}", text) + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
