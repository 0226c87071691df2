"""The runs of a study: errors and sizes as points, convergence, fronts of error and size, selection frequencies."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.section import features, percent
from pqswarm.report.style import GREY, INK, EndLabel, Palette, draw_guides, mark
from pqswarm.report.summary import ClassifierSummary
from pqswarm.study import RunRecord

ALL_FEATURES = "All features"  # name of their series
Points = Mapping[str, tuple[FloatArray | IntArray, FloatArray]]


def run_points(classifier: ClassifierSummary) -> tuple[Points, Points, list[int]]:
    """Return sizes and errors of the runs, the same of the fronts of algorithms that run once, and the run numbers."""
    points = {title: (classifier.sizes(title).astype(np.int64), classifier.errors(title)) for title in classifier.runs}
    points |= {title: (np.array([r.size]), np.array([r.error])) for title, r in classifier.sequential.items()}
    fronts = {}
    for title, record in classifier.sequential.items():
        masks, errors = record.result.front_masks, record.result.front_errors
        if masks is not None and errors is not None and len(errors) > 1:  # with a given size the front has one point
            fronts[title] = masks.sum(axis=1), errors
    return points, fronts, [record.key.run for record in classifier.runs[classifier.baseline]]


def check_run_points(points: Points, empty: bool = False) -> Points:
    """Return sizes and errors as arrays; raise an error if they do not match."""
    if not points and not empty:
        raise PqswarmError("points is empty: a figure needs at least one algorithm.")
    checked: dict[str, tuple[FloatArray | IntArray, FloatArray]] = {}
    for title, (given_sizes, given_errors) in points.items():
        sizes: AnyArray = np.asarray(given_sizes)
        errors = np.asarray(given_errors, dtype=np.float64)
        if sizes.ndim != 1 or sizes.shape != errors.shape or not sizes.size or not np.isfinite(errors).all():
            raise PqswarmError(f"the points of {title!r} must be one size and one finite error per run.")
        checked[title] = sizes, errors
    return checked


def run_tips(title: str, sizes: FloatArray | IntArray, errors: FloatArray, numbers: Sequence[int] | None) -> list[str]:
    """Return the tooltip of each run, by number."""
    which = [""] if sizes.size == 1 else [f", run {i}" for i in numbers or range(sizes.size)]
    return [
        f"{title}{run}: error {percent(error)}, {features(int(size))}"
        for run, size, error in zip(which, sizes, errors, strict=True)
    ]


def draw_run_points(
    axis: Axes,
    points: Points,
    all_features: tuple[int, float] | None,
    palette: Palette,
    fronts: Points,
    numbers: Sequence[int] | None,
) -> list[EndLabel]:
    """Draw runs as points, single runs as rings and fronts as lines; return the labels."""
    draw_guides(axis)
    labels = []
    several = any(sizes.size > 1 for sizes, _ in points.values())
    edge = 1.04 * max(float(sizes.max()) for sizes, _ in points.values())
    for title in palette.drawn(points):
        sizes, errors = points[title]
        style: dict[str, Any] = palette.line(title) | {"ls": "", "marker": palette.marker(title)}
        if several and sizes.size == 1:
            style |= {"ms": 10.0, "mew": 1.8, "mfc": "none", "zorder": 4.0}
        else:
            style |= {"ms": 4.5, "mew": 0.0, "alpha": 0.5}
        mark(axis.plot(sizes, 100 * errors, **style)[0], title, run_tips(title, sizes, errors, numbers))
        if sizes.size > 1:
            mean = float(sizes.mean()), float(errors.mean())
            tip = f"{title}, mean of {sizes.size} runs: error {percent(mean[1])}, {mean[0]:.1f} features"
            style |= {"ms": 8.0, "mew": 0.9, "mec": INK, "alpha": 1.0, "zorder": 3.5}
            mark(axis.plot([mean[0]], [100 * mean[1]], **style)[0], title, [tip])
        labels.append(palette.label(axis, title, edge, 100 * float(errors.mean()), marked=True, joined=False))
    values = [100 * errors for _, errors in points.values()]
    if all_features is not None:
        labels.append(draw_error_of_all_features(axis, *all_features, edge))
        values.append(np.array([100 * all_features[1]]))
    low, high = float(np.concatenate(values).min()), float(np.concatenate(values).max())
    margin = 0.07 * max(high - low, 0.02 * high, 1e-6)
    axis.set(xlim=(0, edge), ylim=(low - margin, high + margin))
    for title, (sizes, errors) in fronts.items():  # clipped to the limits set by the runs
        style = {"color": palette.color(title), "lw": 1.0, "marker": ".", "ms": 3.0, "zorder": 1.8}
        tips = [f"{title} at {features(int(s))}: error {percent(e)}" for s, e in zip(sizes, errors, strict=True)]
        mark(axis.plot(sizes, 100 * errors, **style)[0], title, tips)
    return labels


def draw_error_of_all_features(axis: Axes, number: int, error: float, edge: float) -> EndLabel:
    """Draw the error of all features as a line, and return its label."""
    line = axis.axhline(100 * error, color=GREY, lw=1.3, ls=(0, (5, 2)))
    mark(line, ALL_FEATURES, [f"All {number} features: error {percent(error)}"])
    return EndLabel(axis, f"All {number} features", edge, 100 * error, GREY, series=ALL_FEATURES)


_STEPS = 150
_HUGE = 1e300

Groups = Mapping[str, Sequence[RunRecord]]


def run_evaluation_grid(n_evaluations: int) -> IntArray:
    """Return at most 150 numbers of evaluations up to the last, dense enough for a curve."""
    if n_evaluations <= _STEPS:
        return np.arange(1, n_evaluations + 1)
    return np.unique(np.geomspace(1, n_evaluations, _STEPS).round().astype(np.int64))


def run_evaluation_ends(groups: Groups) -> dict[str, int]:
    """Return the number of evaluations of the longest run of each algorithm."""
    return {title: max(record.result.n_evaluations for record in group) for title, group in groups.items()}


def convergence_grid(groups: Groups, budget: int) -> IntArray:
    """Return the numbers of evaluations at which :func:`convergence_curves` has points, including the ends."""
    ends = run_evaluation_ends(groups).values()
    return np.union1d(run_evaluation_grid(max(budget, *ends)), [budget, *ends]).astype(np.int64)


def convergence_curves(groups: Groups, budget: int) -> dict[str, FloatArray]:
    """Return the lowest error of each run at :func:`convergence_grid`, infinite before its first evaluation."""
    grid = convergence_grid(groups, budget)
    ends = run_evaluation_ends(groups)
    return {
        title: np.array([record.result.error_after(grid[grid <= ends[title]]) for record in group])
        for title, group in groups.items()
    }


def convergence_quartiles(title: str, given: FloatArray, at: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the evaluations, of `at`, after which errors (n_runs, n_points) change, and quartiles (3, n)."""
    curve = np.asarray(given, dtype=np.float64)
    if curve.ndim != 2 or 0 in curve.shape or curve.shape[1] > at.size:
        raise PqswarmError(f"the curves of {title!r} have shape {curve.shape}: it must be (n_runs, n_points).")
    if np.isnan(curve).any() or not np.isfinite(curve[:, -1]).all():
        raise PqswarmError(f"the curves of {title!r} must hold numbers and end in finite errors.")
    chosen = np.searchsorted(at, run_evaluation_grid(int(at[curve.shape[1] - 1])), side="right") - 1
    chosen = np.unique(chosen[chosen >= 0])
    finite = np.minimum(curve[:, chosen], _HUGE)  # interpolation between infinities would give nan
    values = np.percentile(finite, [25, 50, 75], axis=0)
    values[values > _HUGE**0.5] = np.inf
    kept = np.r_[True, np.any(values[:, 1:] != values[:, :-1], axis=0)]
    kept[-1] = True
    return at[chosen[kept]], values[:, kept]


def errors_attained_by_run(record: RunRecord) -> FloatArray:
    """Return the lowest error of a run with at most 1, 2, 3, ... features; infinite if it has none."""
    masks, errors = record.result.front_masks, record.result.front_errors
    lowest = np.full(record.mask.size, np.inf)
    if masks is not None and errors is not None:
        lowest[masks.sum(axis=1) - 1] = errors
    return np.asarray(np.minimum.accumulate(lowest))
