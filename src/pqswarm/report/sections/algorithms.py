"""The question "Which algorithm finds the better subsets?": performance, convergence, error rate against size."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sentences import count, enumerate_words, percent, runs
from pqswarm.report.style import FAINT, GREY, STYLE, EndLabel, Palette, label_ends
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table
from pqswarm.statistics import bootstrap_mean

__all__ = ["content", "plot_convergence", "plot_error_against_size"]

_STEPS = 150
_HUGE = 1e300


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Compare what the algorithms found: error rates and sizes of their subsets, and how they got there."""
    fared = {title: _performance(found, title) for title in found.runs}
    best = found.best(found.reference)
    return Content(
        drawings=[_convergence(study, found), _scatter(study, found)],
        tables=[_performances(study, found, fared), *_gap(found)],
        answer=_sentences(study, found, fared),
        numbers={
            "features": f"{best.size} of {best.mask.size}",
            "error rate": percent(best.error),
            "error rate of all features": percent(found.all_features),
        },
    )


def _sentences(study: StudySummary, found: ClassifierSummary, fared: Mapping[str, dict[str, Any]]) -> list[str]:
    n, whole = found.n_features, found.all_features
    means = {title: (round(p["mean_J"], 12), p["mean_size"]) for title, p in fared.items()}
    leader = min(means, key=lambda title: means[title])
    smallest = min(means, key=lambda title: means[title][::-1])
    error, size = means[leader]
    tied = [title for title, (other, _) in means.items() if other == error]
    mean, average = ("mean ", " on average") if found.n_runs > 1 else ("", "")
    once = [algorithm.title for algorithm in study.plan.sequential]
    which = f"that run {found.n_runs} times" if found.n_runs > 1 else f"other than {enumerate_words(once or [''])}"
    among = f" of the algorithms {which}" if once else ""  # one run is not compared with a mean of several
    subset = f"{count(size)} of the {n} features{average}"
    names, several = enumerate_words(tied), len(tied) > 1
    has = ("both have" if len(tied) == 2 else "all have") if several else "has"
    who = leader if several else "It"
    if error >= whole:
        first = (
            f"{'None' if once else 'No algorithm'}{among} does better than all features: {names}, the best, {has} an "
            f"error rate of {percent(error)}, all features have one of {percent(whole)}. {who} selects {subset}."
        )
    else:
        verb = (
            f"the lowest {mean}error rate{among}" if len(fared) > 1 else f"a lower {mean}error rate than all features"
        )
        first = (
            f"{names} {has} {verb}: {percent(error)}, against {percent(whole)} with all features "
            f"({100 * (whole - error) / whole:.0f} % lower). {who} selects {subset} ({100 * (n - size) / n:.0f} % "
            f"fewer)."
        )
    least_error, least_size = means[smallest]
    if least_size >= size:
        return [first]
    return [
        first,
        f"The smallest subsets{among} come from {smallest}: {count(least_size)} features, with an error rate of "
        f"{percent(least_error)}{average}.",
    ]


def _performance(found: ClassifierSummary, title: str) -> dict[str, Any]:
    """What the runs of one algorithm come to: error rate and size, and how far they are below those of all [%]."""
    errors, sizes, n, whole = found.errors(title), found.sizes(title), found.n_features, found.all_features
    several = errors.size > 1
    return {
        "mean_J": float(errors.mean()),
        "sd_J": float(errors.std(ddof=1)) if several else None,
        "J_interval": bootstrap_mean(errors).ends,
        "PI": float(100 * (whole - errors.mean()) / whole) if whole else None,
        "mean_size": float(sizes.mean()),
        "sd_size": float(sizes.std(ddof=1)) if several else None,
        "size_interval": bootstrap_mean(sizes).ends,
        "Xi": float(100 * (n - sizes.mean()) / n),
        "score": float((sizes / n * errors).sum()),
    }


def _performances(study: StudySummary, found: ClassifierSummary, fared: Mapping[str, dict[str, Any]]) -> Table:
    n, paper = found.n_features, found.paper
    rows = []
    for title, values in fared.items():
        rows.append({"algorithm": title, SOURCE: STUDY, **values})
        if title in paper.performance:
            rows.append(
                {"algorithm": title, SOURCE: PAPER} | {key: paper.performance[title].get(key) for key in values}
            )
    printed = f" (paper: {paper.all_features:.4f})" if paper else ""
    return Table(
        "performance",
        f"Search performance with {found.name}, {runs(found.n_runs)}",
        rows,
        {
            "mean_J": ("mean J", ".5f"),
            "sd_J": ("SD J", ".5f"),
            "J_interval": ("95 % interval of the mean", ".5f"),
            "PI": ("PI [%]", ".1f"),
            "mean_size": ("mean ξ", ".1f"),
            "sd_size": ("SD ξ", ".1f"),
            "size_interval": ("95 % interval of the mean", ".1f"),
            "Xi": ("Ξ [%]", ".1f"),
            "score": ("overall score", ".4f"),
        },
        lowest=("mean_J", "mean_size", "score"),
        highest=("PI", "Xi"),
        note=f"J: error rate, the share of misclassified {study.noun}s, mean over the folds; all {n} features have "
        f"J(U) = {found.all_features:.4f}{printed}. PI: by how much J is below J(U). ξ: number of features selected; "
        f"Ξ: by how much it is below {n}. SD: standard deviation over the runs; intervals by bootstrap (BCa). Overall "
        f"score: the sum over the runs of (ξ/{n}) J; it grows with the number of runs"
        f"{', which was 40 in the paper' if paper else ''}.",
    )


def _gap(found: ClassifierSummary) -> list[Table]:
    """How far the algorithms stay from the best subset that is known, where one is known for these very events."""
    known = found.best_known
    if known is None:
        return []
    rows = []
    for title in (*found.runs, *found.sequential):
        errors = found.errors(title) if title in found.runs else np.array([found.sequential[title].error])
        gaps = 100 * (errors - known["error"])
        rows.append(
            {"algorithm": title, "mean": float(gaps.mean()), "least": float(gaps.min()), "most": float(gaps.max())}
        )
    return [
        Table(
            "gap",
            f"How far from the best known subset, with {found.name}",
            rows,
            {"mean": ("mean gap [percentage points]", ".2f"), "least": ("least", ".2f"), "most": ("greatest", ".2f")},
            lowest=("mean", "least", "most"),
            note=f"The best subset that is known for these events has {len(known['features'])} features and an error "
            f"rate of {percent(known['error'])}. It took {known['evaluations'] / 1e6:.1f} million evaluations, and no "
            f"adding or removing of one or two features, nor any exchange of one for another, makes it better.",
        )
    ]


def _convergence(study: StudySummary, found: ClassifierSummary) -> Drawing:
    grid = evaluation_grid(study.plan.max_evaluations)

    def draw() -> Figure:
        curves = {title: np.array([r.result.error_after(grid) for r in group]) for title, group in found.runs.items()}
        return plot_convergence(curves, grid, study.palette)

    band = "A line is the median of the runs, 8 of 10 lie in its band. " if found.n_runs > 1 else ""
    return Drawing(
        "convergence",
        "Lowest error rate so far against evaluations",
        f"An evaluation is one subset tried. {band}Lower is better; a line that falls early finds good subsets soon.",
        draw,
    )


def _scatter(study: StudySummary, found: ClassifierSummary) -> Drawing:
    points = {title: (found.sizes(title).astype(np.int64), found.errors(title)) for title in found.runs}
    points |= {title: (np.array([r.size]), np.array([r.error])) for title, r in found.sequential.items()}
    whole = (found.n_features, found.all_features)
    return Drawing(
        "size",
        "Error rate against number of features, one mark for each run",
        "Down and to the left is better: a lower error rate with fewer features.",
        lambda: plot_error_against_size(points, whole, study.palette),
    )


def evaluation_grid(n_evaluations: int) -> IntArray:
    """Return numbers of evaluations up to the last, dense enough for a curve, and few however many there are.

    Examples
    --------
    >>> evaluation_grid(4).tolist(), len(evaluation_grid(10**8)) <= 150
    ([1, 2, 3, 4], True)
    """
    if n_evaluations <= _STEPS:
        return np.arange(1, n_evaluations + 1)
    # Close together at the start, where much happens, but everywhere fine enough for the eye.
    both = [spaced(1, n_evaluations, _STEPS // 2) for spaced in (np.geomspace, np.linspace)]
    return np.unique(np.concatenate(both).round().astype(np.int64))


def plot_convergence(
    curves: Mapping[str, FloatArray], evaluations: IntArray | None = None, palette: Palette | None = None
) -> Figure:
    """Draw the lowest error so far against the evaluations: the median of the runs, and where 8 of 10 lie.

    Parameters
    ----------
    curves : mapping of str to array of float, shape (n_runs, n_points)
        For each algorithm, the lowest error of each run after so many evaluations; infinite before the first. One
        that has fewer points than the others is carried on with a dotted line.
    evaluations : array of int, optional
        Numbers of evaluations; 1, 2, 3, ... by default.
    palette : Palette, optional
        Colours, and which algorithm is emphasised.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; very early errors may lie above it.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_convergence({"GA": np.array([[0.5, 0.2, 0.1], [0.4, 0.4, 0.3]])})
    >>> figure.axes[0].get_xlabel()
    'evaluations'
    """
    if not curves:
        raise PqswarmError("curves is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(curves)
    longest = max(np.shape(curve)[-1] for curve in curves.values())
    at = np.arange(1, longest + 1) if evaluations is None else np.asarray(evaluations)
    lines = {title: _percentiles(title, curves[title], at) for title in palette.drawn(curves)}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, max(4.0, 1.2 + 0.24 * len(lines))), layout="constrained")
        axis = figure.subplots()
        labels, early, final = [], [], []
        for title, (after, (low, middle, high)) in lines.items():
            line = palette.line(title)
            band = {"color": line["color"], "zorder": line["zorder"]}
            shown = np.isfinite(low) & np.isfinite(high)
            alpha = 0.22 if title == palette.reference else 0.12
            axis.fill_between(after[shown], low[shown], high[shown], step="post", alpha=alpha, lw=0, **band)
            shown = np.isfinite(middle)
            axis.plot(after[shown], middle[shown], drawstyle="steps-post", **line)
            labels.append(palette.label(axis, title, float(after[-1]), float(middle[-1])))
            final += [float(low[-1]), float(high[-1])]
            settling = high[np.isfinite(high) & (after >= 0.03 * after[-1])]
            early.append(float(settling[0]) if settling.size else float(middle[-1]))
        axis.set_ylim(*_limits(min(final), max(final), float(np.median(early))))
        axis.set_xlim(0, max(after[-1] for after, _ in lines.values()))
        axis.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
        axis.set_xlabel("evaluations")
        axis.set_ylabel("lowest error rate J so far")
        if any(len(curve) > 1 for curve in curves.values()):
            axis.set_title("line: median of the runs; band: 10th to 90th percentile", fontsize=8)
        return label_ends(figure, labels)


def _percentiles(title: str, given: FloatArray, at: IntArray) -> tuple[IntArray, FloatArray]:
    """Evaluations, and the 10th, 50th and 90th percentile after them; steps that change nothing are left out."""
    curve = np.asarray(given, dtype=np.float64)
    if curve.ndim != 2 or 0 in curve.shape or curve.shape[1] > at.size:
        raise PqswarmError(f"the curves of {title!r} have shape {curve.shape}: needed is (n_runs, n_points).")
    if np.isnan(curve).any() or not np.isfinite(curve[:, -1]).all():
        raise PqswarmError(f"the curves of {title!r} must hold numbers and end in finite errors.")
    chosen = evaluation_grid(curve.shape[1]) - 1
    finite = np.minimum(curve[:, chosen], _HUGE)  # numpy interpolates with infinities as well, to nan
    values = np.percentile(finite, [10, 50, 90], axis=0)
    values[values > _HUGE**0.5] = np.inf
    kept = np.r_[True, np.any(values[:, 1:] != values[:, :-1], axis=0)]
    kept[-1] = True
    return at[chosen[kept]], values[:, kept]


def _limits(least: float, most: float, early: float) -> tuple[float, float]:
    """Limits that show how the final errors differ, and as much of the way there as leaves room for that."""
    span = max(most - least, 0.12 * abs(least), 1e-6)
    top = min(max(early, most + 0.3 * span), least + 5.0 * span)
    return least - 0.06 * (top - least), top + 0.04 * (top - least)


def plot_error_against_size(
    points: Mapping[str, tuple[IntArray, FloatArray]],
    all_features: tuple[int, float] | None = None,
    palette: Palette | None = None,
) -> Figure:
    """Draw each run as a point: the size of the subset it found, and the error of it.

    Parameters
    ----------
    points : mapping of str to (array of int, array of float), each of shape (n_runs,)
        For each algorithm the sizes and the errors of its runs.
    all_features : (int, float), optional
        The number of all features and the error with them, for a line.
    palette : Palette, optional
        Colours and markers, and which algorithm is emphasised.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; each name stands at the median error of its runs, on the right.

    Examples
    --------
    >>> figure = plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['GA', 'All 99 features']
    """
    if not points:
        raise PqswarmError("points is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(points)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, max(4.2, 1.2 + 0.24 * len(points))), layout="constrained")
        axis = figure.subplots()
        largest, medians = 0.0, {}
        for title in palette.drawn(points):
            sizes, errors = (np.asarray(values, dtype=np.float64) for values in points[title])
            if sizes.ndim != 1 or sizes.shape != errors.shape or not sizes.size or not np.isfinite(errors).all():
                raise PqswarmError(f"the points of {title!r} must be a size and a finite error for each run.")
            style: dict[str, Any] = palette.line(title) | {"ls": "", "mew": 0, "ms": 5.5, "alpha": 0.8}
            axis.plot(sizes, errors, marker=palette.marker(title), **style)
            medians[title] = float(np.median(errors))
            largest = max(largest, float(sizes.max()))
        axis.set_xlim(0, 1.04 * largest)
        edge = axis.get_xlim()[1]
        labels = [palette.label(axis, title, edge, median, marked=True) for title, median in medians.items()]
        if all_features is not None:
            number, error = all_features
            axis.axhline(error, color=GREY, lw=1.3, ls=(0, (5, 2)))
            labels.append(EndLabel(axis, f"All {number} features", edge, error, GREY))
        axis.margins(y=0.07)
        axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        axis.set_axisbelow(True)
        axis.set_xlabel("features selected")
        axis.set_ylabel("error rate J of the selected features")
        axis.set_title("one mark for each run; each name stands at the median error of its runs", fontsize=8)
        return label_ends(figure, labels)
