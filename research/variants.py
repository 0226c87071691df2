"""J(U) of 96 variants between the presets paper and paper-grid: groups of parameters drawn uniformly or in steps.

    python research/variants.py OUT.csv

Takes a minute on sixteen cores.
"""

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from pqswarm._base.threads import effective_jobs
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds
from pqswarm.events import PRESETS
from pqswarm.events.preset_file import write_preset
from pqswarm.study import load_plan
from pqswarm.study.plan import DatasetPlan

PLAN = load_plan("paper")
UNIFORM, STEPPED = (write_preset(PRESETS[name]) for name in ("paper", "paper-grid"))
GROUPS = {  # the keys of a class that belong to each
    "amplitudes": ("amplitude",),
    "offsets": ("offset",),
    "flicker": ("flicker_depth", "flicker_frequency"),
    "windows": ("duration", "start"),
    "harmonics": ("spectrum", "h5", "h7", "h11", "h13"),
}


def variant(chosen):
    """Return the preset of some choices: uniform, in 6 or 21 amplitudes, in steps."""
    tree = UNIFORM | {"name": "-".join(chosen.values()).replace(" ", "-"), "spectra": STEPPED["spectra"]}
    tree["bench"] = UNIFORM["bench"] if chosen["bench"] == "many circuits" else STEPPED["bench"]
    for kind, ranges in UNIFORM.items():
        if not isinstance(ranges, dict) or kind in ("bench", "spectra", "common"):
            continue
        mixed = {key: value for key, value in ranges.items() if not any(key in keys for keys in GROUPS.values())}
        for group, keys in GROUPS.items():
            source = ranges if chosen[group] == "uniform" else STEPPED[kind]
            mixed |= {key: source[key] for key in keys if key in source}
        if chosen["amplitudes"] == "21" and kind in ("pure_sinusoid", "dc_offset"):
            mixed["amplitude"] = {"steps": [0.9, 1.1], "number": 21}
        tree[kind] = mixed
    return DatasetPlan(preset=tree).make_preset()


def evaluate(chosen):
    """Return J(U) of both classifiers of the paper on the events of seed 0."""
    data = make_dataset(250, float("inf"), 0, variant(chosen), n_jobs=1)
    folds = Folds.stratified(data.y, PLAN.folds.number, PLAN.folds.seed)
    everything = np.ones((1, len(data.feature_names)), dtype=bool)
    errors = [c.make().evaluator(data.X(), data.y, folds, n_jobs=1).errors(everything)[0] for c in PLAN.classifiers]
    return chosen | {c.name: round(float(error), 6) for c, error in zip(PLAN.classifiers, errors, strict=True)}


def main():
    """Evaluate all variants and write them to a CSV file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT.csv")
    out = parser.parse_args().out
    levels = {"amplitudes": ("uniform", "21", "6")} | dict.fromkeys(list(GROUPS)[1:], ("uniform", "in steps"))
    levels["bench"] = ("many circuits", "one of each")
    jobs = [dict(zip(levels, each, strict=True)) for each in product(*levels.values())]
    with ProcessPoolExecutor(effective_jobs(None)) as pool:
        rows = list(pool.map(evaluate, jobs))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
