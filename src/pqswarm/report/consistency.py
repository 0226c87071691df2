"""Checks that the content of an untrusted store is consistent: its values may be well-formed, yet impossible."""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pqswarm.study import RunRecord
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

if TYPE_CHECKING:
    from pqswarm.evaluation import GridSearchResult
    from pqswarm.report.summary import ClassifierSummary, DatasetSummary


def check_consistency(study: "DatasetSummary") -> None:
    """Raise a ValueError that names the impossible or inconsistent part of a study."""
    for is_consistent, what in _list_consistency_checks(study):
        if not is_consistent:
            raise ValueError(what)


def _list_consistency_checks(study: "DatasetSummary") -> Iterator[tuple[bool, str]]:
    """Whether each part of a study is consistent, and its name; what comes later relies on what comes before."""
    names = study.feature_names
    yield study.n_events > 0 and len(study.class_names) > 1, "the events"
    yield len(set(names)) == len(names) > 0, "the names of features"
    for classifier in study.classifiers:
        records = [record for group in classifier.groups.values() for record in group]
        for record in records:
            yield _is_consistent_run(record), f"{classifier.name}, {record.key.algorithm}, run {record.key.run}"
        masks = [record.mask for record in records] + ([] if classifier.smaller is None else [classifier.smaller.mask])
        yield all(mask.size == len(names) and mask.any() for mask in masks), f"the subsets of {classifier.name}"
        yield (
            _is_consistent_with_limits(classifier.all_features, 1.0),
            f"the error of all features of {classifier.name}",
        )
        if classifier.smaller is not None:
            rates = [classifier.smaller.error, classifier.smaller.standard_error]
            yield _is_consistent_with_limits(rates, 1.0), "the smaller subset"
        if classifier.grid is not None:
            yield _is_consistent_grid(classifier.grid), "the search of hyperparameters"
        yield _is_consistent_held_out(classifier), f"the held-out data of {classifier.name}"
        if classifier.noise is not None:
            percents = [
                classifier.noise.all_features,
                *classifier.noise.accuracy.values(),
                *classifier.noise.held_out.values(),
            ]
            fits = {classifier.baseline} <= set(classifier.noise.accuracy) <= set(classifier.groups)
            yield (
                fits and all(_is_consistent_with_limits(some, 100.0) for some in percents),
                f"stage II of {classifier.name}",
            )
            for table in (classifier.noise.before, classifier.noise.after):
                counts = table.shape == (len(study.class_names),) * 2 and table.dtype.kind == "i"
                fits = counts and bool((table >= 0).all() and table.any())
                yield fits, f"the confusion matrices of {classifier.name}"


def _is_consistent_run(record: RunRecord) -> bool:
    """Whether a run can have this result."""
    result = record.result
    steps = record.result.improvements
    counted = isinstance(result.n_evaluations, int) and result.n_evaluations > 0 and record.key.run >= 0
    if not (counted and _is_consistent_with_limits(result.error, 1.0) and 0.0 <= record.seconds < inf and len(steps)):
        return False
    if np.isnan(steps).any() or not np.isfinite(steps[-1]).all() or (np.diff(steps[:, 0]) < 0).any():
        return False
    if result.front_masks is None or result.front_errors is None:
        return True
    fits = result.front_masks.shape[1:] == result.mask.shape and bool(result.front_masks.any(axis=1).all())
    return fits and _is_consistent_with_limits(result.front_errors, 1.0)


def _is_consistent_grid(grid: "GridSearchResult") -> bool:
    shapes = {len(point) for point in grid.points} == {len(grid.names)} and bool(grid.names)
    fits = grid.accuracies.shape == (len(grid.points),) and len(grid.usable) in (0, len(grid.points))
    plain = all(isinstance(value, str | int | float) for point in grid.points for value in point)
    return shapes and fits and plain and _is_consistent_with_limits(grid.accuracies, 1.0)


def _is_consistent_held_out(classifier: "ClassifierSummary") -> bool:
    tested = set(classifier.held_out)
    known = {ALL_FEATURES, *classifier.groups}
    known |= set() if classifier.smaller is None else {ONE_STANDARD_ERROR}
    fits = not tested or {ALL_FEATURES, classifier.baseline} <= tested <= known
    rates = [errors[~np.isnan(errors)] for errors in classifier.held_out.values()]
    return fits and all(_is_consistent_with_limits(some, 1.0) for some in rates)


def _is_consistent_with_limits(values: ArrayLike, maximum: float) -> bool:
    """Whether all values are numbers from 0 to `maximum`."""
    numbers = np.asarray(values)
    return numbers.dtype.kind in "fi" and bool(((numbers >= 0.0) & (numbers <= maximum)).all())
