"""
One step of 2D learning
=======================

The example of the paper's appendix, computed by the functions that the swarms use. A particle is a subset of five
features; it learns from an exemplar, for instance the best subset of the swarm.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.search.learning2d import cardinality, learning_set, position, ranks, self_learning_set

particle = np.array([1, 1, 0, 1, 0], dtype=bool)
exemplar = np.array([1, 1, 1, 0, 1], dtype=bool)

# %%
# Learning sets
# -------------
# From the exemplar: its size, four, and the features that the particle lacks, the third and the fifth. From itself: its
# own size and features.

from_exemplar = learning_set(exemplar, particle)
from_itself = self_learning_set(particle)
print(from_exemplar.astype(int))
print(from_itself.astype(int))


def draw(axis, matrix, title, marked=()):
    """Draw the two rows of a learning set or a velocity."""
    axis.imshow(matrix, cmap="Blues", vmin=0, vmax=max(1.5, 1.3 * matrix.max()), aspect="auto")
    for row, column in np.ndindex(matrix.shape):
        weight = "bold" if (row, column) in marked else "normal"
        axis.text(column, row, f"{matrix[row, column]:.3g}", ha="center", va="center", fontweight=weight)
    axis.set_yticks([0, 1], ["how many", "which"])
    axis.set_xticks(range(matrix.shape[1]), range(1, matrix.shape[1] + 1))
    axis.tick_params(length=0)
    axis.set_title(title, fontsize=10, loc="left")


_, axes = plt.subplots(1, 2, figsize=(8.5, 1.9), layout="constrained")
draw(axes[0], from_exemplar, "learned from the exemplar 1 1 1 0 1")
draw(axes[1], from_itself, "learned from itself, 1 1 0 1 0")
plt.show()

# %%
# These matrices are added with random weights to the velocity of the particle, a matrix of the same shape:
# the likelihood of each size and of each feature.
#
# From velocity to subset
# -----------------------
# First a roulette wheel draws the size: with the random number 3.1, two. Then the two likeliest features are taken.

velocity = np.array([[0.82, 2.53, 2.22, 0.28, 0.95], [1.61, 1.88, 0.80, 1.33, 2.88]])
rho, sigma = velocity
size = cardinality(rho, np.array(3.1))
new = position(sigma, size)
print("cumulative:", rho.cumsum().round(2), "-> size", int(size))
print("ranks:", ranks(sigma), "-> subset", new.astype(int))

_, (wheel, table) = plt.subplots(1, 2, figsize=(8.5, 2.3), layout="constrained", width_ratios=(1, 1))
for index, (start, width) in enumerate(zip(rho.cumsum() - rho, rho, strict=True)):
    wheel.barh(0, width, left=start, color="#0b6fd6" if index + 1 == size else "#c9d6e3", edgecolor="white")
    color = "white" if index + 1 == size else "black"
    wheel.text(start + width / 2, 0, index + 1, ha="center", va="center", color=color)
wheel.annotate("r = 3.1", (3.1, -0.42), (3.1, -0.95), ha="center", arrowprops={"arrowstyle": "->"})
wheel.set(ylim=(-1.1, 0.6), yticks=[], xlabel="cumulative likelihood of the sizes")
wheel.set_title("the wheel gives size 2", fontsize=10, loc="left")
chosen = [(0, int(size) - 1), *((1, int(feature)) for feature in np.flatnonzero(new))]
draw(table, velocity, "the velocity, with the selection in bold", chosen)
plt.show()
