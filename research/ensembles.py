"""Compare ensembles of subsets with one subset and with other ensembles, by the error on samples that nothing has seen.

    python research/ensembles.py --suites tuning --data FOLDER --out runs.csv --jobs 2      # rerun to resume
    python research/ensembles.py --suites fresh unseen --data FOLDER --out runs.csv --jobs 16
    python research/ensembles.py --out runs.csv --table --base previous

Suites, splits and FOLDER are those of suites.py; `unseen` needs pyreadr. Everything is decided on the tuning suite. The
test was written down before it was run, once, on the suites `fresh` and `unseen`:

- Unit: the problem; its value is the mean over ten splits (`--splits`; two for the tree, which is fitted).
- Outcome: the error of `predict` on the held-out samples. Differences are ratios of these errors, each plus 0.005,
  averaged as logarithms; p by Wilcoxon's signed ranks over problems, differences below 1e-9 are ties.
- Primary, for 3-NN and for Gaussian naive Bayes, alpha 0.05, against the previous default (one subset, 9000 evaluations
  with its filter check): without a limit on the union, and within the size of one subset (the default).
- Controls: the best single subset of the default; one subset; one subset with twice the evaluations; 20 random
  subspaces of the size of one subset; 20 bootstrap samples with all features; a random
  forest of 500 trees; all features.

CPU seconds are those of `fit`; a method that takes the fit of an earlier one has none of its own. `previous` is the
default of another version: run that version's own code with `--methods default --label previous`.
"""

import argparse
import csv
import multiprocessing
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from suite.problems import SUITES
from suite.runs import CLASSIFIERS, estimators_of

FIELDS = ("suite", "problem", "estimator", "split", "method", "held_out", "size", "union", "seconds")
MEMBERS = 20  # of the controls
FITTED_SPLITS = 2  # of the estimator that is fitted
OFFSET = 0.005  # added to errors before ratios are formed
TIE = 1e-9


def make_tree():
    return DecisionTreeClassifier(min_samples_leaf=2, random_state=0)


ESTIMATORS = {name: fresh for name, (_, fresh) in CLASSIFIERS.items()} | {"tree": make_tree}


class Case:
    """One problem, estimator and split; a method returns `(model, features of a subset, features of the union)`."""

    def __init__(self, data, split_of, estimator, split):
        X, y = data
        searched, held_out = split_of(y, split)
        self.fresh = ESTIMATORS[estimator]
        self.split = split
        self.train = X[searched], y[searched]
        self.test = X[held_out], y[held_out]
        self._selectors = {}

    def select(self, **options):
        """Return a fitted selector; the same one for the same options."""
        from pqswarm import SwarmSelector

        key = repr(options)
        if key not in self._selectors:
            selector = SwarmSelector(self.fresh(), random_state=self.split, **options)
            self._selectors[key] = selector.fit(*self.train)
        return self._selectors[key]

    def bagged(self, **options):
        return BaggingClassifier(self.fresh(), MEMBERS, random_state=self.split, **options).fit(*self.train)


def default(case):
    fitted = case.select()
    union = getattr(fitted, "union_", fitted.support_)
    return fitted, fitted.n_features_, int(union.sum())


def best_of_default(case):
    fitted = case.select()
    return _OnFeatures(fitted.best_estimator_, fitted.support_), fitted.n_features_, fitted.n_features_


def unlimited(case):
    fitted = case.select(max_features=None)
    return fitted, fitted.n_features_, int(fitted.union_.sum())


def one_subset(case):
    fitted = case.select(n_subsets=1)
    return fitted, fitted.n_features_, fitted.n_features_


def twice(case):
    evaluations = 1200 if isinstance(case.fresh(), DecisionTreeClassifier) else 12_000
    fitted = case.select(n_subsets=1, max_evaluations=evaluations)
    return fitted, fitted.n_features_, fitted.n_features_


def subspaces(case):
    size = case.select(n_subsets=1).n_features_
    fitted = case.bagged(max_features=size, bootstrap=False)
    return fitted, size, len(np.unique(np.concatenate(fitted.estimators_features_)))


def bagging(case):
    return case.bagged(), case.train[0].shape[1], case.train[0].shape[1]


def forest(case):
    fitted = RandomForestClassifier(500, random_state=case.split).fit(*case.train)
    return fitted, case.train[0].shape[1], case.train[0].shape[1]


def all_features(case):
    return case.fresh().fit(*case.train), case.train[0].shape[1], case.train[0].shape[1]


class _OnFeatures:
    """A model of some of the features, that scores samples with all of them."""

    def __init__(self, model, support):
        self.model = model
        self.columns = np.flatnonzero(support)

    def score(self, X, y):
        return self.model.score(X[:, self.columns], y)


METHODS = {
    "default": default,
    "best single": best_of_default,
    "no limit": unlimited,
    "one subset": one_subset,
    "twice the budget": twice,
    "random subspaces": subspaces,
    "bagging": bagging,
    "random forest": forest,
    "all features": all_features,
}


def run_case(suite, name, folder, estimator, split, methods, label):
    """Return a record for each method."""
    warnings.simplefilter("ignore")  # of small classes
    problem = SUITES[suite][name]
    case = Case(problem.load(folder), problem.split, estimator, split)
    records = []
    for method in methods:
        began = time.process_time()
        model, size, union = METHODS[method](case)
        seconds = time.process_time() - began
        error = 1.0 - float(model.score(*case.test))
        key = {"suite": suite, "problem": name, "estimator": estimator, "split": split, "method": label or method}
        numbers = {"held_out": round(error, 6), "size": size, "union": union, "seconds": round(seconds, 3)}
        records.append(key | numbers)
    return records


def cases_of(suites, folder, splits, estimators):
    """Yield the cases, split by split, so that a run that is stopped has whole splits."""
    widths = {}
    for suite in suites:
        for name, problem in SUITES[suite].items():
            if not problem.regression:
                widths[suite, name] = problem.load(folder)[0].shape[1]
    for split in range(splits):
        for (suite, name), width in widths.items():
            exact = estimators_of(SUITES[suite][name], width)
            for estimator in estimators:
                if estimator in exact or (estimator == "tree" and split < FITTED_SPLITS):
                    yield suite, name, folder, estimator, split


def run(given):
    """Run what the file does not hold yet, and append each record to it."""
    path = Path(given.out)
    known = {(*(r[k] for k in FIELDS[:4]), r["method"]) for r in read(path)}
    ended = time.monotonic() + given.seconds
    with (
        path.open("a", newline="") as file,
        ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool,
    ):
        writer = csv.DictWriter(file, FIELDS)
        if not known:
            writer.writeheader()
        waiting = []
        for suite, name, folder, estimator, split in cases_of(given.suites, given.data, given.splits, given.estimators):
            key = (suite, name, estimator, str(split))
            methods = [m for m in given.methods if (*key, given.label or m) not in known]
            if methods:
                waiting.append((suite, name, folder, estimator, split, methods, given.label))
        running = {pool.submit(run_case, *waiting.pop(0)) for _ in range(min(2 * given.jobs, len(waiting)))}
        while running:
            done = next(as_completed(running))
            running.remove(done)
            writer.writerows(done.result())
            file.flush()
            if waiting and time.monotonic() < ended:
                running.add(pool.submit(run_case, *waiting.pop(0)))
        print(f"{len(waiting)} cases are left.", file=sys.stderr)


def read(path):
    """Return the records of a file; none without a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def render(records, base):
    """Return a table: each method against the base, for each estimator, over the problems that both ran on."""
    from scipy.stats import wilcoxon

    lines = [
        "| estimator | method | problems | error | ratio | lower, higher | p | features, union | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for estimator in ESTIMATORS:
        values = {}
        for r in records:
            if r["estimator"] == estimator:
                numbers = [float(r[name]) for name in ("held_out", "size", "union", "seconds")]
                by_split = values.setdefault(r["method"], {}).setdefault(r["problem"], {})
                by_split[r["split"]] = numbers
        for method, problems in values.items():
            paired = []
            for problem, splits in problems.items():
                shared = splits.keys() & values.get(base, {}).get(problem, {}).keys()
                if shared:
                    ours = np.mean([splits[s] for s in shared], axis=0)
                    theirs = np.mean([values[base][problem][s] for s in shared], axis=0)
                    paired.append((ours, theirs))
            if not paired:
                continue
            ours, theirs = np.array(paired).swapaxes(0, 1)
            gap = ours[:, 0] - theirs[:, 0]
            gap[np.abs(gap) < TIE] = 0.0
            ratio = np.exp(np.mean(np.log((ours[:, 0] + OFFSET) / (theirs[:, 0] + OFFSET))))
            p = wilcoxon(gap).pvalue if gap.any() else 1.0
            error, size, union, seconds = ours.mean(axis=0)
            lines.append(
                f"| {estimator} | {method} | {len(paired)} | {error:.4f} | {ratio:.3f} | {(gap < 0).sum()}, "
                f"{(gap > 0).sum()} | {p:.2g} | {size:.1f}, {union:.1f} | {seconds:.2f} |"
            )
    return "\n".join(lines)


def write_means(records, path):
    """Write the means over the splits of each problem, estimator and method."""
    cases = {}
    for r in records:
        numbers = [float(r[name]) for name in FIELDS[5:]]
        cases.setdefault((r["suite"], r["problem"], r["estimator"], r["method"]), []).append(numbers)
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("suite", "problem", "estimator", "method", "splits", *FIELDS[5:]))
        for case, numbers in cases.items():
            error, size, union, seconds = np.mean(numbers, axis=0)
            writer.writerow((*case, len(numbers), f"{error:.6f}", f"{size:.1f}", f"{union:.1f}", f"{seconds:.2f}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", nargs="+", choices=list(SUITES), default=["tuning"])
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--estimators", nargs="+", choices=list(ESTIMATORS), default=list(ESTIMATORS))
    parser.add_argument("--label", help="name of the only method in the file")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="no case is begun later")
    parser.add_argument("--table", action="store_true", help="only show the table of earlier runs")
    parser.add_argument("--means", help="CSV file for the means over the splits")
    parser.add_argument("--base", default="previous", help="method that the others are compared with")
    given = parser.parse_args()
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    if not given.table:
        run(given)
    records = read(Path(given.out))
    print(render(records, given.base))
    if given.means:
        write_means(records, given.means)


if __name__ == "__main__":
    main()
