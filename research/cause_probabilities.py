"""How often each rule of causes is right, counted on the three-phase events of `three_phase/`.

    python research/cause_probabilities.py --write           # the table that the package states its probabilities from
    python research/cause_probabilities.py --seed 2000       # a test of that table with other events

The rules were developed on other events (`network/`, and public recordings). A cell is a rule, a size of the change and
whether the record has currents; the probability of a cell is (right + 1) / (all + 2).
"""

import argparse
import json
from collections import defaultdict
from itertools import cycle, product
from pathlib import Path

from causes import RATES, recording_of
from three_phase import BACKGROUNDS, draw_suite

from pqswarm.measure import characterize
from pqswarm.measure.incidents import causes

TABLE = Path(causes.__file__).with_name("probabilities.json")
COMMAND = "python research/cause_probabilities.py --write"


def count_cells(seed: int, suites: int, per_kind: int | None) -> dict[str, tuple[int, int]]:
    """Number of right causes and of all, by cell; each suite has its own seed, rate and background."""
    counts: dict[str, list[bool]] = defaultdict(list)
    conditions = cycle(product(RATES[1:], BACKGROUNDS))
    for number, (rate, background) in zip(range(suites), conditions, strict=False):
        for kind, event in draw_suite(seed + number, rate, background, per_kind):
            for incident in characterize(recording_of(event, kind)).incidents:
                if incident.stages and incident.cause != "unknown":
                    counts[incident.rule].append(incident.cause == event.truth.cause)
    return {cell: (sum(right), len(right)) for cell, right in sorted(counts.items())}


def main() -> None:
    """Print the cells, with the probability that the package states, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=101, help="of the first suite; 2000 and above test the table")
    parser.add_argument("--suites", type=int, default=9, metavar="N", help="suites of 246 events, each with its seed")
    parser.add_argument("--per-kind", type=int, metavar="N", help="at most that many events of each kind")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    given = parser.parse_args()
    table = dict(causes.read_probabilities())
    if given.write:  # rules that were wrong until now speak, too
        causes.read_probabilities().clear()
    cells = count_cells(given.seed, given.suites, given.per_kind)
    for cell, (right, total) in cells.items():
        known, number = table.get(cell, (0, 0))
        stated = (known + 1) / (number + 2)
        print(f"{cell:70}{right:5} of {total:5}{100 * right / total:7.1f} %, stated {100 * stated:.1f} %")
    if given.write:
        lines = ",\n".join(f"  {json.dumps(cell)}: {list(counts)}" for cell, counts in cells.items())
        head = json.dumps({"command": COMMAND, "seed": given.seed, "suites": given.suites}, indent=1)
        TABLE.write_text(f'{head[:-2]},\n "cells": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
