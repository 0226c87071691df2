"""
Compare your own results
========================

Friedman's test, Hommel's procedure and contrast estimation work on any table with one row per run or data set and one
column per algorithm. The numbers here are made up; replace them with your own. On the command line, use
``pqswarm compare results.csv --contrast``.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.statistics import contrast_estimation, critical_difference, friedman, posthoc, table

names = ["forest", "boosting", "network", "baseline"]
rng = np.random.default_rng(5)
difficulty = rng.uniform(0.05, 0.20, size=(15, 1))  # of each of 15 data sets
errors = difficulty + np.array([0.000, 0.002, 0.010, 0.030]) + rng.normal(0, 0.008, size=(15, 4))

# %%
# Do they differ at all, and from the best one in particular? An adjusted p-value of at most 0.05 indicates that.

ranks = friedman(errors, names=names)
comparison = posthoc(ranks)
print(f"chi2 = {ranks.chi2:.2f}, p = {ranks.p_value:.2g}\n")
print(table(ranks.rows()), "\n")
print(f"against {comparison.control}:\n")
print(table(comparison.rows()))

# %%
# By how much? The contrast estimates the difference in the unit of the values, here errors: positive is worse.

contrast = contrast_estimation(errors, names)
print(table(contrast.rows()))

# %%
# Both in one figure. Mean ranks closer together than Nemenyi's critical difference do not differ significantly (all
# pairs compared).

distance = critical_difference(len(names), len(errors))
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
order = np.argsort(ranks.mean_ranks)
left.errorbar(
    ranks.mean_ranks[order], range(4), xerr=distance / 2, fmt="o", color="#0b6fd6", capsize=3, label="half of the CD"
)
left.set_yticks(range(4), [names[i] for i in order])
left.invert_yaxis()
left.set(xlabel="mean rank")
left.legend(frameon=False, fontsize=8)
image = right.imshow(contrast.matrix, cmap="PuOr_r", vmin=-0.06, vmax=0.06)
for row, column in np.ndindex(contrast.matrix.shape):
    right.text(column, row, f"{contrast.matrix[row, column]:+.3f}", ha="center", va="center", fontsize=8)
right.set_xticks(range(4), names, fontsize=8)
right.set_yticks(range(4), names, fontsize=8)
right.set_title("error of the row minus that of the column", fontsize=9, loc="left")
plt.show()
