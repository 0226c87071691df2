"""How often each rule of causes is right on events of authors that did not write it.

    python research/cause_probabilities.py --write           # the table that the package states its probabilities from
    python research/cause_probabilities.py --left-out        # each generator with a table of the others

The events are those of seven generators, which share no code: `three_phase/`, `network/`, `independent/`, `circuits/`,
`heldout/`, `feeders/` and `stations/`. The kinds of the last five include what has no name among the causes. A cell is
a rule, a size of the change and whether the record has currents.

Records of one kind are alike: a rule that is right on one is nearly always right on all, and what another author draws
is another kind. So kinds are counted, not records: those of one kind are correlated (`ALIKE`), and a rule that was
seen on few kinds is drawn towards the share that was right of such rules on generators that no rule had seen
(`UNSEEN`). Nothing is stated above 95 %. Cells of few kinds have none of their own: a rule and size without regard to
currents, or the rule, stands for them.
"""

import argparse
import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
from causes import RATES, recording_of
from joblib import Parallel, delayed
from network import INCIDENT_CAUSES, draw_incident
from network_causes import recording_of as recording_of_network
from three_phase import BACKGROUNDS, EVENT_TYPES, draw_suite

from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize
from pqswarm.measure.incidents import causes
from pqswarm.measure.incidents.stages import Incident
from pqswarm.recordings import open_recordings

HERE = Path(__file__).parent

TABLE = Path(causes.__file__).with_name("probabilities.json")
COMMAND = "python research/cause_probabilities.py --write"
ALIKE = 0.5
"""Correlation of the records of a kind: any number of them counts as two independent ones at most."""
UNSEEN = 0.87
PRIOR = 5.0
"""Share of the causes by rules of few authors that was right on `stations/` and `plants/` before any rule was developed
on them (152 of 174), and the number of independent records with this share that count beside those of a cell."""
FEWEST = 4
"""Kinds that a cell must have to state a probability of its own."""
SUREST = 0.95


@dataclass(frozen=True)
class Answer:
    """A cause that was named: the cell of its rule, and whether it is right; generator and kind of the record."""

    generator: str
    kind: str
    cell: str
    right: bool


def load_generator(script: str) -> ModuleType:
    """A script of another folder, under a name of its own: generators have scripts and modules of the same name."""
    path = HERE / script
    sys.path.insert(0, str(path.parent))
    for own in path.parent.glob("*.py"):
        sys.modules.pop(own.stem, None)
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


independent = load_generator("independent/generator.py")
circuits = load_generator("circuits/generate.py")
heldout = load_generator("heldout/generate.py")
feeders = load_generator("feeders/generate.py")
stations = load_generator("stations/generate.py")
Found = Iterator[tuple[Iterable[Incident], Iterable[str]]]
"""The incidents that were found in each record, and the true causes."""


def find_three_phase(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind, at a rate and background by their kind."""
    conditions = list(product(RATES[1:], BACKGROUNDS))
    rate, background = conditions[tuple(EVENT_TYPES).index(kind) % len(conditions)]
    for name, event in draw_suite(seed, rate, background, records):
        if name == kind:
            yield characterize(recording_of(event, kind)).incidents, (event.truth.cause or "",)


def find_network(seed: int, cause: str, records: int) -> Found:
    """Some records of a cause, at each rate with and without currents."""
    number = INCIDENT_CAUSES.index(cause)
    for i, (rate, currents) in zip(range(records), cycle(product(RATES, (False, True))), strict=False):
        incident = draw_incident(cause, np.random.default_rng([seed, number, i]), sample_rate=rate)
        yield characterize(recording_of_network(incident, currents=currents)).incidents, (cause,)


def find_independent(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            truth = independent.make(kind, seed, number, Path(folder))
            (recording,) = open_recordings(Path(folder) / truth["file"])
            yield characterize(recording, nominal_voltage=truth["nominal_volts"]).incidents, truth["causes"]


def find_circuits(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind that is simulated from circuits, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            yield read_written(Path(folder), *circuits.record(kind, seed + number, Path(folder)))


def find_heldout(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind that is simulated from networks, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            yield read_written(Path(folder), *heldout.make(kind, seed + number, Path(folder)))


def find_feeders(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind of feeders, read from their files."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            yield read_written(Path(folder), *feeders.one((Path(folder), kind, seed + number)))


def find_stations(seed: int, kind: str, records: int) -> Found:
    """Some records of a kind of stations, read from their files; those that cannot be solved are left out."""
    for number in range(records):
        with TemporaryDirectory() as folder:
            stem, truth, error = stations.one((Path(folder), kind, seed + number))
            if error is None:
                yield read_written(Path(folder), stem, truth)


def read_written(folder: Path, stem: str, truth: Mapping[str, object]) -> tuple[Iterable[Incident], Iterable[str]]:
    """The incidents of a COMTRADE file, and its true causes; none of a file that is refused."""
    (recording,) = open_recordings(folder / f"{stem}.cfg")
    true = (truth["true_cause"], *truth["also"])
    try:
        return characterize(recording, nominal_voltage=truth["nominal"]).incidents, true
    except PqswarmError:
        return (), true


GENERATORS: dict[str, tuple[Callable[[int, str, int], Found], tuple[str, ...]]] = {
    "three_phase": (find_three_phase, tuple(EVENT_TYPES)),
    "network": (find_network, tuple(INCIDENT_CAUSES)),
    "independent": (find_independent, tuple(independent.KINDS)),
    "circuits": (find_circuits, tuple(circuits.KINDS)),
    "heldout": (find_heldout, tuple(heldout.KINDS)),
    "feeders": (find_feeders, tuple(feeders.KINDS)),
    "stations": (find_stations, tuple(stations.KINDS)),
}


def answer_kind(generator_name: str, kind: str, seed: int, records: int) -> list[Answer]:
    """The causes that are named in some records of a kind; rules that were wrong until now speak, too."""
    causes.LEAST_PROBABILITY = 0.0
    return [
        Answer(generator_name, kind, incident.rule, incident.cause in true)
        for incidents, true in GENERATORS[generator_name][0](seed, kind, records)
        for incident in incidents
        if incident.stages and incident.cause != "unknown"
    ]


def count_kinds(answers: Iterable[Answer]) -> tuple[float, float, int]:
    """Independent records that are right, and all; the number of kinds."""
    kinds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for one in answers:
        kinds[one.generator, one.kind].append(one.right)
    weights = [len(all_right) / (1 + (len(all_right) - 1) * ALIKE) for all_right in kinds.values()]
    right = sum(weight * float(np.mean(own)) for weight, own in zip(weights, kinds.values(), strict=True))
    return right, sum(weights), len(kinds)


def make_table(answers: list[Answer]) -> dict[str, tuple[float, float, float]]:
    """The probability of each cell, of each rule and size, and of each rule; with its independent records."""
    cells: dict[str, list[Answer]] = defaultdict(list)
    for one in answers:
        rule, size, _ = one.cell.split(", ")
        for name in (rule, f"{rule}, {size}", one.cell):
            cells[name].append(one)
    table = {}
    for name, own in sorted(cells.items()):
        right, records, n_kinds = count_kinds(own)
        if n_kinds >= FEWEST or "," not in name:
            likely = (right + PRIOR * UNSEEN) / (records + PRIOR)
            table[name] = (round(min(likely, SUREST), 3), round(right, 2), round(records, 2))
    return table


def print_left_out(answers: list[Answer]) -> None:
    """Print how often each generator's causes are right where a table of the others states them."""
    causes.LEAST_PROBABILITY = 0.6
    cells: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for name in GENERATORS:
        others = {cell: row[0] for cell, row in make_table([one for one in answers if one.generator != name]).items()}
        causes.read_probabilities = lambda others=others: others
        stated = [(causes.cell_probability(one.cell), one.right) for one in answers if one.generator == name]
        named = [pair for pair in stated if pair[0] >= causes.LEAST_PROBABILITY]
        wrong = sum(not right for probability, right in named if probability >= 0.8)
        print(f"{name:14}{len(named):6} of {len(stated)} named, {wrong} wrong at 80 % or more")
        for probability, right in named:
            cells[f"{'90 to 95' if probability >= 0.9 else '80 to 90' if probability >= 0.8 else '60 to 80'} %"].append(
                (probability, right)
            )
    for cell, pairs in sorted(cells.items()):
        stated, right = np.array(pairs, float).T
        print(f"{cell}: {stated.size} causes, stated {100 * stated.mean():.1f} %, right {100 * right.mean():.1f} %")


def main() -> None:
    """Print the cells, with the probability that the package states, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--records", type=int, default=4, metavar="N", help="of each kind")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--left-out", action="store_true", help="test each generator with a table of the others")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    given = parser.parse_args()
    tasks = [(name, kind, given.seed, given.records) for name, (_, kinds) in GENERATORS.items() for kind in kinds]
    found = Parallel(given.jobs, backend="multiprocessing")(delayed(answer_kind)(*task) for task in tasks)
    answers = [answer for own in found for answer in own]
    table = make_table(answers)
    if given.write:
        lines = ",\n".join(f"  {json.dumps(cell)}: {list(row)}" for cell, row in table.items())
        head = json.dumps({"command": COMMAND, "seed": given.seed, "records": given.records}, indent=1)
        TABLE.write_text(f'{head[:-2]},\n "cells": {{\n{lines}\n }}\n}}\n', encoding="utf-8")
    for cell, (probability, right, records) in table.items():
        print(f"{cell:70}{right:7.1f} of {records:5.1f}, stated {100 * probability:.1f} %")
    if given.left_out:
        print_left_out(answers)


if __name__ == "__main__":
    main()
