"""The question "Is the difference more than chance?": average ranks, Friedman's test, comparison with the best."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sentences import enumerate_words
from pqswarm.report.style import INK, STYLE, Palette
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table
from pqswarm.statistics import FriedmanResult, critical_difference, friedman, posthoc

__all__ = ["content", "plot_ranks", "rank_groups"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Test whether the algorithms differ by more than chance, by error rate and by size."""
    titles = list(found.runs)
    # Equal numbers of errors, in other folds, may differ in the last bit of their mean: they are ties all the same.
    errors = np.round([found.errors(title) for title in titles], 12).T
    sizes = np.array([found.sizes(title) for title in titles]).T
    if min(errors.shape) < 2:
        return Content()
    both = {"error": friedman(errors, names=titles), "size": friedman(sizes, names=titles)}
    return Content(
        drawings=[_ranks(study, key, test) for key, test in both.items()],
        tables=[_friedman(found, both), *(_posthoc(found, key, both[key]) for key in both)],
        answer=[say_significance(both["error"])],
    )


def say_significance(test: FriedmanResult) -> str:
    """Return in a sentence whether the error rates differ, and from which the best one does not."""
    result, n_runs = posthoc(test), test.n_blocks
    if test.p_value > result.alpha:
        return (
            f"Over {n_runs} runs, the error rates of the algorithms do not differ more than chance allows (Friedman "
            f"test, p = {test.p_value:.2g})."
        )
    level = [name for name, p in zip(result.names, result.p_hommel, strict=True) if p > result.alpha]
    if not level:
        others = "each of the others" if len(result.names) > 1 else result.names[0]
        return f"Over {n_runs} runs, the error rate of {result.control} is significantly lower than that of {others}."
    return (
        f"Over {n_runs} runs, {result.control} has the best average rank, but its error rate is not significantly "
        f"lower than that of {enumerate_words(level)}."
    )


def _ranks(study: StudySummary, key: str, test: FriedmanResult) -> Drawing:
    ranks = dict(zip(test.names, test.mean_ranks.tolist(), strict=True))
    difference = critical_difference(len(test.names), test.n_blocks)
    caption, note = {
        "error": (
            "Average ranks by error rate",
            "1 is best. Algorithms that a bar joins differ by less than the critical difference: by no more than "
            "chance allows, when each is compared with each (Nemenyi's test, 5 %). The tables below compare with the "
            "best alone, and so can tell apart what a bar joins.",
        ),
        "size": ("Average ranks by number of features", "1 is best: the fewest features. Bars as above."),
    }[key]
    return Drawing(f"ranks-{key}", caption, note, lambda: plot_ranks(ranks, difference, study.palette))


def _friedman(found: ClassifierSummary, both: Mapping[str, FriedmanResult]) -> Table:
    paper = found.paper
    rows: list[dict[str, Any]] = []
    for symbol, (key, test) in zip(("J", "ξ"), both.items(), strict=True):
        row = dict(zip(test.names, test.mean_ranks.tolist(), strict=True)) | {"chi2": test.chi2, "p": test.p_value}
        row |= {"chi2_ties": test.chi2_corrected, "p_ties": test.p_value_corrected}
        rows.append({"result": symbol, SOURCE: STUDY, **row})
        if paper:
            rows.append({"result": symbol, SOURCE: PAPER} | {name: paper.ranks[key].get(name) for name in row})
    columns = {
        "chi2": ("χ²", ".2f"),
        "p": ("p", "#.3g"),
        "chi2_ties": ("χ², ties corrected", ".2f"),
        "p_ties": ("p, ties corrected", "#.3g"),
    }
    note = (
        f"In each of the {found.n_runs} runs the algorithms are ranked. χ² grows with the differences of the average "
        f"ranks; p is the probability of one so large if all were equally good."
    )
    if paper:
        note += (
            " The paper's statistic has no correction for ties; both are given. The p-values that the paper printed do "
            "not belong to its statistics."
        )
    return Table(
        "friedman",
        f"Friedman test with {found.name}: average ranks (1 is best) and statistic",
        rows,
        {name: (name, ".2f") for name in found.runs} | columns,
        note=note,
    )


def _posthoc(found: ClassifierSummary, key: str, test: FriedmanResult) -> Table:
    result, printed, rows = posthoc(test), found.paper.posthoc.get(key, {}), []
    ours = {row["algorithm"]: row for row in result.rows()}
    for name in test.names:
        if name in ours:
            row = ours[name]
            values = {"control": result.control, "z": row["z"], "p": row["p_value"], "adjusted": row["p_hommel"]}
            values |= {"limit": row["alpha_over_i"], "differs": row["significant"]}
            rows.append({"algorithm": name, SOURCE: STUDY, **values})
        if name in printed:
            rows.append({"algorithm": name, SOURCE: PAPER, **printed[name]})
    what = {"error": "error rate J", "size": "subset size ξ"}[key]
    return Table(
        f"posthoc-{key}",
        f"Each algorithm against the best, {result.control}, with {found.name}: {what}",
        rows,
        {
            "control": ("against", ""),
            "z": ("z", ".2f"),
            "p": ("p", "#.3g"),
            "adjusted": ("p, Hommel adjusted", "#.3g"),
            "limit": ("0.05/i (the paper's “APV”)" if found.paper else "0.05/i", ".4f"),
            "differs": ("differs at 5 %", ""),
        },
        note="z: difference of the average ranks in standard errors. An adjusted p-value of 0.05 or less means a "
        "significant difference, all comparisons taken together.",
    )


def plot_ranks(mean_ranks: Mapping[str, float], critical_difference: float, palette: Palette | None = None) -> Figure:
    """Draw mean ranks on a line, and join those that do not differ.

    Parameters
    ----------
    mean_ranks : mapping of str to float
        Mean rank of each algorithm, 1 the best.
    critical_difference : float
        Ranks that are this far apart, or more, differ.
    palette : Palette, optional
        Colours, and which algorithm is emphasised.

    Returns
    -------
    matplotlib.figure.Figure
        The critical-difference diagram of Demšar.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", J. Mach. Learn. Res. 7, 2006.

    Examples
    --------
    >>> figure = plot_ranks({"2D-UPSO": 1.2, "GA": 2.1, "ACO": 2.7}, 0.8)
    >>> [text.get_text() for text in figure.axes[0].texts][-3:]
    ['2D-UPSO (1.20)', 'GA (2.10)', 'ACO (2.70)']
    """
    ranks = {title: float(rank) for title, rank in mean_ranks.items()}
    if not ranks:
        raise PqswarmError("mean_ranks is empty: a figure needs at least one algorithm.")
    if not (np.isfinite([*ranks.values(), critical_difference]).all() and critical_difference >= 0):
        raise PqswarmError("mean ranks and critical_difference must be finite, the latter not negative.")
    palette = palette or Palette(ranks)
    titles = sorted(ranks, key=lambda title: ranks[title])
    places = [ranks[title] for title in titles]
    bars = _levels(rank_groups(places, critical_difference))
    last = max(len(titles), 2, int(np.ceil(places[-1])))
    names = [f"{title} ({rank:.2f})" for title, rank in zip(titles, places, strict=True)]
    side = 0.3 + 0.085 * max(map(len, names))  # all lengths in inches; y grows downwards
    scale = max(4.6, 7.5 - 2 * side) / (last - 1)
    width, line = 2 * side + scale * (last - 1), 0.64
    first = line + 0.3 + 0.13 * (1 + max((level for _, _, level in bars), default=-1))
    left = (len(titles) + 1) // 2

    def x(rank: Any) -> Any:
        return side + scale * (rank - 1)

    with mpl.rc_context(STYLE):
        height = first + 0.23 * left
        figure = Figure(figsize=(width, height))
        axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axis.set(xlim=(0, width), ylim=(height, 0))
        axis.axis("off")
        axis.plot([x(1), x(last)], [line, line], color=INK, lw=1.0)
        for rank in range(1, last + 1):
            axis.plot([x(rank)] * 2, [line - 0.07, line], color=INK, lw=1.0)
            axis.text(x(rank), line - 0.1, str(rank), ha="center", va="bottom")
        axis.text(x(last) + 0.12, line, "mean rank", va="center", fontsize=8)
        if critical_difference <= last - 1:
            ends = np.array([1, 1, 1 + critical_difference, 1 + critical_difference])
            axis.plot(x(ends), [0.27, 0.22, 0.22, 0.27], color=INK, lw=1.0)
        axis.text(x(1), 0.17, f"critical difference {critical_difference:.2f}", va="bottom", fontsize=8)
        for i, (title, name) in enumerate(zip(titles, names, strict=True)):
            on_left = i < left
            down = first + 0.23 * (i if on_left else len(titles) - 1 - i)
            end, sign = (side - 0.12, -1) if on_left else (width - side + 0.12, 1)
            axis.plot([x(ranks[title])] * 2 + [end], [line, down, down], **palette.line(title))
            weight = "bold" if title == palette.reference else "normal"
            ha = "right" if on_left else "left"
            axis.text(end + 0.06 * sign, down, name, ha=ha, va="center", weight=weight, parse_math=False)
        for start, stop, level in bars:
            down = line + 0.14 + 0.13 * level
            axis.plot([x(places[start]) - 0.05, x(places[stop]) + 0.05], [down] * 2, color=INK, lw=3.2)
        return figure


def rank_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Return first and last of the largest groups of ascending ranks that do not differ; none lies within another."""
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        stop = max(i for i in range(start, len(ranks)) if i == start or ranks[i] - rank < critical_difference)
        if stop > start and (not groups or stop > groups[-1][1]):
            groups.append((start, stop))
    return groups


def _levels(groups: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Give each group a level so that no two of one level touch."""
    ends: list[int] = []
    placed = []
    for start, stop in groups:
        level = next((i for i, end in enumerate(ends) if end < start), len(ends))
        ends[level : level + 1] = [stop]
        placed.append((start, stop, level))
    return placed
