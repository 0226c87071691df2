"""Large data: growth of the evaluators' time and memory, up to 50,000 events x 100 features and 5,000 x 5,000.

    python research/large.py                                    # k-NN (Manhattan), and both naive Bayes
    python research/large.py --max-events 20000 --evaluators k-nn --metric euclidean chebyshev
    python research/large.py --device cuda                      # on a machine with an NVIDIA GPU

Every row is a separate process with its own peak memory (maximum resident set, with Python and all libraries). Events
are mixtures of two events of the same class of the paper's data, plus noise; features beyond the paper's 99 are sums of
three of them plus noise. "prepare" is the time to construct the evaluator and evaluate a first subset. The time of a
subset is followed by the ratio of scikit-learn's cross_val_score to it, if that takes less than a minute, and by the
difference of the misclassified events per fold, if any. Times are CPU time divided by the number of threads, which
other work on the machine hardly disturbs; with a GPU they are wall time.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from math import log
from pathlib import Path

CLASSES = 14
TALL, WIDE = (3_500, 10_000, 20_000, 50_000), (5_000, 5_000)
PATIENCE = 60.0  # maximum seconds of scikit-learn per subset
ENOUGH = 4.0  # seconds of timed subsets, unless a single one takes longer
BATCH = 64  # maximum subsets at a time


def make_events(base, n, width, seed=0):
    """Mix events of the same class, which preserves the tails, and add features; no two events are equal.

    Event i is of class i modulo 14. k-NN takes as long for them as for the paper's events, to within 20 %.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    order = np.argsort(base["y"], kind="stable")
    given = base["X"][order]  # class by class, all of the same size
    size = len(given) // CLASSES
    start = np.arange(n) % CLASSES * size
    first, second = (given[start + rng.integers(size, size=n)] for _ in range(2))
    X = first + rng.random((n, 1)) * (second - first)
    spread = np.subtract(*np.percentile(given, (75, 25), axis=0))
    X += 0.02 * spread * rng.standard_normal(X.shape)
    more = max(0, width - X.shape[1])
    if more:
        units = (X - np.median(X, axis=0)) / np.where(spread > 0, spread, 1.0)
        made = 0.5 * rng.standard_t(3, size=(n, more))
        for _ in range(3):
            made += rng.standard_normal(more) * units[:, rng.integers(units.shape[1], size=more)]
        X = np.hstack([X, made])
    return np.ascontiguousarray(X[:, :width])


def make_evaluator(job, X, y, folds):
    from pqswarm.evaluation import CLASSIFIERS

    options = {"metric": job["metric"]} if job["metric"] else {}
    classifier = CLASSIFIERS[job["evaluator"]](options)
    return classifier.evaluator(X, y, folds, scaling=job["scaling"], n_jobs=job["threads"], device=job["device"])


def make_masks(size, width, count):
    import numpy as np

    rng = np.random.default_rng(size)
    masks = np.zeros((count, width), dtype=bool)
    for mask in masks:
        mask[rng.permutation(width)[:size]] = True
    return masks


def clock(job):
    """Return CPU seconds per thread, or wall seconds with a GPU."""
    return time.perf_counter() if job["device"] == "cuda" else time.process_time() / job["threads"]


def peak_memory():
    """Return the maximum resident set of this process so far in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measure(job):
    """Measure one row, in a separate process."""
    import numpy as np

    from pqswarm.errors import PqswarmError
    from pqswarm.evaluation import Folds

    base = np.load(job["base"])
    small = base["X"][::25], base["y"][::25]
    make_evaluator(job, *small, Folds.stratified(small[1], 2)).errors(np.ones((2, 99), dtype=bool))  # loads libraries
    X, y = np.load(job["data"]), np.arange(job["events"]) % CLASSES
    folds = Folds.stratified(y)
    found = {"data": X.nbytes / 1e6, "before": peak_memory(), "sizes": {}}
    start = clock(job)
    try:
        evaluator = make_evaluator(job, X, y, folds)
        evaluator.errors(make_masks(5, X.shape[1], 1))
    except PqswarmError as error:
        return found | {"rejected": str(error)}
    found["prepare"] = clock(job) - start
    for size in job["sizes"]:
        found["sizes"][size] = time_subsets(job, evaluator, make_masks(size, X.shape[1], BATCH))
    found["peak"] = peak_memory()
    if job["device"] == "cuda":
        import cupy

        found["gpu"] = cupy.get_default_memory_pool().total_bytes() / 1e6
    if job["compare"]:
        for size in job["sizes"]:
            found["sizes"][size] |= compare(job, evaluator, y, folds, make_masks(size, X.shape[1], 1)[0])
    return found


def time_subsets(job, evaluator, masks):
    """Return the seconds per subset, in batches that take a few seconds."""
    start = clock(job)
    evaluator.errors(masks[:2])
    each = (clock(job) - start) / 2
    count = max(2, min(len(masks), int(ENOUGH / each) // 2 * 2))
    times = []
    for _ in range(3 if each * count < ENOUGH / 3 else 1):
        start = clock(job)
        evaluator.errors(masks[:count])
        times.append((clock(job) - start) / count)
    return {"seconds": min(times)}


def compare(job, evaluator, y, folds, mask):
    """Time scikit-learn with the same subset, if that is fast enough, and compare the counts."""
    import numpy as np
    from sklearn.model_selection import cross_val_score

    from pqswarm.evaluation import CLASSIFIERS

    options = {"metric": job["metric"]} if job["metric"] else {}
    model = CLASSIFIERS[job["evaluator"]](options).estimator()
    data = evaluator.fold_data(0)[:, mask]
    train, test = next(iter(folds.split()))
    start = clock(job)
    few = test[:100]
    model.fit(data[train], y[train]).predict(data[few])
    if (clock(job) - start) * len(y) / few.size > 1.5 * PATIENCE:  # part of the cost is per fit, not per event
        return {}
    start = clock(job)
    scores = cross_val_score(model, data, y, cv=folds)
    theirs = clock(job) - start
    counts = np.round((1.0 - scores) * folds.sizes).astype(int)
    return {"theirs": theirs, "differ": int(np.abs(counts - evaluator.error_counts(mask[np.newaxis])[0]).sum())}


def in_own_process(job):
    """Run one row, or generate data, in a separate process; this one stays small, since peaks are inherited."""
    ran = subprocess.run(
        [sys.executable, __file__, "--job", json.dumps(job)], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        return {"failed": ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else f"exit {ran.returncode}"}
    return json.loads(ran.stdout.splitlines()[-1])


def make_data(base, make):
    """Write the paper's data to the file `base`, and events of the given shape to each of the other files."""
    import numpy as np

    from pqswarm.datasets import make_dataset

    made = make_dataset(250, snr=float("inf"))
    arrays = {"X": made.X(), "y": made.y}
    np.savez(base, **arrays)
    for path, shape in make.items():
        np.save(path, make_events(arrays, *shape))
    return {}


def data_file(folder, n, width):
    return str(Path(folder) / f"{n}x{width}.npy")


def cell(timed):
    """Format the time of a subset, the ratio to scikit-learn, and any difference of the counts."""
    text = f"{1e3 * timed['seconds']:.3g}"
    if "theirs" in timed:
        text += f" ({timed['theirs'] / timed['seconds']:.0f}x" + (
            ")" if timed["differ"] == 0 else f", {timed['differ']} differ)"
        )
    return text


def show_table(title, jobs, on_gpu):
    sizes = sorted({size for job in jobs for size in job["sizes"]})
    heads = ["events", "features", "data [MB]", "prepare [s]", *(f"{size} features [ms]" for size in sizes)]
    heads += ["peak [MB]", "GPU [MB]"] if on_gpu else ["peak [MB]"]
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    rows = []
    for job in jobs:
        found = in_own_process(job)
        cells = [f"{job['events']}", f"{job['features']}"]
        if "failed" in found or "rejected" in found:
            cells.append(found.get("failed") or found["rejected"])
        else:
            timed = {int(size): one for size, one in found["sizes"].items()}
            cells += [f"{found['data']:.0f}", f"{found['prepare']:.2f}"]
            cells += [cell(timed[size]) if size in timed else "" for size in sizes]
            cells += [f"{found['peak']:.0f} ({found['peak'] - found['before']:+.0f})"]
            cells += [f"{found['gpu']:.0f}"] if on_gpu else []
            if (job["features"], tuple(job["sizes"])) == (jobs[0]["features"], tuple(jobs[0]["sizes"])):
                rows.append((job["events"], found["prepare"], *(timed[size]["seconds"] for size in job["sizes"])))
        print(f"| {' | '.join(cells)} |", flush=True)
    if len(rows) > 1:
        grown = [log(b / a) / log(rows[-1][0] / rows[0][0]) for a, b in zip(rows[0][1:], rows[-1][1:], strict=True)]
        each = ", ".join(f"{power:.2f}" for power in grown[1:])
        print(f"\nFrom {rows[0][0]} to {rows[-1][0]} events prepare grows as events^{grown[0]:.2f}, subsets as {each}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--max-events", type=int, default=TALL[-1])
    parser.add_argument("--metric", nargs="+", default=["manhattan"], help="k-NN distances")
    parser.add_argument(
        "--evaluators", nargs="+", default=["k-nn", "kernel-nb", "gaussian-nb"], help="classifier names"
    )
    parser.add_argument("--scaling", default="once", help="feature scaling: once, or inside the folds")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-wide", action="store_true", help="omit the row with 5,000 features")
    parser.add_argument("--no-compare", action="store_true", help="omit the comparison with scikit-learn")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(make_data(**given.job) if "make" in given.job else measure(given.job)))
        return
    shapes = [(n, 100, (10, 20, 50)) for n in TALL if n <= given.max_events]
    if not given.no_wide and given.max_events >= WIDE[0]:
        shapes.append((*WIDE, (10, 20, 50, 500)))
    with tempfile.TemporaryDirectory() as folder:
        shared = {name: getattr(given, name) for name in ("device", "threads", "scaling")}
        shared |= {"base": str(Path(folder) / "base.npz"), "compare": not given.no_compare}
        made = in_own_process({"base": shared["base"], "make": {data_file(folder, n, p): (n, p) for n, p, _ in shapes}})
        if "failed" in made:
            raise SystemExit(made["failed"])
        for name in given.evaluators:
            for metric in given.metric if name == "k-nn" else [""]:
                jobs = [
                    shared
                    | {"evaluator": name, "metric": metric, "events": n, "features": p, "sizes": sizes}
                    | {"data": data_file(folder, n, p)}
                    for n, p, sizes in shapes
                ]
                title = f"{name} {metric}".strip() + f", {given.threads} threads, device {given.device}"
                show_table(title, jobs, given.device == "cuda")


if __name__ == "__main__":
    main()
