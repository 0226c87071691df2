"""Measure what each reading of the paper changes, on twelve data sets: docs/results/readings-effects.csv.

``python research/readings.py --out docs/results/readings-effects.csv`` runs each algorithm that a reading changes, with
the default and with the reading, on the same events: 700, so that a CPU is enough. Studies that were stopped are
resumed.
"""

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from pqswarm.study import load_plan, read_study, run_study

ROOT = Path(__file__).parents[1]
_ONSETS = {
    f"dataset.preset.{event}.{key}": value
    for event in ("sag_with_transient", "swell_with_transient")
    for key, value in (
        ("start", {"inside": "duration"}),
        ("duration", {"uniform": [0.5, 30], "unit": "cycles"}),
    )
}
# What a reading changes: keys of the plan, and the algorithms that can differ.
READINGS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "flicker as printed": ({"dataset.preset": "paper-printed"}, ("2d-upso", "bpso")),
    "separate onsets": (_ONSETS, ("2d-upso", "bpso")),
    "random numbers per element": ({"algorithms.2d-upso.randomness": "element"}, ("2d-upso",)),
    "random numbers of each velocity": ({"algorithms.2d-upso.separate_draws": True}, ("2d-upso",)),
    "F of the old swarm": ({"algorithms.2d-upso.worst_error": "previous"}, ("2d-upso",)),
    "catfish at the extremes": ({"algorithms.cbpso.catfish_positions": "extreme"}, ("cbpso",)),
    "a of ACO multiplies": ({"algorithms.aco.factor_as": "multiplier"}, ("aco",)),
    "rho of ACO persists": ({"algorithms.aco.evaporation_as": "persistence"}, ("aco",)),
}
DEFAULT = "default"
FIELDS = ("reading", "classifier", "algorithm", "dataset_seed", "runs", "error", "size", "new_error")


def read_changes(reading: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The keys that a reading changes, and its algorithms; all of them for the default."""
    if reading == DEFAULT:
        return {}, tuple(dict.fromkeys(name for _, names in READINGS.values() for name in names))
    return READINGS[reading]


def measure(reading: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the algorithms of a reading, and return a row per data set, classifier and algorithm."""
    changes, algorithms = read_changes(reading)
    classifiers = [each for each in load_plan("replication").classifiers if each.name in arguments.classifiers]
    common: dict[str, Any] = {
        "runs": arguments.runs,
        "paper": False,
        "baseline": algorithms[0],
        "dataset.events_per_class": arguments.events_per_class,
        "dataset.snr": [float("inf")],
        "dataset.seeds": list(arguments.seeds),
        "classifiers": [each.model_dump(exclude_unset=True) for each in classifiers],
        "algorithms": [{"algorithm": name} for name in algorithms],
    }
    folder = arguments.work / reading.replace(" ", "-")
    run_study(load_plan("replication", common | changes), folder, device=arguments.device, jobs=arguments.jobs)
    study = read_study(folder)
    runs = _grouped(study.rows())
    new = _grouped(study.held_out_rows())
    return [
        {
            "reading": reading,
            **dict(zip(("classifier", "algorithm", "dataset_seed"), key, strict=True)),
            "runs": len(found),
            "error": float(np.mean([row["error"] for row in found])),
            "size": float(np.mean([row["size"] for row in found])),
            "new_error": float(np.mean([row["error"] for row in new[key]])),
        }
        for key, found in runs.items()
    ]


def _grouped(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["classifier"], row["algorithm"], row["dataset_seed"]), []).append(row)
    return groups


def print_effects(rows: list[dict[str, Any]]) -> None:
    """Print the mean relative change by each reading, with the test of Wilcoxon over the data sets."""
    values = {(row["reading"], row["classifier"], row["algorithm"], row["dataset_seed"]): row for row in rows}
    for reading, classifier, algorithm in dict.fromkeys(key[:3] for key in values if key[0] != DEFAULT):
        seeds = [key[3] for key in values if key[:3] == (reading, classifier, algorithm)]
        words = []
        for outcome in ("error", "new_error", "size"):
            changed = np.array([values[reading, classifier, algorithm, seed][outcome] for seed in seeds])
            before = np.array([values[DEFAULT, classifier, algorithm, seed][outcome] for seed in seeds])
            p = float(wilcoxon(changed, before).pvalue) if np.any(changed != before) else 1.0
            words.append(f"{outcome} {100 * (changed.mean() / before.mean() - 1):+.1f} % (p {p:.2g})")
        print(f"{reading}, {classifier}, {algorithm}: {', '.join(words)}")


def main() -> None:
    """Run all readings, write the rows and print the effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=ROOT / "study" / "readings", help="folder of the studies")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--jobs", type=int, help="processes; all cores by default")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--events-per-class", type=int, default=50, metavar="N")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(1, 13))
    parser.add_argument("--classifiers", nargs="+", default=["k-NN", "NB"], choices=("k-NN", "NB"))
    arguments = parser.parse_args()
    rows = []
    for reading in (DEFAULT, *READINGS):
        rows += measure(reading, arguments)
        print(f"{reading}: done", flush=True)
    with arguments.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print_effects(rows)


if __name__ == "__main__":
    main()
