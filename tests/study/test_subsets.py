"""Studies whose searches keep, exclude and group features."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from pqswarm.errors import PqswarmError
from pqswarm.study import format_plan, read_plan, run_study
from pqswarm.study.findings import OneStandardError
from tests.study.studies import find, records

PLAN = """
runs = 2
max_evaluations = 60
baseline = "ga"
folds = { number = 3 }
classifiers = [{ name = "NB", kind = "gaussian-nb", grid_search = false }]
algorithms = [{ algorithm = "ga" }, { algorithm = "sffs" }, { algorithm = "ranking" }]
subsets = { fixed = ["hue"], excluded = [0], groups = [["proline", "ash"], [5, 6]] }
"""
FRAME = load_wine(as_frame=True).frame


def test_all_runs_obey(tmp_path):
    plan = read_plan(PLAN)
    assert read_plan(format_plan(plan)) == plan
    run_study(plan, tmp_path / "study", jobs=1, data=FRAME)
    names = list(FRAME.columns[:-1])
    masks = [record.mask for name in ("ga", "sffs", "ranking") for record in records(tmp_path / "study", "NB", name)]
    masks.append(find(tmp_path / "study", OneStandardError, "NB").mask)
    for mask in masks:
        assert mask[names.index("hue")]
        assert not mask[0]
        assert mask[5] == mask[6]
        assert mask[names.index("proline")] == mask[names.index("ash")]
    assert len({np.packbits(mask).tobytes() for mask in masks}) > 1


def test_unknown_features_are_named(tmp_path):
    plan = read_plan(PLAN.replace("hue", "hues"))
    with pytest.raises(PqswarmError, match="unknown feature in fixed 'hues': did you mean 'hue'"):
        run_study(plan, tmp_path / "study", jobs=1, data=FRAME)


def test_older_plans_are_unchanged():
    without = read_plan(PLAN.partition("subsets")[0])
    assert "subsets" not in without.canonical()
    assert "subsets" in read_plan(PLAN).canonical()
