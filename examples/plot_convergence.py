"""
Convergence of seven algorithms
===============================

The six algorithms of the paper and SFFS, on a small data set: the least error that each has found, against the subsets
evaluated. Lines are means over five runs; SFFS knows no chance and runs once.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds, KernelNBEvaluator, Memo
from pqswarm.search import ALGORITHMS, minimize, minimize_many

BUDGET = 5000
dataset = make_dataset(events_per_class=25, snr=float("inf"), seed=0)
folds = Folds.stratified(dataset.y, n_folds=5, seed=0)
evaluator = Memo(KernelNBEvaluator(dataset.X(), dataset.y, folds, bandwidth=0.004))

results = {
    name: minimize_many(name, evaluator, seeds=range(5), max_evaluations=BUDGET)
    for name in ("ga", "aco", "chbpso", "cbpso", "bpso", "2d-upso")
}
results["sffs"] = [minimize("sffs", evaluator, max_evaluations=BUDGET)]

# %%
# The budget is small, so that this page is made in seconds. The full comparison, with 40 runs of 6000 evaluations and
# tests, is in :doc:`the reference results </results/README>`.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for name, runs in results.items():
    title = ALGORITHMS[name].title
    strong = name == "2d-upso"
    error = np.mean([run.errors for run in runs], axis=0)
    line = left.plot(np.arange(1, error.size + 1), error, label=title, lw=2.4 if strong else 1.2)
    size, last = np.mean([run.size for run in runs]), error[-1]
    right.plot(size, last, "o", color=line[0].get_color(), ms=10 if strong else 6)
    right.annotate(title, (size, last), xytext=(7, 3), textcoords="offset points", fontsize=8)
left.set(xlabel="evaluations", ylabel="least error", ylim=(None, 0.25))
left.legend(frameon=False, fontsize=8)
right.set(xlabel="features of the best subset", ylabel="its error", xlim=(0, 60))
plt.show()

# %%
# On these 350 events BPSO, CBPSO, 2D-UPSO and SFFS end close together, SFFS and 2D-UPSO with fewer features; chBPSO,
# ACO and GA stay behind. Errors of so few events are larger than those of the paper's 3500.

for name, runs in sorted(results.items(), key=lambda item: np.mean([run.error for run in item[1]])):
    sizes = np.mean([run.size for run in runs])
    print(f"{ALGORITHMS[name].title:8} error {np.mean([run.error for run in runs]):.4f}, {sizes:.1f} features")
