"""What the filters cost, beside scikit-learn's mutual information, one process.

    python benchmarks/filters.py             # on wide data and on data of the paper's size
    python benchmarks/filters.py --quality   # how many of the features that tell something each filter keeps

The tables of docs/how/filters.md come from here.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.feature_selection import mutual_info_classif

from pqswarm.evaluation import FILTERS

SHAPES = {"wide, 100 x 5000, 2 classes": (100, 5000, 2), "long, 3500 x 99, 14 classes": (3500, 99, 14)}


def made(n, n_features, n_classes, informative=8, seed=0, **options):
    """Samples whose first features tell the class, and the rest nothing."""
    return make_classification(
        n,
        n_features,
        n_informative=informative,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        shuffle=False,
        random_state=seed,
        **options,
    )


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def cost():
    for filter in FILTERS.values():  # compile
        filter.scores(*made(20, 10, 2))
    for title, (n, n_features, n_classes) in SHAPES.items():
        X, y = made(n, n_features, n_classes)
        plain = seconds(lambda X=X, y=y: mutual_info_classif(X, y, random_state=0))
        print(f"\n{title}: scikit-learn's mutual_info_classif takes {plain:.2f} s")
        for name, filter in FILTERS.items():
            spent = min(seconds(lambda filter=filter, X=X, y=y: filter.scores(X, y)) for _ in range(2))
            print(f"  {name:26} {spent:7.3f} s   {plain / spent:8.1f} times as fast")


def quality(keep, seeds):
    cases = {
        "100 x 5000, 5 of them": dict(n=100, n_features=5000, n_classes=2, informative=5),
        "62 x 2000, 10 of them": dict(n=62, n_features=2000, n_classes=2, informative=10),
        "200 x 500, 20 of them": dict(n=200, n_features=500, n_classes=2, informative=20),
        "200 x 2000, 10 of them, 5 classes": dict(n=200, n_features=2000, n_classes=5, informative=10),
    }
    print(f"Share of the informative features, a class being two clusters, among the first {keep}; mean of {seeds} seeds")
    print(f"  {'':26} " + "  ".join(cases))
    for name, filter in FILTERS.items():
        if name == "mutual-information":
            continue
        row = []
        for title, case in cases.items():
            shares = []
            for seed in range(seeds):
                X, y = made(seed=seed, **case)
                first = np.array(filter.rank(X, y)[:, ] if False else filter.rank(X, y))
                shares.append([np.mean(np.isin(np.arange(case["informative"]), first[:k])) for k in keep])
            row.append("/".join(f"{share:.2f}" for share in np.mean(shares, axis=0)).rjust(len(title)))
        print(f"  {name:26} " + "  ".join(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    if given.quality:
        quality((20, 100, 300), given.seeds)
    else:
        cost()


if __name__ == "__main__":
    main()
