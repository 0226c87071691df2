"""Which features matter: how often each was selected, and the best subset."""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report.section import Content, Drawing, adaptive_drawing
from pqswarm.report.sections.features.maps import plot_feature_map, plot_feature_maps, plot_selected_features
from pqswarm.report.shared.curves import selection_fractions
from pqswarm.report.shared.meanings import feature_meanings, sampling_rate
from pqswarm.report.shared.sentences import enumerate_words, features
from pqswarm.report.tables import Table

if TYPE_CHECKING:
    from pqswarm.report.summary import ClassifierSummary, DatasetSummary


def features_content(study: "DatasetSummary", classifier: "ClassifierSummary") -> Content:
    """Show how often each feature was selected, and the best subsets of the baseline."""
    fraction = classifier.masks(classifier.baseline).mean(axis=0)
    return Content(
        words=[_describe(study, classifier)],
        drawings=_drawings(study, classifier),
        tables=[_features(study, classifier, fraction)],
    )


def _describe(study: "DatasetSummary", classifier: "ClassifierSummary") -> str:
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


def _drawings(study: "DatasetSummary", classifier: "ClassifierSummary") -> list[Drawing]:
    fractions = selection_fractions(classifier.groups)
    level = study.wavelet_level
    if level is None:
        return [_list(study, classifier, fractions)]
    bands = band_names(level)
    rate = sampling_rate(study.plan, study.feature_names)
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
        once = enumerate_words(list(classifier.sequential)) if classifier.sequential else ""
        note = f"Bands and functions as above. The darker a cell, the more runs selected the feature.{once and ' '}"
        note += f"{once} ran once." if once else ""
        caption = "The same for the other algorithms"
        drawings.append(adaptive_drawing("others", caption, note, plot_feature_maps, others, bands, FUNCTIONS, edges))
    return drawings


def _list(study: "DatasetSummary", classifier: "ClassifierSummary", fractions: dict[str, FloatArray]) -> Drawing:
    return adaptive_drawing(
        "",
        "The most frequently selected features",
        f"Bars: runs of {classifier.baseline} that selected the feature; markers: the other algorithms.",
        plot_selected_features,
        fractions,
        study.feature_names,
        study.palette,
    )


def _features(study: "DatasetSummary", classifier: "ClassifierSummary", fraction: FloatArray) -> Table:
    names = study.feature_names
    best = classifier.best(classifier.baseline).mask
    smaller = None if classifier.smaller is None else classifier.smaller.mask
    meanings = feature_meanings(study.plan, names)
    listed = np.flatnonzero(best | (fraction >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "fraction": float(100 * fraction[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
            "meaning": meanings[i] or None,
        }
        for i in sorted(listed.tolist(), key=lambda i: (-fraction[i], i))
    ]
    named = (
        f"{names[0]} is the {FUNCTIONS[0]} of the coefficients in band D1. Band edges are nominal; neighbouring bands "
        f"overlap. "
    )
    named = "" if study.wavelet_level is None else named
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
