"""What the searches find, and what they cost besides the evaluations.

    python benchmarks/searches.py                             # own time; small problems with known optimum
    python benchmarks/searches.py --paper kernel-nb --runs 40
    python benchmarks/searches.py --paper k-nn --runs 10 --device cuda

The last two make the tables of docs/searches.md, on the paper's data (3500 events, 99 features, without noise).
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, Folds, Memo
from pqswarm.search import ALGORITHMS, Run, minimize, minimize_many

sys.path.insert(0, str(Path(__file__).parent.parent))


def own_time(runs=40, iterations=50):
    """Time of ask and tell alone, all runs stepping together, on problems of 99 features."""
    print(f"\nOwn time, {runs} runs in lockstep, 99 features: ms per run and iteration")
    for name, search in ALGORITHMS.items():
        group = [Run(search(99, seed)) for seed in range(runs)]
        spent, steps = 0.0, 0
        while steps < runs * iterations and not group[0].done:
            start = time.perf_counter()
            batches = [run.ask() for run in group]
            spent += time.perf_counter() - start
            errors = [0.01 * np.abs(masks.sum(axis=1) - 12) + masks[:, :50].mean(axis=1) for masks in batches]
            start = time.perf_counter()
            for run, values in zip(group, errors, strict=True):
                run.tell(values)
            spent += time.perf_counter() - start
            steps += runs
        print(f"  {name:10} {1e3 * spent / steps:6.3f}   (batches of {len(batches[0])})")


def small_problems(seeds, budget=2000):
    from tests.search.problems import PROBLEMS, problem

    print(f"\nSmall problems: of {seeds} seeds, how many find the optimum in {budget} evaluations")
    print(f"  {'':10} " + "  ".join(PROBLEMS))
    for name in ALGORITHMS:
        found = []
        for problem_name in PROBLEMS:
            table = problem(problem_name)
            hits = sum(minimize(name, table, budget, seed).error <= table.optimum for seed in range(seeds))
            found.append(f"{hits:{len(problem_name)}}")
        print(f"  {name:10} " + "  ".join(found))


def paper(classifier, runs, names, device, budget=6000, settings=None):
    data = make_dataset(250, snr=float("inf"), seed=0)
    folds = Folds.stratified(data.y, seed=0)
    evaluator = CLASSIFIERS[classifier]().evaluator(data.X(), data.y, folds, device=device)
    print(
        f"\n{classifier}, {runs} runs x {budget} evaluations; J(U) = {evaluator.errors(np.ones((1, 99), bool))[0]:.4f}"
    )
    print("  algorithm    mean J   SD J      least J  mean size  SD size  seconds  memory")
    for name in names:
        memo = Memo(evaluator)
        start = time.perf_counter()
        seeds = range(1 if ALGORITHMS[name].runs_once else runs)
        results = minimize_many(name, memo, seeds, budget, parameters=settings)
        errors, sizes = np.array([(result.error, result.size) for result in results]).T
        spread = f"{errors.std(ddof=min(1, len(errors) - 1)):.6f} {errors.min():9.5f}"
        sizes_text = f"{sizes.mean():9.1f} {sizes.std(ddof=min(1, len(errors) - 1)):9.1f}"
        print(
            f"  {ALGORITHMS[name].title:10} {errors.mean():8.5f}  {spread}  {sizes_text}  "
            f"{time.perf_counter() - start:7.0f}  {memo.n_hits / memo.n_evaluations:6.1%}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", choices=list(CLASSIFIERS), help="the paper's problem with this classifier")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS))
    parser.add_argument("--seeds", type=int, default=100, help="seeds of the small problems")
    parser.add_argument("--set", nargs="*", default=[], help="parameters of the algorithms, such as size=12")
    given = parser.parse_args()
    if given.paper:
        settings = {name: _value(text) for name, text in (item.split("=") for item in given.set)}
        paper(given.paper, given.runs, given.algorithms, given.device, settings=settings)
    else:
        own_time()
        small_problems(given.seeds)


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


if __name__ == "__main__":
    main()
