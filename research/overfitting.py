"""Compare the rules by which SwarmSelector chooses a subset, by the error on events it has never seen.

    python research/overfitting.py --suite tuning --data FOLDER --out runs.csv      # rerun to resume
    python research/overfitting.py --suite test --data FOLDER --out runs.csv --means means.csv

Suites, splits and FOLDER are those of suites.py; one classifier per split, by turns. One subset; rescoring adds a
thirtieth to the evaluations.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from suite import tables
from suite.problems import SUITES
from suite.runs import CLASSIFIERS, REGRESSORS

from pqswarm import SwarmSelector

FIELDS = ("problem", "estimator", "split", "algorithm", "mark", "J", "held_out", "size", "own_us")
BUDGET = 6000
ESTIMATORS = ("k-nn", "gaussian-nb")


def one_standard_error(fitted):
    """Return the smallest subset on the front within one standard error of the best, and its score."""
    splits = [values[-1] for name, values in fitted.cv_results_.items() if name.startswith("split")]
    least = fitted.front_[-1].score - np.std(splits, ddof=1) / np.sqrt(len(splits))
    return next((point.support, point.score) for point in fitted.front_ if point.score >= least)


def compare(problem, data, estimator, split):
    """Yield a record for each rule: J, held-out error and size of the subset that it chooses."""
    X, y = data
    searched, held_out = problem.split(y, split)
    fresh = (REGRESSORS if problem.regression else CLASSIFIERS)[estimator][1]
    n_folds = 10 if problem.regression else min(10, int(np.bincount(y[searched]).min()))
    cv = (KFold if problem.regression else StratifiedKFold)(n_folds, shuffle=True, random_state=split)

    options = {"n_subsets": 1, "cv": cv, "max_evaluations": BUDGET, "random_state": split}
    one = SwarmSelector(fresh(), **options).fit(X[searched], y[searched])
    chosen = {
        "best": (one.front_[-1].support, one.front_[-1].score),
        "rescored": (one.support_, one.best_score_),
        "1se": one_standard_error(one),
    }
    for rule, (mask, score) in chosen.items():
        columns = np.flatnonzero(mask)
        fitted = fresh().fit(X[np.ix_(searched, columns)], y[searched])
        error = 1.0 - float(fitted.score(X[np.ix_(held_out, columns)], y[held_out]))
        case = {"problem": problem.name, "estimator": estimator, "split": split, "algorithm": rule, "mark": BUDGET}
        yield case | {"J": round(1.0 - score, 6), "held_out": round(error, 6), "size": len(columns), "own_us": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=list(SUITES), default="tuning")
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="only show the table of earlier runs")
    parser.add_argument("--means", help="CSV file for the means over the splits")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of small classes
    path = Path(given.out)
    records = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    known = {(r["problem"], r["estimator"], r["split"]) for r in records}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not records:
            writer.writeheader()
        for split in range(0 if given.table else given.splits):
            for number, (name, problem) in enumerate(SUITES[given.suite].items()):
                estimator = "ridge" if problem.regression else ESTIMATORS[(number + split) % 2]
                if (name, estimator, str(split)) in known:
                    continue
                try:
                    data = problem.load(given.data)
                except FileNotFoundError as error:
                    print(f"{name} is left out: {error.filename} is missing.", file=sys.stderr)
                    continue
                writer.writerows(compare(problem, data, estimator, split))
                file.flush()
    records = list(csv.DictReader(path.open(newline="")))
    shown = list(dict.fromkeys(r["algorithm"] for r in records))
    print(tables.render(records, shown, shown[0]))
    if given.means:
        tables.write_means(records, given.means)


if __name__ == "__main__":
    main()
