"""Verdicts on a folder of recordings as a page of the docs: one row per event.

    python benchmarks/verdicts.py FOLDER [--page docs/verdicts.md]

Prints how many rows agree, partly agree, disagree or cannot be compared.
"""

import argparse
from collections import Counter
from pathlib import Path

from pqswarm.identify import Failure, default_model, find_recordings, identify_file
from pqswarm.identify.agreement import in_words
from pqswarm.identify.verdict import EventVerdict, Verdict

HEAD = """# Verdicts on public recordings

One row per event, by `pqswarm identify` with the bundled model and nothing else given: no nominal voltage, no site
file. The recordings are third-party and not part of this project (see {doc}`recordings`). Written by
`benchmarks/verdicts.py`.

{counts}

| recording | time | by the rules | by the model | |
|---|---|---|---|---|
"""


def row(verdict: Verdict, one: EventVerdict) -> str:
    when = one.event.at(verdict.start)
    time = f"+{one.event.start:.3f} s" if when is None else when.isoformat(sep=" ", timespec="milliseconds")
    said = f"{in_words(one.label)} ({100 * one.probability:.0f} %)" if one.known else "unknown"
    said = said if one.probabilities else "not asked"
    agreement = one.agreement.partition(":")[0]
    cells = (verdict.source, time, one.event.sentence, said, agreement)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, help="Markdown file to write.")
    options = parser.parse_args()
    paths, _ = find_recordings([options.folder])
    rows, counts = [], Counter[str]()
    n_recordings = 0
    for path in paths:
        for found in identify_file(path, model=default_model()):
            if isinstance(found, Failure):
                rows.append(f"| {Path(found.path).name} | | {found.reason} | | not analysed |")
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
    if options.page:
        options.page.write_text(HEAD.replace("{counts}", text) + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
