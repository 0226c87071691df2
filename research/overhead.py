"""Cost of the searches of the paper's stage I without evaluations: time of ask, tell and the cache.

    python research/overhead.py [--evaluations 900] [--rounds 3] [--algorithms 2d-upso ga]

Stage I has 480 runs: six algorithms, two classifiers, 40 runs each, 6000 evaluations per run, 99 features. Errors are
computed from the masks, and that time is not counted. The minimum of several rounds is printed; use a quiet machine.
"""

import argparse
import time

import numpy as np

from pqswarm.evaluation import CachedEvaluator
from pqswarm.search import ALGORITHMS, Run, advance_runs

STAGE_ONE = ("ga", "aco", "bpso", "cbpso", "chbpso", "2d-upso")
FEATURES, RUNS, BATCH = 99, 40, 30
BATCHES = 2 * RUNS * 6000 / BATCH  # per algorithm in stage I


class MadeUp:
    """Synthetic errors from the masks, many of them equal, with their time."""

    n_features = FEATURES

    def __init__(self):
        self.seconds = 0.0
        self._weights = np.random.default_rng(5).integers(-9, 10, (FEATURES, 4)).astype(np.float32)

    def errors(self, masks):
        start = time.perf_counter()
        x = masks.astype(np.float32) @ self._weights
        errors = (3 * np.abs(x % 17 - 8) + np.abs(x) // 4).sum(axis=1) / 1024 + masks.mean(axis=1) / 8
        self.seconds += time.perf_counter() - start
        return errors.astype(np.float64)

    def checked_masks(self, masks):
        return masks


def runs_of(name, count, evaluations):
    return [Run(ALGORITHMS[name](FEATURES, seed), evaluations) for seed in range(count)]


def one_by_one(runs, evaluator):
    """Drive each run separately in a plain loop."""
    for run in runs:
        while not run.done:
            run.tell(evaluator.errors(run.ask()))


def together(runs, evaluator):
    while not all(run.done for run in runs):
        advance_runs(runs, evaluator)


def microseconds(way, name, count, evaluations, memory=False):
    """Return the time of driving runs in a given way, per batch of 30 subsets."""
    made_up = MadeUp()
    evaluator = CachedEvaluator(made_up, 400_000) if memory else made_up
    runs = runs_of(name, count, evaluations)
    start = time.perf_counter()
    way(runs, evaluator)
    spent = time.perf_counter() - start - made_up.seconds
    return 1e6 * spent * BATCH / sum(run.n_evaluations for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=900)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--algorithms", nargs="+", default=STAGE_ONE, choices=tuple(ALGORITHMS))
    given = parser.parse_args()
    columns = {
        "plain loop": (one_by_one, 4, given.evaluations, False),
        "one run": (together, 1, 4 * given.evaluations, False),
        "40 runs": (together, RUNS, given.evaluations, False),
        "with cache": (together, RUNS, given.evaluations, True),
    }
    print(f"Time per {BATCH} subsets of {FEATURES} features [us]\n")
    print(f"{'':10}" + "".join(f"{title:>13}" for title in columns) + f"{'ratio':>13}")
    total = dict.fromkeys(columns, 0.0)
    for name in given.algorithms:
        microseconds(together, name, 1, 120)  # loads compiled code
        rounds = [[microseconds(way, name, *rest) for way, *rest in columns.values()] for _ in range(given.rounds)]
        minima = np.min(rounds, axis=0)
        cells = "".join(f"{value:13.0f}" for value in minima)
        print(f"{name:10}{cells}{minima[0] / minima[2]:13.1f}", flush=True)
        for title, value in zip(columns, minima, strict=True):
            total[title] += value * BATCHES / 1e6
    if set(given.algorithms) == set(STAGE_ONE):
        print("\nAll of stage I [s]: " + ", ".join(f"{title} {value:.1f}" for title, value in total.items()))


if __name__ == "__main__":
    main()
