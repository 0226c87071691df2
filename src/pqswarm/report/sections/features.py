"""Which features matter: how often each was selected, and the best subset."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.features import FUNCTIONS, band_edges, band_names, describe_band, describe_feature
from pqswarm.report.section import Content, Drawing, Table, adaptive_drawing, enumerate_words, features
from pqswarm.report.style import NARROW, WIDE, Palette, draw_cell, draw_grid, draw_rows, mark, settle_layout, styled
from pqswarm.report.summary import ClassifierSummary, DatasetSummary

_FULL = "#0a58b0"  # of a feature that every run selected; white numbers are legible on it
_MAX_LISTED = 20  # features
Edges = Sequence[tuple[float, float]]


def features_content(study: DatasetSummary, classifier: ClassifierSummary) -> Content:
    """Show how often each feature was selected, and the best subsets of the baseline."""
    return Content(
        words=[_describe_selected_features(study, classifier)],
        drawings=_feature_drawings(study, classifier),
        tables=[_feature_table(study, classifier, classifier.masks(classifier.baseline).mean(axis=0))],
    )


def _describe_selected_features(study: DatasetSummary, classifier: ClassifierSummary) -> str:
    best = classifier.best(classifier.baseline)
    smaller = classifier.smaller
    text = f"The best subset of {classifier.baseline} has {features(best.size)}."
    if smaller is None:
        return text
    size = int(smaller.mask.sum())
    if size >= best.size:
        return f"{text} No smaller subset was found within one standard error ({smaller.standard_error:.4f}) of it."
    return (
        f"{text} A subset of {features(size)}, with an error rate of {smaller.error:.4f}, lies within one standard "
        f"error ({smaller.standard_error:.4f}) of its {best.error:.4f}: these {study.item}s hardly distinguish the two."
    )


def _feature_drawings(study: DatasetSummary, classifier: ClassifierSummary) -> list[Drawing]:
    fractions = {
        title: np.mean([record.mask for record in group], axis=0) for title, group in classifier.groups.items()
    }
    level = study.wavelet_level
    if level is None:
        caption = "The most frequently selected features"
        note = f"Bars: runs of {classifier.baseline} that selected the feature; markers: the other algorithms."
        values = (fractions, study.feature_names, study.palette)
        return [adaptive_drawing("", caption, note, plot_selected_features, *values)]
    bands = band_names(level)
    rate = study.sampling_rate
    edges = None if rate is None else band_edges(rate, level)
    maps = {title: fraction.reshape(len(bands), len(FUNCTIONS)) for title, fraction in fractions.items()}
    rows = (
        f"Rows are wavelet bands, from the highest frequencies (D1) to the lowest ({bands[-1]}); columns are functions "
        f"of their coefficients. Empty cells: never selected."
    )
    caption = f"Runs of {classifier.baseline} that selected each feature [%]"
    drawings = [
        adaptive_drawing("", caption, rows, plot_feature_map, maps[classifier.baseline], bands, FUNCTIONS, edges)
    ]
    others = {title: fractions for title, fractions in maps.items() if title != classifier.baseline}
    if others:
        once = f" {enumerate_words(list(classifier.sequential))} ran once." if classifier.sequential else ""
        note = f"Bands and functions as above. The darker a cell, the more runs selected the feature.{once}"
        caption = "The same for the other algorithms"
        drawings.append(adaptive_drawing("others", caption, note, plot_feature_maps, others, bands, FUNCTIONS, edges))
    return drawings


def _feature_table(study: DatasetSummary, classifier: ClassifierSummary, fraction: FloatArray) -> Table:
    names = study.feature_names
    best = classifier.best(classifier.baseline).mask
    smaller = None if classifier.smaller is None else classifier.smaller.mask
    is_wavelet = study.wavelet_level is not None
    rate = study.sampling_rate
    listed = np.flatnonzero(best | (fraction >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "fraction": float(100 * fraction[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
            "meaning": (describe_feature(names[i], rate) or None) if is_wavelet else None,
        }
        for i in sorted(listed.tolist(), key=lambda i: (-fraction[i], i))
    ]
    named = (
        f"{names[0]} is the {FUNCTIONS[0]} of the coefficients in band D1. Band edges are nominal; neighboring bands "
        f"overlap. "
        if is_wavelet
        else ""
    )
    return Table(
        "features",
        f"Features selected by {classifier.baseline} with {classifier.name}",
        rows,
        {
            "fraction": ("selected in [% of runs]", ".0f"),
            "best": ("in the best subset", ""),
            "smaller": ("in the one-standard-error subset", ""),
            "meaning": ("what it measures", ""),
        },
        note=f"{named}Listed are the features of the subsets named above, and all features selected in at least half "
        f"of the runs.",
    )


@styled
def plot_feature_map(
    frequency: FloatArray,
    bands: Sequence[str],
    functions: Sequence[str],
    edges: Edges | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the fraction of the runs that selected each feature, as a map of wavelet bands by functions, in percent."""
    wide = min(WIDE, 2.2 + 0.55 * len(functions))
    figure = Figure(figsize=(NARROW if narrow else wide, 1.3 + 0.33 * len(bands)), layout="constrained")
    axis = figure.subplots()
    _draw_feature_map(axis, frequency, bands, functions, size=8.0 if narrow else 9.0)
    _name_feature_bands(axis, bands, edges, "\n" if narrow else "  ", 7.5 if narrow else 9.0)
    return settle_layout(figure)


@styled
def plot_feature_maps(
    frequencies: Mapping[str, FloatArray],
    bands: Sequence[str],
    functions: Sequence[str],
    edges: Edges | None = None,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw small maps of the selected features of several algorithms, side by side: the darker, the more runs."""
    columns = min(2 if narrow else 3, len(frequencies))
    rows = -(-len(frequencies) // columns)
    size = (NARROW if narrow else WIDE, 1.1 + rows * (0.35 + 0.175 * len(bands)))
    figure = Figure(figsize=size, layout="constrained")
    for i, (title, frequency) in enumerate(frequencies.items()):
        axis = figure.add_subplot(rows, columns, i + 1)
        last = i + columns >= len(frequencies)
        _draw_feature_map(axis, frequency, bands, functions if last else [""] * len(functions), size=None, rotation=90)
        _name_feature_bands(axis, bands, None if narrow else edges, "  ", 7.5)
        axis.tick_params(labelleft=i % columns == 0, labelsize=7.5)
        axis.set_title(title, fontweight="bold", parse_math=False)
    return settle_layout(figure)


def _draw_feature_map(
    axis: Axes,
    fractions: FloatArray,
    bands: Sequence[str],
    functions: Sequence[str],
    size: float | None,
    rotation: float = 40.0,
) -> None:
    """Draw the cells of a map, with percentages in the given font size, or without."""
    draw_grid(axis, *fractions.shape)
    names = [name.replace("_", " ").capitalize() for name in functions]
    for place, fraction in np.ndenumerate(fractions):
        if fraction > 0:
            i, j = place
            figures = "<1" if fraction < 0.005 else str(int(100 * fraction + 0.5))
            tip = f"{bands[i]} {names[j].lower()}: selected in {figures} % of the runs"
            draw_cell(axis, (i, j), _FULL, 0.06 + 0.94 * fraction, "" if size is None else figures, size or 9.0, tip)
    turn: dict[str, Any] = {"rotation": rotation, "ha": "right", "rotation_mode": "anchor", "va": "center"}
    axis.set_xticks(range(len(functions)), names, fontsize=8.5, parse_math=False, **turn)


def _name_feature_bands(axis: Axes, bands: Sequence[str], edges: Edges | None, between: str, size: float) -> None:
    words = (
        bands
        if edges is None
        else [f"{band}{between}{describe_band(*edge)}" for band, edge in zip(bands, edges, strict=True)]
    )
    axis.set_yticks(range(len(bands)), words, fontsize=size, parse_math=False)


@styled
def plot_selected_features(
    fractions: Mapping[str, FloatArray], names: Sequence[str], palette: Palette, *, narrow: bool = False
) -> Figure:
    """Draw the 20 most frequently selected features: bars of the emphasized algorithm, markers of the others."""
    hero = next((title for title in fractions if title == palette.baseline), next(iter(fractions)))
    mean = np.mean([*fractions.values()], axis=0)
    order = sorted(range(len(names)), key=lambda i: (-fractions[hero][i], -mean[i], i))
    listed = [i for i in order if mean[i] > 0][:_MAX_LISTED] or order[:1]
    height = 0.9 + 0.22 * len(listed) + 0.2 * -(-len(fractions) // 3)
    figure = Figure(figsize=(NARROW if narrow else WIDE, height), layout="constrained")
    axis = figure.subplots()
    for title in (hero, *(title for title in fractions if title != hero)):
        percents = 100 * fractions[title][listed]
        tips = [f"{title}: {names[i]} in {p:.0f} % of the runs" for i, p in zip(listed, percents, strict=True)]
        if title == hero:
            bars = axis.barh(range(len(listed)), percents, 0.62, color=palette.color(title), alpha=0.4, label=title)
            for bar, tip in zip(bars, tips, strict=True):
                mark(bar, title, [tip])
        else:
            look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "mew": 0.0, "ms": 5.0, "alpha": 0.9}
            (line,) = axis.plot(
                percents, range(len(listed)), color=palette.color(title), label=title, clip_on=False, **look
            )
            mark(line, title, tips)
    draw_rows(axis, [_shorten_feature_name(names[i], 20 if narrow else 40) for i in listed])
    axis.set(ylim=(len(listed) - 0.4, -0.6), xlim=(0, 100), xlabel="selected in [% of the runs]")
    axis.spines["left"].set_visible(False)
    key = figure.legend(loc="outside upper left", ncols=3 if narrow else 6, frameon=False, fontsize=8.5)
    for text in key.get_texts():
        text.set_parse_math(False)
    return settle_layout(figure)


def _shorten_feature_name(name: str, length: int) -> str:
    """Shorten a name in the middle, since names often differ at their ends."""
    return name if len(name) <= length else f"{name[: (length - 1) // 2]}…{name[-(length // 2) :]}"
