"""Compare SwarmSelector with other feature selectors on the same estimators, data and folds.

    pip install -c constraints.txt '.[bench]'
    python benchmarks/peers.py --out peers.jsonl                            # everything; --estimate prints the duration
    python benchmarks/peers.py --data wine --methods swarm sfs --seeds 2    # a selection
    python benchmarks/peers.py --out peers.jsonl --again swarm swarm-1000   # repeat these methods
    python benchmarks/peers.py --out docs/peers.jsonl --page docs/peers.md  # run what is missing, write the tables

Each seed holds out 30 % of the samples. Every method selects features on the rest, and the estimator, fitted on the
rest with these features, is scored on the held-out samples. Each fit runs in a separate process on one thread and is
stopped after --limit seconds of CPU time; a method that timed out on one split is not tried on the others of that race.
Each result is a line of --out; rerun to resume. Times are CPU time without imports, compilation and outer test. Needs
Linux or macOS.
"""

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
from race import process, table
from race.data import DATA, ESTIMATORS, RACED, Counted, estimator
from race.methods import METHODS, Task
from sklearn.model_selection import StratifiedKFold

N_FOLDS = 5
MAX_NAMED = 100  # maximum number of selected features listed in a record
NOT_BY_DEFAULT = ("swarm-2d-upso",)


def fit(limit, data, name, method, seed):
    """Select features with one method and score the estimator on the held-out samples."""
    X, held_out, y, y_held_out = data
    method = METHODS[method]
    task = Task(X, y, name, StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed), seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - some peers draw from it
    try:
        method.prepare(task)
    except ImportError as error:
        return {"status": "missing", "reason": f"{error}; `pip install 'pqswarm[bench]'`"}
    Counted.fits = 0
    started = process.start_clock(limit)
    selected = method.select(task)
    seconds = time.process_time() - started
    mask, evaluations = selected if isinstance(selected, tuple) else (selected, method.evaluations(N_FOLDS))
    if not mask.any():
        return {"status": "failed", "reason": "it selected no feature"}
    accuracy = estimator(name).fit(X[:, mask], y).score(held_out[:, mask], y_held_out)
    return {
        "status": "done",
        "accuracy": round(float(accuracy), 6),
        "features": int(mask.sum()),
        "seconds": round(seconds, 3),
        "evaluations": evaluations,
        "selected": np.flatnonzero(mask).tolist(),
    }


def key_of(record):
    return tuple(record[name] for name in ("data", "estimator", "method", "seed"))


def read(path):
    """Return the last record of each key in a file; none without a file."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {key_of(record): record for record in map(json.loads, lines)}


def is_settled(record, limit):
    """Return whether a record is final: not a missing package or a smaller limit."""
    return record["status"] in ("done", "failed") or (record["status"] == "over" and record["limit"] >= limit)


def left_to_do(tasks, records, limit, again=()):
    return [t for t in tasks if t[2] in again or t not in records or not is_settled(records[t], limit)]


def race(tasks, records, limit, out, work=fit):
    """Run the tasks and append each record to the file immediately."""
    splits = {}
    for number, task in enumerate(tasks, 1):
        data, name, method, seed = task
        if (data, seed) not in splits:
            splits = {(data, seed): DATA[data].split(seed)}  # one at a time: tasks come split by split
        earlier = [r for r in records.values() if key_of(r)[:3] == task[:3] and r["seed"] < seed]
        late = [r for r in earlier if r["status"] == "over" and r["limit"] >= limit]
        outcome = (
            {"status": "over", "limit": limit} if late else process.attempt(work, limit, splits[data, seed], *task[1:])
        )
        record = dict(zip(("data", "estimator", "method", "seed"), task, strict=True))
        record |= {"version": METHODS[method].version} | outcome
        selected = record.get("selected", [])
        if DATA[data].informative and selected:
            record["found"] = sum(feature < DATA[data].informative for feature in selected)
        if len(selected) > MAX_NAMED:
            del record["selected"]
        records[task] = record
        with out.open("a") as file:
            file.write(json.dumps(record) + "\n")
        what = (
            f"{record['accuracy']:.3f} with {record['features']} features, {record['seconds']:.1f} s"
            if record["status"] == "done"
            else table.why_not([record])
        )
        print(f"{number}/{len(tasks)}  {data} {name} split {seed}  {method}: {what}", flush=True)


def expected_minutes(tasks, records, limit):
    """Return the expected CPU minutes of the tasks from earlier records, and the number of tasks without any."""
    spent, unknown, late = 0.0, 0, set()
    for task in tasks:
        alike = [r for r in records.values() if key_of(r)[:3] == task[:3]]
        done = [r["seconds"] for r in alike if r["status"] == "done"]
        if done:
            spent += sum(done) / len(done)
        elif any(r["status"] == "over" for r in alike):
            spent += 0 if task[:3] in late else limit
            late.add(task[:3])
        elif not alike:
            unknown += 1
    return (spent + 1.5 * len(tasks)) / 60, unknown  # 1.5 s to start, warm up and test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(RACED))
    parser.add_argument(
        "--estimators", nargs="+", choices=ESTIMATORS, help="default: both on small data, one on wide data"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=[m for m in METHODS if m not in NOT_BY_DEFAULT]
    )
    parser.add_argument("--seeds", type=int, default=3, help="outer splits")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds per fit")
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], help="methods to repeat")
    parser.add_argument("--out", type=Path, default=Path("peers.jsonl"))
    parser.add_argument("--page", type=Path, help="write the tables between the markers of this page")
    parser.add_argument("--estimate", action="store_true", help="print the expected duration and exit")
    given = parser.parse_args()
    process.one_thread()
    records = read(given.out)
    tasks = [
        (data, name, method, seed)
        for seed in range(given.seeds)
        for data in given.data
        for name in given.estimators or RACED.get(data, ESTIMATORS)
        for method in given.methods
    ]
    tasks = left_to_do(tasks, records, given.limit, given.again)
    minutes, unknown = expected_minutes(tasks, read(Path(__file__).parents[1] / "docs/peers.jsonl"), given.limit)
    untimed = f", plus {unknown} never timed before (at most {given.limit:g} s each)" if unknown else ""
    print(f"{len(tasks)} fits, about {minutes:.0f} minutes on one core{untimed}", flush=True)
    if given.estimate:
        return
    try:
        race(tasks, records, given.limit, given.out)
    except KeyboardInterrupt:
        print(f"stopped; rerun to resume from {given.out}")
    text = table.render([records[key] for key in sorted(records, key=lambda key: key[3])])
    if given.page:
        given.page.write_text(table.insert(given.page.read_text(), text))
        print(f"wrote {given.page}")
    else:
        print(text)


if __name__ == "__main__":
    main()
