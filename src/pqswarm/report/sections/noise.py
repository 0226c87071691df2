"""How robust the subsets are to noise: accuracy at each noise level, robust subsets, contrast estimation."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.report.section import Content, adaptive_drawing
from pqswarm.report.shared.interactive import mark
from pqswarm.report.shared.palette import EndLabel, Palette, label_ends
from pqswarm.report.shared.sentences import decibel, enumerate_words, points
from pqswarm.report.shared.spread import Spread, t_interval
from pqswarm.report.style import FAINT, GREY, LOSS, NARROW, STYLE
from pqswarm.report.summary import ClassifierSummary, DatasetSummary, NoiseSummary
from pqswarm.report.tables import Table
from pqswarm.statistics import contrast_estimation
from pqswarm.study.findings import ALL_FEATURES

YES, NO, UNKNOWN = "yes", "no", "inconclusive"
_WHOLE = "All features"
_NUMBER = "robust to noise"
_HELD_OUT = ("held_out_minimum", "held_out_low", "held_out_high", "held_out_where", "held_out_robust")


def noise_content(study: DatasetSummary, found: ClassifierSummary) -> Content:
    """Compare the accuracy of the best subsets with that of all features at each noise level."""
    noise, levels = found.noise, study.plan.dataset.snr
    if not any(level != inf for level in levels):
        return Content()
    if noise is None:
        return Content(numbers={_NUMBER: "not tested"})
    seen = noise.held_out if _n_sets(noise) else {ALL_FEATURES: noise.all_features, **noise.accuracy}
    rows = {title: values for title, values in seen.items() if title != ALL_FEATURES}
    whole = seen[ALL_FEATURES]
    sets = _n_sets(noise)
    events = f"{sets} set{'s' * (sets > 1)} of held-out events" if sets else "the events of the study, cross-validated"
    bars = " Vertical lines are 95 % t intervals over the sets." if sets > 1 else ""
    drawing = adaptive_drawing(
        "",
        "Accuracy of the best subsets against noise",
        f"On {events}. Top: accuracy, the fraction of events classified correctly. Bottom: gain over all features; "
        f"below zero, the subset is less accurate than all features.{bars}",
        plot_robustness,
        *(levels, rows, whole, study.palette),
    )
    gain = _noise_gain_on_held_out(noise, found.reference)
    return Content(
        drawings=[drawing],
        tables=[_robust(found, noise), *_accuracies(found, noise), *_held_out(found, noise), *_contrasts(found, noise)],
        answer=_sentences(found.reference, noise),
        numbers={_NUMBER: gain.conclusion if gain else "yes" if noise.robust(found.reference) else "no"},
    )


class _HeldOutGain(NamedTuple):
    """Whether a subset is robust on held-out events, and its minimum mean gain, with interval and noise level."""

    conclusion: str
    minimum: float
    low: float
    high: float
    level: float


def _n_sets(noise: NoiseSummary) -> int:
    return len(noise.held_out[ALL_FEATURES]) if noise.held_out else 0


def _noise_gain_on_held_out(noise: NoiseSummary, title: str) -> _HeldOutGain | None:
    """Robustness on held-out events, by the interval at each level; None if there are no intervals."""
    if _n_sets(noise) < 2 or title not in noise.held_out:
        return None
    gain = t_interval(noise.gains(title))
    conclusion = YES if (gain.low >= 0).all() else NO if (gain.high < 0).any() else UNKNOWN
    i = int(gain.mean.argmin())
    return _HeldOutGain(conclusion, float(gain.mean[i]), float(gain.low[i]), float(gain.high[i]), noise.levels[i])


def _sentences(reference: str, noise: NoiseSummary) -> list[str]:
    gain = noise.gain(reference)
    others = [title for title in noise.accuracy if title != reference]
    robust = [title for title in others if noise.robust(title)]
    if noise.robust(reference):
        more = f" So {_best_subsets(robust)}." if robust else " No other best subset is." if others else ""
        word = "more accurate than all features" if gain.min() > 0 else "never less accurate than all features"
        words = f"{word}, by {gain.min():.2f} to {gain.max():.2f} percentage points"
        words = words if gain.any() else "exactly as accurate as all features"
        first = (
            f"The best subset of {reference} is robust in cross-validation: at every noise level it is {words}.{more}"
        )
    else:
        pairs = zip(noise.levels, gain, strict=True)
        lost = [f"{-value:.2f} ({decibel(level)})" for level, value in pairs if value < 0]
        more = f" {_best_subsets(robust, robust=True)}." if robust else " Neither is any other." if others else ""
        first = (
            f"The best subset of {reference} is not robust in cross-validation: it is less accurate than all features "
            f"by {enumerate_words(lost)} percentage points.{more}"
        )
    return [first, *_held_out_sentence_on_noise(reference, noise, others)]


def _best_subsets(titles: Sequence[str], *, robust: bool = False) -> str:
    """The best subsets of some algorithms, as part of a sentence that says that they are robust."""
    one = len(titles) == 1
    subsets, verb = f"the best subset{'' if one else 's'} of {enumerate_words(titles)}", "is" if one else "are"
    return f"T{subsets[1:]} {verb} robust" if robust else f"{verb} {subsets}"


def _held_out_sentence_on_noise(reference: str, noise: NoiseSummary, others: Sequence[str]) -> list[str]:
    gain = _noise_gain_on_held_out(noise, reference)
    if gain is None:
        return []
    conclusions = {YES: "it is robust there", NO: "it is not robust there", UNKNOWN: "its robustness is inconclusive"}
    others_gain = {title: found for title in others if (found := _noise_gain_on_held_out(noise, title)) is not None}
    groups = [
        f"{word} ({enumerate_words(titles)})"
        for conclusion, word in ((YES, "robust"), (NO, "not robust"), (UNKNOWN, "inconclusive"))
        if (titles := [title for title, found in others_gain.items() if found.conclusion == conclusion])
    ]
    more = f" Best subsets of the other algorithms: {', '.join(groups)}." if groups else ""
    return [
        f"On {_n_sets(noise)} sets of held-out events its minimum gain over all features is {points(gain.minimum)} "
        f"percentage points, at {decibel(gain.level)} (95 % t interval {points(gain.low)} to {points(gain.high)}): "
        f"{conclusions[gain.conclusion]}.{more}"
    ]


def _robust(found: ClassifierSummary, noise: NoiseSummary) -> Table:
    columns = {"minimum": ("minimum θ", ".2f"), "where": ("at", ""), "robust": ("robust, cross-validated", "")}
    rows: list[dict[str, Any]] = []
    for title in noise.accuracy:
        gain, new = noise.gain(title), _noise_gain_on_held_out(noise, title)
        where = decibel(noise.levels[int(gain.argmin())])
        rows.append({"algorithm": title, "minimum": float(gain.min()), "where": where, "robust": noise.robust(title)})
        if _n_sets(noise) > 1:
            values = None if new is None else (new.minimum, new.low, new.high, decibel(new.level), new.conclusion)
            rows[-1] |= dict(zip(_HELD_OUT, values or (None,) * len(_HELD_OUT), strict=True))
    if _n_sets(noise) > 1:
        heads = ("minimum θ, held-out events", "95 % interval from", "to", "at", "robust, held-out events")
        columns |= {key: (head, ".2f") for key, head in zip(_HELD_OUT, heads, strict=True)}
    if found.paper:
        columns["paper"] = ("robust in the paper", "")
        rows = [row | {"paper": found.paper.robust(row["algorithm"])} for row in rows]
    note = "θ: gain in accuracy over all features, in percentage points. Robust: θ is not negative at any level."
    if _n_sets(noise) > 1:
        note += (
            f" On held-out events θ is the mean over {_n_sets(noise)} sets, with Student's t interval over the sets. "
            f"Yes: no interval reaches below zero; no: the interval of at least one level lies below zero; "
            f"inconclusive: neither. The intervals of the levels are not adjusted for their number."
        )
    return Table(
        "robust",
        f"Robust subsets with {found.name}: at least as accurate as all features at every noise level",
        rows,
        columns,
        signed=("minimum", "held_out_minimum") if _n_sets(noise) > 1 else ("minimum",),
        note=note,
    )


def _held_out(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    """The same on held-out events: means over the sets, with intervals of the gains."""
    sets = _n_sets(noise)
    if not sets:
        return []
    titles = [title for title in noise.held_out if title != ALL_FEATURES]
    gains = {title: t_interval(noise.gains(title)) for title in titles}
    rows: list[dict[str, Any]] = []
    for i, level in enumerate(noise.levels):
        whole = t_interval(noise.held_out[ALL_FEATURES][:, i])
        rows.append({"level": decibel(level), "all": float(whole.mean), "± all": _half(whole.mean, whole.high)})
        for title in titles:
            gain = gains[title]
            rows[-1] |= {title: float(noise.held_out[title][:, i].mean()), f"θ {title}": float(gain.mean[i])}
            rows[-1] |= {f"± {title}": _half(gain.mean[i], gain.high[i])}
    thetas = tuple(f"θ {title}" for title in titles)
    columns = {key: (key, ".2f") for key in rows[0]} | dict.fromkeys(thetas, ("θ", ".2f"))
    columns |= {key: ("±", ".2f") for key in rows[0] if key.startswith("± ")}
    columns |= {"level": ("SNR", ""), "all": ("Θ(U)", ".2f")}
    spread = f" ±: half-width of Student's 95 % t interval of θ, or of Θ(U), over the {sets} sets." if sets > 1 else ""
    return [
        Table(
            "noise-held-out",
            f"The same on held-out events, means over {sets} set{'s' * (sets > 1)}, with {found.name}",
            rows,
            columns,
            signed=thetas,
            across=thetas,
            note=f"The classifiers were trained on all events of the study at the same noise level.{spread}",
        )
    ]


def _half(mean: Any, high: Any) -> float | None:
    return None if np.isnan(high) else float(high - mean)


def _accuracies(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    ours = []
    for i, level in enumerate(noise.levels):
        accuracies = {title: float(values[i]) for title, values in noise.accuracy.items()}
        theta = {title: float(noise.gain(title)[i]) for title in noise.accuracy}
        ours.append((level, float(noise.all_features[i]), accuracies, theta))
    caption = f"Accuracy Θ [%] of the best subsets at each noise level with {found.name}"
    note = (
        "SNR: signal-to-noise ratio, ∞ without noise. Θ(U): accuracy of all features. θ: gain over Θ(U), in percentage "
        "points; negative gains are marked, the highest of each level is in bold. The subsets were selected without "
        "noise; the folds differ from those of the search."
    )
    tables = []
    for name, words, levels, more in (
        ("noise", caption, ours, note),
        ("noise-paper", f"The same in the paper, {found.name}", found.paper.noise, ""),
    ):
        rows: list[dict[str, Any]] = []
        for level, whole, accuracy, gain in levels:
            rows.append({"level": decibel(level), "all": whole})
            for title in accuracy:
                rows[-1] |= {title: accuracy[title], f"θ {title}": gain[title]}
        if rows:
            gains = tuple(key for key in rows[0] if key.startswith("θ "))
            columns = {key: ("θ" if key in gains else key, ".2f") for key in rows[0]}
            columns |= {"level": ("SNR", ""), "all": ("Θ(U)", ".2f")}
            tables.append(Table(name, words, rows, columns, signed=gains, across=gains, note=more))
    return tables


def _contrasts(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    titles = list(found.runs)
    values = np.array([noise.accuracy[title] for title in titles]).T
    if min(values.shape) < 2:
        return []
    matrix = contrast_estimation(values, names=titles).matrix.tolist()
    ours = {title: dict(zip(titles, row, strict=True)) for title, row in zip(titles, matrix, strict=True)}
    note = (
        "Estimate, from medians over the noise levels, of how much more accurate the algorithm of the row is than that "
        "of the column [percentage points]. Negative values are marked."
    )
    tables = []
    for name, words, rows, more in (
        ("contrast", f"Contrast estimation over the noise levels with {found.name}", ours, note),
        ("contrast-paper", f"The same in the paper, {found.name}", found.paper.contrast, ""),
    ):
        if rows:
            shown = [{"algorithm": title, **row} for title, row in rows.items()]
            columns = {title: (title, ".4f") for title in rows}
            tables.append(Table(name, words, shown, columns, signed=tuple(rows), note=more))
    return tables


def plot_robustness(
    levels: Sequence[float],
    accuracy: Mapping[str, FloatArray],
    all_features: FloatArray,
    palette: Palette | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw accuracy against noise [dB], and gain or loss over all features; t intervals if there are several sets."""
    palette = palette or Palette(accuracy)
    base = np.atleast_2d(all_features)  # one row per set of events
    rows = {title: np.atleast_2d(accuracy[title]) for title in palette.drawn(accuracy)}
    several = len(base) > 1
    places = np.arange(len(levels))
    aside = dict(
        zip(rows, np.linspace(-0.2, 0.2, len(rows)) if several and len(rows) > 1 else [0.0] * len(rows), strict=True)
    )
    labels = []
    with mpl.rc_context(STYLE):
        height = max(2.6, 0.5 + 0.22 * (len(rows) + 1))
        figure = Figure(figsize=(NARROW if narrow else 7.5, 2 * height + 0.8), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axis, values in ((upper, base), (lower, 0.0 * base)):
            known = t_interval(values)
            (line,) = axis.plot(places, known.mean, color=GREY, lw=1.3, ls=(0, (5, 2)), clip_on=False)
            mark(line, _WHOLE, _tips(_WHOLE, levels, known, "%"))
            if several and axis is upper:
                mark(axis.fill_between(places, known.low, known.high, color=GREY, alpha=0.25, lw=0), _WHOLE)
            labels.append(EndLabel(axis, _WHOLE, float(places[-1]), float(known.mean[-1]), GREY))
        worst, gains = [], []
        for title, values in rows.items():
            style = palette.line(title) | {"marker": palette.marker(title), "ms": 4.5, "mew": 0}
            at = places + aside[title]
            for axis, these, unit in ((upper, values, "%"), (lower, values - base, "percentage points")):
                known = t_interval(these)
                (line,) = axis.plot(at, known.mean, clip_on=False, **style)
                mark(line, title, _tips(title, levels, known, unit))
                if several:
                    look: Any = {"color": style["color"], "lw": 0.6 * style["lw"], "zorder": style["zorder"]}
                    mark(axis.vlines(at, known.low, known.high, **look), title)
                labels.append(palette.label(axis, title, float(at[-1]), float(known.mean[-1])))
            lost = known.high < 0 if several else known.mean < 0
            worst += list(zip(at[lost].tolist(), known.mean[lost].tolist(), strict=True))
            gains += [known.low, known.high] if several else [known.mean]
        low, high = min(float(np.min(gains)), 0.0), max(float(np.max(gains)), 0.0)
        margin = max(0.08 * (high - low), 0.05)
        lower.set_ylim(low - margin, high + margin)
        if low < 0.0:
            lower.axhspan(low - margin, 0.0, color=LOSS, alpha=0.12, lw=0, zorder=0)
        if worst:
            ring: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": "none", "mec": LOSS, "mew": 1.4}
            lower.plot(*zip(*worst, strict=True), ls="", clip_on=False, **ring)
            words = "circled in red: less accurate than all features"
            lower.set_title(f"{words} (whole interval)" if several else words, fontsize=8, color=LOSS)
        for axis in (upper, lower):
            axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        upper.set_ylabel("accuracy Θ [%]")
        lower.set_ylabel("gain θ [percentage points]")
        lower.set_xlabel("signal-to-noise ratio [dB]")
        lower.set_xticks(
            places, ["∞" if narrow and np.isinf(v) else "∞ dB" if np.isinf(v) else f"{v:g}" for v in levels]
        )
        lower.set_xlim(-0.15 + min(aside.values()), places[-1] + 0.1 + max(aside.values()))
        return label_ends(figure, labels)


def _tips(title: str, levels: Sequence[float], known: Spread, unit: str) -> list[str]:
    """The tooltip of each point of a line."""
    tips = []
    for level, mean, low, high in zip(levels, *known, strict=True):
        ends = "" if np.isnan(low) else f" (95 % interval {points(low)} to {points(high)})"
        tips.append(f"{title}, {decibel(level)}: {points(mean)} {unit}{ends}")
    return tips
