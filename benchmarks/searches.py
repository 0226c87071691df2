"""What the searches find, and what they cost without evaluations.

    python benchmarks/searches.py                             # own time; small problems with a known optimum
    python benchmarks/searches.py --paper kernel-nb --runs 40
    python benchmarks/searches.py --paper k-nn --preset paper-grid --algorithms merit --device cuda --save runs.csv
    python benchmarks/searches.py --wide --algorithms merit 2d-upso ga-sparse --seeds 5

The second and third run on the paper's data (3500 events, 99 features, no noise), and compare each algorithm with the
published 40 runs of 2D-UPSO (docs/results) by an unpaired test.
"""

import argparse
import csv
import sys
import time
from math import inf
from pathlib import Path

import numpy as np
from figures import compare_seconds, show, timed

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, CachedEvaluator, Folds
from pqswarm.search import ALGORITHMS, Run, minimize, minimize_many
from pqswarm.statistics import compare_runs

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
MARKS = (1000, 2000, 6000)


def own_time(name, n_features, runs, budget):
    """Return the seconds of ask and tell for 30 subsets, all runs in lockstep, without evaluations."""
    group = [Run(ALGORITHMS[name](n_features, seed), budget) for seed in range(runs)]
    spent, asked = 0.0, 0
    while not group[0].done:
        active = [run for run in group if not run.done]
        start = time.perf_counter()
        masks = [run.ask() for run in active]
        spent += time.perf_counter() - start
        errors = [0.01 * np.abs(m.sum(axis=1) - 12) + m[:, : n_features // 2].mean(axis=1) for m in masks]
        start = time.perf_counter()
        for run, values in zip(active, errors, strict=True):
            run.tell(values)
        spent += time.perf_counter() - start
        asked += sum(map(len, masks))
    return 30 * spent / asked


def figures(names=tuple(ALGORITHMS)):
    for n_features, runs, budget, rounds in ((99, 3, 1500, 5), (5000, 1, 300, 5)):
        rng = np.random.default_rng(0)
        for name in names:
            own_time(name, n_features, runs, budget)  # imports and first allocations
            yield compare_seconds(
                f"search {name}, {n_features} features",
                f"ask and tell / drawing 30 x {n_features} uniform numbers, 30 subsets, {runs} run(s) in lockstep",
                timed(lambda _, rng=rng, n=n_features: rng.random((30, n))),
                lambda _, name=name, case=(n_features, runs, budget): own_time(name, *case),
                rounds=rounds,
                better="lower",
            )


def small_problems(names, seeds, budget=2000):
    from tests.search.problems import PROBLEMS, problem

    print(f"\nSmall problems: number of {seeds} seeds that find the optimum in {budget} evaluations")
    print(f"  {'':10} " + "  ".join(PROBLEMS))
    for name in names:
        found = []
        for problem_name in PROBLEMS:
            table = problem(problem_name)
            hits = sum(minimize(name, table, budget, seed).error <= table.optimum for seed in range(seeds))
            found.append(f"{hits:{len(problem_name)}}")
        print(f"  {name:10} " + "  ".join(found))


def paper(classifier, preset, runs, names, device, budget=6000, settings=None, save=None):
    data = make_dataset(250, snr=inf, seed=0, preset=preset)
    folds = Folds.stratified(data.y, seed=0)
    evaluator = CLASSIFIERS[classifier]().evaluator(data.X(), data.y, folds, device=device)
    print(
        f"\n{preset}, {classifier}, {runs} runs x {budget} evaluations; "
        f"J(U) = {evaluator.errors(np.ones((1, 99), bool))[0]:.4f}; mean J / mean size"
    )
    published = reference(preset, classifier)
    for name in names:
        start = time.perf_counter()
        seeds = range(1 if ALGORITHMS[name].runs_once else runs)
        results = minimize_many(name, CachedEvaluator(evaluator), seeds, budget, parameters=settings)
        found = {mark: [(r.error_after(mark), r.size_after(mark)) for r in results] for mark in MARKS if mark <= budget}
        means = "  ".join(
            f"{mark}: {np.mean(v, axis=0)[0]:.5f} / {np.mean(v, axis=0)[1]:.1f}" for mark, v in found.items()
        )
        errors, sizes = np.array([(r.error, r.size) for r in results]).T
        spread = f"SD {errors.std(ddof=1):.5f} / {sizes.std(ddof=1):.1f}" if len(results) > 1 else ""
        lowest = f"minimum {errors.min():.5f}"
        print(
            f"  {ALGORITHMS[name].title:10} {means}  {spread}  {lowest}  {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        for mark, values in found.items():
            if published is not None and len(results) > 1:
                against_reference(mark, *np.array(values).T, *published)
        if save:
            with Path(save).open("a", newline="") as file:
                for run, result in enumerate(results):
                    selected = " ".join(map(str, result.selected))
                    csv.writer(file).writerow([preset, classifier, name, run, result.error, result.size, selected])


def reference(preset, classifier):
    """Return errors and sizes of the published runs of 2D-UPSO, 6000 evaluations each; None if there are none."""
    path = ROOT / "docs" / "results" / f"{preset}-runs.csv"
    if not path.exists():
        return None
    title = {"k-nn": "k-NN", "kernel-nb": "NB"}.get(classifier)
    with path.open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if (r["classifier"], r["algorithm"]) == (title, "2D-UPSO")]
    return (np.array([float(r["error"]) for r in rows]), np.array([int(r["size"]) for r in rows])) if rows else None


def against_reference(mark, errors, sizes, published_errors, published_sizes):
    """Print a comparison of runs with those of 2D-UPSO at 6000 evaluations."""
    texts = []
    for what, ours, theirs in (("J", errors, published_errors), ("size", sizes, published_sizes)):
        found = compare_runs({"this": ours, "2D-UPSO": theirs}, control="this")[0]
        texts.append(
            f"{what} {np.mean(theirs):.5g} p = {found.p_value:.2g}, P(better) = {found.superiority.estimate:.2f}"
        )
    print(f"    at {mark} against {len(published_errors)} runs of 2D-UPSO at 6000: " + "; ".join(texts), flush=True)


def wide(names, seeds, budget):
    """Count the informative features found among 500, and score selections from 5000 features."""
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import SelectKBest
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from pqswarm import SwarmSelector
    from pqswarm.selector import EarlyStopping

    estimators = {"Gaussian NB": GaussianNB(), "5-NN": make_pipeline(StandardScaler(), KNeighborsClassifier())}
    easy = {"n_classes": 4, "n_clusters_per_class": 1, "class_sep": 1.5}

    def data(seed, n, n_features, n_informative, **options):
        options |= {"n_informative": n_informative, "n_redundant": 0, "shuffle": False, "random_state": seed}
        X, y = make_classification(n, n_features, **options)
        order = np.random.default_rng(seed).permutation(n)
        return X[order], y[order]

    def score(estimator, X, y, n, chosen):
        return estimator.fit(X[:n, chosen], y[:n]).score(X[n:, chosen], y[n:])

    print(
        f"\n800 x 500, 20 informative, {seeds} seeds, {budget} evaluations:"
        " found / selected / accuracy on 800 new events"
    )
    for title, estimator in estimators.items():
        for name, prefilter in [(names[0], "auto"), *((name, None) for name in names)]:
            rows = []
            for seed in range(seeds):
                X, y = data(seed, 1600, 500, 20, **easy)
                options = {"cv": 5, "max_evaluations": budget, "n_jobs": -1, "random_state": seed}
                options["callbacks"] = EarlyStopping(max_time=3600)
                selector = SwarmSelector(estimator, algorithm=name, prefilter=prefilter, **options)
                chosen = selector.fit(X[:800], y[:800]).support_
                rows.append((chosen[:20].sum(), chosen.sum(), score(estimator, X, y, 800, chosen)))
            found, selected, mean = np.mean(rows, axis=0)
            lowest = f"(minimum {min(row[0] for row in rows)})"
            print(
                f"  {title:12} {name:10} {prefilter!s:5} {found:5.1f} {lowest} / {selected:6.1f} / {mean:.3f}",
                flush=True,
            )

    print(f"\n100 x 5000, 5 informative, {seeds} seeds: accuracy on 1000 new events")
    for title, estimator in estimators.items():
        rows = []
        for seed in range(seeds):
            X, y = data(seed, 1100, 5000, 5)
            best = [SelectKBest(k=k).fit(X[:100], y[:100]).get_support() for k in (5, 10, 20)]
            for size in (None, "1se"):
                options = {"cv": 5, "n_subsets": 1, "max_evaluations": 1000, "random_state": seed}
                options["n_features_to_select"] = size
                selector = SwarmSelector(estimator, algorithm=names[0], **options)
                best.append(selector.fit(X[:100], y[:100]).support_)
            rows.append([score(estimator, X, y, 100, chosen) for chosen in [*best, np.ones(5000, dtype=bool)]])
        methods = ("SelectKBest k=5", "k=10", "k=20", names[0], f"{names[0]} 1se", "all features")
        print(f"  {title:12} " + ", ".join(f"{m} {v:.3f}" for m, v in zip(methods, np.mean(rows, axis=0), strict=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", choices=list(CLASSIFIERS), help="the paper's problem with this classifier")
    parser.add_argument("--preset", default="paper", help="events of the paper's problem")
    parser.add_argument("--wide", action="store_true", help="500 features, 20 of them informative")
    parser.add_argument("--save", help="CSV file to append the runs of the paper's problem to")
    parser.add_argument("--budget", type=int, default=6000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS))
    parser.add_argument("--seeds", type=int, default=100, help="seeds of the small problems")
    parser.add_argument("--set", nargs="*", default=[], help="algorithm parameters, such as size=12")
    given = parser.parse_args()
    if given.paper:
        settings = {name: _value(text) for name, text in (item.split("=") for item in given.set)}
        options = {"budget": given.budget, "settings": settings, "save": given.save}
        paper(given.paper, given.preset, given.runs, given.algorithms, given.device, **options)
    elif given.wide:
        wide(given.algorithms, given.seeds, given.budget)
    else:
        show(figures(given.algorithms))
        small_problems(given.algorithms, given.seeds)


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


if __name__ == "__main__":
    main()
