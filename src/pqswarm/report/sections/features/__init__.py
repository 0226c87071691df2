"""Which features matter: how often each was selected, and the best subset."""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report.section import Content, Drawing, adaptive_drawing
from pqswarm.report.sections.features.maps import plot_feature_map, plot_feature_maps, plot_selected_features
from pqswarm.report.shared.curves import selection_shares
from pqswarm.report.shared.meanings import feature_meanings, sampling_rate
from pqswarm.report.shared.sentences import enumerate_words, features
from pqswarm.report.tables import Table

if TYPE_CHECKING:
    from pqswarm.report.summary import ClassifierSummary, DatasetSummary


def features_content(study: "DatasetSummary", found: "ClassifierSummary") -> Content:
    """Show how often each feature was selected, and the best subsets of the reference."""
    share = found.masks(found.reference).mean(axis=0)
    return Content(
        words=[_describe(study, found)], drawings=_drawings(study, found), tables=[_features(study, found, share)]
    )


def _describe(study: "DatasetSummary", found: "ClassifierSummary") -> str:
    best, smaller = found.best(found.reference), found.smaller
    text = f"The best subset of {found.reference} has {features(best.size)}."
    if smaller is None:
        return text
    size = int(smaller.mask.sum())
    if size >= best.size:
        return f"{text} No smaller subset was found within one standard error ({smaller.standard_error:.4f}) of it."
    return (
        f"{text} A subset of {features(size)}, with an error rate of {smaller.error:.4f}, lies within one standard "
        f"error ({smaller.standard_error:.4f}) of its {best.error:.4f}: these {study.item}s hardly distinguish the two."
    )


def _drawings(study: "DatasetSummary", found: "ClassifierSummary") -> list[Drawing]:
    shares = selection_shares(found.groups)
    level = study.wavelet_level
    if level is None:
        return [_list(study, found, shares)]
    bands, rate = band_names(level), sampling_rate(study.plan, study.feature_names)
    edges = None if rate is None else band_edges(rate, level)
    maps = {title: share.reshape(len(bands), len(FUNCTIONS)) for title, share in shares.items()}
    rows = (
        f"Rows are wavelet bands, from the highest frequencies (D1) to the lowest ({bands[-1]}); columns are functions "
        f"of their coefficients. Empty cells: never selected."
    )
    caption = f"Runs of {found.reference} that selected each feature [%]"
    drawings = [adaptive_drawing("", caption, rows, plot_feature_map, maps[found.reference], bands, FUNCTIONS, edges)]
    others = {title: shares for title, shares in maps.items() if title != found.reference}
    if others:
        once = enumerate_words(list(found.sequential)) if found.sequential else ""
        note = f"Bands and functions as above. The darker a cell, the more runs selected the feature.{once and ' '}"
        note += f"{once} ran once." if once else ""
        caption = "The same for the other algorithms"
        drawings.append(adaptive_drawing("others", caption, note, plot_feature_maps, others, bands, FUNCTIONS, edges))
    return drawings


def _list(study: "DatasetSummary", found: "ClassifierSummary", shares: dict[str, FloatArray]) -> Drawing:
    return adaptive_drawing(
        "",
        "The most frequently selected features",
        f"Bars: runs of {found.reference} that selected the feature; markers: the other algorithms.",
        plot_selected_features,
        *(shares, study.feature_names, study.palette),
    )


def _features(study: "DatasetSummary", found: "ClassifierSummary", share: FloatArray) -> Table:
    names, best = study.feature_names, found.best(found.reference).mask
    smaller = None if found.smaller is None else found.smaller.mask
    meanings = feature_meanings(study.plan, names)
    listed = np.flatnonzero(best | (share >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "share": float(100 * share[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
            "meaning": meanings[i] or None,
        }
        for i in sorted(listed.tolist(), key=lambda i: (-share[i], i))
    ]
    named = (
        f"{names[0]} is the {FUNCTIONS[0]} of the coefficients in band D1. Band edges are nominal; neighbouring bands "
        f"overlap. "
    )
    named = "" if study.wavelet_level is None else named
    return Table(
        "features",
        f"Features selected by {found.reference} with {found.name}",
        rows,
        {
            "share": ("selected in [% of runs]", ".0f"),
            "best": ("in the best subset", ""),
            "smaller": ("in the one-standard-error subset", ""),
            "meaning": ("what it measures", ""),
        },
        note=f"{named}Listed are the features of the subsets named above, and all features selected in at least half "
        f"of the runs.",
    )
