"""The best subsets that anybody knows, for the paper's data: what is left to gain, by a thousandfold budget.

    python benchmarks/best_known.py --device cuda --out best-known.json

Many long runs of the 2D swarms and of catfish BPSO, and SFFS through all sizes; the best of what they find is
polished: one or two features are added or removed, or one is exchanged for another, until nothing helps. Both
classifiers take some minutes on an H200; on processors, many hours (--runs and --evaluations make it smaller).
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from pqswarm._random import derived_seed
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds, Memo
from pqswarm.search import minimize_many
from pqswarm.study import load_plan
from pqswarm.study.problem import Problem

SEARCHES = ("2d-upso", "2d-gpso", "2d-clpso", "cbpso")


def neighbours(mask):
    """All subsets that differ in one feature or in two."""
    inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
    changes = [(f,) for f in range(mask.size)] + [(i, o) for i in inside for o in outside]
    changes += [(a, b) for k, a in enumerate(inside) for b in inside[:k]]
    changes += [(a, b) for k, a in enumerate(outside) for b in outside[:k]]
    changed = np.tile(mask, (len(changes), 1))
    rows = np.repeat(np.arange(len(changes)), [len(change) for change in changes])
    changed[rows, np.concatenate(changes)] ^= True
    return changed[changed.any(axis=1)]


def polished(evaluator, mask, error):
    """Exchange features as long as that helps; of equal errors fewer features are better."""
    while True:
        candidates = neighbours(mask)
        errors = evaluator.errors(candidates)
        sizes = candidates.sum(axis=1)
        best = min(range(len(candidates)), key=lambda i: (errors[i], sizes[i]))
        if (errors[best], sizes[best]) >= (error, mask.sum()):
            return mask, error
        mask, error = candidates[best], float(errors[best])


def search(classifier, given, plan, data):
    folds = Folds.stratified(data.y, plan.folds.number, plan.folds.seed)
    problem = Problem(data.X(), data.y, folds.test_fold, classifier.make(), classifier.scaling)
    memo = Memo(problem.evaluator(device=given.device), max_entries=3_000_000)
    start, found = time.perf_counter(), {}
    for name in SEARCHES:
        seeds = [derived_seed(given.seed, (len(name), run)) for run in range(given.runs)]
        for result in minimize_many(name, memo, seeds, given.evaluations):
            found[result.mask.tobytes()] = (result.error, result.size, result.mask)
        leader = min(found.values(), key=lambda entry: entry[:2])
        print(
            f"  {classifier.name}: after {name} {leader[0]:.5f} with {leader[1]} features, "
            f"{memo.n_evaluations} evaluations, {time.perf_counter() - start:.0f} s",
            flush=True,
        )
    for result in minimize_many("sffs", memo, [0], 100_000):
        found[result.mask.tobytes()] = (result.error, result.size, result.mask)
        print(f"  {classifier.name}: SFFS {result.error:.5f} with {result.size} features", flush=True)
    best = None
    for error, _, mask in sorted(found.values(), key=lambda entry: entry[:2])[: given.polish]:
        mask, error = polished(memo, mask, error)
        if best is None or (error, mask.sum()) < (best[0], best[1].sum()):
            best = (error, mask)
            print(
                f"  {classifier.name}: polished {error:.5f} with {mask.sum()} features "
                f"({memo.n_evaluations} evaluations, {time.perf_counter() - start:.0f} s)",
                flush=True,
            )
    return {
        "classifier": classifier.name,
        "problem": problem.key,
        "error": best[0],
        "features": np.flatnonzero(best[1]).tolist(),
        "evaluations": memo.n_evaluations,
        "seconds": round(time.perf_counter() - start),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="runs of each swarm")
    parser.add_argument("--evaluations", type=int, default=30_000, help="of each run")
    parser.add_argument("--polish", type=int, default=60, help="subsets to polish")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classifiers", nargs="+", default=["NB", "k-NN"])
    parser.add_argument("--out", type=Path, default=Path("best-known.json"))
    given = parser.parse_args()
    plan = load_plan("paper")
    data = make_dataset(plan.dataset.events_per_class, float("inf"), plan.dataset.seed, plan.dataset.preset)
    records = [search(c, given, plan, data) for c in plan.classifiers if c.name in given.classifiers]
    given.out.write_text(json.dumps(records, indent=1) + "\n")
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
