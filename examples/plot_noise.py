"""
How robust is a subset to noise?
================================

Features are selected on clean events and tested on the same events with increasing noise, as in the second stage of
the paper. A subset is called robust if it is more accurate than all features at every level.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CachedEvaluator, Folds, KNNEvaluator
from pqswarm.search import minimize

BUDGET = 2000
levels = (float("inf"), 50, 40, 35, 30, 25, 20)
dataset = make_dataset(events_per_class=30, snr=levels, seed=0)


def evaluator(snr):
    """Return 3-NN with the Manhattan distance on the events at one noise level."""
    return KNNEvaluator(dataset.X(snr), dataset.y, Folds.stratified(dataset.y, 10, 0), 3, "manhattan")


result = minimize("2d-upso", CachedEvaluator(evaluator(float("inf"))), max_evaluations=BUDGET, seed=0)
print(f"{result.size} features:", ", ".join(dataset.feature_names[i] for i in result.selected))

# %%
# Stage two tests the subset at each noise level, with the folds of the search.

masks = np.array([np.ones(99, dtype=bool), result.mask])
accuracy = np.array([100 * (1 - evaluator(level).errors(masks)) for level in levels])

_, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.plot(accuracy[:, 0], "o-", color="#9aa5b1", label="all 99 features")
axis.plot(accuracy[:, 1], "o-", color="#0b6fd6", label=f"the {result.size} of 2D-UPSO")
axis.set_xticks(range(len(levels)), ["no noise", *(f"{level} dB" for level in levels[1:])])
axis.set(xlabel="signal-to-noise ratio", ylabel="accuracy [%]")
axis.legend(frameon=False)
plt.show()

# %%
# The minimised error is not an estimate for new events. Here is the accuracy on events that no search has seen.

held_out = make_dataset(events_per_class=30, snr=levels[0], seed=1)
for mask, name in zip(masks, ("all features", "2D-UPSO"), strict=True):
    both = np.concatenate([dataset.X(), held_out.X()])[:, mask]
    both = (both - both[: len(dataset)].min(axis=0)) / np.ptp(both[: len(dataset)], axis=0)
    train, test = both[: len(dataset)], both[len(dataset) :]
    distance = np.abs(test[:, None] - train).sum(axis=2)
    votes = dataset.y[np.argsort(distance, axis=1, kind="stable")[:, :3]]
    guess = np.array([np.bincount(vote, minlength=14).argmax() for vote in votes])
    print(f"{name}: {100 * np.mean(guess == held_out.y):.1f} % of the held-out events")
