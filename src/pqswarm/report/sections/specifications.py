"""Sections of the report of a multiverse: in which specifications of a plan its conclusions hold, and why."""

import json
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.report.section import Content, Drawing, Table, adaptive_drawing, probability
from pqswarm.report.style import COLORS, FAINT, GREY, INK, NARROW, WIDE, mark, settle_layout, styled
from pqswarm.report.summary import MEASURES, ClassifierAcrossSpecifications, Measure, MultiverseSummary
from pqswarm.statistics import hommel
from pqswarm.statistics.specifications import explain_effects, joint_permutation
from pqswarm.study.plan import Specification

_BETTER = COLORS[0]
_WORSE = COLORS[1]
_ROW = 0.135  # inches of the height of an alternative
_NOUNS: dict[Measure, str] = {"error": "error rate", "size": "number of features"}
_CURVE = (
    "Each column is a specification: the {noun} of {baseline} relative to that of its best rival, below zero is "
    "better, with a 95 % t interval over the data sets; blue or orange if it excludes zero. Squares: the choices of "
    "the specification. Diamonds are specifications that the plan marks. The best rival is chosen in each "
    "specification by its mean, which favors the rivals."
)


def _specification_effect_percent(effects: FloatArray | float) -> FloatArray:
    """Return log ratios as differences in percent."""
    return np.asarray(100.0 * np.expm1(effects))


def specification_curve(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, measure: Measure, name: str
) -> Drawing:
    """Return the specification curve of error rates or sizes."""
    return adaptive_drawing(
        name,
        f"Specification curve of the {_NOUNS[measure]}, with {classifier.name}",
        _CURVE.format(noun=_NOUNS[measure], baseline=classifier.baseline),
        partial(plot_specification_curve, study, classifier, measure),
    )


def lead_over_specifications(study: MultiverseSummary, classifier: ClassifierAcrossSpecifications) -> Content:
    """Show the specification curves, and the baseline against each other algorithm over the specifications."""
    is_first = classifier is study.classifiers[0]  # whose curve of errors is in the overview
    measures: tuple[Measure, ...] = ("size",) if is_first else MEASURES
    return Content(
        drawings=[specification_curve(study, classifier, measure, measure) for measure in measures],
        tables=[_specification_rivals_table(study, classifier)],
        answer=[_say_range_over_specifications(study, classifier, measure) for measure in MEASURES],
    )


def _say_range_over_specifications(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, measure: Measure
) -> str:
    mean, low, high = (each[study.counted] for each in classifier.spread(measure))
    shown = _specification_effect_percent(mean)
    text = (
        f"The {_NOUNS[measure]} of {classifier.baseline} relative to its best rival ranges from {shown.min():+.1f} to "
        f"{shown.max():+.1f} %, median {np.median(shown):+.1f} %"
    )
    if np.isfinite(low).all():
        text += (
            f"; the interval over data sets lies below zero in {int((high < 0).sum())} specifications and above in "
            f"{int((low > 0).sum())}"
        )
    return f"{text}."


def _specification_rivals_table(study: MultiverseSummary, classifier: ClassifierAcrossSpecifications) -> Table:
    counted = study.counted
    baseline = classifier.baseline
    others = [title for title in classifier.errors if title != baseline]
    p_values = [
        joint_permutation(classifier.errors[baseline][counted], classifier.errors[title][counted])[1]
        for title in others
    ]
    rows = []
    for title, p, adjusted in zip(others, p_values, hommel(p_values).tolist(), strict=True):
        effects = _specification_effect_percent(classifier.ratio("error", title)[counted].mean(axis=1))
        sizes = _specification_effect_percent(classifier.ratio("size", title)[counted].mean(axis=1))
        rows.append(
            {
                "against": title,
                "fraction": 100 * float(classifier.is_lower("error", baseline, title)[counted].mean()),
                "median": float(np.median(effects)),
                "range_interval": tuple(np.percentile(effects, [10, 90]).tolist()),
                "p": p,
                "adjusted": adjusted,
                "smaller": 100 * float(classifier.is_lower("size", baseline, title)[counted].mean()),
                "size": float(np.median(sizes)),
            }
        )
    return Table(
        "rivals",
        f"{baseline} against each other algorithm over the specifications, with {classifier.name}",
        rows,
        {
            "against": ("against", ""),
            "fraction": ("lower error rate in [% of specifications]", ".0f"),
            "median": ("error rate, median specification [%]", "+.1f"),
            "range_interval": ("10 % to 90 % of specifications", "+.1f"),
            "p": ("p", ".2g"),
            "adjusted": ("p, Hommel", ".2g"),
            "smaller": ("smaller subsets in [% of specifications]", ".0f"),
            "size": ("features, median specification [%]", "+.1f"),
        },
        note="Differences relative to the other algorithm. p: joint test of the median specification, by exchanging "
        "the labels of the runs within data sets, in all specifications at once (9999 times): about these data sets, "
        "not others.",
    )


def choices_over_specifications(study: MultiverseSummary, classifier: ClassifierAcrossSpecifications) -> Content:
    """Show the mean effect with each alternative, and how much of the variance each choice explains."""
    if study.where:  # in a part of a design, choices are not balanced
        return Content()
    counted = np.flatnonzero(study.counted)
    chosen = [study.specifications[i].chosen for i in counted]
    errors = explain_effects(classifier.effects("error")[counted], chosen)
    sizes = explain_effects(classifier.effects("size")[counted], chosen)
    rows: list[dict[str, Any]] = [
        {
            "choice": "" if i else error.choice,
            "alternative": name,
            "error": float(_specification_effect_percent(error.means[name])),
            "error_fraction": None if i else 100 * error.fraction,
            "size": float(_specification_effect_percent(size.means[name])),
            "size_fraction": None if i else 100 * size.fraction,
        }
        for error, size in zip(errors.choices, sizes.choices, strict=True)
        for i, name in enumerate(error.means)
    ]
    unchosen = {"data sets": (errors.datasets, sizes.datasets), "the rest": (errors.rest, sizes.rest)}
    rows += [
        {
            "choice": label,
            "alternative": "",
            "error": None,
            "error_fraction": 100 * error_fraction,
            "size": None,
            "size_fraction": 100 * size_fraction,
        }
        for label, (error_fraction, size_fraction) in unchosen.items()
    ]
    table = Table(
        "choices",
        f"Mean effect with each alternative, and the fraction of variance of each choice, with {classifier.name}",
        rows,
        {
            "error": ("error rate vs. best rival [%]", "+.1f"),
            "error_fraction": ("fraction of variance [%]", ".0f"),
            "size": ("features vs. fewest of a rival [%]", "+.1f"),
            "size_fraction": ("fraction of variance [%]", ".0f"),
        },
        note="Main effects, by least squares; descriptive. The rest holds interactions of choices and chance.",
    )
    return Content(tables=[table])


def closeness_over_specifications(study: MultiverseSummary, classifier: ClassifierAcrossSpecifications) -> Content:
    """Show whether the effect depends on how close the events are to the paper's, if its values are shown."""
    if not classifier.paper:
        return Content()
    from scipy.stats import spearmanr

    drawing = adaptive_drawing(
        "",
        f"Effect against closeness to the paper, with {classifier.name}",
        "The vertical line is the paper. Specifications are not left out because their error rate is unlike the "
        "paper's.",
        plot_specification_closeness,
        study,
        classifier,
    )
    distance = np.abs(np.log(_specification_error_against_paper(classifier)))[study.counted]
    effect = classifier.spread("error").mean[study.counted]
    if np.ptp(distance) == 0 or np.ptp(effect) == 0:
        return Content(drawings=[drawing])
    near = distance <= np.quantile(distance, 0.25)
    rank = spearmanr(distance, effect)
    words = (
        "In the quarter of the specifications whose error rate of all features is nearest to the paper's, the mean "
        f"effect is {float(_specification_effect_percent(effect[near].mean())):+.1f} %, in the others "
        f"{float(_specification_effect_percent(effect[~near].mean())):+.1f} % (rank correlation of distance and effect "
        f"{float(rank.statistic):+.2f}, {probability(float(rank.pvalue))})."
    )
    return Content(words=[words], drawings=[drawing])


def _specification_error_against_paper(classifier: ClassifierAcrossSpecifications) -> FloatArray:
    """The error rate of all features in each specification relative to the paper's."""
    return np.asarray(classifier.all_features.mean(axis=1) / classifier.paper.all_features)


def specifications_content(study: MultiverseSummary) -> Content:
    """List all specifications with their effects, choices and changes of the plan."""
    means = {
        (classifier.name, measure): classifier.spread(measure).mean
        for classifier in study.classifiers
        for measure in MEASURES
    }
    rows: list[dict[str, Any]] = [
        {"specification": specification.name}
        | {
            f"{name} {measure}": float(_specification_effect_percent(values[i]))
            for (name, measure), values in means.items()
        }
        | specification.chosen
        for i, specification in enumerate(study.specifications)
    ]
    headings = {f"{name} {measure}": (f"{name}, {_NOUNS[measure]} [%]", "+.1f") for name, measure in means}
    headings |= {choice: (choice.rpartition(".")[2], "") for choice in study.specifications[0].chosen}
    table = Table(
        "specifications",
        "All specifications: the baseline relative to its best rival, and the alternatives chosen",
        rows,
        headings,
    )
    words = (
        "Below, the keys of the plan that each specification sets. For its whole plan: pqswarm plan show DIR "
        "--specification NAME."
    )
    changes = {
        each.name: [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in each.changes.items()]
        for each in study.specifications
    }
    listings = {f"Specification {name}": "\n".join(lines) or "the plan itself" for name, lines in changes.items()}
    return Content(words=[words], tables=[table], listings=listings)


@styled
def plot_specification_curve(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, measure: Measure, *, narrow: bool = False
) -> Figure:
    """Draw the specification curve: sorted effects [%] with 95 % t intervals, above the choices of each."""
    assert study.plan.multiverse is not None  # noqa: S101
    choices = study.plan.multiverse.choices
    chosen = {pair for specification in study.specifications for pair in specification.chosen.items()}
    rows = [(choice, name) for choice, names in choices.items() for name in names if (choice, name) in chosen]
    effects = np.array([_specification_effect_percent(each) for each in classifier.spread(measure)])
    rivals = classifier.best_rivals(measure)
    order = np.argsort(effects[0], kind="stable").tolist()
    heights = (2.3, _ROW * (len(rows) + 0.5 * len(choices)))
    figure = Figure(figsize=(NARROW if narrow else WIDE, sum(heights) + 0.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    above.axhline(0.0, color=INK, lw=0.8)
    places = _label_specification_choices(below, rows, narrow)
    _draw_paper_on_curve(above, classifier, measure)
    for x, i in enumerate(order):
        specification = study.specifications[i]
        _draw_specification_effect(above, x, specification, effects[:, i], rivals[i])
        _draw_specification_choices(
            below, x, specification, places, _specification_effect_color(effects[:, i]), 2.1 if narrow else 3.1
        )
    above.set(ylabel=f"{classifier.baseline} vs. best rival [%]\n{_NOUNS[measure]}", xlim=(-1, len(order)))
    above.tick_params(axis="x", length=0, labelbottom=False)
    above.grid(axis="y", color=FAINT, lw=0.5, alpha=0.35)
    below.set_xlabel(f"specifications, sorted by the {_NOUNS[measure]} of {classifier.baseline}")
    return settle_layout(figure)


def _specification_effect_color(effect: FloatArray) -> str:
    """The color of an effect by its interval."""
    _, low, high = effect
    return _BETTER if high < 0 else _WORSE if low > 0 else GREY


def _draw_specification_effect(
    axis: Axes, x: int, specification: Specification, effect: FloatArray, rival: str
) -> None:
    """Draw the effect in a specification with its interval."""
    mean, low, high = effect
    name = specification.name
    look: dict[str, Any] = {"color": _specification_effect_color(effect), "solid_capstyle": "butt", "clip_on": False}
    if np.isfinite(low):
        mark(axis.plot([x, x], [low, high], lw=1.2, alpha=0.6, **look)[0], key=name)
    shape: dict[str, Any] = {"marker": "D", "ms": 5.5} if specification.marked else {"marker": "o", "ms": 3.5}
    tip = _describe_specification_effect(specification, mean, low, high, rival)
    mark(axis.plot([x], [mean], ls="", mew=0, **shape, **look)[0], tips=[tip], key=name)
    if specification.marked:
        end = high if np.isfinite(high) else mean
        axis.annotate(name, (x, end), (0, 4), textcoords="offset points", ha="center", fontsize=7)


def _draw_specification_choices(
    axis: Axes,
    x: int,
    specification: Specification,
    places: dict[tuple[str, str], float],
    color: str,
    size: float,
) -> None:
    """Draw the alternatives of a specification as squares."""
    ys = [places[choice, name] for choice, name in specification.chosen.items()]
    look: dict[str, Any] = {"color": color, "solid_capstyle": "butt", "clip_on": False}
    cells = axis.plot([x] * len(ys), ys, ls="", marker="s", ms=size, mew=0, **look)
    tips = [f"{specification.name}: {choice}: {name}" for choice, name in specification.chosen.items()]
    mark(cells[0], tips=tips, key=specification.name)


def _label_specification_choices(axis: Axes, rows: list[tuple[str, str]], narrow: bool) -> dict[tuple[str, str], float]:
    """Label the rows of the matrix, choice by choice, and return their places."""
    places: dict[tuple[str, str], float] = {}
    labels = []
    longest = 24 if narrow else 34
    y = 0.0
    last = ""
    for choice, name in rows:
        is_first = choice != last
        y += 1.5 if is_first and last else 1.0
        places[choice, name] = y
        label = f"{choice.rpartition('.')[2]}:  {name}" if is_first else name
        labels.append(label if len(label) <= longest else f"{label[: longest - 1]}…")
        last = choice
    axis.set_yticks(list(places.values()), labels, fontsize=6.5, parse_math=False)
    axis.set(ylim=(y + 0.7, 0.3), xticks=[])
    axis.tick_params(axis="y", length=0)
    axis.spines[["left", "bottom"]].set_visible(False)
    return places


def _draw_paper_on_curve(axis: Axes, classifier: ClassifierAcrossSpecifications, measure: Measure) -> None:
    """Draw the paper's own effect as a line."""
    printed = classifier.paper.means(measure)
    if classifier.baseline not in printed:
        return
    best = min(value for title, value in printed.items() if title != classifier.baseline)
    effect = float(_specification_effect_percent(np.log(printed[classifier.baseline] / best)))
    line = axis.axhline(effect, color=INK, lw=0.8, ls=(0, (5, 3)))
    mark(line, tips=[f"the paper: {effect:+.1f} %"])
    axis.annotate(
        "the paper",
        (1.0, effect),
        (-2, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        fontsize=7,
    )


def _describe_specification_effect(
    specification: Specification, mean: float, low: float, high: float, rival: str
) -> str:
    ends = f" ({low:+.1f} to {high:+.1f} %)" if np.isfinite(low) else ""
    chosen = "; ".join(f"{choice.rpartition('.')[2]} {name}" for choice, name in specification.chosen.items())
    return f"{specification.name}: {mean:+.1f} %{ends} vs. {rival}. {chosen}"


@styled
def plot_specification_closeness(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, *, narrow: bool = False
) -> Figure:
    """Draw the effect on the error rate against the error rate of all features over the paper's."""
    mean = _specification_effect_percent(classifier.spread("error").mean)
    ratio = _specification_error_against_paper(classifier)
    rivals = classifier.best_rivals("error")
    figure = Figure(figsize=(NARROW if narrow else WIDE, 3.0), layout="constrained")
    axis = figure.subplots()
    axis.axhline(0.0, color=INK, lw=0.8)
    axis.axvline(1.0, color=INK, lw=0.8, ls=(0, (5, 3)))
    for i, specification in enumerate(study.specifications):
        look: dict[str, Any] = {"marker": "D", "ms": 6} if specification.marked else {"marker": "o", "ms": 4.5}
        color = _BETTER if mean[i] < 0 else _WORSE
        dots = axis.plot([ratio[i]], [mean[i]], ls="", mew=0, color=color, alpha=0.75, **look)
        tip = _describe_specification_effect(specification, mean[i], np.nan, np.nan, rivals[i])
        mark(dots[0], tips=[f"all features {ratio[i]:.2g} times the paper's; {tip}"], key=specification.name)
    axis.set(
        xscale="log",
        xlabel="error rate of all features relative to the paper's",
        ylabel=f"{classifier.baseline} vs. best rival [%]\nerror rate",
    )
    axis.grid(color=FAINT, lw=0.5, alpha=0.35)
    return settle_layout(figure)
