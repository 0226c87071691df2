"""The question "Do the subsets stand noise?": accuracy at each noise level, robust subsets, contrast estimation."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sentences import decibel, enumerate_words
from pqswarm.report.style import FAINT, GREY, LOSS, STYLE, EndLabel, Palette, label_ends
from pqswarm.report.summary import ClassifierSummary, NoiseSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.statistics import contrast_estimation

__all__ = ["content", "plot_robustness"]


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Lay the accuracy of the best subsets at each noise level beside that of all features."""
    noise = found.noise
    tested = noise is not None and any(level != inf for level in noise.levels)
    verdict = ("yes" if noise.robust(found.reference) else "no") if noise is not None and tested else "not tested"
    numbers = {"robust to noise": verdict}
    if noise is None:
        return Content(numbers=numbers)
    drawing = Drawing(
        "",
        "Accuracy of the best subsets against noise",
        "Above: accuracy, the share of events that are classified correctly. Below: gain over all features; what falls "
        "below zero does worse than all features.",
        lambda: plot_robustness(noise.levels, noise.accuracy, noise.all_features, study.palette),
    )
    return Content(
        drawings=[drawing],
        tables=[_robust(found, noise), *_accuracies(found, noise), *_contrasts(found, noise)],
        answer=_sentences(found.reference, noise) if tested else (),
        numbers=numbers,
    )


def _sentences(reference: str, noise: NoiseSummary) -> list[str]:
    gain = noise.gain(reference)
    others = [title for title in noise.accuracy if title != reference]
    robust = [title for title in others if noise.robust(title)]
    if noise.robust(reference):
        more = f" So is the best of {enumerate_words(robust)}." if robust else " No other is." if others else ""
        word = "more accurate than all features" if gain.min() > 0 else "never less accurate than all features"
        words = f"{word}, by {gain.min():.2f} to {gain.max():.2f} percentage points"
        words = words if gain.any() else "exactly as accurate as all features"
        return [f"The best subset of {reference} is robust: at every noise level it is {words}.{more}"]
    lost = [f"{-value:.2f} at {decibel(level)}" for level, value in zip(noise.levels, gain, strict=True) if value < 0]
    more = f" Robust is the best of {enumerate_words(robust)}." if robust else " Nor is any other." if others else ""
    return [
        f"The best subset of {reference} is not robust: it is less accurate than all features by "
        f"{enumerate_words(lost)} [percentage points].{more}"
    ]


def _robust(found: ClassifierSummary, noise: NoiseSummary) -> Table:
    columns = {"least": ("least θ", ".2f"), "where": ("at", "")}
    rows: list[dict[str, Any]] = []
    for title in noise.accuracy:
        gain = noise.gain(title)
        where = decibel(noise.levels[int(gain.argmin())])
        rows.append({"algorithm": title, "least": float(gain.min()), "where": where, "robust": noise.robust(title)})
    if found.paper:
        columns["paper"] = ("robust in the paper", "")
        rows = [row | {"paper": found.paper.robust(row["algorithm"])} for row in rows]
    return Table(
        "robust",
        f"Robust subsets with {found.name}: at least as good as all features at every noise level",
        rows,
        columns,
        signed=("least",),
        note="θ: gain in accuracy over all features, in percentage points.",
    )


def _accuracies(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    ours = []
    for i, level in enumerate(noise.levels):
        accuracies = {title: float(values[i]) for title, values in noise.accuracy.items()}
        theta = {title: float(noise.gain(title)[i]) for title in noise.accuracy}
        ours.append((level, float(noise.all_features[i]), accuracies, theta))
    caption = f"Accuracy Θ [%] of the best subsets at each noise level with {found.name}"
    note = (
        "SNR: signal-to-noise ratio, ∞ without noise. Θ(U): accuracy of all features. θ: gain over it, in percentage "
        "points; negative gains are marked, the highest of each level is in bold. The subsets were selected without "
        "noise; folds are other ones than in the search."
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
        "of the column [percentage points]. Where it is less accurate, the value is marked."
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
) -> Figure:
    """Draw the accuracy against the noise, and what the selection of features gained or lost.

    Parameters
    ----------
    levels : sequence of float
        Signal-to-noise ratios [dB], in the order in which to draw them.
    accuracy : mapping of str to array of float, shape (n_levels,)
        For each algorithm, the accuracy Theta with its features [%].
    all_features : array of float, shape (n_levels,)
        The accuracy with all features [%].
    palette : Palette, optional
        Colours and markers, and which algorithm is emphasised.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels; below, what is worse than all features is ringed in red on a red ground.

    Examples
    --------
    >>> figure = plot_robustness([float("inf"), 20], {"GA": [99.0, 80.0]}, [95.0, 85.0])
    >>> figure.axes[1].get_title(loc="left")
    'ringed in red: worse than all features'
    """
    if not accuracy:
        raise PqswarmError("accuracy is empty: a figure needs at least one algorithm.")
    palette = palette or Palette(accuracy)
    base = _row("all features", all_features, len(levels))
    rows = {title: _row(title, values, len(levels)) for title, values in accuracy.items()}
    places = np.arange(len(levels))
    labels = []
    with mpl.rc_context(STYLE):
        height = max(2.6, 0.5 + 0.22 * (len(rows) + 1))
        figure = Figure(figsize=(7.5, 2 * height + 0.8), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axis, line in ((upper, base), (lower, 0.0 * base)):
            axis.plot(places, line, color=GREY, lw=1.3, ls=(0, (5, 2)), clip_on=False)
            labels.append(EndLabel(axis, "All features", float(places[-1]), float(line[-1]), GREY))
        for title in palette.drawn(rows):
            style = palette.line(title) | {"marker": palette.marker(title), "ms": 4.5, "mew": 0}
            for axis, line in ((upper, rows[title]), (lower, rows[title] - base)):
                axis.plot(places, line, clip_on=False, **style)
                labels.append(palette.label(axis, title, float(places[-1]), float(line[-1])))
        gains = np.array([values - base for values in rows.values()])
        low, high = min(float(gains.min()), 0.0), max(float(gains.max()), 0.0)
        margin = max(0.08 * (high - low), 0.05)
        lower.set_ylim(low - margin, high + margin)
        if low < 0.0:
            worse = np.nonzero(gains < 0.0)
            lower.axhspan(low - margin, 0.0, color=LOSS, alpha=0.12, lw=0, zorder=0)
            ring: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": "none", "mec": LOSS, "mew": 1.4}
            lower.plot(places[worse[1]], gains[worse], ls="", clip_on=False, **ring)
            lower.set_title("ringed in red: worse than all features", fontsize=8, color=LOSS)
        for axis in (upper, lower):
            axis.grid(color=FAINT, lw=0.5, alpha=0.35)
        upper.set_ylabel("accuracy Θ [%]")
        lower.set_ylabel("gain θ [percentage points]")
        lower.set_xlabel("signal-to-noise ratio [dB]")
        lower.set_xticks(places, ["∞ dB" if np.isinf(level) else f"{level:g}" for level in levels])
        lower.set_xlim(-0.15, places[-1] + 0.1)
        return label_ends(figure, labels)


def _row(title: str, values: FloatArray, n: int) -> FloatArray:
    row = np.asarray(values, dtype=np.float64)
    if n == 0 or row.shape != (n,) or not np.isfinite(row).all():
        raise PqswarmError(f"the accuracy of {title!r} must be one finite number for each of {n} noise levels.")
    return row
