"""Whether the differences are significant: comparisons of independent runs, and the paper's tests."""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, TypeVar

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.paper import ALGORITHMS, paper_caption
from pqswarm.report.section import BEST, FORMAT, PAPER, SOURCE, STUDY, Content, Table, enumerate_words
from pqswarm.report.style import INK, Palette, mark, styled
from pqswarm.report.summary import ALPHA, MEASURES, ClassifierSummary, DatasetSummary, Measure
from pqswarm.statistics import (
    Comparison,
    FriedmanResult,
    PairedComparison,
    compare_runs,
    friedman,
    posthoc,
)
from pqswarm.study import StudyPlan

_Compared = TypeVar("_Compared", Comparison, PairedComparison)
_MIN_RUNS = 3  # with fewer, nothing is tested
_ENOUGH_RUNS = 10  # with fewer, the approximations behind the paper's tests are rough


_QUANTITIES: dict[Measure, str] = {"error": "mean error rate", "size": "mean number of features"}
_NAMES: dict[Measure, str] = {"error": "error rate J", "size": "subset size ξ"}
_BETTER: dict[Measure, str] = {"error": "lower error", "size": "fewer features"}
_WORSE: dict[Measure, str] = {"error": "higher error", "size": "more features"}
"""How comparisons of a measure are worded."""


def chance_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Test whether the algorithms differ significantly in error rate and in size."""
    if not can_rank_runs(classifier):
        return Content()
    plan = study.plan
    pairs = [(plan.title_of(one), plan.title_of(other)) for one, other in plan.comparisons]
    words = []
    words_on_pairs = []
    tables = []
    tables_of_pairs = []
    for measure, quantity in _QUANTITIES.items():
        values = _runs_to_rank(classifier, measure, list(classifier.runs))
        ranks = friedman(np.array(list(values.values())).T, names=list(values))
        # The control of the plan and, if it is another, the best by average rank.
        controls = dict.fromkeys((_chance_control(plan, ranks), ranks.best))
        found = [compare_runs(values, control=control, margin=plan.margin) for control in controls]
        words.append(say_comparisons(quantity, found[0]))
        every = [comparison for group in found for comparison in group]
        tables.append(_chance_unpaired_table(classifier, measure, every, plan.margin))
        chosen = compare_runs(values, pairs=pairs, margin=plan.margin) if pairs else []
        words_on_pairs += [say_comparisons(quantity, [pair]) for pair in chosen]
        tables_of_pairs += [_chance_unpaired_table(classifier, measure, chosen, plan.margin, "pairs")] if chosen else []
    words += words_on_pairs
    if 2 / comb(2 * classifier.n_runs, classifier.n_runs) > ALPHA:  # p if one is always ahead
        words.append("With fewer than 4 runs of each algorithm no difference can be significant, however large.")
    return Content(words=[_PAIRING, " ".join(words)], tables=[*tables, *tables_of_pairs])


def _chance_control(plan: StudyPlan, ranks: FriedmanResult) -> str:
    """Title of the algorithm that is compared with the others."""
    chosen = plan.control or plan.baseline
    return ranks.best if chosen == "best" else plan.title_of(chosen)


_PAIRING = (
    "Runs are independent: run 1 of one algorithm is unrelated to run 1 of another. All runs of one algorithm are "
    "therefore compared with all runs of another (Mann-Whitney test)."
)


def say_comparisons(quantity: str, comparisons: Sequence[_Compared]) -> str:
    """Return a sentence on the error rates, or another quantity, of an algorithm compared with others."""
    clauses = [
        f"{phrase} that of {enumerate_words(others)}"
        for conclusion, phrase in _PHRASES.items()
        if (others := [each.against for each in comparisons if each.conclusion == conclusion])
    ]
    return f"The {quantity} of {comparisons[0].algorithm} is {enumerate_words(clauses)}."


_PHRASES = {
    "better": "lower than",
    "worse": "higher than",
    "practically equal": "practically equal to",
    "inconclusive": "not significantly different from",
}


def conclusion_in_words(comparison: Comparison, better: str, worse: str) -> str:
    """Return the conclusion of a comparison as text."""
    within = f"within ±{comparison.margin:.2g}"
    if comparison.conclusion == "practically equal":
        return f"practically equal {within}"
    if comparison.conclusion == "inconclusive":
        return "inconclusive"
    words = better if comparison.conclusion == "better" else worse
    sign = -1 if comparison.conclusion == "better" else 1
    if sign * comparison.difference.estimate < 0:
        return f"{words} in most pairs of runs, but not on average"
    return f"{words}, but {within}" if comparison.within_margin else words


def _chance_unpaired_table(
    classifier: ClassifierSummary,
    measure: Measure,
    comparisons: Sequence[Comparison],
    margin: float,
    name: str = "",
) -> Table:
    form = {"error": ".5f", "size": ".1f"}[measure]
    better = _BETTER[measure]
    rows = [
        {
            "algorithm": c.algorithm,
            "against": c.against,
            "conclusion": conclusion_in_words(c, better, _WORSE[measure]),
            "p": c.p_value,
            "adjusted": c.p_hommel,
            "superiority": c.superiority.estimate,
            "superiority_interval": c.superiority.ends,
            "difference": c.difference.estimate,
            "difference_interval": c.difference.ends,
            "ratio": c.ratio,
            "p_equivalence": c.p_equivalence,
        }
        for c in comparisons
    ]
    methods = {"exact": "exact, ties included", "normal": "normal approximation, corrected for ties"}
    used = enumerate_words([methods[method] for method in dict.fromkeys(c.method for c in comparisons)])
    controls = list(dict.fromkeys(comparison.algorithm for comparison in comparisons))
    who = "chosen pairs" if name else f"{enumerate_words(controls)} against every other algorithm"
    note = (
        f"p: two-sided Mann-Whitney test ({used}), Hommel-adjusted for the number of "
        f"{'pairs' if name else 'comparisons with one algorithm'}. P: probability that a run has {better}, "
        f"counting ties as half, with Newcombe's 95 % interval."
    )
    if (measure, name) == ("error", ""):
        note += (
            f" Differences of means have bootstrap intervals (BCa). Intervals are not adjusted. Practically equal: two "
            f"one-sided Welch tests, adjusted like p, show that the means differ by less than the margin, "
            f"{100 * margin:g} % of the first mean (a choice: the plan's key margin); it does not mean that the "
            f"algorithms are equal. Inconclusive: neither a difference nor equivalence is shown."
        )
        if comparisons[0].difference.ends is None:
            note += " Intervals of means and equivalence tests need at least 5 runs per algorithm."
    return Table(
        f"{name or 'unpaired'}-{measure}",
        f"{who[0].upper()}{who[1:]}, all pairs of runs, with {classifier.name}: {_NAMES[measure]}",
        rows,
        {
            "against": ("against", ""),
            "p": ("p", "#.2g"),
            "adjusted": ("p, Hommel-adjusted", "#.2g"),
            "superiority": (f"P({better})", ".3f"),
            "superiority_interval": ("95 % interval", ".2f"),
            "difference": ("difference of means", f"+{form}"),
            "difference_interval": ("95 % interval", f"+{form}"),
            "ratio": ("ratio of means", ".2f"),
            "p_equivalence": ("p, equivalence", "#.2g"),
        },
        conclusions={"conclusion": ("p", "adjusted", "p_equivalence")},
        note=note,
    )


def _runs_to_rank(classifier: ClassifierSummary, measure: Measure, titles: Sequence[str]) -> dict[str, FloatArray]:
    """The errors or sizes of the runs of some algorithms."""
    if measure == "size":
        return {title: classifier.sizes(title) for title in titles}
    # Equal numbers of errors in different folds may differ in the last bit of their mean: treat them as ties.
    return {title: np.round(classifier.errors(title), 12) for title in titles}


def _run_ranks(classifier: ClassifierSummary, measure: Measure) -> FriedmanResult:
    """Friedman's test of the errors or sizes of the runs."""
    values = _runs_to_rank(classifier, measure, _ranked_titles(classifier))
    return friedman(np.array(list(values.values())).T, names=list(values))


def _ranked_titles(classifier: ClassifierSummary) -> list[str]:
    """The algorithms of the paper's tests: its own, if its values are shown."""
    own = [title for title in classifier.runs if title in classifier.paper.performance]
    return own if len(own) > 1 else list(classifier.runs)


_SYMBOLS: dict[Measure, str] = {"error": "J(·)", "size": "ξ"}


def can_rank_runs(classifier: ClassifierSummary) -> bool:
    """Whether there are enough runs and algorithms for the paper's tests."""
    return len(classifier.runs) >= 2 and classifier.n_runs >= _MIN_RUNS


def friedman_table(study: DatasetSummary, classifiers: Sequence[ClassifierSummary]) -> Table:
    """Return average ranks and Friedman's test, as in the paper's Table 5."""
    rows: list[dict[str, Any]] = []
    titles = list(dict.fromkeys(title for classifier in classifiers for title in _ranked_titles(classifier)))
    for classifier in classifiers:
        for measure in MEASURES:
            test = _run_ranks(classifier, measure)
            ranks = dict(zip(test.names, test.mean_ranks.tolist(), strict=True))
            tests = {"chi2": test.chi2, "p": test.p_value, "p_ties": test.p_value_corrected}
            first = {"IA": classifier.name, "result": _SYMBOLS[measure]}
            marks = {FORMAT: ".2f", BEST: "lowest"}
            row = {title: ranks.get(title) for title in titles}
            rows.append({**first, SOURCE: STUDY, **row, **tests, **marks})
            if classifier.paper:
                printed = {name: classifier.paper.ranks[measure].get(name) for name in (*titles, *tests)}
                rows.append({**first, SOURCE: PAPER, **printed, **marks, FORMAT: ".1f"})
    n_runs = min(classifier.n_runs for classifier in classifiers)
    return Table(
        "friedman",
        paper_caption(5, f"outcome of the Friedman test{study.where}"),
        rows,
        {
            "IA": ("IA", ""),
            "result": ("Results", ""),
            "chi2": ("Friedman statistic", ".2f"),
            "p": ("p-value", "#.3g"),
            "p_ties": ("p-value, ties corrected", "#.3g"),
        },
        across=tuple(titles),
        note=f"IA: induction algorithm. The algorithms are ranked within each of the {n_runs} runs, blocks that are "
        f"arbitrary because runs are independent; average ranks, 1 is best (bold). The p-values printed in the paper "
        f"do not match its statistics.",
    )


def hommel_table(study: DatasetSummary, classifier: ClassifierSummary) -> Table:
    """Return the control against every other algorithm by Hommel's procedure, as in the paper's Tables 6 and 7."""
    control = _chance_control(study.plan, _run_ranks(classifier, "error"))
    tests = {
        measure: {row["algorithm"]: row for row in posthoc(_run_ranks(classifier, measure), control).rows()}
        for measure in MEASURES
    }
    keys = {"z": "z", "p": "p_value", "adjusted": "p_hommel", "differs": "significant"}
    rows: list[dict[str, Any]] = []
    for title in (title for title in _ranked_titles(classifier) if title != control):
        cells = {f"{measure} {key}": tests[measure][title][name] for measure in MEASURES for key, name in keys.items()}
        rows.append({"algorithm": title, SOURCE: STUDY, **cells})
        if title in classifier.paper.posthoc.get("error", ()) and control == ALGORITHMS[-1]:
            printed = {
                f"{measure} {key}": classifier.paper.posthoc[measure][title][key]
                for measure in MEASURES
                for key in keys
            }
            rows.append({"algorithm": title, SOURCE: PAPER, **printed})
    columns: dict[str, tuple[str, str]] = {}
    for measure in MEASURES:
        symbol = _SYMBOLS[measure]
        columns |= {
            f"{measure} z": (f"{symbol} test statistic", ".2f"),
            f"{measure} p": (f"{symbol} p-value", "#.3g"),
            f"{measure} adjusted": (f"{symbol} APV", "#.3g"),
            f"{measure} differs": (f"{symbol} H₀ rejected", ""),
        }
    few = (
        ""
        if classifier.n_runs >= _ENOUGH_RUNS
        else f" With {classifier.n_runs} runs the normal approximation is rough."
    )
    limits = "; the paper's column of that name holds the limits 0.05/i of its p-values" if classifier.paper else ""
    return Table(
        "hommel",
        classifier.paper.caption(
            "hommel",
            f"outcome of Hommel's post hoc procedure with {classifier.name}, {control} against every other "
            f"algorithm{study.where}",
        ),
        rows,
        columns,
        note=f"Test statistic: difference of the average ranks in standard errors; APV: p-value adjusted by "
        f"Hommel's procedure{limits}. H₀: both have the same average rank; rejected if the adjusted p-value is at most "
        f"0.05.{few}",
    )


@styled
def plot_ranks(mean_ranks: Mapping[str, float], critical_difference: float, palette: Palette | None = None) -> Figure:
    """Draw mean ranks on a line and join those that do not differ significantly.

    Parameters
    ----------
    mean_ranks : mapping of str to float
        Mean rank of each algorithm, 1 the best.
    critical_difference : float
        Mean ranks at least this far apart differ significantly.
    palette : Palette, default=None
        The algorithm to emphasize.

    Returns
    -------
    matplotlib.figure.Figure
        The critical-difference diagram of Demšar (2006).

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
    bars = rank_groups(places, critical_difference)
    last = max(len(titles), 2, int(np.ceil(places[-1])))
    names = [f"{title} ({rank:.2f})" for title, rank in zip(titles, places, strict=True)]
    side = 0.3 + 0.085 * max(map(len, names))  # all lengths in inches; y grows downwards
    scale = max(4.6, 7.5 - 2 * side) / (last - 1)
    width = 2 * side + scale * (last - 1)
    line = 0.64
    first = line + 0.3 + 0.13 * len(bars)
    left = (len(titles) + 1) // 2

    def x(rank: Any) -> Any:
        return side + scale * (rank - 1)

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
        look = palette.line(title) | {"color": INK, "ls": "-"}
        lead = axis.plot([x(ranks[title])] * 2 + [end], [line, down, down], **look)
        mark(lead[0], tips=[f"{title}: mean rank {ranks[title]:.2f}"])
        weight = "bold" if title == palette.baseline else "normal"
        ha = "right" if on_left else "left"
        axis.text(end + 0.06 * sign, down, name, ha=ha, va="center", weight=weight, parse_math=False)
    for row, (start, stop) in enumerate(bars):
        down = line + 0.14 + 0.13 * row
        axis.plot([x(places[start]) - 0.05, x(places[stop]) + 0.05], [down] * 2, color=INK, lw=3.2)
    return figure


def rank_groups(ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Return the first and last index of each maximal group of ascending ranks that do not differ."""
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        stop = max(i for i in range(start, len(ranks)) if i == start or ranks[i] - rank < critical_difference)
        if stop > start and (not groups or stop > groups[-1][1]):
            groups.append((start, stop))
    return groups
