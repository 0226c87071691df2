"""Which algorithm finds the best subsets: performance, convergence, sequential searches, fronts of error and size."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.paper import ALGORITHMS, PAPER_RUNS, paper_caption
from pqswarm.report.runs import (
    Points,
    check_run_points,
    convergence_curves,
    convergence_grid,
    convergence_quartiles,
    draw_run_points,
    errors_attained_by_run,
    run_evaluation_ends,
    run_points,
)
from pqswarm.report.section import (
    BEST,
    FORMAT,
    PAPER,
    SOURCE,
    STUDY,
    Content,
    Drawing,
    Table,
    adaptive_drawing,
    count,
    count_runs,
    enumerate_words,
    features,
    percent,
)
from pqswarm.report.style import FAINT, INK, NARROW, WIDE, Palette, label_line_ends, mark, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, Measure
from pqswarm.study import RunRecord, StudyPlan

_START = 1 / 200  # fraction of the evaluations at which their axis starts
_STRIP = 1.45  # where it ends, relative to the last: room for the final errors


def algorithms_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare error rates, subset sizes and convergence of the algorithms."""
    return Content(
        drawings=[_algorithm_scatter_drawing(study, classifier), _algorithm_convergence_drawing(study, classifier)],
        tables=[] if study.plan.paper else [performance_table(study, classifier)],
        answer=say_leaders(
            {title: (mean_of(runs, "error"), mean_of(runs, "size")) for title, runs in classifier.groups.items()},
            classifier.n_features,
            classifier.all_features,
            study.plan,
        ),
    )


def mean_of(records: Sequence[RunRecord], measure: Measure) -> float:
    """Return the mean error or size of some runs, free of rounding."""
    return round(float(np.mean([getattr(record, measure) for record in records])), 12)


def say_leaders(
    means: Mapping[str, tuple[float, float]], n_features: int, all_features: float, plan: StudyPlan
) -> list[str]:
    """Return which algorithms have the lowest of the mean errors, and of the mean sizes that they found themselves."""
    errors = {title: error for title, (error, _) in means.items()}
    given = [algorithm.title for algorithm in plan.sequential if algorithm.needs_size]
    sizes = {title: size for title, (_, size) in means.items() if title not in given}
    return [
        f"Error in the search: {_lead(errors)} the lowest mean error rate, {percent(min(errors.values()))}; all "
        f"{n_features} features have {percent(all_features)}.",
        f"Size: {_lead(sizes)} the smallest subsets, {count(round(min(sizes.values()), 1))} of {n_features} features "
        f"on average.",
    ]


def _lead(values: Mapping[str, float]) -> str:
    """Who has the lowest value, and the verb."""
    leaders = [title for title, value in values.items() if value == min(values.values())]
    return f"{enumerate_words(leaders)} {'has' if len(leaders) == 1 else 'have'}"


def _algorithm_performance(classifier: ClassifierSummary, title: str) -> dict[str, float | None]:
    """Error rate and size of the subsets of one algorithm, their reduction against all features [%], and the score."""
    errors = np.round(classifier.errors(title), 12)  # equal errors may differ in the last bit
    sizes = classifier.sizes(title)
    n = classifier.n_features
    whole = classifier.all_features
    several = errors.size > 1
    return {
        "mean_J": float(errors.mean()),
        "sd_J": round(float(errors.std(ddof=1)), 12) if several else None,
        "PI": float(100 * (whole - errors.mean()) / whole) if whole else None,
        "mean_size": float(sizes.mean()),
        "sd_size": float(sizes.std(ddof=1)) if several else None,
        "Xi": float(100 * (n - sizes.mean()) / n),
        "score": PAPER_RUNS * float((sizes / n * errors).mean()),
    }


_PERFORMANCE: Mapping[str, tuple[str, str, str]] = {
    "mean_J": ("J(·): mean", ".3g", ""),
    "sd_J": ("J(·): SD", "#.2g", ""),
    "PI": ("J(·): PI [%]", ".1f", "highest"),
    "mean_size": ("ξ: average", ".1f", ""),
    "sd_size": ("ξ: SD", ".1f", ""),
    "Xi": ("ξ: Ξ [%]", ".1f", "highest"),
    "score": ("overall score", ".4g", "lowest"),
}
"""Rows of the table of performance: heading, format, and what is in bold."""


def performance_table(study: DatasetSummary, classifier: ClassifierSummary) -> Table:
    """Return error rates, sizes and overall scores of the algorithms, as in the paper's Tables 3 and 4."""
    fared = {title: _algorithm_performance(classifier, title) for title in classifier.runs}
    rows: list[dict[str, Any]] = []
    for key, (heading, form, best) in _PERFORMANCE.items():
        of_study = {title: values[key] for title, values in fared.items()}
        form = ".4f" if key == "mean_J" else form
        rows.append({"results": heading, SOURCE: STUDY, **of_study, FORMAT: form, BEST: best})
        if paper := classifier.paper.performance:
            printed = {title: paper[title][key] if title in paper else None for title in fared}
            rows.append({"results": heading, SOURCE: PAPER, **printed, FORMAT: _PERFORMANCE[key][1], BEST: best})
    n = classifier.n_features
    level = f" (paper: {classifier.paper.all_features:.4f})" if classifier.paper else ""
    scaled = (
        f", scaled from {count_runs(classifier.n_runs)} to {PAPER_RUNS}{' as in the paper' * bool(classifier.paper)}"
        if classifier.n_runs != PAPER_RUNS
        else ""
    )
    return Table(
        "performance",
        classifier.paper.caption(
            "performance", f"search performance with {classifier.name}, {count_runs(classifier.n_runs)}{study.where}"
        ),
        rows,
        across=tuple(fared),
        note=f"J: error rate, the fraction of misclassified {study.item}s, averaged over the folds; all {n} features "
        f"have J(U) = {classifier.all_features:.4f}{level}. SD: standard deviation over the runs. PI: reduction of J "
        f"against J(U). ξ: number of selected features; Ξ: reduction of ξ against {n}. Overall score: sum over the "
        f"runs of (ξ/{n}) J{scaled}.",
    )


def _algorithm_scatter_drawing(study: DatasetSummary, classifier: ClassifierSummary) -> Drawing:
    points, fronts, numbers = run_points(classifier)
    whole = (classifier.n_features, classifier.all_features)

    hollow = (
        " Hollow markers are searches that run only once." if classifier.sequential and classifier.n_runs > 1 else ""
    )
    line = f" Lines join the best subsets of each size found by {enumerate_words(list(fronts))}." if fronts else ""
    return adaptive_drawing(
        "size",
        "Error rate against number of features, one marker per run",
        f"Lower left is better: a lower error rate with fewer features. Large markers are means; the names are in the "
        f"order of the error rates.{hollow}{line}",
        partial(plot_error_against_size, fronts=fronts, numbers=numbers),
        points,
        whole,
        study.palette,
    )


def _algorithm_convergence_drawing(study: DatasetSummary, classifier: ClassifierSummary) -> Drawing:
    budget = study.plan.max_evaluations
    ends = run_evaluation_ends(classifier.groups)
    grid = convergence_grid(classifier.groups, budget)

    def draw(narrow: bool = False) -> Figure:
        curves = convergence_curves(classifier.groups, budget)
        return plot_convergence(curves, grid, study.palette, budget=budget, narrow=narrow)

    beyond = [title for title, end in ends.items() if end > budget]
    more = f" The budget does not apply to {enumerate_words(beyond)}." if beyond else ""
    lines = "Lines are medians over the runs; the bars on the right span their quartiles. "
    return adaptive_drawing(
        "convergence",
        "Distance of the lowest error rate so far from the best, against evaluations",
        f"One evaluation tests one subset. {lines if classifier.n_runs > 1 else ''}Zero is the lowest error rate "
        f"found by any run. Both axes are logarithmic, to show the end of "
        f"the search. Lower is better; a line that drops early finds good subsets soon.{more}",
        draw,
    )


@styled
def plot_error_against_size(
    points: Points,
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
    *,
    fronts: Points | None = None,
    numbers: Sequence[int] | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the error of each run against the size of its subset.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        Sizes and errors of the runs of each algorithm. A single run is drawn as a ring.
    all_features : (int, float), default=None
        Number of all features and their error, drawn as a line.
    palette : Palette, default=None
        Colors and markers, and the algorithm to emphasize.
    fronts : mapping of str to (array of int, array of float), default=None
        Sizes and lowest errors of algorithms that find a subset of each size, drawn as a line.
    numbers : sequence of int, default=None
        Run numbers; 0, 1, 2, ... by default.
    narrow : bool, default=False
        Whether to draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; the names are on the right, in the order of the errors.

    Examples
    --------
    >>> figure = plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['GA', 'All 99 features']
    """
    checked = check_run_points(points)
    palette = palette or Palette(checked)
    height = 1.2 + 0.24 * len(checked)
    figure = Figure(figsize=(NARROW, max(3.7, height)) if narrow else (WIDE, max(4.4, height)), layout="constrained")
    axis = figure.subplots()
    labels = draw_run_points(axis, checked, all_features, palette, check_run_points(fronts or {}, empty=True), numbers)
    axis.set(xlabel="features selected", ylabel="error rate [%]")
    return label_line_ends(figure, labels)


@styled
def plot_convergence(
    curves: Mapping[str, FloatArray],
    evaluations: IntArray | None = None,
    palette: Palette | None = None,
    *,
    best: float | None = None,
    budget: int | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the distance of the lowest error so far from the best error, against the evaluations.

    Lines are medians over the runs. The bars on the right span the quartiles of the final errors.

    Parameters
    ----------
    curves : mapping of str to array of float, shape (n_runs, n_points)
        Lowest error of each run after each number of evaluations; infinite before the first. Curves with fewer points
        than others are extended by a dotted line.
    evaluations : array of int, default=None
        Numbers of evaluations; 1, 2, 3, ... by default.
    palette : Palette, default=None
        Colors, and the algorithm to emphasize.
    best : float, default=None
        Error from which the distance is measured; by default the lowest of all curves.
    budget : int, default=None
        Evaluations allowed per run, drawn as a line; by default the last of `evaluations`.
    narrow : bool, default=False
        Whether to draw it for a narrow screen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Both axes are logarithmic, the distance linear close to zero; the first 0.5 % of the evaluations are
        not shown.

    Examples
    --------
    >>> figure = plot_convergence({"GA": np.array([[0.5, 0.2, 0.1], [0.4, 0.4, 0.3]])})
    >>> figure.axes[0].get_xlabel()
    'evaluations'
    """
    if not curves:
        raise PqswarmError("curves is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(curves)
    longest = max(np.shape(curve)[-1] for curve in curves.values())
    at = np.arange(1, longest + 1) if evaluations is None else np.asarray(evaluations)
    lines = {title: convergence_quartiles(title, curves[title], at) for title in palette.drawn(curves)}
    origin = min(float(np.min(curve)) for curve in curves.values()) if best is None else float(best)
    last = max(int(after[-1]) for after, _ in lines.values())
    size = (NARROW, max(3.9, 1.3 + 0.21 * len(lines))) if narrow else (WIDE, max(4.2, 1.3 + 0.24 * len(lines)))
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    labels = []
    ends = []
    shown = []
    strip = np.geomspace(last * 1.03, last * (_STRIP - 0.02), 2 * len(lines) + 1)[1::2]
    for title, place in zip(sorted(lines, key=lambda title: -lines[title][1][1, -1]), strip, strict=True):
        after, errors = lines[title]
        gaps = 100 * (errors - origin)
        line = palette.line(title)
        finite = np.isfinite(gaps[1])
        tip = _algorithm_convergence_tip(title, after, errors, len(curves[title]))
        x, y = after[finite], gaps[1, finite]
        mark(axis.plot(x, y, drawstyle="steps-post", **line)[0], title, [tip])
        dot: dict[str, Any] = {"marker": palette.marker(title), "ms": 5.0, "mew": 0.0, "zorder": 3.5}
        if after[-1] < last:
            mark(axis.plot([after[-1], last], [y[-1]] * 2, **line | {"ls": ":", "lw": 1.0})[0], title)
            mark(axis.plot([after[-1]], [y[-1]], ls="", color=line["color"], **dot)[0], title, [tip])
        low, middle, high = gaps[:, -1]
        bar: dict[str, Any] = {"color": line["color"], "solid_capstyle": "butt"}
        mark(axis.plot([last, place], [middle] * 2, lw=0.8, **bar)[0], title)
        mark(axis.plot([place, place], [low, high], lw=2.2, **bar)[0], title, [tip])
        mark(axis.plot([place], [middle], ls="", color=line["color"], **dot)[0], title, [tip])
        labels.append(palette.label(axis, title, place, float(middle)))
        ends += [float(low), float(middle), float(high)]
        shown += y[x >= _START * last].tolist()
    _scale_algorithm_convergence_gaps(axis, ends, shown)
    _scale_algorithm_convergence_evaluations(axis, last, budget or last, (1, 3) if narrow else (1, 2, 5))
    axis.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
    axis.set_ylabel(f"above the lowest error rate found,\n{percent(origin)} [% points]")
    return label_line_ends(figure, labels)


def _algorithm_convergence_tip(title: str, after: IntArray, errors: FloatArray, n_runs: int) -> str:
    low, middle, high = errors[:, -1]
    if n_runs == 1:
        return f"{title}, one run: error {percent(middle)} after {after[-1]} evaluations"
    early = int(np.searchsorted(after, 0.1 * after[-1], side="right")) - 1
    way = f" ({percent(errors[1, early])} after {after[-1] // 10})" if early >= 0 and errors[1, early] < 1 else ""
    spread = f"quartiles {percent(low)} and {percent(high)}"
    return f"{title}: median error {percent(middle)} after {after[-1]} evaluations{way}, {spread}"


def _scale_algorithm_convergence_gaps(axis: Axes, ends: Sequence[float], shown: Sequence[float]) -> None:
    """Set a scale that gives the final errors as much room as the way to them."""
    top = max(*ends, *shown, 1e-6)
    smallest = max(min([gap for gap in ends if gap > 1e-9], default=top), 0.003 * top)
    axis.set_yscale("symlog", linthresh=smallest, linscale=0.35)
    bottom = -0.25 * smallest if min(ends) < smallest else 0.85 * min(ends)
    axis.set_ylim(bottom, 1.15 * top)
    steps = [digit * 10.0**power for power in range(-7, 3) for digit in (1, 2, 5)]
    ticks = [step for step in steps if max(smallest, bottom) <= step <= 1.15 * top]
    axis.yaxis.set_major_locator(FixedLocator([0.0, *ticks] if bottom < 0 else ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _scale_algorithm_convergence_evaluations(axis: Axes, last: int, budget: int, digits: Sequence[int]) -> None:
    """Set a logarithmic scale, mark the budget, and leave a strip beyond it."""
    start = max(1.0, _START * last)
    axis.set(xscale="log", xlim=(start, _STRIP * max(last, 2)), xlabel="evaluations")
    steps = [digit * 10**power for power in range(12) for digit in digits]
    ticks = [step for step in steps if start <= step <= last and not 0.45 < step / budget < 2.0]
    axis.xaxis.set_major_locator(FixedLocator([*ticks, budget]))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axis.axvline(budget, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.7)
    look: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 8.5}
    axis.annotate("budget", (budget, 1.0), (-3, -2), ha="right", va="top", **look)


def sequential_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:  # noqa: ARG001 (what sections take)
    """Compare each sequential search with every run of every algorithm."""
    if not classifier.sequential:
        return Content()
    rows = [
        {"search": search, "evaluations": record.result.n_evaluations, "algorithm": title, "runs": len(records)}
        | {
            "each": float(np.mean([record.result.n_evaluations for record in records])),
            **_sequential_contest(classifier, search, title),
        }
        for search, record in classifier.sequential.items()
        for title, records in classifier.runs.items()
    ]
    table = Table(
        "sequential-runs",
        f"A single run of each sequential search against every run of the other algorithms with {classifier.name}",
        rows,
        {"algorithm": ("against", ""), "each": ("evaluations per run", ".0f"), "loses": ("loses to", "")},
        note="A sequential search adds and removes one feature at a time. It is deterministic and runs once. Beats, "
        "ties, loses to: number of runs with a higher, equal and lower error rate.",
    )
    return Content(tables=[table])


def _sequential_contest(classifier: ClassifierSummary, search: str, title: str) -> dict[str, int]:
    """How many runs of an algorithm a sequential search beats, ties with and loses to, by error rate."""
    margin = np.round(classifier.errors(title) - classifier.sequential[search].error, 12)  # free of rounding
    return {"beats": int((margin > 0).sum()), "ties": int((margin == 0).sum()), "loses": int((margin < 0).sum())}


def sffs_tables(study: DatasetSummary) -> list[Table]:
    """Return SFFS at the size of the baseline's best subset, as in the paper's Table 8; no table if it did not run."""
    rows: list[dict[str, Any]] = []
    baseline = study.baseline
    given = [algorithm.title for algorithm in study.plan.sequential if algorithm.needs_size]
    for classifier in study.classifiers:
        best = classifier.best(baseline)
        for title in given:
            if title in classifier.sequential:
                errors = {"SFFS": classifier.sequential[title].error, baseline: best.error}
                rows.append({"IA": classifier.name, SOURCE: STUDY, "size": best.size, **errors, BEST: "lowest"})
        if rows and classifier.paper and baseline == ALGORITHMS[-1]:
            printed = dict(classifier.paper.sffs) | {"size": int(classifier.paper.sffs["size"])}
            rows.append({"IA": classifier.name, SOURCE: PAPER, **printed, BEST: "lowest"})
    if not rows:
        return []
    return [
        Table(
            "sffs",
            paper_caption(8 if study.plan.paper else None, f"comparative analysis with SFFS{study.where}"),
            rows,
            {"IA": ("IA", ""), "size": ("ξ best", "")}
            | {title: (f"J(·) {title}", ".4f") for title in ("SFFS", baseline)},
            across=("SFFS", baseline),
            note=f"IA: induction algorithm. ξ best: size of the best subset of {baseline} over its runs, given to "
            f"SFFS, whose single run is compared with that best run.",
        )
    ]


_FRONT_SIZES = (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50)  # of the table


def fronts_content(_: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show the lowest error of each algorithm by subset size; empty if the runs kept no fronts."""
    groups = {
        title: group
        for title, group in classifier.groups.items()
        if all(r.result.front_masks is not None for r in group)
    }
    if not groups:
        return Content()
    attained = {
        title: np.array([errors_attained_by_run(record) for record in group]) for title, group in groups.items()
    }
    return Content(words=_front_sentences(groups, classifier), tables=[_front_table(attained, classifier)])


def _front_sentences(groups: Mapping[str, Sequence[RunRecord]], classifier: ClassifierSummary) -> list[str]:
    """State the smallest subset that does as well as all features."""
    matching = [
        (int(mask.sum()), float(error), title)
        for title, group in groups.items()
        for record in group
        for mask, error in zip(record.result.front_masks, record.result.front_errors, strict=True)  # type: ignore[arg-type]
        if error <= classifier.all_features
    ]
    if not matching:
        return [f"No run found a subset that does as well as all {classifier.n_features} features."]
    size, error, title = min(matching, key=lambda one: one[:2])
    return [
        f"The smallest subset that does as well as all {classifier.n_features} features "
        f"({percent(classifier.all_features)}) has {features(size)}: {title} found one with an error rate of "
        f"{percent(error)}."
    ]


def _front_table(attained: Mapping[str, FloatArray], classifier: ClassifierSummary) -> Table:
    medians = {title: np.median(curves, axis=0) for title, curves in attained.items()}
    last = max(int(median.argmin()) + 1 for median in medians.values())  # beyond it no curve falls
    sizes = [size for size in _FRONT_SIZES if size < last] + [last]
    rows = [
        {"algorithm": title} | {f"J_{k}": float(m[k - 1]) if np.isfinite(m[k - 1]) else None for k in sizes}
        for title, m in medians.items()
    ]
    keys = {f"J_{size}": (f"ξ ≤ {size}", ".4f") for size in sizes}
    return Table(
        "fronts",
        f"Lowest error rates by maximum number of features with {classifier.name}, {count_runs(classifier.n_runs)}",
        rows,
        keys,
        lowest=tuple(key for key in keys if any(row[key] is not None for row in rows)),
        note="Median over the runs of the lowest error rate among all evaluated subsets with at most ξ features, not "
        "only final ones, up to where more features bring no improvement; empty if half of the runs evaluated none.",
    )
