"""Compare ways to choose among the subsets that a search has evaluated, by the error on events it has never seen.

    python benchmarks/overfitting.py --suite tuning --data FOLDER --out runs.csv      # rerun to resume
    python benchmarks/overfitting.py --suite test --data FOLDER --out runs.csv --means means.csv

Suites, splits and FOLDER are those of suites.py. All ways have the same number of evaluations: those that rescore
subsets on other partitions into folds stop the search earlier by as many evaluations as that takes.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from suite import tables
from suite.problems import SUITES
from suite.runs import CLASSIFIERS, REGRESSORS, estimators_of, partitions_of

from pqswarm.search import ALGORITHMS

FIELDS = ("problem", "estimator", "split", "algorithm", "mark", "J", "held_out", "size", "own_us")
BUDGET = 6000
RESCORED = ((10, 10), (20, 1), (20, 4), (20, 10), (60, 3))  # subsets, partitions
CHOSEN = "20 subsets, 10 partitions"


def search(name, evaluator, seed, budget):
    """Return the subsets that a search evaluates, none of them empty, and their errors."""
    one, masks, errors, asked = ALGORITHMS[name](evaluator.n_features, seed), [], [], 0
    while asked < budget and not one.done:
        batch = one.ask()
        found = np.asarray(evaluator.errors(batch))
        one.tell(batch, found)
        masks.append(batch.copy())
        errors.append(found)
        asked += len(batch)
    return np.vstack(masks)[:budget], np.concatenate(errors)[:budget]


def leading(masks, errors, count):
    """Return the positions of the subsets with the lowest errors, of equals the smallest first."""
    sizes = masks.sum(axis=1)
    order = np.lexsort((sizes, errors))
    return order[sizes[order] > 0][:count]


def front(masks, errors):
    """Return the positions of the subsets that beat all of at most their size, by size."""
    sizes = masks.sum(axis=1)
    order = np.lexsort((errors, sizes))
    order = order[sizes[order] > 0]
    lowest = np.minimum.accumulate(errors[order])
    return order[np.append(True, lowest[1:] < lowest[:-1])]


def ways(masks, errors, evaluator, others):
    """Return the position of the subset that each way chooses."""
    points = front(masks, errors)
    best = points[-1]
    spread = evaluator.fold_errors(masks[best][np.newaxis])[0]
    allowed = errors[best] + spread.std(ddof=1) / np.sqrt(spread.size)
    found = {
        "lowest J": leading(masks, errors, 1)[0],
        "one standard error": points[np.argmax(errors[points] <= allowed)],
    }
    for stop in (1000, 3000):
        found[f"stopped at {stop}"] = leading(masks[:stop], errors[:stop], 1)[0]
    scored = {}
    for count, repeats in RESCORED:
        stop = BUDGET - count * repeats
        best = leading(masks[:stop], errors[:stop], count)
        for k in range(repeats):
            new = [row for row in best.tolist() if (row, k) not in scored]
            if new:
                values = others[k].errors(masks[new]).tolist()
                scored |= {(row, k): value for row, value in zip(new, values, strict=True)}
        means = [np.mean([errors[row], *(scored[row, k] for k in range(repeats))]) for row in best.tolist()]
        found[f"{count} subsets, {repeats} partitions"] = best[np.lexsort((masks[best].sum(axis=1), means))[0]]
    return found


def compare(problem, data, estimator, split, algorithm, only=None):
    """Yield a record for each way: J, held-out error and size of the subset that it chooses."""
    X, y = data
    searched, held_out = problem.split(y, split)
    make, fresh = (REGRESSORS if problem.regression else CLASSIFIERS)[estimator]
    first, *rest = (
        make(X[searched], y[searched], folds)
        for folds in partitions_of(problem, y[searched], split, 1 + max(repeats for _, repeats in RESCORED))
    )
    masks, errors = search(algorithm, first, split, BUDGET)
    for way, row in ways(masks, errors, first, rest).items():
        if only is None or way in only:
            mask = np.flatnonzero(masks[row])
            fitted = fresh().fit(X[np.ix_(searched, mask)], y[searched])
            error = 1.0 - float(fitted.score(X[np.ix_(held_out, mask)], y[held_out]))
            numbers = {"J": round(float(errors[row]), 6), "held_out": round(error, 6), "size": len(mask), "own_us": 0}
            case = {"problem": problem.name, "estimator": estimator, "split": split, "algorithm": way, "mark": BUDGET}
            yield case | numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=list(SUITES), default="tuning")
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--algorithm", choices=list(ALGORITHMS), default="merit")
    parser.add_argument("--estimators", nargs="*", help="only these")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="only these ways")
    parser.add_argument("--table", action="store_true", help="only show the table of earlier runs")
    parser.add_argument("--means", help="CSV file for the means over the splits")
    given = parser.parse_args()
    path = Path(given.out)
    records = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    known = {(r["problem"], r["estimator"], r["split"]) for r in records}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not records:
            writer.writeheader()
        for name, problem in {} if given.table else SUITES[given.suite].items():
            try:
                data = problem.load(given.data)
            except FileNotFoundError as error:
                print(f"{name} is left out: {error.filename} is missing.", file=sys.stderr)
                continue
            for split in range(given.splits):
                for estimator in given.estimators or estimators_of(problem, data[0].shape[1]):
                    if (name, estimator, str(split)) not in known and (problem.regression == (estimator == "ridge")):
                        writer.writerows(compare(problem, data, estimator, split, given.algorithm, given.only))
                        file.flush()
    records = list(csv.DictReader(path.open(newline="")))
    shown = list(dict.fromkeys(r["algorithm"] for r in records))
    print(tables.render(records, shown, shown[0]))
    if given.means:
        tables.write_means(records, given.means)


if __name__ == "__main__":
    main()
