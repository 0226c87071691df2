"""Accuracy with all features by preset and noise level, next to the paper's: mean and range over several seeds.

    python research/levels.py --seeds 0 1 2 3 4

Takes about ten minutes on two cores for both presets and five seeds.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from pqswarm._base.threads import effective_jobs
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds
from pqswarm.events import NOISE_LEVELS
from pqswarm.report.paper import paper_overlay
from pqswarm.study import load_plan

PLAN = load_plan("paper")


def accuracies(job):
    """Return the accuracy with all features in % at each noise level, for each classifier of the paper."""
    preset, seed = job
    data = make_dataset(250, NOISE_LEVELS, seed, preset, n_jobs=1)
    folds = Folds.stratified(data.y, PLAN.folds.number, PLAN.folds.seed)
    everything = np.ones((1, len(data.feature_names)), dtype=bool)

    def accuracy(classifier, level):
        evaluator = classifier.make().evaluator(data.X(level), data.y, folds, n_jobs=1)
        return 100 * (1 - evaluator.errors(everything)[0])

    return [[accuracy(classifier, level) for level in NOISE_LEVELS] for classifier in PLAN.classifiers]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--presets", nargs="+", default=["paper", "paper-grid"])
    given = parser.parse_args()
    jobs = [(preset, seed) for preset in given.presets for seed in given.seeds]
    with ProcessPoolExecutor(effective_jobs(None)) as pool:
        found = np.array(list(pool.map(accuracies, jobs)))
    found = found.reshape(len(given.presets), len(given.seeds), len(PLAN.classifiers), len(NOISE_LEVELS))
    print(f"Accuracy with all features [%], seeds {' '.join(map(str, given.seeds))}: mean (minimum to maximum)")
    for i, classifier in enumerate(PLAN.classifiers):
        printed = {level: accuracy for level, accuracy, *_ in paper_overlay(PLAN, classifier.name).noise}
        print(f"\n{classifier.name:6} {'paper printed':>14} " + " ".join(f"{preset:>30}" for preset in given.presets))
        for j, level in enumerate(NOISE_LEVELS):
            cells = []
            for k in range(len(given.presets)):
                of_seeds = found[k, :, i, j]
                apart = of_seeds.mean() - printed[level]
                cells.append(f"{of_seeds.mean():6.2f} ({of_seeds.min():5.2f} to {of_seeds.max():5.2f}) {apart:+6.2f}")
            print(f"{level:3g} dB {printed[level]:14.2f} " + " ".join(f"{cell:>30}" for cell in cells))
        theirs = paper_overlay(PLAN, classifier.name).all_features
        for k, preset in enumerate(given.presets):
            errors = 1 - found[k, :, i, 0] / 100
            print(
                f"J(U) {preset}: mean {errors.mean():.4f}, {errors.min():.4f} to {errors.max():.4f}; paper "
                f"{theirs:.4f}, ratio {errors.mean() / theirs:.2f}"
            )


if __name__ == "__main__":
    main()
