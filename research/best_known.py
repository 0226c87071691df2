"""Find the best known subsets of the paper's data with a thousandfold budget.

    python research/best_known.py --plan paper --device cuda --out best-known.json

A memetic search: many local searches in parallel, each of which takes the best of all changes of one feature and of the
most promising exchanges. Children of the local optima keep the common features and some of the others, are
improved in the same way, and replace worse ones. The search starts from the results of swarms and SFFS. The best are
polished: one or two features are added or removed, or one is exchanged, until nothing helps. Each classifier takes
some minutes on an H200 and many hours on CPUs (reduce --rounds). The result depends only on --seed, --rounds
and --population, unless --seconds ends it.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CachedEvaluator, Folds
from pqswarm.search import minimize_many
from pqswarm.study import load_plan
from pqswarm.study.worker import StudyProblem


def neighbours(mask):
    """Return all subsets that differ in one or two features."""
    inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
    changes = [(f,) for f in range(mask.size)] + [(i, o) for i in inside for o in outside]
    changes += [(a, b) for k, a in enumerate(inside) for b in inside[:k]]
    changes += [(a, b) for k, a in enumerate(outside) for b in outside[:k]]
    changed = np.tile(mask, (len(changes), 1))
    rows = np.repeat(np.arange(len(changes)), [len(change) for change in changes])
    changed[rows, np.concatenate(changes)] ^= True
    return changed[changed.any(axis=1)]


def polished(evaluator, mask, error):
    """Change features while that helps; of equal errors the smaller subset is better."""
    while True:
        candidates = neighbours(mask)
        errors = evaluator.errors(candidates)
        sizes = candidates.sum(axis=1)
        best = min(range(len(candidates)), key=lambda i: (errors[i], sizes[i]))
        if (errors[best], sizes[best]) >= (error, mask.sum()):
            return mask, error
        mask, error = candidates[best], float(errors[best])


def improved(evaluator, masks, errors, drops=8, adds=12):
    """Improve many subsets at once, each by its best change of one feature or exchange, until none improves.

    Exchanges pair the `drops` least useful features with the `adds` most useful ones.
    """
    masks, errors, active = masks.copy(), errors.copy(), np.arange(len(masks))
    n = masks.shape[1]
    flip = np.eye(n, dtype=bool)
    while active.size:
        changed = masks[active][:, np.newaxis] ^ flip  # (rows, features, features)
        changed[~changed.any(axis=2)] = True
        gains = evaluator.errors(changed.reshape(-1, n)).reshape(-1, n)
        swaps = np.repeat(masks[active][:, np.newaxis], drops * adds, axis=1)
        for row, (mask, gain) in enumerate(zip(masks[active], gains, strict=True)):
            inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
            leave = inside[np.argsort(gain[inside], kind="stable")][:drops]
            enter = outside[np.argsort(gain[outside], kind="stable")][:adds]
            for k, (i, o) in enumerate((i, o) for i in leave for o in enter):
                swaps[row, k, [i, o]] ^= True
        exchanged = evaluator.errors(swaps.reshape(-1, n)).reshape(len(active), -1)
        still = []
        for row, at in enumerate(active):
            tried = np.concatenate([changed[row], swaps[row]])
            errs = np.concatenate([gains[row], exchanged[row]])
            best = np.lexsort((tried.sum(axis=1), errs))[0]
            if (errs[best], tried[best].sum()) < (errors[at], masks[at].sum()):
                masks[at], errors[at] = tried[best], errs[best]
                still.append(at)
        active = np.array(still, dtype=int)
    return masks, errors


def child(one, two, rng):
    """Return a subset with the common features of both parents, some of the others, and up to four flips."""
    both, either = one & two, np.flatnonzero(one ^ two)
    low, high = sorted((int(one.sum()), int(two.sum())))
    mask = both.copy()
    mask[rng.permutation(either)[: max(0, int(rng.integers(low, high + 1)) - int(both.sum()))]] = True
    mask[rng.integers(0, mask.size, size=int(rng.integers(0, 5)))] ^= True
    mask[int(rng.integers(mask.size))] |= not mask.any()
    return mask


def search(classifier, given, plan, data):
    folds = Folds.stratified(data.y, plan.folds.number, plan.folds.seed)
    problem = StudyProblem(data.X(), data.y, folds.test_fold, classifier.make(), classifier.scaling)
    memo = CachedEvaluator(problem.evaluator(device=given.device), max_entries=4_000_000)
    start, rng = time.perf_counter(), np.random.default_rng(given.seed)

    def report(what, error, size):
        spent = f"{memo.n_evaluations} evaluations, {time.perf_counter() - start:.0f} s"
        print(f"  {classifier.name}: {what} {error:.5f} with {size} features, {spent}", flush=True)

    starts = []
    for name, runs in (("2d-upso", given.population // 4), ("sffs", 1)):
        seeds = [derived_seed(given.seed, (len(name), run)) for run in range(runs)]
        results = minimize_many(name, memo, seeds, 6000)
        starts += [result.mask for result in results]
        report(f"after {name}", *min((result.error, result.size) for result in results))
    n = data.X().shape[1]
    while len(starts) < given.population:
        mask = np.zeros(n, dtype=bool)
        mask[rng.permutation(n)[: int(rng.integers(3, 26))]] = True
        starts.append(mask)
    masks = np.array(starts)
    masks, errors = improved(memo, masks, memo.errors(masks))
    for turn in range(1, given.rounds + 1):
        pairs = [rng.choice(len(masks), 2, replace=False) for _ in range(given.population)]
        children = np.array([child(masks[a], masks[b], rng) for a, b in pairs])
        children, theirs = improved(memo, children, memo.errors(children))
        masks, errors = np.concatenate([masks, children]), np.concatenate([errors, theirs])
        _, first = np.unique(masks, axis=0, return_index=True)
        kept = first[np.lexsort((masks[first].sum(axis=1), errors[first]))][: given.population]
        masks, errors = masks[kept], errors[kept]
        if turn % 10 == 0 or turn == given.rounds:
            report(f"after {turn} rounds", errors[0], masks[0].sum())
        if time.perf_counter() - start > given.seconds:
            report(f"stopped after {turn} rounds by --seconds:", errors[0], masks[0].sum())
            break
    ends = [polished(memo, mask, error) for mask, error in zip(masks[: given.polish], errors, strict=False)]
    mask, error = min(ends, key=lambda end: (end[1], end[0].sum()))
    report("polished", error, mask.sum())
    return {
        "classifier": classifier.name,
        "problem": problem.key,
        "error": float(error),
        "features": np.flatnonzero(mask).tolist(),
        "evaluations": memo.n_evaluations,
        "seconds": round(time.perf_counter() - start),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", default="paper")
    parser.add_argument("--population", type=int, default=48, help="local optima to keep")
    parser.add_argument("--rounds", type=int, default=60, help="rounds of as many children as local optima")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time limit per classifier")
    parser.add_argument("--polish", type=int, default=6, help="subsets to polish at the end")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classifiers", nargs="+", default=["NB", "k-NN"])
    parser.add_argument("--out", type=Path, default=Path("best-known.json"))
    given = parser.parse_args()
    plan = load_plan(given.plan)
    made = plan.dataset
    data = make_dataset(made.events_per_class, float("inf"), made.seed, made.make_preset())
    records = [search(c, given, plan, data) for c in plan.classifiers if c.name in given.classifiers]
    given.out.write_text(json.dumps(records, indent=1) + "\n")
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
