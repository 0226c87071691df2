"""The tables of the selected subsets: against noise, on fresh events, over the runs."""

from collections.abc import Mapping
from math import inf, isnan
from typing import Any

import numpy as np

from pqswarm.features import FUNCTIONS, feature_names
from pqswarm.report.published import ALGORITHMS, LEVELS, PUBLISHED
from pqswarm.report.summary import ClassifierSummary, NoiseSummary
from pqswarm.report.tables import SOURCE, Table
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["decibel", "own_table", "subset_tables"]

_Columns = Mapping[str, tuple[str, str]]  # heading and format of each column that needs them


def subset_tables(found: ClassifierSummary) -> list[Table]:
    """Return the tables of the subsets that were selected with one classifier.

    Parameters
    ----------
    found : ClassifierSummary
        What was found with it.

    Returns
    -------
    list of Table
        Those for which there are numbers.
    """
    tables = []
    if found.noise is not None:
        tables += [*_noise(found, found.noise), _robust(found, found.noise), *_contrast(found, found.noise)]
    return [*tables, *_fresh(found), *_stability(found), _features(found)]


def decibel(level: float) -> str:
    """Return a noise level in words.

    Examples
    --------
    >>> decibel(float("inf")), decibel(20.0)
    ('∞ dB', '20 dB')
    """
    return "∞ dB" if level == inf else f"{level:g} dB"


def own_table(
    found: ClassifierSummary, what: str, caption: str, rows: list[dict[str, Any]], columns: _Columns, **more: Any
) -> Table:
    """Return a table of one classifier.

    Parameters
    ----------
    found : ClassifierSummary
        Whose.
    what, caption : str
        Its name without that of the classifier, and its caption.
    rows : list of dict
        Its rows.
    columns : mapping of str to (str, str)
        Heading and format of each column that needs them.
    **more
        What else :class:`Table` takes.

    Returns
    -------
    Table
        The table.
    """
    headings = {key: heading for key, (heading, _) in columns.items()} | {SOURCE: "Source"}
    formats = {key: form for key, (_, form) in columns.items() if form}
    return Table(f"{found.slug}-{what}", caption, rows, headings, formats, **more)


def _noise(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    published = PUBLISHED[found.kind]
    titles = [title for title in noise.accuracy if title != ONE_STANDARD_ERROR]
    rows = [
        _at_level(level, whole, {t: (float(noise.accuracy[t][i]), float(noise.gain(t)[i])) for t in titles})
        for i, (level, whole) in enumerate(zip(noise.levels, noise.all_features.tolist(), strict=True))
    ]
    printed = [
        _at_level(level, whole, dict(zip(ALGORITHMS, zip(accuracy, gain, strict=True), strict=True)))
        for level, whole, accuracy, gain in zip(
            LEVELS, published.accuracy_all, published.accuracy, published.gain, strict=True
        )
    ]
    tables = []
    for what, caption, group, names in (
        ("noise", f"Accuracy Θ [%] of the best subsets at each noise level with {found.name}", rows, titles),
        ("noise-paper", f"The same in the paper, {found.name}", printed, list(ALGORITHMS)),
    ):
        columns = {"level": ("SNR", ""), "all": ("Θ(U)", ".2f")} | {name: (name, ".2f") for name in names}
        gains = tuple(f"θ {name}" for name in names)
        note = (
            "SNR: signal-to-noise ratio, ∞ without noise. Θ(U): accuracy of all features. θ: gain over it, in "
            "percentage points; negative gains are marked, the highest of each level is in bold. The subsets were "
            "selected without noise; folds are other ones than in the search."
        )
        tables.append(
            own_table(
                found,
                what,
                caption,
                group,
                columns | dict.fromkeys(gains, ("θ", ".2f")),
                signed=gains,
                across=gains,
                note=note if group is rows else "",
            )
        )
    return tables


def _at_level(level: float, whole: float, values: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"level": decibel(level), "all": whole}
    for title, (accuracy, gain) in values.items():
        row |= {title: accuracy, f"θ {title}": gain}
    return row


def _robust(found: ClassifierSummary, noise: NoiseSummary) -> Table:
    rows = [
        {
            "algorithm": title,
            "least": float(noise.gain(title).min()),
            "where": decibel(noise.levels[int(noise.gain(title).argmin())]),
            "robust": noise.robust(title),
            "paper": _paper_robust(found, title),
        }
        for title in noise.accuracy
        if title != ONE_STANDARD_ERROR
    ]
    return own_table(
        found,
        "robust",
        f"Robust subsets with {found.name}: at least as good as all features at every noise level",
        rows,
        {
            "algorithm": ("Algorithm", ""),
            "least": ("least θ", ".2f"),
            "where": ("at", ""),
            "robust": ("robust", ""),
            "paper": ("robust in the paper", ""),
        },
        signed=("least",),
        note="θ: gain in accuracy over all features, in percentage points.",
    )


def _paper_robust(found: ClassifierSummary, title: str) -> bool | None:
    if title not in ALGORITHMS:
        return None
    return all(row[ALGORITHMS.index(title)] >= 0 for row in PUBLISHED[found.kind].gain)


def _contrast(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    if noise.contrast is None:
        return []
    note = (
        "Estimate, from medians over the noise levels, of how much more accurate the algorithm of the row is than that "
        "of the column [percentage points]. Where it is less accurate, the value is marked."
    )
    tables = []
    for what, caption, names, matrix, words in (
        (
            "contrast",
            f"Contrast estimation over the noise levels with {found.name}",
            noise.contrast.names,
            noise.contrast.matrix.tolist(),
            note,
        ),
        ("contrast-paper", f"The same in the paper, {found.name}", ALGORITHMS, PUBLISHED[found.kind].contrast, ""),
    ):
        rows = [
            {"algorithm": name} | {other: float(value) for other, value in zip(names, row, strict=True)}
            for name, row in zip(names, matrix, strict=True)
        ]
        columns = {"algorithm": ("Algorithm", "")} | {name: (name, ".4f") for name in names}
        tables.append(own_table(found, what, caption, rows, columns, signed=tuple(names), note=words))
    return tables


def _fresh(found: ClassifierSummary) -> list[Table]:
    rows = []
    for title, error in found.fresh.items():
        if title == ALL_FEATURES:
            size, told = found.n_features, found.all_features
        elif title == ONE_STANDARD_ERROR and found.smaller is not None:
            size, told = int(found.smaller.mask.sum()), found.smaller.error
        else:
            size, told = found.best(title).size, found.best(title).error
        rows.append({"subset": title, "size": size, "J": told, "fresh": error, "gap": error - told})
    if not rows:
        return []
    return [
        own_table(
            found,
            "fresh",
            f"Best subsets on fresh events that no search saw, with {found.name}",
            rows,
            {
                "subset": ("Subset", ""),
                "size": ("ξ", ""),
                "J": ("J in the search", ".4f"),
                "fresh": ("error on fresh events", ".4f"),
                "gap": ("optimism gap", "+.4f"),
            },
            lowest=("J", "fresh"),
            note=f"The classifier was trained on all events of the study. Optimism gap: by how much the error on fresh "
            f"events is above what the search saw, which is an optimistic guess, being the least of many. One standard "
            f"error: the smallest subset found that is within one standard error of the best of {found.reference}.",
        )
    ]


def _stability(found: ClassifierSummary) -> list[Table]:
    rows = []
    for title in found.runs:
        value = found.stability(title)
        if value is not None:
            names = ("algorithm", "stability", "low", "high")
            rows.append(dict(zip(names, (title, *(None if isnan(v) else v for v in value)), strict=True)))
    if not rows:
        return []
    return [
        own_table(
            found,
            "stability",
            f"Stability of the selection over the runs with {found.name}",
            rows,
            {
                "algorithm": ("Algorithm", ""),
                "stability": ("stability", ".3f"),
                "low": ("95 % interval from", ".3f"),
                "high": ("to", ".3f"),
            },
            highest=("stability",),
            note="Nogueira's measure. 1: every run selects the same features; 0: as alike as by chance.",
        )
    ]


def _features(found: ClassifierSummary) -> Table:
    share = found.frequency(found.reference)
    names = feature_names(share.size // len(FUNCTIONS) - 1)
    best, smaller = found.best(found.reference).mask, found.smaller_mask
    chosen = np.flatnonzero(best | (share >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "share": float(100 * share[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
        }
        for i in sorted(chosen.tolist(), key=lambda i: (-share[i], i))
    ]
    return own_table(
        found,
        "features",
        f"The features that matter: chosen by {found.reference} with {found.name}",
        rows,
        {
            "feature": ("Feature", ""),
            "share": ("chosen in [% of runs]", ".0f"),
            "best": ("in the best subset", ""),
            "smaller": ("in the one-standard-error subset", ""),
        },
        note=f"{names[0]} is the minimum of the wavelet coefficients in band D1, and so on. Listed are the features of "
        f"the subsets named above, and all that were chosen in at least half of the runs.",
    )
