"""Evaluators on an NVIDIA GPU against the CPU: equality of the counts, and times.

    python benchmarks/gpu.py [--masks 10000]
    python benchmarks/gpu.py --study paper paper-grid    # all 480 runs of stage I, for each of these plans

Needs CuPy and a GPU. Times are for whole batches, including transfers.
"""

import argparse
import tempfile
import time

import numpy as np
from figures import WALL
from figures import compare as compare_times

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import METRICS, Folds, GaussianNBEvaluator, KernelNBEvaluator, KNNEvaluator
from pqswarm.events import PRESETS
from pqswarm.study import plan_text, read_plan, run_study


def random_masks(count, n_features, seed, size=None):
    rng = np.random.default_rng(seed)
    sizes = np.full(count, size) if size else rng.integers(1, n_features + 1, count)
    return np.argsort(rng.random((count, n_features)), axis=1) < sizes[:, None]


def compare(title, make, masks):
    cpu, gpu = make("cpu"), make("cuda")
    gpu.error_counts(masks[:8])
    start = time.perf_counter()
    ours = gpu.error_counts(masks)
    middle = time.perf_counter()
    theirs = cpu.error_counts(masks)
    end = time.perf_counter()
    wrong = int((ours != theirs).any(axis=1).sum())
    labels = all((cpu.predictions(mask) == gpu.predictions(mask)).all() for mask in masks[:20])
    print(
        f"  {title:44} {len(masks):6} masks, {wrong} differ, predictions {'equal' if labels else 'DIFFER'}; "
        f"{1e6 * (middle - start) / len(masks):.2f} us per mask on the GPU, "
        f"{1e6 * (end - middle) / len(masks):.1f} us on the CPU",
        flush=True,
    )
    return wrong == 0 and labels


def timings(title, make, batch):
    evaluator = make("cuda")
    for size in (10, 20, 50, 99):
        masks = random_masks(batch, 99, size, size)
        evaluator.error_counts(masks)
        best = np.inf
        for _ in range(5):
            start = time.perf_counter()
            evaluator.error_counts(masks)
            best = min(best, time.perf_counter() - start)
        print(f"  {title}, {size} features, batch of {batch}: {1e6 * best / batch:.2f} us per evaluation", flush=True)


def figures():
    """Figures for run.py: CPU over GPU time on the same subsets, with equal counts."""
    data = make_dataset(250, snr=float("inf"), seed=0)
    folds = Folds.stratified(data.y)
    for name, kind, batch in (
        ("3-NN", KNNEvaluator, 300),
        ("kernel NB", KernelNBEvaluator, 1200),
        ("Gaussian NB", GaussianNBEvaluator, 300),
    ):
        cpu, gpu = (kind(data.X(), data.y, folds, device=device) for device in ("cpu", "cuda"))
        for size in (20, 50):
            masks = random_masks(batch, 99, size, size)
            if (cpu.error_counts(masks[:50]) != gpu.error_counts(masks[:50])).any():
                raise SystemExit(f"{name}: the counts of GPU and CPU differ")
            yield compare_times(
                f"GPU, {name}, {size} features",
                f"all CPU cores / the GPU with transfers, wall time, {batch} subsets",
                lambda _, masks=masks, cpu=cpu: cpu.error_counts(masks),
                lambda _, masks=masks, gpu=gpu: gpu.error_counts(masks),
                rounds=5,
                clock=WALL,
                factors=(1 / batch, 1 / batch),
            )


def stage_one(name):
    """Run all searches of the paper: 6 algorithms x 2 classifiers x 40 runs x 6000 evaluations."""
    text = plan_text(name).replace("grid_search = true", "grid_search = false")
    text = text.replace("snr = [inf, 50, 45, 40, 35, 30, 25, 20]", "snr = [inf]")
    text = text.replace("seeds = [1, 2, 3, 4, 5]", "seeds = [1]")
    text = text[: text.index('[[algorithms]]\nalgorithm = "sffs"')]
    times, last = {}, {}

    def progress(state):
        times.setdefault(state.stage == "searching", time.perf_counter())
        if state.stage == "searching":
            times["end"] = time.perf_counter()
            last["runs"] = state.runs_done

    with tempfile.TemporaryDirectory() as folder:
        run_study(read_plan(text), folder, device="cuda", progress=progress)
    print(f"stage I of {name}: {last['runs']} runs in {times['end'] - times[True]:.1f} s wall clock")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--masks", type=int, default=10_000)
    parser.add_argument("--study", nargs="+", metavar="PLAN", help="time stage I of these plans instead")
    given = parser.parse_args()
    if given.study:
        for name in given.study:
            stage_one(name)
        return
    count = given.masks
    data = make_dataset(250, snr=float("inf"), seed=0)
    X, y = data.X(), data.y
    folds = Folds.stratified(y)
    tied = np.round(4 * (X - X.min(axis=0)) / np.ptp(X, axis=0))  # integers 0 to 4: full of ties and duplicates
    print("Counts")
    good, few = True, max(50, count // 20)
    for metric in METRICS:
        for k in (3, 1, 7, 15):
            good &= compare(
                f"{k}-NN, {metric}",
                lambda d, k=k, m=metric: KNNEvaluator(X, y, folds, k, m, device=d),
                random_masks(count if k == 3 else few, 99, k),
            )
    steps = make_dataset(250, snr=float("inf"), seed=0, preset=PRESETS["paper-grid"])
    good &= compare(
        "3-NN, stepped events",
        lambda d: KNNEvaluator(steps.X(), steps.y, Folds.stratified(steps.y), device=d),
        random_masks(count, 99, 1),
    )
    good &= compare(
        "3-NN, ties everywhere", lambda d: KNNEvaluator(tied, y, folds, device=d), random_masks(count, 99, 1)
    )
    many = np.random.default_rng(0).integers(0, len(X), 20_000)
    jitter = 1 + 0.02 * np.random.default_rng(1).standard_normal((20_000, 99))
    good &= compare(
        "3-NN, 20,000 events",
        lambda d: KNNEvaluator(X[many] * jitter, y[many], Folds.stratified(y[many]), device=d),
        random_masks(few, 99, 2),
    )
    for scaling in ("minmax", "none"):
        good &= compare(
            f"3-NN, scaling {scaling}",
            lambda d, s=scaling: KNNEvaluator(X, y, folds, scaling=s, device=d),
            random_masks(few, 99, 2),
        )
    good &= compare("kernel NB", lambda d: KernelNBEvaluator(X, y, folds, device=d), random_masks(count, 99, 3))
    good &= compare(
        "kernel NB, ties everywhere",
        lambda d: KernelNBEvaluator(tied, y, folds, 0.05, device=d),
        random_masks(count // 10, 99, 4),
    )
    good &= compare("Gaussian NB", lambda d: GaussianNBEvaluator(X, y, folds, device=d), random_masks(count, 99, 5))
    print("all equal" if good else "NOT ALL EQUAL")
    print("Times")
    for batch in (300, 1200):
        timings("3-NN", lambda d: KNNEvaluator(X, y, folds, device=d), batch)
    timings("kernel NB", lambda d: KernelNBEvaluator(X, y, folds, device=d), 1200)
    timings("Gaussian NB", lambda d: GaussianNBEvaluator(X, y, folds, device=d), 1200)
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
