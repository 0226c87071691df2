"""Cost of the filters against scikit-learn's mutual information, and their quality; one process.

    python benchmarks/filters.py             # on wide data, and on data of the paper's size
    python benchmarks/filters.py --quality   # on wide synthetic data: how many informative features rank first
    python benchmarks/filters.py --paper     # the best subset along each ranking, on the paper's data

docs/explanation/filters.md says what follows from it.
"""

import argparse

import numpy as np
from figures import compare, show
from sklearn.datasets import make_classification
from sklearn.feature_selection import mutual_info_classif

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, FILTERS, Folds
from pqswarm.search import minimize

SHAPES = {  # events, features, classes, and 1 / the fraction of features that scikit-learn is timed with
    "100 x 5000": (100, 5000, 2, 100),
    "3500 x 99": (3500, 99, 14, 9),
}
MADE = {  # events, features, informative ones, classes, clusters per class
    "100 x 5000, 5": (100, 5000, 5, 2, 2),
    "62 x 2000, 10": (62, 2000, 10, 2, 2),
    "200 x 500, 20": (200, 500, 20, 2, 2),
    "200 x 2000, 10, 5 classes": (200, 2000, 10, 5, 2),
    "100 x 10000, 5, one cluster": (100, 10_000, 5, 2, 1),
}


def made(n, n_features, informative=8, n_classes=2, clusters=1, seed=0):
    """Return events whose first features are informative and the others are not."""
    return make_classification(
        n,
        n_features,
        n_informative=informative,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=clusters,
        shuffle=False,
        random_state=seed,
    )


def figures():
    for title, (n, n_features, n_classes, share) in SHAPES.items():
        X, y = made(n, n_features, n_classes=n_classes)
        some = X[:, : n_features // share]  # scikit-learn's time is linear in the features
        for name, ranking in FILTERS.items():
            if name == "mutual-information":  # the same
                continue
            yield compare(
                f"filter {name}, {title}",
                f"scikit-learn's mutual_info_classif / the filter, {title}",
                lambda _, X=some, y=y: mutual_info_classif(X, y, random_state=0),
                lambda _, X=X, y=y, f=ranking: f.scores(X, y),
                rounds=5,
                factors=(share, 1),
            )


def quality(seeds, keep=(10, 50, 300)):
    print(f"Fraction of the informative features among the first {keep}; mean of {seeds} seeds")
    for title, case in MADE.items():
        print(title)
        for name, ranking in FILTERS.items():
            if name == "mutual-information":  # takes a minute per data set
                continue
            orders = [ranking.rank(*made(*case, seed=seed)) for seed in range(seeds)]
            fractions = [
                np.mean([np.mean(np.array(order[:k]) < case[2]) * k for order in orders]) / case[2] for k in keep
            ]
            print(f"  {name:26} " + "  ".join(f"{fraction:.2f}" for fraction in fractions), flush=True)


def paper():
    data = make_dataset(250, snr=float("inf"), seed=0)
    folds = Folds.stratified(data.y, seed=0)
    orders = {name: ranking.rank(data.X(), data.y, continuous=False) for name, ranking in FILTERS.items()}
    for classifier in ("k-nn", "kernel-nb"):
        evaluator = CLASSIFIERS[classifier]().evaluator(data.X(), data.y, folds)
        print(f"{classifier}: error and size of the best of 99 subsets along each ranking")
        for name, order in orders.items():
            found = minimize("ranking", evaluator, parameters={"order": order})
            print(f"  {name:26} {found.error:.4f}  {found.size}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    if given.quality:
        quality(given.seeds)
    elif given.paper:
        paper()
    else:
        show(figures())


if __name__ == "__main__":
    main()
