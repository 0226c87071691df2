"""Golden results of the searches: ten subsets of a run of each algorithm, and how often each misclassifies.

python -m tests.search.golden    writes them anew: only when an algorithm or the definition of J was changed on purpose.
"""

import json
from pathlib import Path

import numpy as np

from pqswarm.evaluation import KNNEvaluator
from pqswarm.search import ALGORITHMS, Run
from tests.evaluation.data import dataset

FILE = Path(__file__).parents[1] / "golden" / "searches.json"
EVALUATIONS = 600
OURS = [name for name, search in ALGORITHMS.items() if search.__module__.startswith("pqswarm.")]


def golden(name):
    """Ten subsets, evenly spread over a run, and the best, as hexadecimal numbers with their errors."""
    X, y, folds = dataset("breast-cancer")
    evaluator = KNNEvaluator(X, y, folds)
    run = Run(ALGORITHMS[name](evaluator.n_features, seed=3), EVALUATIONS)
    asked = []
    while not run.done:
        asked.append(run.ask())
        run.tell(evaluator.errors(asked[-1]))
    masks = np.concatenate(asked)
    chosen = np.vstack([masks[np.linspace(0, len(masks) - 1, 10).astype(int)], run.result().mask])
    counts = evaluator.error_counts(chosen).sum(axis=1)
    numbers = [np.packbits(mask).tobytes().hex() for mask in chosen]
    return [f"{number}:{count:x}" for number, count in zip(numbers, counts, strict=True)]


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: golden(name) for name in OURS}, indent=1) + "\n")
