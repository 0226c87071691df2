"""The smallest subset that is almost as good is found in few evaluations, also among many features."""

import numpy as np
import pytest

from pqswarm.evaluation import CLASSIFIERS
from pqswarm.study import run
from pqswarm.study.worker import StudyProblem


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.random((120, 160)) + 0.8 * y[:, None] * (np.arange(160) < 6)
    return StudyProblem(X, y, np.arange(120) % 5, CLASSIFIERS["gaussian-nb"]())


def test_many_features_are_taken_away_several_at_a_time(problem, monkeypatch):
    asked = []
    make = StudyProblem.evaluator

    def spy(self, *args, **options):
        evaluator = make(self, *args, **options)
        errors = evaluator.errors
        evaluator.errors = lambda masks: (asked.append(len(masks)), errors(masks))[1]
        return evaluator

    monkeypatch.setattr(StudyProblem, "evaluator", spy)
    best = np.ones(160, dtype=np.bool_)
    few = run.find_smaller("NB", problem, best, [], 1)
    quick = sum(asked)
    asked.clear()
    monkeypatch.setattr(run, "_MANY", 1000)
    slow = run.find_smaller("NB", problem, best, [], 1)
    assert quick < 0.75 * sum(asked)
    allowed = make(problem).errors(best[np.newaxis])[0] + few.standard_error
    assert few.error <= allowed
    assert few.mask.sum() <= slow.mask.sum() + 5
