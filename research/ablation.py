"""Test what makes 2D-UPSO work: the two primary outcomes of ablation.toml, from the folders of its studies.

``python research/ablation.py paper=FOLDER paper-grid=FOLDER --out docs/results/ablation.csv`` compares each entry with
2D-UPSO over the data sets: the mean size of the runs' best subsets, and their mean error on the events of the other
data sets.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm.statistics import hommel, wilcoxon_signed_rank
from pqswarm.study import read_study

CONTROL = "2D-UPSO"
OUTCOMES = ("size", "error")
FIELDS = (
    "preset",
    "classifier",
    "outcome",
    "algorithm",
    "datasets",
    "mean",
    "ratio",
    "lower",
    "higher",
    "p",
    "p (Hommel)",
)
Means = dict[str, np.ndarray]


def measure(folder: Path) -> dict[tuple[str, str], Means]:
    """Means over the runs on each data set, by classifier and outcome, then by algorithm."""
    study = read_study(folder)
    rows = {"size": study.rows(), "error": study.held_out_rows()}
    values: dict[tuple[str, str], dict[str, dict[int, list[float]]]] = {}
    for outcome in OUTCOMES:
        for row in rows[outcome]:
            if row.get("run") is None:
                continue  # all features
            algorithms = values.setdefault((row["classifier"], outcome), defaultdict(lambda: defaultdict(list)))
            algorithms[row["algorithm"]][row["dataset_seed"]].append(float(row[outcome]))
    return {
        key: {name: np.array([np.mean(seeds[seed]) for seed in sorted(seeds)]) for name, seeds in algorithms.items()}
        for key, algorithms in values.items()
    }


def compare(preset: str, classifier: str, outcome: str, means: Means) -> list[dict[str, Any]]:
    """Rows of an outcome: the control, and each other algorithm tested against it."""
    control = means[CONTROL]
    others = [name for name in means if name != CONTROL]
    p_values = [wilcoxon_signed_rank(means[name], control) for name in others]
    adjusted = dict(zip(others, hommel(p_values), strict=True))
    rows = []
    for name, values in means.items():
        row = {
            "preset": preset,
            "classifier": classifier,
            "outcome": outcome if outcome == "size" else "error on other data sets",
            "algorithm": name,
            "datasets": len(values),
            "mean": f"{values.mean():.4g}",
        }
        if name != CONTROL:
            row["ratio"] = f"{values.mean() / control.mean():.3f}"
            row["lower"] = int(np.sum(values < control))
            row["higher"] = int(np.sum(values > control))
            row["p"] = f"{p_values[others.index(name)]:.2g}"
            row["p (Hommel)"] = f"{adjusted[name]:.2g}"
        rows.append(row)
    return rows


def main() -> None:
    """Read the studies, write the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+", metavar="PRESET=FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rows = []
    for study in arguments.studies:
        preset, _, folder = study.partition("=")
        for (classifier, outcome), means in measure(Path(folder)).items():
            rows += compare(preset, classifier, outcome, means)
    with arguments.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(arguments.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
