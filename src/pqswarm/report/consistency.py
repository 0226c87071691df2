"""Checks that the content of an untrusted store is consistent: its values may be well-formed, yet impossible."""

from math import inf
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pqswarm.study import RunRecord
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

if TYPE_CHECKING:
    from pqswarm.evaluation import GridSearchResult
    from pqswarm.report.summary import ClassifierSummary, NoiseSummary, StudySummary


def check_consistency(study: "StudySummary") -> None:
    """Raise a ValueError that names the impossible or inconsistent part of a study."""
    names = study.feature_names
    _require_consistency(study.n_events > 0 and len(study.class_names) > 1, "the events")
    _require_consistency(len(set(names)) == len(names) > 0, "the names of features")
    for found in study.classifiers:
        records = [record for group in found.groups.values() for record in group]
        for record in records:
            _require_consistency(
                _is_consistent_run(record), f"{found.name}, {record.key.algorithm}, run {record.key.run}"
            )
        masks = [record.mask for record in records] + ([] if found.smaller is None else [found.smaller.mask])
        _require_consistency(
            all(mask.size == len(names) and mask.any() for mask in masks), f"the subsets of {found.name}"
        )
        _require_consistency(_are_within_limits(found.all_features, 1.0), f"the error of all features of {found.name}")
        if found.smaller is not None:
            _require_consistency(
                _are_within_limits([found.smaller.error, found.smaller.standard_error], 1.0), "the smaller subset"
            )
        if found.grid is not None:
            _check_grid_consistency(found.grid)
        _check_held_out(found)
        if found.noise is not None:
            _check_noise(found, found.noise, len(study.class_names))


def _is_consistent_run(record: RunRecord) -> bool:
    """Whether a run can have this result."""
    result, steps = record.result, record.result.improvements
    counted = isinstance(result.n_evaluations, int) and result.n_evaluations > 0 and record.key.run >= 0
    if not (counted and _are_within_limits(result.error, 1.0) and 0.0 <= record.seconds < inf and len(steps)):
        return False
    if np.isnan(steps).any() or not np.isfinite(steps[-1]).all() or (np.diff(steps[:, 0]) < 0).any():
        return False
    if result.front_masks is None or result.front_errors is None:
        return True
    fits = result.front_masks.shape[1:] == result.mask.shape and bool(result.front_masks.any(axis=1).all())
    return fits and _are_within_limits(result.front_errors, 1.0)


def _check_grid_consistency(grid: "GridSearchResult") -> None:
    shapes = {len(point) for point in grid.points} == {len(grid.names)} and bool(grid.names)
    fits = grid.accuracies.shape == (len(grid.points),) and len(grid.usable) in (0, len(grid.points))
    plain = all(isinstance(value, str | int | float) for point in grid.points for value in point)
    _require_consistency(
        shapes and fits and plain and _are_within_limits(grid.accuracies, 1.0), "the search of hyperparameters"
    )


def _check_held_out(found: "ClassifierSummary") -> None:
    tested, known = set(found.held_out), {ALL_FEATURES, *found.groups}
    known |= set() if found.smaller is None else {ONE_STANDARD_ERROR}
    fits = not tested or {ALL_FEATURES, found.reference} <= tested <= known
    rates = [errors[~np.isnan(errors)] for errors in found.held_out.values()]
    _require_consistency(
        fits and all(_are_within_limits(some, 1.0) for some in rates), f"the held-out data of {found.name}"
    )


def _check_noise(found: "ClassifierSummary", noise: "NoiseSummary", n_classes: int) -> None:
    fits = {found.reference} <= set(noise.accuracy) <= set(found.groups)
    percents = [noise.all_features, *noise.accuracy.values(), *noise.held_out.values()]
    _require_consistency(
        fits and all(_are_within_limits(some, 100.0) for some in percents), f"stage II of {found.name}"
    )
    for table in (noise.before, noise.after):
        counts = table.shape == (n_classes, n_classes) and table.dtype.kind == "i"
        _require_consistency(
            counts and bool((table >= 0).all() and table.any()), f"the confusion matrices of {found.name}"
        )


def _are_within_limits(values: npt.ArrayLike, maximum: float) -> bool:
    """Whether all values are numbers from 0 to `maximum`."""
    numbers = np.asarray(values)
    return numbers.dtype.kind in "fi" and bool(((numbers >= 0.0) & (numbers <= maximum)).all())


def _require_consistency(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)
