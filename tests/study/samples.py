"""Runs and checkpoints to keep in a store, and how to tell whether they came back."""

from math import inf

import numpy as np

from pqswarm.search import ALGORITHMS, Run, SearchResult
from pqswarm.study import RunKey, RunRecord
from pqswarm.study.records import Checkpoint


def record(run=0, algorithm="2d-upso", error=1 / 3):
    rng = np.random.default_rng(run)
    mask = rng.random(99) < 0.3
    improvements = np.array([[0.0, inf, 99.0], [17.0, 0.1 + 0.2, 40.0], [90.0, error, float(mask.sum())]])
    result = SearchResult("2d-upso", mask, error, 6000, improvements)
    return RunRecord(RunKey("k-NN", algorithm, run), 2**63 - 1 - run, result, 1 / 7)


def checkpoint(run=0, algorithm="2d-upso"):
    made = Run(ALGORITHMS["2d-upso"](99, seed=2**63 - 1 - run), 6000)
    for _ in range(2):
        made.tell(made.ask().mean(axis=1) / 3)
    return Checkpoint(RunKey("k-NN", algorithm, run), made.n_evaluations, made.best_error, made.state(), 1 / 7)


def assert_same_record(one, other):
    assert (one.key, one.seed, one.seconds) == (other.key, other.seed, other.seconds)
    ours, theirs = vars(one.result), vars(other.result)
    assert set(ours) == set(theirs)
    for name, value in ours.items():
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (theirs[name].dtype, theirs[name].shape)
            assert value.tobytes() == theirs[name].tobytes()
        else:
            assert value == theirs[name]


def assert_same_state(one, other):
    assert set(one) == set(other)
    for name, array in one.items():
        assert array.dtype == other[name].dtype
        assert array.shape == other[name].shape
        assert array.tobytes() == other[name].tobytes()
