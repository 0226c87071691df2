"""Compare searches within the same CPU time, by the error on samples that no search has seen.

    python research/equal_time.py --data FOLDER --out runs.csv --jobs 16 --splits 5      # rerun to resume
    python research/equal_time.py --data FOLDER --out runs.csv --problems made-0 pq-field-305 --splits 1
    python research/equal_time.py --out runs.csv --table

The first command is the full run, on the fresh suite; FOLDER and the splits are those of suites.py. Exact evaluators
(k-NN, Gaussian naive Bayes, LDA) have 10 folds, estimators that are fitted (a decision tree, a linear SVM) have 5. Each
search runs on one thread; its clock is the CPU time of the process, evaluations included. Before the clock starts, a
short search of the same kind has compiled what it needs. At a mark the best subset counts whose batch ended in time.

MERIT drops subsets of fitted estimators after part of the folds. `umda-raced` is UMDA with the same rule, so that the
two differ in how they draw subsets alone; with exact evaluators, which are not raced, it is UMDA.
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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from suite.problems import SUITES
from suite.runs import CLASSIFIERS, estimators_of, partitions_of

from pqswarm.evaluation import Folds, choose_evaluator
from pqswarm.search import ALGORITHMS, Run, advance_runs
from pqswarm.search.merit import _EXTRAPOLATED, _PASSED
from pqswarm.search.umda import UMDA

FIELDS = (
    "suite",
    "problem",
    "estimator",
    "split",
    "algorithm",
    "mark",
    "seconds",
    "evaluations",
    "J",
    "held_out",
    "size",
)
KEY = FIELDS[:5]
MARKS = {"exact": (0.3, 1.0, 3.0, 10.0), "fitted": (3.0, 10.0, 30.0)}  # CPU seconds
FITTED = {
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=2, random_state=0),
    "linear-svm": lambda: make_pipeline(MinMaxScaler(), LinearSVC(random_state=0)),
}
WARM = {"exact": 2000, "fitted": 300}  # evaluations of the search that compiles; some functions first run after 600
OFFSET = 0.005  # added to errors before ratios are formed
TIE = 1e-9


class RacedUMDA(UMDA):
    """UMDA that drops subsets after part of the folds by the rule of MERIT."""

    name = "umda-raced"
    title = "UMDA, raced"
    races = True

    def _start(self):
        super()._start()
        self.parts = np.empty((0, 3))  # of the errors of the population, by block of folds
        self._n_batches = 0

    def _tested_best(self):
        """Positions of the best of the population that were tested in all folds."""
        p = self.parameters
        best = np.arange(min(len(self.population), max(2, round(p.best_fraction * p.population_size))))
        return best[np.isfinite(self.parts[best]).all(axis=1)]

    def race_limits(self):
        first = self._n_batches % 3
        known = self.parts[self._tested_best()]
        if len(known) < 4:
            return first, np.full(2, np.inf)
        sums = np.sort(np.cumsum(known[:, [first, (first + 1) % 3]], axis=1), axis=0)
        return first, sums[min(len(sums) - 1, int(_PASSED * len(sums)))]

    def _learn(self, masks, errors):
        parts = np.full((len(masks), 3), np.inf)
        if errors.ndim == 2:
            parts = np.where(np.isnan(errors[:, :3]), np.inf, errors[:, :3])
            errors = self._estimated(parts, errors[:, 3])
        elites = self.parameters.elites
        order = np.argsort(np.concatenate([self.errors[:elites], errors]), kind="stable")
        self.parts = np.concatenate([self.parts[:elites], parts])[order]
        super()._learn(masks, errors)
        self._n_batches += 1

    def _estimated(self, parts, errors):
        dropped = np.isnan(errors)
        if not dropped.any():
            return errors
        best = self._tested_best()
        level = self.parts[best].mean(axis=0)
        guess = level.sum() + _EXTRAPOLATED * np.where(np.isfinite(parts), parts - level, 0.0).sum(axis=1)
        return np.where(dropped, np.maximum(guess, np.nextafter(self.errors[best].max(), np.inf)), errors)


SEARCHES = {"merit": ALGORITHMS["merit"], "umda-raced": RacedUMDA, "ga-sparse": ALGORITHMS["ga-sparse"]}


def evaluator_of(problem, estimator, X, y, split):
    """Return the evaluator of the training samples, and the estimator."""
    if estimator in CLASSIFIERS:
        make, fresh = CLASSIFIERS[estimator]
        return make(X, y, partitions_of(problem, y, split)[0]), fresh
    fresh = FITTED[estimator]
    folds = Folds.stratified(y, min(5, int(np.bincount(y).min())), seed=split)
    return choose_evaluator(fresh(), X, y, folds, n_jobs=1).evaluator, fresh


def follow(search, evaluator, marks):
    """Return what was found at each mark: the CPU seconds, the evaluations, the error and the subset.

    Before the first batch has ended, the mark has what the first batch found.
    """
    run = Run(search, 10**9, getattr(evaluator, "blocks", ()))
    trail = []
    began = time.process_time()
    while not run.done and (not trail or trail[-1][0] <= marks[-1]):
        advance_runs([run], evaluator)
        trail.append((time.process_time() - began, run.n_evaluations, run.best_error, run.best.copy()))
    return {mark: next((state for state in reversed(trail) if state[0] <= mark), trail[0]) for mark in marks}


def run_case(suite, name, folder, estimator, split, algorithm, longest):
    """Return a record for each mark up to the longest."""
    warnings.simplefilter("ignore")  # of small classes
    problem = SUITES[suite][name]
    X, y = problem.load(folder)
    searched, held_out = problem.split(y, split)
    evaluator, fresh = evaluator_of(problem, estimator, X[searched], y[searched], split)
    search = SEARCHES[algorithm]
    kind = "exact" if estimator in CLASSIFIERS else "fitted"
    warm = Run(search(evaluator.n_features, split + 1000), WARM[kind], getattr(evaluator, "blocks", ()))
    while not warm.done:
        advance_runs([warm], evaluator)
    records = []
    marks = [mark for mark in MARKS[kind] if mark <= longest]
    for mark, (seconds, evaluations, error, mask) in follow(
        search(evaluator.n_features, split), evaluator, marks
    ).items():
        fitted = fresh().fit(X[np.ix_(searched, mask)], y[searched])
        score = fitted.score(X[np.ix_(held_out, mask)], y[held_out])
        case = dict(zip(KEY, (suite, name, estimator, split, algorithm), strict=True))
        numbers = {"mark": mark, "seconds": round(seconds, 3), "evaluations": evaluations, "J": round(error, 6)}
        records.append(case | numbers | {"held_out": round(1.0 - float(score), 6), "size": int(mask.sum())})
    return records


def read(path):
    """Return the records of a file; none without a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cases_of(given, known):
    """Yield what the file does not hold yet, split by split."""
    widths = {}
    for name, problem in SUITES[given.suite].items():
        if problem.regression or (given.problems and name not in given.problems):
            continue
        try:
            widths[name] = problem.load(given.data)[0].shape[1]
        except FileNotFoundError as error:
            print(f"{name} is left out: {error.filename} is missing.", file=sys.stderr)
    for split in range(given.splits):
        for name, width in widths.items():
            possible = (*estimators_of(SUITES[given.suite][name], width), *FITTED)
            for estimator in (one for one in given.estimators if one in possible):
                for algorithm in given.algorithms:
                    if (given.suite, name, estimator, str(split), algorithm) not in known:
                        yield given.suite, name, given.data, estimator, split, algorithm, given.longest


def run(given):
    """Run what is missing, and append the records of each case to the file."""
    path = Path(given.out)
    known = {tuple(record[field] for field in KEY) for record in read(path)}
    cases = list(cases_of(given, known))
    print(f"{len(cases)} cases are left.", file=sys.stderr)
    with (
        path.open("a", newline="") as file,
        ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool,
    ):
        writer = csv.DictWriter(file, FIELDS)
        if not known:
            writer.writeheader()
        for done in as_completed([pool.submit(run_case, *case) for case in cases]):
            writer.writerows(done.result())
            file.flush()


def render(records, base="merit"):
    """Return a table: the held-out error of each search at each mark, against MERIT's, over problems."""
    from scipy.stats import wilcoxon

    lines = [
        "| estimator | CPU s | search | problems | J | error | ratio | lower, higher | p | evaluations | features |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    means = {}
    for r in records:
        numbers = [float(r[field]) for field in ("held_out", "J", "evaluations", "size")]
        by_search = means.setdefault((r["estimator"], float(r["mark"])), {}).setdefault(r["algorithm"], {})
        by_search.setdefault(r["problem"], {})[r["split"]] = numbers
    for (estimator, mark), searches in sorted(means.items()):
        for algorithm, problems in searches.items():
            paired = []
            for problem, splits in problems.items():
                shared = splits.keys() & searches.get(base, {}).get(problem, {}).keys()
                if shared:
                    theirs = [searches[base][problem][split] for split in shared]
                    paired.append((np.mean([splits[split] for split in shared], axis=0), np.mean(theirs, axis=0)))
            if not paired:
                continue
            ours, theirs = np.array(paired).swapaxes(0, 1)
            gap = ours[:, 0] - theirs[:, 0]
            gap[np.abs(gap) < TIE] = 0.0
            ratio = np.exp(np.mean(np.log((ours[:, 0] + OFFSET) / (theirs[:, 0] + OFFSET))))
            p = wilcoxon(gap).pvalue if gap.any() else 1.0
            error, goal, evaluations, size = ours.mean(axis=0)
            lines.append(
                f"| {estimator} | {mark:g} | {algorithm} | {len(paired)} | {goal:.4f} | {error:.4f} | {ratio:.3f} | "
                f"{(gap < 0).sum()}, {(gap > 0).sum()} | {p:.2g} | {evaluations:.0f} | {size:.1f} |"
            )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    estimators = [*CLASSIFIERS, *FITTED]
    parser.add_argument("--suite", choices=list(SUITES), default="fresh")
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--problems", nargs="*", help="only these")
    parser.add_argument("--estimators", nargs="+", choices=estimators, default=estimators)
    parser.add_argument("--algorithms", nargs="+", choices=list(SEARCHES), default=list(SEARCHES))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--longest", type=float, default=30.0, help="CPU seconds of the last mark")
    parser.add_argument("--jobs", type=int, default=1, help="processes; more than cores distort the clock")
    parser.add_argument("--table", action="store_true", help="only show the table of earlier runs")
    given = parser.parse_args()
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    if not given.table:
        run(given)
    print(render(read(Path(given.out))))


if __name__ == "__main__":
    main()
