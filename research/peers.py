"""Compare SwarmSelector with other feature selectors within the same CPU time, on problems of a suite.

    pip install -c constraints.txt '.[bench]'
    python research/peers.py --data FOLDER --out runs.csv                    # rerun to resume
    python research/peers.py --data FOLDER --out runs.csv --again swarm      # repeat a method in all cases
    python research/peers.py --data FOLDER --out runs.csv --splits 3 --alternate    # the classifiers take turns
    python research/peers.py --suite wide --limit 60 --data FOLDER --out wide.csv
    python research/peers.py --out runs.csv --table --summary table.csv --diagram ranks.svg

FOLDER holds the files that suites.py names. Every method has the same events, folds and CPU time on one thread, without
imports and compilation; at the limit it returns its best subset so far, or all features if it has none. SwarmSelector
and the random forest predict the held-out events themselves; for the others, the estimator fitted to the selected
features does. Each fit runs in a separate process. The methods run
in the order of race/methods.py, SwarmSelector last. Needs Linux or macOS.
"""

import argparse
import csv
import random
import resource
import sys
import time
from pathlib import Path

import numpy as np
import psutil
from race import process, table
from race.methods import METHODS, OURS, Task
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from suite.problems import SUITES
from suite.runs import CLASSIFIERS, REGRESSORS

FIELDS = (
    "suite",
    "problem",
    "estimator",
    "split",
    "method",
    "limit",
    "status",
    "J",
    "held_out",
    "size",
    "seconds",
    "mb",
    "version",
    "reason",
)
KEY = FIELDS[:5]
ESTIMATORS = ("k-nn", "gaussian-nb")


def fit(limit, data, names, method, seed, regression):
    """Select features with one method; return a record for each estimator that is scored with them."""
    X, held_out, y, y_held_out = data
    method = METHODS[method]
    fewest = len(y) if regression else int(np.bincount(y).min())
    folds = (KFold if regression else StratifiedKFold)(min(5, fewest), shuffle=True, random_state=seed)
    fresh = {name: (REGRESSORS if regression else CLASSIFIERS)[name][1] for name in names}
    task = Task(X, y, fresh[names[0]](), folds, seed, regression)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - some peers draw from it
    try:
        method.prepare(task)
    except ImportError as error:
        return {"status": "missing", "reason": f"{error}; `pip install 'pqswarm[bench]'`"}
    before = psutil.Process().memory_info().rss
    task.limit = limit
    process.start_clock(limit, raising=not method.stops)
    mask, over = method.run(task)
    seconds = time.process_time() - task.began
    process.stop_clock()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if not mask.any():
        return {"status": "failed", "reason": "it selected no feature"}
    rows = {}
    for name, make in fresh.items():
        if task.model is None:
            score = make().fit(X[:, mask], y).score(held_out[:, mask], y_held_out)
        else:
            score = task.model.score(held_out, y_held_out)
        rows[name] = {
            "J": round(1.0 - float(cross_val_score(make(), X[:, mask], y, cv=folds).mean()), 6),
            "held_out": round(1.0 - float(score), 6),
        }
    shared = {"size": int(mask.sum()), "seconds": round(seconds, 2), "mb": round(max(0, peak - before) / 2**20)}
    return {"status": "over" if over else "done", "rows": rows} | shared


def read(path):
    """Return the last record of each key in a file; none without a file."""
    if not Path(path).exists():
        return {}
    with Path(path).open(newline="") as file:
        return {tuple(record[name] for name in KEY): record for record in csv.DictReader(file)}


def tasks_of(suite, problems, methods, splits, known, estimators=ESTIMATORS, alternate=False):
    """Return what is left to do, split by split: problem, split, method and the estimators that it is scored with."""
    tasks = []
    for split in range(splits):
        for number, (name, problem) in enumerate(SUITES[suite].items()):
            if problems and name not in problems:
                continue
            names = tuple(REGRESSORS) if problem.regression else tuple(estimators)
            if alternate:
                names = (names[(number + split) % len(names)],)
            for method in methods:
                for group in [names] if METHODS[method].own else [(one,) for one in names]:
                    keys = [(suite, name, one, str(split), method) for one in group]
                    if any(key not in known or known[key]["status"] == "missing" for key in keys):
                        tasks.append((name, split, method, group))
    return tasks


def tasks_again(suite, methods, known):
    """Return the tasks of methods in all cases that the file holds of other methods."""
    cases = {}
    for where, name, estimator, split, method in known:
        if where == suite and method not in (*methods, "all"):
            cases.setdefault((name, int(split)), {})[estimator] = None
    return [
        (*case, method, group)
        for case, names in cases.items()
        for method in methods
        for group in ([tuple(names)] if METHODS[method].own else [(name,) for name in names])
    ]


def race(suite, tasks, limit, folder, out, work=fit):
    """Run the tasks and append each record to the file immediately."""
    new = not Path(out).exists()
    loaded, left_out = {}, set()
    with Path(out).open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for number, (name, split, method, group) in enumerate(tasks, 1):
            problem = SUITES[suite][name]
            try:
                if name not in loaded and name not in left_out:
                    loaded = {name: problem.load(folder)}  # one at a time
            except FileNotFoundError as error:
                left_out.add(name)
                print(f"{name} is left out: {error.filename} is missing.", file=sys.stderr)
            if name in left_out:
                continue
            X, y = loaded[name]
            searched, held_out = problem.split(y, split)
            data = X[searched], X[held_out], y[searched], y[held_out]
            outcome = process.attempt(work, limit, data, group, method, split, problem.regression)
            rows = outcome.pop("rows", {one: {} for one in group})
            case = {"suite": suite, "problem": name, "split": split, "method": method, "limit": f"{limit:g}"}
            for one, numbers in rows.items():
                writer.writerow(case | {"estimator": one, "version": METHODS[method].version} | outcome | numbers)
            file.flush()
            print(f"{number}/{len(tasks)}  {name} {split} {method}: {outcome} {rows}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=list(SUITES), default="test")
    parser.add_argument("--data", default=".", help="folder of the public data")
    parser.add_argument("--problems", nargs="*", help="only these")
    last = [*(m for m in METHODS if m != OURS), OURS]
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=last)
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--alternate", action="store_true", help="one classifier per split, by turns")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5.0, help="CPU seconds per fit")
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], help="repeat these where others have run")
    parser.add_argument("--out", required=True, help="CSV file of the runs")
    parser.add_argument("--table", action="store_true", help="only show the tables of earlier runs")
    parser.add_argument("--summary", type=Path, help="CSV file for the table, as in docs/results/peers.md")
    parser.add_argument("--diagram", help="file for the critical-difference diagram of the held-out error")
    given = parser.parse_args()
    process.one_thread()
    if not given.table:
        known = read(given.out)
        which = given.problems, given.methods, given.splits
        tasks = tasks_of(given.suite, *which, known, given.estimators, given.alternate)
        if given.again:
            tasks = tasks_again(given.suite, given.again, known)
        most = sum(given.limit * (0 if task[2] == "all" else 1) + 2 for task in tasks) / 60
        print(f"{len(tasks)} fits, at most about {most:.0f} minutes on one core", flush=True)
        try:
            race(given.suite, tasks, given.limit, given.data, given.out)
        except KeyboardInterrupt:
            print(f"stopped; rerun to resume from {given.out}")
    shown = [*given.methods, *given.again, table.BASE]
    records = [r for r in read(given.out).values() if r["suite"] == given.suite and r["method"] in shown]
    print(table.render(records))
    if given.summary:
        table.write(records, given.summary)
    if given.diagram:
        table.diagram(records, given.diagram)


if __name__ == "__main__":
    main()
