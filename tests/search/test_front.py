"""The best subset of every search, its history, and the front of error and size."""

from types import SimpleNamespace

import numpy as np
import pytest

from pqswarm.search import ALGORITHMS, Run, minimize
from tests.search.problems import problem

TABLE = "breast cancer, 12 features, Gaussian NB"


def slow_front(masks, errors):
    """Sizes and errors of the non-dominated subsets; of equals the first."""
    front, lowest = [], np.inf
    for size in range(1, masks.shape[1] + 1):
        rows = [row for row in range(len(masks)) if masks[row].sum() == size]
        best = min(rows, key=lambda row: errors[row], default=None)
        if best is not None and errors[best] < lowest:
            front.append(masks[best].tolist())
            lowest = errors[best]
    return front


@pytest.mark.parametrize("name", list(ALGORITHMS))
@pytest.mark.parametrize(("budget", "size"), [(1, None), (12, None), (50, 4), (600, None), (600, 4)])
def test_best_and_front_are_those_of_all_evaluated_subsets(name, budget, size):
    def make_run():
        return Run(ALGORITHMS[name](12, 0, {"size": size}), budget)

    table, run, asked = problem(TABLE), make_run(), []
    while not run.done:
        again = make_run()  # as after an interruption
        again.restore(run.state())
        run = again
        asked.append(run.ask())
        run.tell(np.round(table.errors(asked[-1]), 2))  # rounded, for ties
    masks, result = np.concatenate(asked), run.result()
    fits = masks.sum(axis=1) == size if size else masks.any(axis=1)
    errors = np.where(fits, np.round(table.errors(masks), 2), np.inf)
    front = slow_front(masks[fits], errors[fits])
    assert result.front_masks.tolist() == front
    np.testing.assert_array_equal(result.front_errors, np.round(table.errors(result.front_masks), 2))
    assert result.error == result.front_errors[-1] == errors.min()
    best = front[-1] if run.search.prefers_small else masks[errors.argmin()].tolist()
    assert result.mask.tolist() == best
    np.testing.assert_array_equal(result.errors, np.minimum.accumulate(errors))
    assert result.improvements[-1, 1:].tolist() == [result.error, result.size]
    steps = result.improvements[:, 0].astype(int)
    np.testing.assert_array_equal(result.improvements[:, 1], errors[steps])
    np.testing.assert_array_equal(result.improvements[:, 2], masks[steps].sum(axis=1))
    assert result.sizes[-1] == result.size == sum(best)


def test_a_state_without_front_resumes_with_the_best():
    table, run = problem(TABLE), Run(ALGORITHMS["bpso"](12), 90)
    run.tell(table.errors(run.ask()))
    before = run.result()
    run.restore(run.state() | {"front_masks": np.zeros((0, 12), dtype=bool), "front_errors": np.empty(0)})
    assert run.result().front_masks.tolist() == [before.mask.tolist()]
    run.tell(table.errors(run.ask()))
    assert run.result().front_errors[-1] == run.result().error


def test_a_front_without_any_finite_error_is_one_subset():
    failing = SimpleNamespace(n_features=5, errors=lambda masks: np.full(len(masks), np.inf))
    result = minimize("sffs", failing, 100)
    assert result.front_masks.sum() == 1
    assert result.front_errors.tolist() == [np.inf]


def test_a_damaged_front_is_refused():
    run = Run(ALGORITHMS["sffs"](12), 50)
    run.tell(problem(TABLE).errors(run.ask()))
    with pytest.raises(ValueError, match="not that of a run of this search"):
        run.restore(run.state() | {"front_errors": np.zeros(7)})
