"""Flowers that nobody measured, and plans to study them."""

import numpy as np

from pqswarm.study import load_plan

MEANS = {"setosa": (5.0, 3.4, 1.4, 0.2), "versicolor": (5.9, 2.8, 4.3, 1.3), "virginica": (6.6, 3.0, 5.5, 2.0)}
NAMES = ("sepal length", "sepal width", "petal length", "petal width", "dew", "dust")
PLAN = """
runs = 2
max_evaluations = 40
baseline = "2d-upso"
[dataset]
file = "flowers.csv"
[folds]
number = 3
[[classifiers]]
name = "k-NN"
kind = "k-nn"
n_neighbors = 3
grid_search = false
[[algorithms]]
algorithm = "2d-upso"
[[algorithms]]
algorithm = "ga"
[[algorithms]]
algorithm = "sffs"
"""
SHARE = "[held_out]\nfraction = 0.25\n"


def flowers(seed=0, each=16):
    """Rows of numbers and a species, as text."""
    random = np.random.default_rng(seed)
    rows = [
        [f"{value:.2f}" for value in (*random.normal(means, 0.5), *random.normal(size=2))] + [species]
        for species, means in MEANS.items()
        for _ in range(each)
    ]
    return "\n".join(",".join(row) for row in [[*NAMES, "species"], *rows]) + "\n"


def own_plan(folder, more="", old="", new=""):
    """A plan in a folder, beside the file that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flowers.csv").write_text(flowers())
    assert old in PLAN
    (folder / "plan.toml").write_text(PLAN.replace(old, new, 1) + more)
    return load_plan(folder / "plan.toml")
