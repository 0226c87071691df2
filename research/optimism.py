"""Simulate how often the intervals of `nested_score` hold the optimism of a search, and the score on new data.

    python research/optimism.py
    python research/optimism.py --fits 1000

Each fit draws other events from a population of 200,000 (`make_classification`, Gaussian naive Bayes, 200 evaluations,
5-fold J). The optimism of a fit is its `best_score_` minus the score of its features on 10,000 events that no fit can
draw; the expected optimism is the mean `optimism` of `nested_score` over the fits.
"""

import argparse
import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from pqswarm import SwarmSelector
from pqswarm.selector import nested_score

CASES = (  # events, features, fraction of random labels, outer folds
    (80, 20, 0.1, 5),
    (80, 20, 0.1, 10),
    (200, 40, 0.1, 5),
    (60, 100, 0.3, 5),
    (150, 20, 0.0, 5),
)
POPULATION, NEW = 200_000, 10_000


def simulate(events, features, flipped, outer, fits):
    """Return the optimism of the fits, that by nested_score and its intervals, the scores on new data and theirs."""
    options = {"n_informative": 5, "n_redundant": 5, "flip_y": flipped, "class_sep": 0.7, "random_state": 1}
    X, y = make_classification(POPULATION, features, **options)
    rng, rows = np.random.default_rng(events * 7 + outer), []
    for seed in range(fits):
        drawn = rng.choice(POPULATION - NEW, events, replace=False)
        options = {"cv": 5, "max_evaluations": 200, "random_state": seed}
        with warnings.catch_warnings(action="ignore"):
            fitted = SwarmSelector(GaussianNB(), **options).fit(X[drawn], y[drawn])
            nested = nested_score(fitted, X[drawn], y[drawn], cv=outer)
        score = fitted.score(X[-NEW:], y[-NEW:])
        optimism = fitted.best_score_ - score, nested.optimism, *nested.optimism_interval
        rows.append((*optimism, score, *nested.interval))
    return np.array(rows).T


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=100)
    given = parser.parse_args()
    heads = ["events x features, outer folds", "optimism", "by nested_score", "width of its interval"]
    heads += ["holds that of the fit", "holds the expected one", "interval of the score holds it"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for events, features, flipped, outer in CASES:
        real, found, low, high, score, least, most = simulate(events, features, flipped, outer, given.fits)
        shares = [
            np.mean((low <= real) & (real <= high)),
            np.mean((low <= found.mean()) & (found.mean() <= high)),
            np.mean((least <= score) & (score <= most)),
        ]
        means = f"{real.mean():.3f} | {found.mean():.3f} | {(high - low).mean():.2f}"
        cells = [f"{events} x {features}, {outer}", means, *(f"{share:.0%}" for share in shares)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
