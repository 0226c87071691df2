"""How robust the subsets are to noise: accuracy at each noise level, robust subsets, contrast estimation."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.text import noise_level_text
from pqswarm._base.typing import FloatArray
from pqswarm.report.section import (
    BEST,
    FORMAT,
    PAPER,
    SOURCE,
    STUDY,
    Content,
    Table,
    adaptive_drawing,
    points,
)
from pqswarm.report.style import FAINT, GREY, LOSS, NARROW, EndLabel, Palette, label_line_ends, mark, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, NoiseSummary
from pqswarm.statistics import contrast_estimation
from pqswarm.statistics.intervals import Spread, t_interval
from pqswarm.study.findings import ALL_FEATURES

_WHOLE = "All features"


def noise_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Compare the accuracy of the best subsets with that of all features at each noise level."""
    noise = classifier.noise
    levels = study.plan.dataset.snr
    if noise is None or not any(level != inf for level in levels):
        return Content()
    sets = _n_noise_sets(noise)
    tested = noise.held_out if sets else {ALL_FEATURES: noise.all_features, **noise.accuracy}
    events = f"{sets} set{'s' * (sets > 1)} of held-out events" if sets else "the events of the study, cross-validated"
    bars = " Vertical lines are 95 % t intervals over the sets." if sets > 1 else ""
    drawing = adaptive_drawing(
        "",
        "Accuracy of the best subsets against noise",
        f"On {events}. Top: accuracy, the fraction of events classified correctly. Bottom: gain over all features; "
        f"below zero, the subset is less accurate than all features.{bars}",
        plot_robustness,
        levels,
        {title: accuracy for title, accuracy in tested.items() if title != ALL_FEATURES},
        tested[ALL_FEATURES],
        study.palette,
    )
    tables = (noise_table(study, classifier, noise), noise_contrast_table(study, classifier, noise))
    own = [table for table in tables if table is not None and not study.plan.paper]  # else they are shown before
    return Content(
        drawings=[drawing],
        tables=[
            _noise_robustness_table(classifier, noise),
            *own,
            *_noise_held_out_tables(classifier, noise),
        ],
    )


def _n_noise_sets(noise: NoiseSummary) -> int:
    return len(noise.held_out[ALL_FEATURES]) if noise.held_out else 0


_ON_HELD_OUT = {
    "held_out_minimum": ("minimum θ, held-out events", ".2f"),
    "held_out_low": ("95 % interval from", ".2f"),
    "held_out_high": ("to", ".2f"),
    "held_out_where": ("at", ""),
    "held_out_robust": ("robust, held-out events", ""),
}
"""Columns of the table of robustness."""


def _noise_gain_on_held_out(noise: NoiseSummary, title: str) -> dict[str, Any]:
    """Whether a subset is robust on held-out events, by the interval at each level, and its minimum mean gain."""
    if title not in noise.held_out:
        return dict.fromkeys(_ON_HELD_OUT)
    gain = t_interval(noise.gains(title))
    i = int(gain.mean.argmin())
    conclusion = "yes" if (gain.low >= 0).all() else "no" if (gain.high < 0).any() else "inconclusive"
    found = (
        float(gain.mean[i]),
        float(gain.low[i]),
        float(gain.high[i]),
        noise_level_text(noise.levels[i]),
        conclusion,
    )
    return dict(zip(_ON_HELD_OUT, found, strict=True))


def _noise_robustness_table(classifier: ClassifierSummary, noise: NoiseSummary) -> Table:
    columns = {"minimum": ("minimum θ", ".2f"), "where": ("at", ""), "robust": ("robust, cross-validated", "")}
    note = "θ: gain in accuracy over all features, in percentage points. Robust: θ is not negative at any level."
    sets = _n_noise_sets(noise)
    if sets > 1:
        columns |= _ON_HELD_OUT
        note += (
            f" On held-out events θ is the mean over {sets} sets, with Student's t interval over the sets. Yes: no "
            f"interval reaches below zero; no: the interval of at least one level lies below zero; inconclusive: "
            f"neither. The intervals of the levels are not adjusted for their number."
        )
    if classifier.paper:
        columns["paper"] = ("robust in the paper", "")
    rows: list[dict[str, Any]] = []
    for title in noise.accuracy:
        gain = noise.gain(title)
        row = {
            "algorithm": title,
            "minimum": float(gain.min()),
            "where": noise_level_text(noise.levels[int(gain.argmin())]),
            "robust": noise.robust(title),
            **(_noise_gain_on_held_out(noise, title) if sets > 1 else {}),
        }
        rows.append(row | ({"paper": classifier.paper.robust(title)} if classifier.paper else {}))
    return Table(
        "robust",
        f"Robust subsets with {classifier.name}: at least as accurate as all features at every noise level",
        rows,
        columns,
        signed=tuple(key for key in ("minimum", "held_out_minimum") if key in columns),
        note=note,
    )


def _noise_held_out_tables(classifier: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    """The same on held-out events: means over the sets, with intervals of the gains."""
    sets = _n_noise_sets(noise)
    if not sets:
        return []
    titles = [title for title in noise.held_out if title != ALL_FEATURES]
    whole = t_interval(noise.held_out[ALL_FEATURES])
    gains = {title: t_interval(noise.gains(title)) for title in titles}
    rows: list[dict[str, Any]] = []
    for i, level in enumerate(noise.levels):
        row = {"level": noise_level_text(level), "all": float(whole.mean[i]), "± all": _noise_gain_half_width(whole, i)}
        for title, gain in gains.items():
            row[title] = float(noise.held_out[title][:, i].mean())
            row[f"θ {title}"] = float(gain.mean[i])
            row[f"± {title}"] = _noise_gain_half_width(gain, i)
        rows.append(row)
    spread = f" ±: half-width of Student's 95 % t interval of θ, or of Θ(U), over the {sets} sets." if sets > 1 else ""
    caption = f"The same on held-out events, means over {sets} set{'s' * (sets > 1)}, with {classifier.name}"
    note = f"The classifiers were trained on all events of the study at the same noise level.{spread}"
    symbols = {key: key.partition(" ")[0] for key in rows[0] if key.startswith(("θ ", "± "))}
    columns = {key: (symbols.get(key, key), ".2f") for key in rows[0]} | {
        "level": ("SNR", ""),
        "all": ("Θ(U)", ".2f"),
    }
    marked = tuple(key for key, symbol in symbols.items() if symbol == "θ")
    return [Table("noise-held-out", caption, rows, columns, signed=marked, across=marked, note=note)]


def _noise_gain_half_width(spread: Spread, i: int) -> float | None:
    return None if np.isnan(spread.high[i]) else float(spread.high[i] - spread.mean[i])


def noise_table(study: DatasetSummary, classifier: ClassifierSummary, noise: NoiseSummary) -> Table:
    """Return accuracies and gains at each noise level, as in the paper's Tables 9 and 10."""
    titles = [*classifier.runs, *(title for title in classifier.ensembles if title in noise.accuracy)]
    measured = {
        level: (
            float(noise.all_features[i]),
            {title: float(noise.accuracy[title][i]) for title in titles},
            {title: float(noise.gain(title)[i]) for title in titles},
        )
        for i, level in enumerate(noise.levels)
    }
    printed = {level: (whole, accuracy, gain) for level, whole, accuracy, gain in classifier.paper.noise}
    rows: list[dict[str, Any]] = []
    for level in sorted({*measured, *printed}, reverse=True):
        sources = {STUDY: measured.get(level), PAPER: printed.get(level)}
        for symbol, place in (("Θ", 1), ("θ", 2)):
            for source, values in sources.items():
                if values is not None:
                    cells = {title: values[place].get(title) for title in titles}  # type: ignore[union-attr]
                    first = {"level": noise_level_text(level), "all": values[0], "result": symbol, SOURCE: source}
                    rows.append({**first, **cells, FORMAT: ".2f"})
    return Table(
        "noise",
        classifier.paper.caption(
            "noise",
            f"classification accuracy [%] obtained with the reduced subsets with {classifier.name}{study.where}",
        ),
        rows,
        {"level": ("SNR", ""), "all": ("All features Θ(U)", ".2f"), "result": ("Results", "")},
        signed=tuple(titles),
        across=tuple(titles),
        note="SNR: signal-to-noise ratio, ∞ without noise. Θ: accuracy of the best subset of each algorithm, selected "
        "without noise. θ: gain over all features, Θ - Θ(U); the highest of each level is in bold, negative ones are "
        "underlined.",
    )


def noise_contrast_table(study: DatasetSummary, classifier: ClassifierSummary, noise: NoiseSummary) -> Table | None:
    """Return contrast estimates over the noise levels, as in the paper's Tables 11 and 12; None if too few."""
    printed = classifier.paper.contrast
    own = [title for title in classifier.runs if title in printed]
    titles = own if len(own) > 1 else list(classifier.runs)  # estimates of a pair depend on all algorithms in the table
    values = np.array([noise.accuracy[title] for title in titles]).T
    if min(values.shape) < 2:
        return None
    matrix = contrast_estimation(values, names=titles).matrix.tolist()
    rows: list[dict[str, Any]] = []
    for title, estimates in zip(titles, matrix, strict=True):
        marks = {FORMAT: ".4f", BEST: "positive"}
        rows.append({"algorithm": title, SOURCE: STUDY, **dict(zip(titles, estimates, strict=True)), **marks})
        if title in printed:
            cells = {other: printed[title].get(other) for other in titles}
            rows.append({"algorithm": title, SOURCE: PAPER, **cells, **marks, FORMAT: ".4g"})
    return Table(
        "contrast",
        classifier.paper.caption("contrast", f"contrast estimation results with {classifier.name}{study.where}"),
        rows,
        across=tuple(titles),
        note=f"Estimate, from medians over the {len(noise.levels)} noise levels, the one without noise included, of "
        f"how much more accurate the algorithm of the row is than that of the column [percentage points]. Positive "
        f"values are in bold. It has no level of significance.",
    )


@styled
def plot_robustness(
    levels: Sequence[float],
    accuracy: Mapping[str, FloatArray],
    all_features: FloatArray,
    palette: Palette,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw accuracy against noise [dB], and gain or loss over all features; t intervals if there are several sets."""
    whole = np.atleast_2d(all_features)  # one row per set of events
    values = {title: np.atleast_2d(accuracy[title]) for title in palette.drawn(accuracy)}
    has_intervals = len(whole) > 1
    # Intervals of several algorithms are drawn next to each other.
    width = 0.2 if has_intervals and len(values) > 1 else 0.0
    aside = dict(zip(values, np.linspace(-width, width, len(values)).tolist(), strict=True))
    places = np.arange(len(levels))
    gains = {title: t_interval(each - whole) for title, each in values.items()}
    labels = []
    height = max(2.6, 0.5 + 0.22 * (len(values) + 1))
    figure = Figure(figsize=(NARROW if narrow else 7.5, 2 * height + 0.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axis, spread in ((upper, t_interval(whole)), (lower, t_interval(0.0 * whole))):
        line = axis.plot(places, spread.mean, color=GREY, lw=1.3, ls=(0, (5, 2)), clip_on=False)
        mark(line[0], _WHOLE, _noise_tips(_WHOLE, levels, spread, "%"))
        if has_intervals and axis is upper:
            mark(axis.fill_between(places, spread.low, spread.high, color=GREY, alpha=0.25, lw=0), _WHOLE)
        labels.append(EndLabel(axis, _WHOLE, float(places[-1]), float(spread.mean[-1]), GREY))
    for title, each in values.items():
        at = places + aside[title]
        for axis, spread, unit in ((upper, t_interval(each), "%"), (lower, gains[title], "percentage points")):
            _draw_noise_spread(axis, at, spread, palette, title, _noise_tips(title, levels, spread, unit))
            labels.append(palette.label(axis, title, float(at[-1]), float(spread.mean[-1])))
    _mark_losses_by_noise(lower, {title: places + aside[title] for title in values}, gains)
    for axis in (upper, lower):
        axis.grid(color=FAINT, lw=0.5, alpha=0.35)
    upper.set_ylabel("accuracy Θ [%]")
    lower.set(xlabel="signal-to-noise ratio [dB]", ylabel="gain θ [percentage points]")
    infinity = "∞" if narrow else "∞ dB"
    lower.set_xticks(places, [infinity if np.isinf(level) else f"{level:g}" for level in levels])
    lower.set_xlim(-0.15 + min(aside.values()), places[-1] + 0.1 + max(aside.values()))
    return label_line_ends(figure, labels)


def _draw_noise_spread(
    axis: Axes, at: FloatArray, spread: Spread, palette: Palette, title: str, tips: Sequence[str]
) -> None:
    """Draw the means of an algorithm as a line, and intervals as vertical lines."""
    style = palette.line(title) | {"marker": palette.marker(title), "ms": 4.5, "mew": 0}
    mark(axis.plot(at, spread.mean, clip_on=False, **style)[0], title, tips)
    if np.isfinite(spread.low).all():
        look: Any = {"color": style["color"], "lw": 0.6 * style["lw"], "zorder": style["zorder"]}
        mark(axis.vlines(at, spread.low, spread.high, **look), title)


def _mark_losses_by_noise(axis: Axes, places: Mapping[str, FloatArray], gains: Mapping[str, Spread]) -> None:
    """Shade the side of losses, and circle those whose interval, if any, lies below zero."""
    has_intervals = all(np.isfinite(gain.low).all() for gain in gains.values())
    lows = [gain.low if has_intervals else gain.mean for gain in gains.values()]
    highs = [gain.high if has_intervals else gain.mean for gain in gains.values()]
    low = min(float(np.min(lows)), 0.0)
    high = max(float(np.max(highs)), 0.0)
    margin = max(0.08 * (high - low), 0.05)
    axis.set_ylim(low - margin, high + margin)
    if low < 0.0:
        axis.axhspan(low - margin, 0.0, color=LOSS, alpha=0.12, lw=0, zorder=0)
    is_lost = np.concatenate(highs) < 0
    if is_lost.any():
        x = np.concatenate(list(places.values()))[is_lost]
        y = np.concatenate([gain.mean for gain in gains.values()])[is_lost]
        ring: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": "none", "mec": LOSS, "mew": 1.4}
        axis.plot(x, y, ls="", clip_on=False, **ring)
        words = "circled in red: less accurate than all features"
        axis.set_title(f"{words} (whole interval)" if has_intervals else words, fontsize=8, color=LOSS)


def _noise_tips(title: str, levels: Sequence[float], known: Spread, unit: str) -> list[str]:
    """The tooltip of each point of a line."""
    tips = []
    for level, mean, low, high in zip(levels, *known, strict=True):
        ends = "" if np.isnan(low) else f" (95 % interval {points(low)} to {points(high)})"
        tips.append(f"{title}, {noise_level_text(level)}: {points(mean)} {unit}{ends}")
    return tips
