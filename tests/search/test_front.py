"""The front of error and size that every search keeps."""

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


@pytest.mark.parametrize("name", ["sffs", "ranking", "bpso"])
@pytest.mark.parametrize("budget", [1, 12, 50, 1000])
def test_the_front_is_that_of_all_evaluated_subsets(name, budget):
    table = problem(TABLE)
    run, asked = Run(ALGORITHMS[name](12), budget), []
    while not run.done:
        again = Run(ALGORITHMS[name](12), budget)  # as after an interruption
        again.restore(run.state())
        run = again
        asked.append(run.ask())
        run.tell(table.errors(asked[-1]))
    masks, result = np.concatenate(asked), run.result()
    assert result.front_masks.tolist() == slow_front(masks, table.errors(masks))
    np.testing.assert_array_equal(result.front_errors, table.errors(result.front_masks))
    assert result.front_errors[-1] == result.error


@pytest.mark.parametrize("name", ["sffs", "2d-upso"])
def test_the_front_of_a_search_with_a_size_is_its_best(name):
    result = minimize(name, problem(TABLE), 500, parameters={"size": 3})
    assert result.front_masks.tolist() == [result.mask.tolist()]
    assert result.front_errors.tolist() == [result.error]


def test_a_state_without_front_resumes_with_the_best():
    table, run = problem(TABLE), Run(ALGORITHMS["bpso"](12), 90)
    run.tell(table.errors(run.ask()))
    before = run.result()
    run.restore(run.state() | {"front_masks": np.zeros((0, 12), dtype=bool), "front_errors": np.empty(0)})
    assert run.result().front_masks.tolist() == [before.mask.tolist()]
    run.tell(table.errors(run.ask()))
    assert run.result().front_errors[-1] == run.result().error


def test_a_front_without_any_finite_error_is_one_subset():
    class Failing:
        n_features = 5

        @staticmethod
        def errors(masks):
            return np.full(len(masks), np.inf)

    result = minimize("sffs", Failing, 100)
    assert result.front_masks.sum() == 1
    assert result.front_errors.tolist() == [np.inf]


def test_a_damaged_front_is_refused():
    run = Run(ALGORITHMS["sffs"](12), 50)
    run.tell(problem(TABLE).errors(run.ask()))
    with pytest.raises(ValueError, match="not that of a run of this search"):
        run.restore(run.state() | {"front_errors": np.zeros(7)})


def test_of_equals_the_smallest_if_the_search_prefers_it():
    """The result of a distinct search is the end of its front; of others the first of the best."""

    class Steps:
        n_features = 10

        def errors(self, masks):
            return np.where(masks[:, :2].all(axis=1), 0.1, 0.5)

    for name in ("merit", "ga-sparse", "umda"):
        result = minimize(name, Steps(), 500)
        assert result.size == 2
        assert np.array_equal(result.mask, result.front_masks[-1])
        assert (np.diff(result.improvements[:, 1]) <= 0).all()
    first = minimize("2d-upso", Steps(), 500)
    assert first.improvements[-1].tolist()[1:] == [0.1, first.size]
    assert (np.diff(first.improvements[:, 1]) < 0).all()
