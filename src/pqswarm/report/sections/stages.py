"""The paper's tables and figures in its order: the investigation, stage I and stage II, on one data set."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from math import inf
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from pqswarm._base.text import noise_level_text
from pqswarm.events import class_title
from pqswarm.events.parameters import PARAMETERS
from pqswarm.report.claims import claims_table
from pqswarm.report.paper import EVENT_MODELS, SEARCH_PARAMETERS, SYMBOLS, paper_caption
from pqswarm.report.section import (
    PAPER,
    SOURCE,
    STUDY,
    Content,
    Drawing,
    Table,
    adaptive_drawing,
    count_runs,
    enumerate_words,
)
from pqswarm.report.sections.algorithms import performance_table, sffs_tables
from pqswarm.report.sections.chance import can_rank_runs, friedman_table, hommel_table
from pqswarm.report.sections.how import hyperparameters_content
from pqswarm.report.sections.noise import noise_contrast_table, noise_table
from pqswarm.report.style import COLORS, INK, NARROW, WIDE, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, MultiverseSummary, StudySummary
from pqswarm.study.plan import AlgorithmPlan

AnySummary = DatasetSummary | StudySummary | MultiverseSummary


def investigation_content(study: AnySummary) -> Content:
    """Show the framework, the bench, the events, the parameters of the searches, and the grid search."""
    first = study.first
    events = [] if first.generated is None else [_stages_events_table(first)]
    return Content(
        words=[_stages_guide(study)],
        drawings=[_framework_drawing(first), *_bench_drawings(first), *_grid_drawings(first)],
        tables=[*events, _stages_parameters_table(first)],
    )


def stage_one_content(study: AnySummary) -> Content:
    """Show the paper's Tables 3 to 8: performance, Friedman test, Hommel's procedure, SFFS."""
    first = study.first
    ranked = [classifier for classifier in first.classifiers if can_rank_runs(classifier)]
    words = (
        f"Which search finds the best subsets? {count_runs(first.plan.runs).capitalize()} of each algorithm with each "
        f"classifier, on events without noise."
    )
    tables = [_of_classifier(classifier, performance_table(first, classifier)) for classifier in first.classifiers]
    if ranked:
        tables.append(friedman_table(first, ranked))
    tables += [_of_classifier(classifier, hommel_table(first, classifier)) for classifier in ranked]
    tables += sffs_tables(first)
    if len(ranked) < len(first.classifiers):
        words += " Tables 5 to 7 of the paper, the Friedman test and Hommel's procedure, need at least three runs."
    return Content(words=[words], tables=tables)


def stage_two_content(study: AnySummary) -> Content:
    """Show the paper's Tables 9 to 12: accuracies at each noise level, and contrast estimation."""
    first = study.first
    tested = [(classifier, classifier.noise) for classifier in first.classifiers if classifier.noise is not None]
    if not tested or not any(level != inf for level in first.plan.dataset.snr):
        return Content()
    contrasts = [(classifier, noise_contrast_table(first, classifier, noise)) for classifier, noise in tested]
    words = "How robust are the best subsets to noise? They were selected without noise and are tested at each level."
    tables = [_of_classifier(classifier, noise_table(first, classifier, noise)) for classifier, noise in tested]
    tables += [_of_classifier(classifier, table) for classifier, table in contrasts if table is not None]
    return Content(words=[words], tables=tables)


def claims_content(study: AnySummary) -> Content:
    """Show the claims over the runs on one of several data sets; of a single one the first screen shows them."""
    claims = None if isinstance(study, DatasetSummary) else claims_table(study.first)
    return Content() if claims is None else Content(tables=[replace(claims, name="claims-by-runs")])


def _of_classifier(classifier: ClassifierSummary, table: Table) -> Table:
    return replace(table, name=f"{classifier.slug}-{table.name}")


def _stages_guide(study: AnySummary) -> str:
    """Which data set the paper's tables are of."""
    text = "The paper's tables and figures follow in its order, with its values in gray."
    if not study.first.name:
        return text
    others = "the specifications" if isinstance(study, MultiverseSummary) else "all data sets"
    return (
        f"{text} The paper has one data set, so its tables are shown for {study.first.name}; for another, run “pqswarm "
        f"report DIR --dataset NAME”. The results over {others} come after them."
    )


_UNITS = {"cycles": "T", "cycles left": "T", "notch periods": "T", "record": " of the record", "hertz": " Hz"}


def _stages_events_table(study: DatasetSummary) -> Table:
    """Model and ranges of each class, from the preset in use."""
    assert study.generated is not None  # noqa: S101
    preset = study.generated.make_preset()
    rows = []
    for name in study.class_names:
        model, printed = EVENT_MODELS.get(name, ("", None))
        ranges = [_range_in_words(key, spec) for key, spec in preset.models.get(name, {}).items()]
        shown = ", ".join(filter(None, ranges))
        rows.append({"event": class_title(name), "model": model, "parameters": shown, "paper": printed})
    fixed = {name: spec.value for name, spec in preset.common.items() if hasattr(spec, "value")}
    rate = f", sampled at {study.sampling_rate / 1000:g} kHz" if study.sampling_rate else ""
    length = f"{fixed['cycles']:g}" if "cycles" in fixed else "a varying number of"
    fraction = preset.bench_fraction
    bench = (
        "Part of the events of some classes comes from the simulated test bench."
        if isinstance(fraction, Mapping)
        else f"{100 * fraction:.0f} % of the events come from the simulated test bench (paper: about 10 %)."
    )
    record = f"records have {length} cycles{rate}"
    supply = f" with f = {fixed['frequency']:g} Hz" if "frequency" in fixed else ""
    return Table(
        "events",
        paper_caption(1, f"power quality events of the preset {preset.name}, and the ranges printed in the paper"),
        rows,
        {"event": ("PQ event", ""), "model": ("Model", ""), "parameters": ("Parameters", ""), "paper": ("Paper", "")},
        note=f"PQ: power quality. u(t) = 1 if t > 0, otherwise 0; ω = 2πf{supply}; T is a cycle; δ₁ makes Σ δ_k² = 1; "
        f"{record}. With a range in Hz, β_f ω is 2π times the flicker frequency β_f. {bench}",
    )


def _range_in_words(name: str, spec: Any) -> str:
    """The range of a parameter, such as ``0.1 ≤ K ≤ 0.4``; empty for values that follow from others."""
    symbol = SYMBOLS.get(PARAMETERS[name].symbol, PARAMETERS[name].symbol) if name in PARAMETERS else name
    if not symbol:
        return ""
    unit = _UNITS.get(getattr(spec, "unit", ""), "")
    unit = " Hz" if name == "flicker_frequency" and not unit else unit
    if hasattr(spec, "low") and hasattr(spec, "high"):
        steps = f" in {spec.number} steps" if hasattr(spec, "number") else ""
        return f"{spec.low:g}{unit} ≤ {symbol} ≤ {spec.high:g}{unit}{steps}"
    return f"{symbol} = {spec.value:g}" if hasattr(spec, "value") else ""


_GENERAL = ("swarm_size", "inertia", "cognitive", "social")


def _stages_parameters_table(study: DatasetSummary) -> Table:
    """All parameters of all searches of the plan, and those of the paper."""
    rows = []
    for algorithm in study.plan.algorithms:
        general, other = _parameters_in_words(algorithm)
        rows.append({"algorithm": algorithm.title, SOURCE: STUDY, "general": general, "other": other})
        if printed := SEARCH_PARAMETERS.get(algorithm.algorithm if algorithm.name == algorithm.algorithm else ""):
            rows.append({"algorithm": algorithm.title, SOURCE: PAPER, **{k: _symbols(v) for k, v in printed.items()}})
    return Table(
        "parameters",
        paper_caption(2, "search parameter settings"),
        rows,
        {"general": ("General PSO parameters [ps, ω, c₁, c₂, v_min, v_max]", ""), "other": ("Other parameters", "")},
        note="ps: swarm size; ω: inertia weight; c₁, c₂: acceleration constants; v_min, v_max: limits of the velocity; "
        "N: population size; p_c, p_m: probabilities of crossover and mutation; as: colony size; a: pheromone update "
        f"factor; {SYMBOLS['rho']}: evaporation; τ_min, τ_max: limits of the pheromone; C: catfish "
        "particles; u: unification factor; RG: refresh gap. Parameters without a symbol in the paper have "
        "their names in a plan.",
    )


def _symbols(text: str) -> str:
    for plain in ("rho", "tau_min", "tau_max"):
        text = text.replace(plain, SYMBOLS[plain])
    return text.replace("variable w", "variable ω")


def _parameters_in_words(algorithm: AlgorithmPlan) -> tuple[str, str]:
    """The general parameters of swarms in the paper's order, and all others."""
    chosen = algorithm.search.Parameters.of(algorithm.settings)
    values = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
    symbols = {field.name: field.metadata.get("symbol", "") for field in fields(chosen)}
    general = "-"
    if "swarm_size" in values:
        shown = [_plain_value(values.pop(name, None)) for name in _GENERAL]
        limit = values.pop("velocity_limit", None)
        limits = ["-", "-"] if limit is None else [_plain_value(-limit), _plain_value(limit)]
        general = f"[{', '.join(shown + limits)}]"
    others = [
        f"{SYMBOLS.get(symbols[name], symbols[name]) or name} = {_plain_value(value)}"
        for name, value in values.items()
        if value not in (None, ())
    ]
    return general, ", ".join(others) or "-"


def _plain_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _grid_drawings(study: DatasetSummary) -> list[Drawing]:
    """The grid search of each classifier, with the point that was used and the paper's."""
    return [
        replace(
            drawing,
            name=f"grid-{classifier.slug}",
            caption=f"Figure 3{letter} of the paper: grid search of the hyperparameters of "
            f"{classifier.name}{study.where}",
        )
        for letter, classifier in zip("abcdefgh", study.classifiers, strict=False)
        for drawing in hyperparameters_content(study, classifier).drawings
    ]


def _framework_drawing(study: DatasetSummary) -> Drawing:
    plan = study.plan
    titles = enumerate_words([algorithm.title for algorithm in plan.algorithms])
    classifiers = enumerate_words([classifier.name for classifier in study.classifiers])
    noisy = [noise_level_text(level) for level in plan.dataset.snr if level != inf]
    steps = {
        "Stage I: comparative evaluation": [
            f"{len(study.class_names)} classes, {study.n_events} {study.item}s, ∞ dB",
            f"{len(study.feature_names)} features U",
            f"Search: {titles}",
            f"Wrapper: {classifiers}; J(X) by {plan.folds.number}-fold cross-validation",
            f"{count_runs(plan.runs).capitalize()}, {plan.max_evaluations} evaluations each: subsets X",
            "Friedman test, Hommel's procedure, SFFS",
        ],
        "Stage II: robustness to noise": [
            f"The same {study.item}s at {enumerate_words(noisy) if noisy else 'no other level'}",
            "Features of the best subset X of each algorithm",
            f"{classifiers}: accuracies Θ(X) and Θ(U)",
            "Gain θ(X) = Θ(X) - Θ(U); robust if never negative",
            "Contrast estimation over the levels",
        ],
    }
    return adaptive_drawing(
        "framework", paper_caption(1, "the investigation framework", "Figure"), "", plot_framework, steps
    )


@styled
def plot_framework(steps: Mapping[str, Sequence[str]], *, narrow: bool = False) -> Figure:
    """Draw the steps of each stage as boxes below each other; the stages side by side or, if narrow, too."""
    most = max(len(boxes) for boxes in steps.values())
    columns = 1 if narrow else len(steps)
    rows = (most + 1) * (len(steps) if narrow else 1)
    figure = Figure(figsize=(NARROW if narrow else WIDE, 0.5 * rows))
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axis.set(xlim=(0, columns), ylim=(rows - 0.9, -0.9))
    axis.axis("off")
    for stage, (title, boxes) in enumerate(steps.items()):
        left = 0 if narrow else stage
        top = stage * (most + 1) if narrow else 0
        axis.text(left + 0.5, top - 0.4, title, ha="center", va="center", weight="bold", fontsize=10)
        for row, words in enumerate(boxes):
            look: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.04", "fc": "none", "ec": COLORS[0]}
            axis.add_patch(FancyBboxPatch((left + 0.04, top + row + 0.1), 0.92, 0.7, lw=1.2, **look))
            place = (left + 0.5, top + row + 0.45)
            axis.text(
                *place, fill(words, 54 if narrow else 46), ha="center", va="center", fontsize=8.5, parse_math=False
            )
            if row:
                _draw_arrow(axis, (left + 0.5, top + row - 0.2), (left + 0.5, top + row + 0.1))
    if not narrow:  # the subsets of stage I are what stage II tests
        _draw_arrow(axis, (0.96, 4.45), (1.04, 1.45))
    return figure


def _draw_arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0})


def _bench_drawings(study: DatasetSummary) -> list[Drawing]:
    """The circuit of the bench, if events of the study come from it."""
    if study.generated is None:
        return []
    preset = study.generated.make_preset()
    if not preset.bench:
        return []
    classes = enumerate_words([class_title(name).lower() for name in preset.bench])
    note = (
        f"One phase of three. The paper shows a photograph of a laboratory; here its circuit is simulated. Rs, Ls: "
        f"source; R: load; Rdc: load of a six-diode bridge, the source of harmonics; C: capacitor bank, the source "
        f"of transients; Rf: fault of phase a to ground, the cause of sags. It produces the classes {classes}."
    )
    caption = paper_caption(2, "the setup that generates events, as simulated here", "Figure")
    return [Drawing("bench", caption, note, plot_bench, narrow=partial(plot_bench, narrow=True))]


_WIRES: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = (
    ((0.7, 0.7, 1.2), (2.93, 3.6, 3.6)),
    ((1.9, 2.2), (3.6, 3.6)),
    ((2.92, 9.1), (3.6, 3.6)),
    ((4.3, 4.3), (3.6, 2.3)),
    ((4.3, 4.3), (1.6, 0.8)),
    ((5.9, 5.9), (3.6, 3.0)),
    ((5.9, 5.9), (2.15, 1.9)),
    ((5.9, 5.9), (1.2, 0.8)),
    ((7.5, 7.5), (3.6, 3.0)),
    ((7.8, 7.5, 7.5), (2.95, 2.5, 1.85)),
    ((7.2, 7.8), (1.85, 1.85)),
    ((7.2, 7.8), (1.65, 1.65)),
    ((7.5, 7.5), (1.65, 0.8)),
    ((9.1, 9.1), (3.6, 3.0)),
    ((9.4, 9.1, 9.1), (2.95, 2.5, 2.3)),
    ((9.1, 9.1), (1.6, 0.8)),
)
_RESISTORS = ((1.2, 3.45, 0.7, 0.3), (4.15, 1.6, 0.3, 0.7), (5.75, 1.2, 0.3, 0.7), (8.95, 1.6, 0.3, 0.7))
_GROUNDED = {4.3: "load", 5.9: "rectifier", 7.5: "capacitor", 9.1: "fault"}
_NAMES = {
    "~": (0.7, 2.6),
    "source": (0.7, 1.95),
    "Rs": (1.55, 4.05),
    "Ls": (2.56, 4.05),
    "R": (4.75, 1.95),
    "Rdc": (6.5, 1.55),
    "C": (8.05, 1.75),
    "Rf": (9.6, 1.95),
}
"""The circuit of the bench, with y upwards: wires, resistors as boxes, what is grounded, and names."""


@styled
def plot_bench(*, narrow: bool = False) -> Figure:
    """Draw the circuit of the bench: source, coupling point, and what is connected to it."""
    figure = Figure(figsize=(NARROW if narrow else WIDE, 2.6 if narrow else 3.4))
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axis.set(xlim=(0, 10), ylim=(0, 4.6))
    axis.axis("off")
    text: dict[str, Any] = {"fontsize": 8.0 if narrow else 9.5, "ha": "center", "va": "center"}
    line: dict[str, Any] = {"color": INK, "lw": 1.2}
    shape: dict[str, Any] = {"fc": "none", "ec": INK, "lw": 1.2}
    for x, y in _WIRES:
        axis.plot(x, y, **line)
    for left, bottom, width, height in (*_RESISTORS, (5.45, 2.15, 0.9, 0.85)):
        axis.add_patch(Rectangle((left, bottom), width, height, **shape))
    for center, radius in (((0.7, 2.6), 0.33), ((2.32, 3.6), 0.12), ((2.56, 3.6), 0.12), ((2.8, 3.6), 0.12)):
        axis.add_patch(Circle(center, radius, **shape))
    for place, words in _GROUNDED.items():
        axis.hlines([0.8, 0.68], [place - 0.25, place - 0.12], [place + 0.25, place + 0.12], **line)
        axis.text(place, 0.3, words, **text)
    axis.fill([5.7, 5.7, 6.05], [2.35, 2.8, 2.575], color=COLORS[0])  # the diodes
    axis.plot([6.1, 6.1], [2.35, 2.8], color=COLORS[0], lw=1.6)
    axis.plot([3.4], [3.6], marker="o", ms=6, color=COLORS[1])
    axis.text(4.4, 4.2, "coupling point, recorded", color=COLORS[1], **text)
    for words, (right, up) in _NAMES.items():
        axis.text(right, up, words, **text)
    return figure
