"""Conformance checks of searches, also for those of other packages.

>>> from pqswarm.search import ALGORITHMS
>>> from pqswarm.search.conformance import check_search
>>> check_search(ALGORITHMS["bpso"])
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.conformance import (
    collect_checks,
    global_generator_unchanged,
    refuses,
    require,
    require_equal,
    require_parameter_class,
)
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.search.base import Search
from pqswarm.search.driver import minimize, minimize_many
from pqswarm.search.run import Run

_Class = type[Search]


class _RuggedLandscape:
    """A problem with pairs of features that help only together; all errors differ."""

    def __init__(self, n_features: int = 12, order: IntArray | None = None) -> None:
        self.n_features = n_features
        numbers = np.random.Generator(np.random.PCG64(7))
        self._weights = numbers.normal(0.0, 1.0, n_features)
        self._pairs = np.triu(numbers.normal(0.0, 0.6, (n_features, n_features)), 1)
        self._order = np.arange(n_features) if order is None else order
        self._batches: list[BoolArray] = []

    @property
    def asked(self) -> BoolArray:
        """All subsets that were asked for."""
        return np.concatenate(self._batches)

    def errors(self, masks: BoolArray) -> FloatArray:
        """Errors between 0 and 1; the empty subset has 1."""
        self._batches.append(masks.copy())
        x = np.empty(masks.shape)
        x[:, self._order] = masks
        pairs = ((x[:, :, np.newaxis] * self._pairs) * x[:, np.newaxis]).sum(axis=(1, 2))
        raw = (x * self._weights).sum(axis=1) + pairs
        return np.where(masks.any(axis=1), 0.9 / (1.0 + np.exp(-raw)), 1.0)

    def finish(self, run: Run) -> Run:
        """Advance a run to its end."""
        while not run.done:
            run.tell(self.errors(run.ask()))
        return run


class _RenumberedDraws:
    """A generator that gives each feature its numbers of another numbering."""

    def __init__(self, rng: np.random.Generator, order: IntArray) -> None:
        self._rng = rng
        self._order = order
        self.bit_generator = rng.bit_generator

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(
            f"rng.{name} is called, but equivariant is True, as in all swarms unless set: draw by rng.random alone, an "
            f"index below k as (k * rng.random()).astype(int), or set equivariant = False in the class"
        )

    def random(self, size: Any = None) -> Any:
        drawn = np.asarray(self._rng.random(size))
        if not drawn.ndim or drawn.shape[-1] != self._order.size:
            return drawn
        if drawn.ndim == 3 and drawn.shape[1] == 2:  # a 2D velocity: row 0 holds cardinalities
            drawn[:, 1] = drawn[:, 1][:, self._order]
            return drawn
        return np.ascontiguousarray(drawn[..., self._order])


def _require_same_state(one: Mapping[str, AnyArray], other: Mapping[str, AnyArray], message: str) -> None:
    require(set(one) == set(other), message)
    for name in one:
        require_equal(one[name], other[name], message)


def check_parameters(search: _Class) -> None:
    """Parameters are frozen and documented, and have defaults; wrong ones are refused by name."""
    require(search.Parameters.of(None) == search.Parameters(), "no default parameters")
    require_parameter_class(search.Parameters, search.Parameters.of, {})


def check_masks(search: _Class) -> None:
    """Requested masks are boolean, stay the same until told, and are empty only if declared."""
    problem = _RuggedLandscape()
    run = Run(search(problem.n_features, 3), 1500)
    while not run.done:
        masks = run.ask()
        require(masks.dtype == np.bool_ and masks.ndim == 2 and masks.shape[1] == problem.n_features, "no masks")
        require_equal(masks, run.ask(), "asking twice gives different masks")
        allowed = search.may_ask_empty or masks.any(axis=1).all()
        require(allowed, "an empty mask: never propose one, or set may_ask_empty = True in the class")
        run.tell(problem.errors(masks))


def check_wrong_answers(search: _Class) -> None:
    """Errors of other masks, too few errors, and NaN are refused, and the search continues."""
    run = search(6, 0)
    masks = run.ask()
    for wrong_masks, wrong_errors in (
        (~masks, np.ones(len(masks))),
        (masks, np.ones(len(masks) + 1)),
        (masks, np.full(len(masks), np.nan)),
    ):
        require(refuses(run.tell, wrong_masks, wrong_errors), "a wrong answer was accepted")
    run.tell(masks, np.ones(len(masks)))


def check_flat_landscapes(search: _Class) -> None:
    """A constant error of 1, 0 or infinity is handled."""
    for error in (1.0, 0.0, np.inf, 12.5):
        problem = _RuggedLandscape(9)
        problem.errors = lambda masks, error=error: np.full(len(masks), error)  # type: ignore[method-assign, misc]
        with np.errstate(all="raise"):
            result = minimize(search, problem, max_evaluations=400)
        require(result.error == error and result.size >= 1, f"a constant error of {error} is not handled")


def check_few_features(search: _Class) -> None:
    """Works with one, two or three features."""
    for n in (1, 2, 3):
        result = minimize(search, _RuggedLandscape(n), max_evaluations=300, seed=n)
        require(result.mask.shape == (n,) and result.mask.any(), f"fails with {n} features")


def check_budget(search: _Class) -> None:
    """The number of evaluations is exactly the budget, unless the search finishes earlier."""
    for budget in (1, 29, 31, 100, 777):
        problem = _RuggedLandscape()
        result = minimize(search, problem, max_evaluations=budget)
        asked = len(problem.asked)
        require(result.n_evaluations == asked == result.errors.size == result.sizes.size, "evaluations are miscounted")
        if asked != budget:
            ended = minimize(search, _RuggedLandscape(), max_evaluations=10**6 + budget).n_evaluations == asked
            require(asked < budget and ended, f"{asked} evaluations instead of {budget}")


def check_seeds(search: _Class) -> None:
    """The seed alone decides the search, not NumPy's global generator; it has no effect only if declared so."""
    with global_generator_unchanged():
        one = _asked_subsets(search, 1)
        require_equal(one, _asked_subsets(search, 1), "the search does not depend on the seed alone")
    same = np.array_equal(one, _asked_subsets(search, 2))
    require(same == search.deterministic, f"deterministic is {search.deterministic}, which is not true")


def _asked_subsets(search: _Class, seed: int) -> BoolArray:
    problem = _RuggedLandscape()
    minimize(search, problem, 400, seed=seed)
    return problem.asked


def check_resume(search: _Class) -> None:
    """A run restored from files at any moment continues unchanged."""
    problem = _RuggedLandscape()
    whole = problem.finish(Run(search(problem.n_features, 9), 700))
    run = Run(search(problem.n_features, 9), 700)
    while not run.done:
        run = _restored_run(run, search)
        masks = run.ask()
        run = _restored_run(run, search)
        require_equal(masks, run.ask(), "a restored run requests other masks")
        run.tell(problem.errors(masks))
    _require_same_state(run.state(), whole.state(), "a resumed run ends in another state")
    require_equal(run.result().errors, whole.result().errors, "a resumed run has another trace")


def _restored_run(run: Run, search: _Class, blocks: tuple[int, ...] = ()) -> Run:
    """The run, saved and restored into a new object with another seed."""
    file = io.BytesIO()
    np.savez(file, **run.state())  # type: ignore[arg-type]
    file.seek(0)
    other = Run(search(run.search.n_features, 12345), run.max_evaluations, blocks)
    with np.load(file, allow_pickle=False) as state:
        other.restore(state)
    return other


def check_extension(search: _Class) -> None:
    """A finished run continues with a larger budget as if that had been its budget from the start."""
    problem = _RuggedLandscape()
    long = problem.finish(Run(search(problem.n_features, 6), 200))
    short = problem.finish(Run(search(problem.n_features, 6), 71))
    more = Run(search(problem.n_features, 6), 200)
    more.restore(short.state())
    _require_same_state(problem.finish(more).state(), long.state(), "a run extended later differs")


def check_identity(search: _Class) -> None:
    """The state of a search with other parameters is refused."""
    other = search(8, 0, {"size": 2})
    require(refuses(other.restore, search(8, 0).state()), "a state of other parameters was accepted")


def check_copies(search: _Class) -> None:
    """Returned and given arrays can be overwritten; no two parts of the state share memory."""
    problem = _RuggedLandscape()
    careful = search(problem.n_features, 2)
    careless = search(problem.n_features, 2)
    for _ in range(12):
        if careful.done:
            break
        masks = careful.ask()
        errors = problem.errors(masks)
        careful.tell(masks, errors)
        overwritten = careless.ask()
        careless.tell(overwritten, errors)
        overwritten[:] = True
        errors[:] = -1.0
        for array in careless.state().values():
            array[...] = 0
        held = [getattr(careless, name) for name in careless.state_fields]
        shared = [np.shares_memory(a, b) for i, a in enumerate(held) for b in held[:i] if a.size and b.size]
        require(not any(shared), "two parts of the state share memory")
        _require_same_state(careful.state(), careless.state(), "the state can be changed from outside")


def check_lockstep(search: _Class) -> None:
    """Runs in lockstep find what each finds alone."""
    for seed, result in enumerate(minimize_many(search, _RuggedLandscape(), seeds=range(4), max_evaluations=333)):
        alone = minimize(search, _RuggedLandscape(), 333, seed=seed)
        require_equal(alone.mask, result.mask, "another subset is found in lockstep")
        require_equal(alone.errors, result.errors, "the trace differs in lockstep")


class _FoldedLandscape(_RuggedLandscape):
    """The rugged problem in five folds, of which subsets can be tested in three blocks."""

    blocks = (2, 1, 2)

    def raced(self, masks: BoolArray, first: IntArray, limits: FloatArray) -> FloatArray:
        errors = self.errors(masks)
        fractions = np.array(self.blocks) / 5 + 0.1 * (masks[:, :3].astype(float) - masks[:, 1:4])
        outcome = np.column_stack([errors[:, np.newaxis] * fractions, errors])
        for values, start, limit in zip(outcome, first, limits, strict=True):
            order = [start, (start + 1) % 3, (start + 2) % 3]
            late = np.cumsum(values[order])[:2] > limit
            values[[*order[1 if late[0] else 2 :], 3] if late.any() else []] = np.nan
        return outcome


def check_race(search: _Class) -> None:
    """A search that races keeps the budget in folds, returns a subset of known error, resumes, and runs in lockstep."""
    if not search.races:
        return
    blocks = _FoldedLandscape.blocks
    for seed, whole in enumerate(minimize_many(search, _FoldedLandscape(), seeds=range(3), max_evaluations=300)):
        run = Run(search(12, seed), 300, blocks)
        problem = _FoldedLandscape()
        folds = 0
        while not run.done:
            run = _restored_run(run, search, blocks)
            masks = run.ask()
            start, limits = run.search.race_limits()
            outcome = problem.raced(masks, np.full(len(masks), start), np.tile(limits, (len(masks), 1)))
            folds += int((~np.isnan(outcome[:, :3]) @ np.array(blocks)).sum())
            run.tell(outcome)
        result = run.result()
        require(299 * 5 < folds <= 300 * 5 and result.n_evaluations == 300, "the folds of a race are miscounted")
        require(len(problem.asked) > 300, "no subset is dropped")
        require(result.error == problem.errors(result.mask[np.newaxis])[0], "the best was not tested in all folds")
        require_equal(result.improvements, whole.improvements, "a race differs when resumed or in lockstep")
        require_equal(result.mask, whole.mask, "another subset is found when resumed or in lockstep")


def check_size(search: _Class) -> None:
    """The result has the required size."""
    for size in (1, 4, 12):
        problem = _RuggedLandscape()
        result = minimize(search, problem, 500, parameters={"size": size})
        asked = problem.asked
        right = asked[asked.sum(axis=1) == size]
        require(result.size == size, f"{result.size} features are found, where size = {size} is required")
        require(result.error == problem.errors(right).min(), "not the best of the required size")
    require(refuses(search, 5, 0, {"size": 6}), "a size above the number of features is accepted")


def check_renaming(search: _Class) -> None:
    """With another numbering of the features and the same draws for each, the same features are found."""
    if not search.equivariant:
        return
    n = 17  # unlikely as population size: an axis of this length holds features
    order = np.random.Generator(np.random.PCG64(1)).permutation(n)
    plain = _RuggedLandscape(n)
    renamed = _RuggedLandscape(n, order)
    one = search(n, 4)
    other = _search_of_renumbered_features(search, n, order)
    for _ in range(40):
        if one.done:
            break
        masks = one.ask()
        twins = other.ask()
        # Batches of a sequential search have another order.
        same = {row.tobytes() for row in masks[:, order]} == {row.tobytes() for row in twins}
        require(same, "another numbering of the features leads to other subsets")
        one.tell(masks, plain.errors(masks))
        other.tell(twins, renamed.errors(twins))


def _search_of_renumbered_features(search: _Class, n: int, order: IntArray) -> Search:
    """The search with seed 4, with all draws renumbered."""

    class Twin(search):  # type: ignore[misc, valid-type]
        def _start(self) -> None:
            self.rng: Any = _RenumberedDraws(self.rng, order)
            super()._start()

    twin: Search = Twin(n, 4)
    return twin


CHECKS = collect_checks(globals())
"""All checks."""


def check_search(search: type[Search]) -> None:
    """Run all checks on a search class; an AssertionError says what is wrong with which class."""
    for check in CHECKS:
        try:
            check(search)
        except AssertionError as error:
            raise AssertionError(f"{search.__name__} fails {check.__name__}: {error}") from error
