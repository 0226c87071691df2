"""Two studies in one report: the differences between their plans and their results."""

from collections.abc import Sequence
from math import inf
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.errors import PqswarmError
from pqswarm.report.claims import adjusted_p
from pqswarm.report.document import Document, Passage, describe_study, number_contents
from pqswarm.report.section import Content, Drawing, adaptive_drawing
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import EndLabel, Palette, label_ends
from pqswarm.report.shared.run_points import draw_points, run_points
from pqswarm.report.shared.sentences import count, decibel, percent
from pqswarm.report.style import FAINT, NARROW, STYLE
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.statistics import hommel

_Pair = tuple[ClassifierSummary, ClassifierSummary]


def compare_studies(first: StudySummary, second: StudySummary, names: tuple[str, str]) -> Document:
    """Compare two studies in one report: the classifiers, algorithms and noise levels that both have."""
    pairs = [(a, b) for a in first.classifiers for b in second.classifiers if a.name == b.name]
    if not pairs:
        raise PqswarmError(f"the studies {names[0]} and {names[1]} have no classifier of the same name.")
    opening = Content(
        answer=[_finding(pair, names) for pair in pairs],
        drawings=[_sizes(first, second, pairs, names)],
        tables=[_means(pairs, names)],
        words=[_caution(first, second)],
    )
    parts = [
        Passage("Differences between the plans", _plans(first, second, names)),
        Passage(f"How difficult the {first.item}s are", Content(tables=[_all_features(pairs, names)])),
        Passage("How robust the subsets are to noise", _noise(pairs, names)),
    ]
    document = Document(
        title=f"{names[0]} and {names[1]}",
        opening=opening,
        description=" ".join(f"{name}: {describe_study(s)}" for name, s in zip(names, (first, second), strict=True)),
        reference=second.reference,
        version=second.about.version,
        chapters=(),
        parts=tuple(part for part in parts if part.content.shown),
    )
    return number_contents(document)


def _finding(pair: _Pair, names: tuple[str, str]) -> str:
    """The results in both studies of the reference of the first, or of another algorithm that both have."""
    title = pair[0].reference if pair[0].reference in pair[1].runs else next(iter(_shared(pair)), None)
    parts = [f"all features have an error rate of {_both([f.all_features for f in pair], names)}"]
    if title is not None:
        means = [float(found.errors(title).mean()) for found in pair]
        sizes = [count(round(float(found.sizes(title).mean()), 1)) for found in pair]
        parts.append(f"the mean of {title} is {_both(means, names)}, with {sizes[0]} and {sizes[1]} features")
    return f"{pair[0].name}: {'; '.join(parts)}."


def _both(shares: Sequence[float], names: tuple[str, str]) -> str:
    return " and ".join(f"{percent(share)} in {name}" for share, name in zip(shares, names, strict=True))


def _shared(pair: _Pair) -> list[str]:
    return [title for title in pair[0].runs if title in pair[1].runs]


def _caution(first: StudySummary, second: StudySummary) -> str:
    # A plan determines generated events, but of your own data it has only the file name.
    if first.generated is not None and first.generated == second.generated:
        return "Both studies searched on the same events: differences are due to the searches."
    what, may = (f"{first.item}s", "" if first.generated is not None or second.generated is not None else "may have ")
    return (
        f"The studies {may}searched on different {what}: differences may be due to the {what}, the searches, or both. "
        f"The order of the algorithms can be compared."
    )


def _means(pairs: Sequence[_Pair], names: tuple[str, str]) -> Table:
    """Means of error and size side by side, with an unpaired test."""
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        titles = _shared(pair)
        tests = {
            what: hommel([adjusted_p({"a": a, "b": b}, "a")["b"] for a, b in values]).tolist()
            for what, values in (
                ("error", [tuple(np.round(found.errors(title), 12) for found in pair) for title in titles]),
                ("size", [tuple(found.sizes(title) for found in pair) for title in titles]),
            )
            if values
        }
        for i, title in enumerate(titles):
            row: dict[str, Any] = {"algorithm": title, "classifier": pair[0].name}
            for what, factor in (("error", 100.0), ("size", 1.0)):
                one, other = (
                    factor * float((found.errors(title) if what == "error" else found.sizes(title)).mean())
                    for found in pair
                )
                row |= {
                    f"{what} 1": one,
                    f"{what} 2": other,
                    f"{what} change": other - one,
                    f"{what} p": tests[what][i],
                }
            rows.append(row)
    if not rows:
        raise PqswarmError(f"the studies {names[0]} and {names[1]} have no algorithm of the same name.")
    columns: dict[str, tuple[str, str]] = {"classifier": ("classifier", "")}
    for what, heading, form in (("error", "error rate [%]", ".2f"), ("size", "features", ".1f")):
        columns |= {f"{what} {i + 1}": (f"{heading}, {name}", form) for i, name in enumerate(names)}
        columns |= {f"{what} change": ("difference", f"+{form}"), f"{what} p": ("p, Hommel-adjusted", "#.2g")}
    return Table(
        "means",
        f"Means of {names[0]} and {names[1]}",
        rows,
        columns,
        note=f"Runs: {_runs(pairs, names)}. p: two-sided Mann-Whitney test between the runs of the two studies, "
        f"Hommel-adjusted for the number of algorithms per classifier.",
    )


def _runs(pairs: Sequence[_Pair], names: tuple[str, str]) -> str:
    return "; ".join(
        f"{pair[0].name}, {' and '.join(f'{f.n_runs} in {n}' for f, n in zip(pair, names, strict=True))}"
        for pair in pairs
    )


def _sizes(first: StudySummary, second: StudySummary, pairs: Sequence[_Pair], names: tuple[str, str]) -> Drawing:
    def draw(narrow: bool = False) -> Figure:
        titles = dict.fromkeys(a.title for study in (first, second) for a in study.plan.algorithms)
        palette = Palette(titles, first.reference)
        rows, columns = (2 * len(pairs), 1) if narrow else (len(pairs), 2)
        most = max(len(found.runs) + len(found.sequential) for pair in pairs for found in pair)
        with mpl.rc_context(STYLE):
            size = (NARROW if narrow else 9.2, rows * max(2.7, 0.8 + 0.22 * most))
            figure = Figure(figsize=size, layout="constrained")
            axes = figure.subplots(rows, columns, squeeze=False).ravel()
            labels: list[EndLabel] = []
            shown = [(found, name) for pair in pairs for found, name in zip(pair, names, strict=True)]
            for axis, (found, name) in zip(axes, shown, strict=True):
                points, fronts, numbers = run_points(found)
                labels += draw_points(axis, points, (found.n_features, found.all_features), palette, fronts, numbers)
                axis.set_title(f"{found.name}, {name}", fontweight="bold", parse_math=False)
                axis.set(xlabel="features selected", ylabel="error rate [%]")
            return label_ends(figure, labels)

    return adaptive_drawing(
        "size",
        "Error rate against number of features",
        "Each panel has its own scale. Small markers are runs, large ones means, hollow ones searches that run only "
        "once.",
        draw,
    )


def _plans(first: StudySummary, second: StudySummary, names: tuple[str, str]) -> Content:
    rows = [
        {"key": key, "first": str(one), "second": str(other)} for key, one, other in first.plan.differences(second.plan)
    ]
    if not rows:
        return Content(words=["The plans are the same."])
    columns = {"first": (names[0], ""), "second": (names[1], "")}
    note = "Only keys that affect the results are listed."
    return Content(tables=[Table("plans", "Keys that differ", rows, columns, note=note)])


def _all_features(pairs: Sequence[_Pair], names: tuple[str, str]) -> Table:
    """J(U) of both, and of the paper if a study is compared with it."""
    rows = []
    for one, other in pairs:
        printed = one.paper.all_features if one.paper else other.paper.all_features
        row = {"classifier": one.name, "1": 100 * one.all_features, "2": 100 * other.all_features}
        row |= {"change": 100 * (other.all_features - one.all_features)}
        rows.append(row | {"paper": None if printed is None else 100 * printed})
    columns = {
        "1": (names[0], ".2f"),
        "2": (names[1], ".2f"),
        "change": ("difference", "+.2f"),
        "paper": ("paper", ".2f"),
    }
    used = "; ".join(
        f"{name}: {found.name}, {found.classifier.describe()}"
        for pair in pairs
        for found, name in zip(pair, names, strict=True)
    )
    return Table("all-features", "Error rate J(U) of all features [%]", rows, columns, note=f"{used}.")


def _noise(pairs: Sequence[_Pair], names: tuple[str, str]) -> Content:
    drawings, tables = [], []
    for pair in pairs:
        lines = _noise_lines(pair, names)
        if not lines:
            continue
        levels = list(next(iter(lines.values())))
        rows: list[dict[str, Any]] = [
            {"level": decibel(level)} | {key: values[level] for key, values in lines.items()} for level in levels
        ]
        columns = {"level": ("SNR", "")} | {key: (key, ".2f") for key in lines}
        drawings.append(
            Drawing(
                f"noise-{pair[0].slug}",
                f"Accuracy against noise with {pair[0].name}",
                "Dashed: all features. Solid: the best subset of the named algorithm.",
                lambda lines=lines, levels=levels: _plot_compared_noise(lines, levels),  # type: ignore[misc]
            )
        )
        tables.append(
            Table(
                f"noise-{pair[0].slug}",
                f"Accuracy [%] at the common noise levels, with {pair[0].name}",
                rows,
                columns,
                note="SNR: signal-to-noise ratio, ∞ without noise.",
            )
        )
    return Content(drawings=drawings, tables=tables)


def _noise_lines(pair: _Pair, names: tuple[str, str]) -> dict[str, dict[float, float]]:
    """Accuracies [%] by noise level [dB] of all features and of the reference's best subset, in both studies."""
    noise = pair[0].noise, pair[1].noise
    if noise[0] is None or noise[1] is None:
        return {}
    levels = [level for level in noise[0].levels if level in noise[1].levels]
    lines = {}
    for found, tested, name in zip(pair, noise, names, strict=True):
        assert tested is not None  # noqa: S101
        for title, values in (
            ("all features", tested.all_features),
            (found.reference, tested.accuracy[found.reference]),
        ):
            by_level = dict(zip(tested.levels, values.tolist(), strict=True))
            lines[f"{title}, {name}"] = {level: by_level[level] for level in levels}
    return lines if any(level != inf for level in levels) else {}  # without noise there is nothing to show


def _plot_compared_noise(lines: dict[str, dict[float, float]], levels: Sequence[float]) -> Figure:
    places = np.arange(len(levels))
    colours = Palette(["first", "second"])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 3.6), layout="constrained")
        axis = figure.subplots()
        labels = []
        for i, (name, values) in enumerate(lines.items()):
            y, colour = [values[level] for level in levels], colours.colour("second" if i > 1 else "first")
            line = axis.plot(places, y, color=colour, ls="-" if i % 2 else (0, (5, 2)), marker="o", ms=4, mew=0)[0]
            mark(line, name, [f"{name}, {decibel(level)}: {value:.2f} %" for level, value in values.items()])
            labels.append(EndLabel(axis, name, float(places[-1]), y[-1], colour, series=name))
        axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        axis.set(xlabel="signal-to-noise ratio [dB]", ylabel="accuracy Θ [%]")
        axis.set_xticks(places, [decibel(level).removesuffix(" dB") for level in levels])
        return label_ends(figure, labels)
