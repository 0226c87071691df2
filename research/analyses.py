"""Analyses of a folder of recordings: as the public table, or compared with what is true of them.

    python research/analyses.py FOLDER [--write docs/results/analyses.csv]
    python research/analyses.py --corpus FOLDER [FOLDER ...]

The first prints the table, one row per event, as CSV, or writes it; `tests/identify/test_public_analyses.py` compares
it with what the program says. The second prints for each recording of the first folder how many statements are right,
wrong, missed or false (`corpus/expectations.py`), and for those of all folders whether the cause is that of
`corpus/causes.csv`; its exit code is 1 if a statement is not right, or a wrong cause is stated as if it was sure.
"""

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from corpus import check_corpus, compare_causes
from corpus.causes import HIDDEN

from pqswarm.identify import Failure, default_model, find_recordings, identify_file

COLUMNS = ("recording", "time", "event", "class", "cause", "probability")
"""Of the public table; the cause is that of the incident, in the row of its main event."""


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
    phases = [one.has_phases for one in compared if one.has_phases is not None]
    print(f"{sum(phases)} of {len(phases)} faulted phases right")
    return grave == 0


def table_rows(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of the public table for the recordings of a folder."""
    for path in find_recordings([folder])[0]:
        for found in identify_file(path, model=default_model()):
            if isinstance(found, Failure):
                yield dict.fromkeys(COLUMNS, "") | {"recording": Path(found.path).name, "event": found.reason}
                continue
            rows = found.rows()
            if not rows:
                yield dict.fromkeys(COLUMNS, "") | {"recording": found.source, "event": found.no_event_reason}
            for result, row in zip(found.events, rows, strict=True):
                time = f"{row['date']} {row['time']}" if row["time"] else f"+{row['offset_s']:.3f} s"
                cells = (found.source, time, row["sentence"], result.class_in_words, row["cause"])
                sure = row["cause_probability"]
                yield dict(zip(COLUMNS, (*cells, f"{sure:.2f}" if row["cause"] else ""), strict=True))


def table_text(rows: Iterator[dict[str, str]]) -> str:
    """Return the table as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--write", type=Path, metavar="FILE", help="CSV file to write.")
    parser.add_argument("--corpus", type=Path, nargs="+", metavar="FOLDER", help="recordings with known truth")
    options = parser.parse_args()
    if (options.folder is None) == (options.corpus is None):
        parser.error("give a folder of recordings, or --corpus FOLDER.")
    if options.corpus is not None:
        all_right = print_corpus(options.corpus[0])
        sys.exit(not (print_causes(options.corpus) and all_right))
    text = table_text(table_rows(options.folder))
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
