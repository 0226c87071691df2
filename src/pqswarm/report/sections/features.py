"""The question "Which features matter?": how often each was selected, and the best subset."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sentences import features
from pqswarm.report.style import STYLE, draw_cell, draw_grid, settle
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table

__all__ = ["content", "plot_feature_map"]

_FULL = "#0a58b0"  # of a feature that every run selected; white figures show on it


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Show how often the reference selected each feature, and its best subsets."""
    share = found.masks(found.reference).mean(axis=0)
    return Content(
        words=[_describe(study, found)],
        drawings=_drawings(study, found, share),
        tables=[_features(study, found, share)],
    )


def _describe(study: StudySummary, found: ClassifierSummary) -> str:
    best, smaller = found.best(found.reference), found.smaller
    text = f"The best subset of {found.reference} has {features(best.size)}."
    if smaller is None:
        return text
    size = int(smaller.mask.sum())
    if size >= best.size:
        return f"{text} No smaller one was found within one standard error ({smaller.standard_error:.4f}) of it."
    return (
        f"{text} Within one standard error ({smaller.standard_error:.4f}) of its {best.error:.4f} lies a subset of "
        f"{features(size)} with an error rate of {smaller.error:.4f}: these {study.noun}s can hardly tell the two "
        f"apart."
    )


def _drawings(study: StudySummary, found: ClassifierSummary, share: FloatArray) -> list[Drawing]:
    level, made = study.wavelet_level, study.generated
    if level is None or made is None:
        return []
    bands = band_names(level)
    rate = getattr(made.make_preset().common.get("sampling_rate"), "value", None)
    ranges = ""
    if rate is not None:
        (low, high), *_, (_, least) = band_edges(rate, level)
        ranges = f" D1 holds {low / 1000:g} to {high / 1000:g} kHz, {bands[-1]} what is below {least:.0f} Hz."
    caption = f"In how many of its runs {found.reference} selected each feature [%]"
    note = (
        f"Rows are the bands of the wavelet transform, from the highest frequencies (D1) to the lowest ({bands[-1]}); "
        f"columns are what is computed from the coefficients of a band. Empty: never selected.{ranges}"
    )
    shares = share.reshape(len(bands), len(FUNCTIONS))
    return [Drawing("", caption, note, lambda: plot_feature_map(shares, bands, FUNCTIONS))]


def _features(study: StudySummary, found: ClassifierSummary, share: FloatArray) -> Table:
    names, best = study.feature_names, found.best(found.reference).mask
    smaller = None if found.smaller is None else found.smaller.mask
    listed = np.flatnonzero(best | (share >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "share": float(100 * share[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
        }
        for i in sorted(listed.tolist(), key=lambda i: (-share[i], i))
    ]
    named = "" if study.wavelet_level is None else f"{names[0]} is the {FUNCTIONS[0]} of the coefficients in band D1. "
    return Table(
        "features",
        f"The features that matter: selected by {found.reference} with {found.name}",
        rows,
        {
            "share": ("selected in [% of runs]", ".0f"),
            "best": ("in the best subset", ""),
            "smaller": ("in the one-standard-error subset", ""),
        },
        note=f"{named}Listed are the features of the subsets named above, and all that were selected in at least half "
        f"of the runs.",
    )


def plot_feature_map(frequency: FloatArray, bands: Sequence[str], functions: Sequence[str]) -> Figure:
    """Draw how often each feature was selected, as a map of wavelet bands by functions.

    Parameters
    ----------
    frequency : array of float, shape (n_bands, n_functions)
        Share of the runs that selected the feature, 0 to 1.
    bands, functions : sequence of str
        Names of the rows and of the columns.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with percentages in the cells that were ever selected.

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_feature_map(np.array([[0.0, 0.25], [1.0, 0.0]]), ["D1", "A1"], ["energy", "mean_deviation"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25', '100']
    """
    frequency = np.asarray(frequency, dtype=np.float64)
    if frequency.shape != (len(bands), len(functions)) or not ((frequency >= 0) & (frequency <= 1)).all():
        raise PqswarmError(
            f"frequency of shape {frequency.shape} must hold shares from 0 to 1 for {len(bands)} bands by "
            f"{len(functions)} functions."
        )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.2 + 0.58 * len(functions), 1.4 + 0.36 * len(bands)), layout="constrained")
        axis = figure.subplots()
        draw_grid(axis, *frequency.shape)
        for (i, j), share in np.ndenumerate(frequency):
            if share > 0:
                figures = "<1" if share < 0.005 else str(int(100 * share + 0.5))
                draw_cell(axis, i, j, _FULL, 0.06 + 0.94 * share, figures, 8.5)
        axis.set_yticks(range(len(bands)), bands, parse_math=False)
        names = [name.replace("_", " ").capitalize() for name in functions]
        axis.set_xticks(range(len(functions)), names, rotation=35, ha="right", rotation_mode="anchor", parse_math=False)
        axis.set_ylabel("wavelet band")
        axis.set_title("share of the runs that selected the feature [%]", fontsize=8)
        return settle(figure)
