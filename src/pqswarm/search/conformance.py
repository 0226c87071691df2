"""What every search must do, as checks that also the authors of other packages can run on theirs.

>>> from pqswarm.search import ALGORITHMS
>>> from pqswarm.search.conformance import check_search
>>> check_search(ALGORITHMS["bpso"])
"""

import dataclasses
import io
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pqswarm._base.conformance import refuses, require
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.search.base import Search
from pqswarm.search.driver import minimize, minimize_many
from pqswarm.search.run import Run

__all__ = ["CHECKS", "check_search"]

_Class = type[Search]


class _Scenery:
    """A problem with pairs of features that help only together; no two subsets have the same error."""

    def __init__(self, n_features: int = 12, order: IntArray | None = None) -> None:
        self.n_features = n_features
        numbers = np.random.Generator(np.random.PCG64(7))
        self._weights = numbers.normal(0.0, 1.0, n_features)
        self._pairs = np.triu(numbers.normal(0.0, 0.6, (n_features, n_features)), 1)
        self._order = np.arange(n_features) if order is None else order
        self.asked: list[BoolArray] = []

    def errors(self, masks: BoolArray) -> FloatArray:
        """Errors between 0 and 1; that of the empty subset is 1."""
        self.asked.append(masks.copy())
        x = np.empty(masks.shape)
        x[:, self._order] = masks
        pairs = ((x[:, :, np.newaxis] * self._pairs) * x[:, np.newaxis]).sum(axis=(1, 2))
        raw = (x * self._weights).sum(axis=1) + pairs
        return np.where(masks.any(axis=1), 0.9 / (1.0 + np.exp(-raw)), 1.0)


class _Constant:
    """A problem on which every subset has the same error."""

    def __init__(self, error: float, n_features: int = 9) -> None:
        self.error, self.n_features = error, n_features

    def errors(self, masks: BoolArray) -> FloatArray:
        return np.full(len(masks), self.error)


class _Renamed:
    """A generator that gives each feature the numbers that it had under another numbering."""

    def __init__(self, rng: np.random.Generator, order: IntArray) -> None:
        self._rng, self._order = rng, order
        self.bit_generator = rng.bit_generator

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"an equivariant search draws by rng.random alone, not by rng.{name}")

    def random(self, size: Any = None) -> Any:
        drawn = np.asarray(self._rng.random(size))
        if not drawn.ndim or drawn.shape[-1] != self._order.size:
            return drawn
        if drawn.ndim == 3 and drawn.shape[1] == 2:  # a velocity in two dimensions: row 0 is of cardinalities
            drawn[:, 1] = drawn[:, 1][:, self._order]
            return drawn
        return np.ascontiguousarray(drawn[..., self._order])


def _same(one: Mapping[str, AnyArray], other: Mapping[str, AnyArray]) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


def _finish(run: Run, problem: _Scenery) -> Run:
    while not run.done:
        run.tell(problem.errors(run.ask()))
    return run


def check_parameters(search: _Class) -> None:
    """Parameters are frozen, have defaults, and each says what it means."""
    default = search.Parameters()
    require(dataclasses.is_dataclass(default) and search.Parameters.of(None) == default, "no default parameters")
    for row in search.Parameters.table():
        require(row["meaning"] and row["range"], f"parameter {row['name']} does not say its meaning or range")
        try:
            setattr(default, row["name"], 1)
        except dataclasses.FrozenInstanceError:
            continue
        raise AssertionError("parameters can be changed after they were made")


def check_masks(search: _Class) -> None:
    """What is asked are boolean masks, the same until they are told, and empty only if that was announced."""
    problem = _Scenery()
    run = Run(search(problem.n_features, 3), 1500)
    while not run.done:
        masks = run.ask()
        require(masks.dtype == np.bool_ and masks.ndim == 2 and masks.shape[1] == problem.n_features, "no masks")
        require(np.array_equal(masks, run.ask()), "asking twice gives two answers")
        require(search.may_ask_empty or masks.any(axis=1).all(), "an empty mask, though may_ask_empty is False")
        run.tell(problem.errors(masks))


def check_wrong_answers(search: _Class) -> None:
    """Answers to other questions, too few of them, and NaN are refused, and the search goes on."""
    run = search(6, 0)
    masks = run.ask()
    for wrong_masks, wrong_errors in (
        (~masks, np.ones(len(masks))),
        (masks, np.ones(len(masks) + 1)),
        (masks, np.full(len(masks), np.nan)),
    ):
        require(refuses(run.tell, wrong_masks, wrong_errors), "a wrong answer was taken")
    run.tell(masks, np.ones(len(masks)))


def check_flat_landscapes(search: _Class) -> None:
    """An error of 1, 0 or infinity everywhere does no harm."""
    for error in (1.0, 0.0, np.inf, 12.5):
        with np.errstate(all="raise"):
            result = minimize(search, _Constant(error), max_evaluations=400)
        require(result.error == error and result.size >= 1, f"an error of {error} everywhere is not survived")


def check_few_features(search: _Class) -> None:
    """One, two or three features are enough."""
    for n in (1, 2, 3):
        problem = _Scenery(n)
        result = minimize(search, problem, max_evaluations=300, seed=n)
        require(result.mask.shape == (n,) and result.mask.any(), f"{n} features are too few")


def check_budget(search: _Class) -> None:
    """No more and no less is evaluated than the budget says, unless the search ends by itself."""
    for budget in (1, 29, 31, 100, 777):
        problem = _Scenery()
        result = minimize(search, problem, max_evaluations=budget)
        asked = sum(len(masks) for masks in problem.asked)
        require(result.n_evaluations == asked == result.errors.size == result.sizes.size, "evaluations are miscounted")
        ended = asked < budget and minimize(search, _Scenery(), max_evaluations=10**6 + budget).n_evaluations == asked
        require(asked == budget or ended, f"{asked} evaluations instead of {budget}")


def check_same_seed(search: _Class) -> None:
    """The same seed gives the same search, whatever numpy's global generator does, which is left alone."""
    before = _global_state()
    one = minimize(search, _Scenery(), 400, seed=5)
    two = minimize(search, _Scenery(), 400, seed=5)
    require(np.array_equal(one.mask, two.mask) and np.array_equal(one.errors, two.errors), "the seed does not decide")
    require(_global_state() == before, "numpy's global random state was touched")


def check_deterministic(search: _Class) -> None:
    """Another seed gives another search, unless the search is declared to draw nothing."""
    one, other = _Scenery(), _Scenery()
    minimize(search, one, 100, seed=1)
    minimize(search, other, 100, seed=2)
    same = np.array_equal(np.concatenate(one.asked), np.concatenate(other.asked))
    require(same or not search.deterministic, "another seed gives another search, though deterministic is True")
    require(not same or search.deterministic, "every seed gives the same search, though deterministic is False")


def _global_state() -> str:
    return str([part.tolist() if isinstance(part, np.ndarray) else part for part in np.random.get_state(legacy=True)])  # noqa: NPY002


def check_best(search: _Class) -> None:
    """The best returned is the best asked for, and has the error it is said to have."""
    for seed in range(5):
        problem = _Scenery()
        result = minimize(search, problem, 500, seed=seed)
        asked = np.concatenate(problem.asked)
        errors = _Scenery().errors(asked)
        require(result.error == _Scenery().errors(result.mask[np.newaxis])[0], "the error is not that of the mask")
        first = int(errors.argmin())
        require(np.array_equal(result.mask, asked[first]), "not the best, or not the first of the best")
        require(np.array_equal(result.errors, np.minimum.accumulate(errors)), "the trace is wrong")
        require(result.sizes[-1] == result.size and result.sizes[0] == asked[0].sum(), "the sizes are wrong")
        require(np.array_equal(result.improvements[-1, 1:], [result.error, result.size]), "the last is not the best")


def check_front(search: _Class) -> None:
    """The front is that of all that was asked for: of each size the first best, if all smaller ones are worse."""
    for size in (None, 4):
        problem = _Scenery()
        run = Run(search(problem.n_features, 8, {"size": size}), 600)
        while not run.done:
            run.tell(np.round(problem.errors(run.ask()), 1))  # rounded, so that there are equals
        asked = np.concatenate(problem.asked)
        errors = np.round(_Scenery().errors(asked), 1)
        front: list[int] = []
        for wanted in range(1, problem.n_features + 1) if size is None else (size,):
            rows = np.flatnonzero(asked.sum(axis=1) == wanted).tolist()
            best = min(rows, key=errors.__getitem__, default=None)
            if best is not None and (not front or errors[best] < errors[front[-1]]):
                front.append(best)
        found = run.result()
        require(np.array_equal(found.front_masks, asked[front]), "the front is not that of the subsets asked for")  # type: ignore[arg-type]
        require(np.array_equal(found.front_errors, errors[front]), "the errors of the front are wrong")  # type: ignore[arg-type]


def check_resume(search: _Class) -> None:
    """A run restored from files at any moment goes on as if nothing had happened."""
    problem = _Scenery()
    whole = _finish(Run(search(problem.n_features, 9), 700), problem)
    run = Run(search(problem.n_features, 9), 700)
    while not run.done:
        run = _reborn(run, search)
        masks = run.ask()
        run = _reborn(run, search)
        require(np.array_equal(masks, run.ask()), "after a restore other masks are asked for")
        run.tell(problem.errors(masks))
    require(_same(run.state(), whole.state()), "a resumed run ends in another state")
    require(np.array_equal(run.result().errors, whole.result().errors), "a resumed run has another trace")


def _reborn(run: Run, search: _Class) -> Run:
    """The run, written to a file and read back into a new object with another seed."""
    file = io.BytesIO()
    np.savez(file, **run.state())  # type: ignore[arg-type]
    file.seek(0)
    other = Run(search(run.search.n_features, 12345), run.max_evaluations)
    with np.load(file, allow_pickle=False) as state:
        other.restore(state)
    return other


def check_extension(search: _Class) -> None:
    """A run that ended goes on with a larger budget as if that had been its budget from the beginning."""
    problem = _Scenery()
    long = _finish(Run(search(problem.n_features, 6), 200), problem)
    short = _finish(Run(search(problem.n_features, 6), 71), problem)
    more = Run(search(problem.n_features, 6), 200)
    more.restore(short.state())
    _finish(more, problem)
    require(_same(more.state(), long.state()), "a run with a larger budget later is not the same run")


def check_identity(search: _Class) -> None:
    """The state of a search with other parameters is refused."""
    other = search(8, 0, {"size": 2})
    require(refuses(other.restore, search(8, 0).state()), "a state of other parameters was taken")


def check_copies(search: _Class) -> None:
    """What is handed out, or was handed in, can be overwritten without harm; no two memories share their bytes."""
    problem = _Scenery()
    careful, careless = search(problem.n_features, 2), search(problem.n_features, 2)
    for _ in range(12):
        if careful.done:
            break
        masks = careful.ask()
        errors = problem.errors(masks)
        careful.tell(masks, errors)
        asked, told = careless.ask(), errors.copy()
        careless.tell(asked, told)
        asked[:], told[:] = True, -1.0
        for array in careless.state().values():
            array[...] = 0
        held = [getattr(careless, name) for name in careless.state_fields]
        shared = [np.shares_memory(a, b) for i, a in enumerate(held) for b in held[:i] if a.size and b.size]
        require(not any(shared), "two parts of the state are views of each other")
        require(_same(careful.state(), careless.state()), "the state can be changed from outside")


def check_lockstep(search: _Class) -> None:
    """Runs that step together find what each finds alone."""
    together = minimize_many(search, _Scenery(), seeds=range(4), max_evaluations=333)
    for seed, result in enumerate(together):
        alone = minimize(search, _Scenery(), 333, seed=seed)
        require(np.array_equal(alone.mask, result.mask), "in lockstep another subset is found")
        require(np.array_equal(alone.errors, result.errors), "in lockstep the trace differs")


def check_size(search: _Class) -> None:
    """A wanted size is the size of the result."""
    for size in (1, 4, 12):
        problem = _Scenery()
        result = minimize(search, problem, 500, parameters={"size": size})
        asked = np.concatenate(problem.asked)
        right = asked[asked.sum(axis=1) == size]
        require(result.size == size, f"{result.size} features instead of {size}")
        ends = search(12, 0, {"size": size}).least_evaluations > 1  # a sequential search comes by other sizes
        require(ends or len(right) == len(asked), "subsets of another size than the wanted one are asked for")
        require(result.error == _Scenery().errors(right).min(), "not the best of the wanted size")
    require(refuses(search, 5, 0, {"size": 6}), "more features are wanted than there are, and nobody objects")


def check_renaming(search: _Class) -> None:
    """Under another numbering of the features, with the same draws for each, the same features are found."""
    if not search.equivariant:
        return
    n = 17  # unlikely to be the size of a population: an axis of this length is one of features
    order = np.random.Generator(np.random.PCG64(1)).permutation(n)
    plain, renamed = _Scenery(n), _Scenery(n, order)
    one, other = search(n, 4), _renamed_twin(search, n, order)
    for _ in range(40):
        if one.done:
            break
        masks, twins = one.ask(), other.ask()
        # The batches of a sequential search come in another order.
        require(
            {row.tobytes() for row in masks[:, order]} == {row.tobytes() for row in twins},
            "another numbering of the features leads to other subsets",
        )
        one.tell(masks, plain.errors(masks))
        other.tell(twins, renamed.errors(twins))


def _renamed_twin(search: _Class, n: int, order: IntArray) -> Search:
    """The search with seed 4 whose every draw, from the first, is renamed."""

    class Twin(search):  # type: ignore[misc, valid-type]
        def _start(self) -> None:
            self.rng: Any = _Renamed(self.rng, order)
            super()._start()

    twin: Search = Twin(n, 4)
    return twin


CHECKS: tuple[Callable[[_Class], None], ...] = (
    *(check_parameters, check_masks, check_wrong_answers, check_flat_landscapes, check_few_features, check_budget),
    *(check_same_seed, check_deterministic, check_best, check_front, check_resume, check_extension),
    *(check_identity, check_copies, check_lockstep, check_size, check_renaming),
)
"""All checks."""


def check_search(search: type[Search]) -> None:
    """Run all checks on a search class.

    Parameters
    ----------
    search : type
        A class derived from :class:`Search`.

    Raises
    ------
    AssertionError
        With a message that says what is wrong.
    """
    for check in CHECKS:
        check(search)
