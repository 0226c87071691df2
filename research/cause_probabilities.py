"""How often each rule of causes is right, counted on the events of four generators.

    python research/cause_probabilities.py --write           # the table that the package states its probabilities from
    python research/cause_probabilities.py --seed 5000       # a test of that table with other events

The events are those of `three_phase/`, of `network/`, of `independent/` and of `circuits/`, which share no code; the
kinds of the last two include what has no name among the causes. A cell is a rule, a size of the change and whether the
record has currents. How a probability follows from the counts of a cell is in `pqswarm.measure.incidents.causes`.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from causes import RATES, recording_of
from joblib import Parallel, delayed
from network import INCIDENT_CAUSES, draw_incident
from network_causes import recording_of as recording_of_network
from three_phase import BACKGROUNDS, draw_suite

from pqswarm.measure import characterize
from pqswarm.measure.incidents import causes
from pqswarm.measure.incidents.stages import Incident
from pqswarm.recordings import open_recordings

sys.path += [str(Path(__file__).parent / name) for name in ("independent", "circuits")]
import generate as circuits
import generator

TABLE = Path(causes.__file__).with_name("probabilities.json")
COMMAND = "python research/cause_probabilities.py --write"

Answer = tuple[Iterable[Incident], Iterable[str]]
"""The incidents that were found, and the true causes."""
Counts = dict[str, tuple[int, int]]
"""Number of right causes and of all, by cell."""


def three_phase_answers(seed: int, suite: int) -> Iterator[Answer]:
    """A suite, with its own seed, rate and background: at most eight events of a kind."""
    rate, background = list(product(RATES[1:], BACKGROUNDS))[suite % (len(RATES[1:]) * len(BACKGROUNDS))]
    for kind, event in draw_suite(seed + suite, rate, background, 8):
        yield characterize(recording_of(event, kind)).incidents, (event.truth.cause or "",)


def network_answers(seed: int, cause: str, records: int) -> Iterator[Answer]:
    """Some records of a cause, at each rate with and without currents."""
    number = INCIDENT_CAUSES.index(cause)
    for i, (rate, currents) in zip(range(records), cycle(product(RATES, (False, True))), strict=False):
        incident = draw_incident(cause, np.random.default_rng([seed, number, i]), sample_rate=rate)
        yield characterize(recording_of_network(incident, currents=currents)).incidents, (cause,)


def independent_answers(seed: int, kind: str, records: int) -> Iterator[Answer]:
    """Some records of a kind, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            truth = generator.make(kind, seed, number, Path(folder))
            (recording,) = open_recordings(Path(folder) / truth["file"])
            yield characterize(recording, nominal_voltage=truth["nominal_volts"]).incidents, truth["causes"]


def circuit_answers(seed: int, kind: str, records: int) -> Iterator[Answer]:
    """Some records of a kind that is simulated from circuits, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            stem, truth = circuits.record(kind, seed + number, Path(folder))
            (recording,) = open_recordings(Path(folder) / f"{stem}.cfg")
            found = characterize(recording, nominal_voltage=truth["nominal"])
            yield found.incidents, (truth["true_cause"], *truth["also"])


def count_cells(find: Callable[..., Iterator[Answer]], arguments: tuple[object, ...], *, all_speak: bool) -> Counts:
    """Count the causes of some answers; rules that were wrong until now speak, too, if all do."""
    causes.LEAST_PROBABILITY = 0.0 if all_speak else causes.LEAST_PROBABILITY
    counts: dict[str, list[bool]] = defaultdict(list)
    for incidents, true in find(*arguments):
        for incident in incidents:
            if incident.stages and incident.cause != "unknown":
                counts[incident.rule].append(incident.cause in true)
    return {cell: (sum(right), len(right)) for cell, right in counts.items()}


def main() -> None:
    """Print the cells, with the probability that the package states, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=3000, help="5000 and above test the table")
    parser.add_argument("--suites", type=int, default=16, metavar="N", help="suites of three_phase, each with its seed")
    parser.add_argument("--records", type=int, default=10, metavar="N", help="of each kind of the other generators")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    given = parser.parse_args()
    tasks: list[tuple[Callable[..., Iterator[Answer]], tuple[object, ...]]] = [
        *((three_phase_answers, (given.seed, suite)) for suite in range(given.suites)),
        *((network_answers, (given.seed, cause, given.records)) for cause in INCIDENT_CAUSES),
        *((independent_answers, (given.seed, kind, given.records)) for kind in generator.KINDS),
        *((circuit_answers, (given.seed, kind, given.records)) for kind in circuits.KINDS),
    ]
    found = Parallel(given.jobs)(delayed(count_cells)(*task, all_speak=given.write) for task in tasks)
    cells: Counts = {}
    for cell in sorted({cell for counts in found for cell in counts}):
        right, total = np.sum([counts.get(cell, (0, 0)) for counts in found], axis=0).tolist()
        cells[cell] = (right, total)
    if given.write:
        lines = ",\n".join(f"  {json.dumps(cell)}: {list(counts)}" for cell, counts in cells.items())
        options = {name: getattr(given, name) for name in ("seed", "suites", "records")}
        head = json.dumps({"command": COMMAND, **options}, indent=1)
        TABLE.write_text(f'{head[:-2]},\n "cells": {{\n{lines}\n }}\n}}\n', encoding="utf-8")
    causes.read_probabilities.cache_clear()
    for cell, (right, total) in cells.items():
        stated = causes.cell_probability(cell)
        print(f"{cell:70}{right:5} of {total:5}{100 * right / total:7.1f} %, stated {100 * stated:.1f} %")


if __name__ == "__main__":
    main()
