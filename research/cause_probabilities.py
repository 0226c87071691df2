"""How often each rule of causes is right, counted on the three-phase events of `three_phase/`.

    python research/cause_probabilities.py --write           # the table that the package states its probabilities from
    python research/cause_probabilities.py --seed 2000       # a test of that table with other events

The rules were developed on other events (`network/`, and public recordings). A cell is a rule, a size of the change and
whether the record has currents; the probability of a cell is (right + 1) / (all + 2).
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from causes import RATES, recording_of
from three_phase import BACKGROUNDS, draw_suite

from pqswarm.measure import characterize
from pqswarm.measure.incidents import causes

TABLE = Path(causes.__file__).with_name("probabilities.json")
COMMAND = "python research/cause_probabilities.py --write"


def count_cells(seeds: list[int], rates: list[int], per_kind: int | None) -> dict[str, tuple[int, int]]:
    """Number of right causes and of all, by cell."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for seed in seeds:
        for rate in rates:
            for background in BACKGROUNDS:
                for kind, event in draw_suite(seed, rate, background, per_kind):
                    found = characterize(recording_of(event, kind))
                    for incident in found.incidents:
                        if incident.stages and incident.cause != "unknown":
                            counts[incident.rule].append(incident.cause == event.truth.cause)
    return {cell: (sum(right), len(right)) for cell, right in sorted(counts.items())}


def main() -> None:
    """Print the cells, with the probability that the package states, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, nargs="+", default=[101, 102], help="2000 and above test the table")
    parser.add_argument("--rate", type=int, nargs="+", choices=RATES, default=[3200, 12_800], metavar="HZ")
    parser.add_argument("--per-kind", type=int, metavar="N", help="at most that many events of each kind")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    given = parser.parse_args()
    cells = count_cells(given.seed, given.rate, given.per_kind)
    for cell, (right, total) in cells.items():
        stated = causes.cell_probability(cell)
        print(f"{cell:70}{right:5} of {total:5}{100 * right / total:7.1f} %, stated {100 * stated:.1f} %")
    if given.write:
        table = {"command": COMMAND, "seeds": given.seed, "rates": given.rate, "cells": cells}
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
