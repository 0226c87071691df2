"""The data behind figures of runs: convergence, fronts of error and size, and selection frequencies.

All functions take the runs of each algorithm by title, of finished and running studies alike.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.study import RunRecord

_STEPS = 150
_HUGE = 1e300

Groups = Mapping[str, "Sequence[RunRecord]"]


def evaluation_grid(n_evaluations: int) -> IntArray:
    """Return at most 150 numbers of evaluations up to the last, dense enough for a curve."""
    if n_evaluations <= _STEPS:
        return np.arange(1, n_evaluations + 1)
    return np.unique(np.geomspace(1, n_evaluations, _STEPS).round().astype(np.int64))


def evaluation_ends(groups: Groups) -> dict[str, int]:
    """Return the number of evaluations of the longest run of each algorithm."""
    return {title: max(record.result.n_evaluations for record in group) for title, group in groups.items()}


def convergence_grid(groups: Groups, budget: int) -> IntArray:
    """Return the numbers of evaluations at which :func:`convergence_curves` has points, including the ends."""
    ends = evaluation_ends(groups).values()
    return np.union1d(evaluation_grid(max(budget, *ends)), [budget, *ends]).astype(np.int64)


def convergence_curves(groups: Groups, budget: int) -> dict[str, FloatArray]:
    """Return the lowest error of each run at :func:`convergence_grid`, infinite before its first evaluation."""
    grid = convergence_grid(groups, budget)
    ends = evaluation_ends(groups)
    return {
        title: np.array([record.result.error_after(grid[grid <= ends[title]]) for record in group])
        for title, group in groups.items()
    }


def quartile_curve(title: str, given: FloatArray, at: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the evaluations, of `at`, after which errors (n_runs, n_points) change, and quartiles (3, n)."""
    curve = np.asarray(given, dtype=np.float64)
    if curve.ndim != 2 or 0 in curve.shape or curve.shape[1] > at.size:
        raise PqswarmError(f"the curves of {title!r} have shape {curve.shape}: it must be (n_runs, n_points).")
    if np.isnan(curve).any() or not np.isfinite(curve[:, -1]).all():
        raise PqswarmError(f"the curves of {title!r} must hold numbers and end in finite errors.")
    chosen = np.searchsorted(at, evaluation_grid(int(at[curve.shape[1] - 1])), side="right") - 1
    chosen = np.unique(chosen[chosen >= 0])
    finite = np.minimum(curve[:, chosen], _HUGE)  # interpolation between infinities would give nan
    values = np.percentile(finite, [25, 50, 75], axis=0)
    values[values > _HUGE**0.5] = np.inf
    kept = np.r_[True, np.any(values[:, 1:] != values[:, :-1], axis=0)]
    kept[-1] = True
    return at[chosen[kept]], values[:, kept]


def attained_errors(record: "RunRecord") -> FloatArray:
    """Return the lowest error of a run with at most 1, 2, 3, ... features; infinite if it has none."""
    masks, errors = record.result.front_masks, record.result.front_errors
    lowest = np.full(record.mask.size, np.inf)
    if masks is not None and errors is not None:
        lowest[masks.sum(axis=1) - 1] = errors
    return np.asarray(np.minimum.accumulate(lowest))


def selection_fractions(groups: Groups) -> dict[str, FloatArray]:
    """Return the fraction of the runs of each algorithm that selected each feature, 0 to 1."""
    return {title: np.mean([record.mask for record in group], axis=0) for title, group in groups.items()}
