"""The best subsets that are known for the paper's events: they are of these very events, and as good as is said."""

import json
from importlib.resources import files
from math import inf

import numpy as np
import pytest

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import Folds
from pqswarm.study import load_plan
from pqswarm.study.problem import Problem


@pytest.mark.slow
def test_the_best_known_subsets_reproduce():
    plan = load_plan("paper")
    events = make_dataset(plan.dataset.events_per_class, inf, plan.dataset.seed, plan.dataset.preset)
    folds = Folds.stratified(events.y, plan.folds.number, plan.folds.seed)
    kept = json.loads((files("pqswarm.report") / "best_known.json").read_text(encoding="utf-8"))
    assert [record["classifier"] for record in kept] == [classifier.name for classifier in plan.classifiers]
    for record, classifier in zip(kept, plan.classifiers, strict=True):
        problem = Problem(events.X(inf), events.y, folds.test_fold, classifier.make(), classifier.scaling)
        mask = np.isin(np.arange(problem.X.shape[1]), record["features"])
        assert problem.evaluator().errors(mask[np.newaxis])[0] == record["error"]
        assert problem.key == record["problem"], "the events, folds or hyperparameters are others"
