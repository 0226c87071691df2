"""
2D learning in slow motion
==========================

A 2D swarm has two rows of likelihoods for each particle: how many features to take, and which. Here they are averaged
over the swarm and plotted against the iterations of a search.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds, KernelNBEvaluator
from pqswarm.search import UPSO2D

dataset = make_dataset(events_per_class=20, snr=float("inf"), seed=0)
folds = Folds.stratified(dataset.y, n_folds=5, seed=0)
evaluator = KernelNBEvaluator(dataset.X(), dataset.y, folds, bandwidth=0.004)

search = UPSO2D(evaluator.n_features, seed=2)
velocities, best, sizes = [], [], []
for _ in range(120):
    masks = search.ask()
    search.tell(masks, evaluator.errors(masks))
    velocities.append(search.velocities.mean(axis=0))
    best.append(float(search.gbest_error))
    sizes.append(masks.sum(axis=1))
velocities = np.array(velocities)

# %%
# The two maps show the rows of the mean velocity. In the upper one the likeliest size falls step by step; in the lower
# one some features rise above the others. About every 30 iterations the colors fade: particles whose personal best
# has not improved for that long redraw their velocity.

_, axes = plt.subplots(4, 1, figsize=(8.5, 9), sharex=True, layout="constrained", height_ratios=(2, 3, 1.3, 1.3))
for axis, row, label in ((axes[0], 0, "size"), (axes[1], 1, "feature")):
    limit = np.abs(velocities[:, row]).max()
    image = axis.imshow(
        velocities[:, row].T, aspect="auto", origin="lower", cmap="PuOr_r", vmin=-limit, vmax=limit,
        interpolation="nearest", extent=(0, len(velocities), 0.5, 99.5),
    )  # fmt: skip
    axis.set_ylabel(label)
    plt.colorbar(image, ax=axis, label="mean likelihood", pad=0.01)
axes[0].set_title("likelihood of each size (above) and of each feature (below)", loc="left", fontsize=10)
axes[2].plot([np.median(each) for each in sizes], color="#0b6fd6")
axes[2].fill_between(range(120), [min(s) for s in sizes], [max(s) for s in sizes], color="#0b6fd6", alpha=0.2)
axes[2].set(ylabel="subset size")
axes[3].plot(best, color="#d24b00")
axes[3].set(ylabel="lowest error", xlabel="iteration")
plt.show()

# %%
# The result:

print(f"error {best[-1]:.3f} with {search.gbest.sum()} of {search.n_features} features:")
print(", ".join(dataset.feature_names[i] for i in np.flatnonzero(search.gbest)))
