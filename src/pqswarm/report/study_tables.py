"""The tables of a study: those of the paper, with the paper's values, and those beyond it."""

from collections.abc import Mapping
from math import inf, isnan
from typing import Any

import numpy as np

from pqswarm.features import FUNCTIONS, feature_names
from pqswarm.report.published import ALGORITHMS, LEVELS, PUBLISHED
from pqswarm.report.summary import ClassifierSummary, Comparison, NoiseSummary
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table
from pqswarm.study.runner import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["classifier_tables", "decibel"]

_Columns = Mapping[str, tuple[str, str]]  # heading and format of each column that needs them


def classifier_tables(found: ClassifierSummary) -> dict[str, Table]:
    """Return all tables of one classifier.

    Parameters
    ----------
    found : ClassifierSummary
        What was found with it.

    Returns
    -------
    dict of str to Table
        By what they show, in the order of the paper.
    """
    tables = [_performance(found), *_ranks(found), *_posthoc(found), *_sffs(found)]
    if found.noise is not None:
        tables += [*_noise(found, found.noise), _robust(found, found.noise), *_contrast(found, found.noise)]
    tables += [*_fresh(found), *_stability(found), _features(found)]
    return {table.name.removeprefix(f"{found.slug}-"): table for table in tables}


def decibel(level: float) -> str:
    """Return a noise level in words.

    Examples
    --------
    >>> decibel(float("inf")), decibel(20.0)
    ('∞ dB', '20 dB')
    """
    return "∞ dB" if level == inf else f"{level:g} dB"


def _table(
    found: ClassifierSummary, what: str, caption: str, rows: list[dict[str, Any]], columns: _Columns, **more: Any
) -> Table:
    headings = {key: heading for key, (heading, _) in columns.items()} | {SOURCE: "Source"}
    formats = {key: form for key, (_, form) in columns.items() if form}
    return Table(f"{found.slug}-{what}", caption, rows, headings, formats, **more)


def _performance(found: ClassifierSummary) -> Table:
    n, whole = found.n_features, found.all_features
    published = PUBLISHED[found.kind]
    rows = []
    for title in found.runs:
        errors, sizes = found.error_of(title), found.size_of(title)
        several = errors.size > 1
        row = {
            "algorithm": title,
            SOURCE: STUDY,
            "mean_J": float(errors.mean()),
            "sd_J": float(errors.std(ddof=1)) if several else None,
            "PI": float(100 * (whole - errors.mean()) / whole) if whole else None,
            "mean_size": float(sizes.mean()),
            "sd_size": float(sizes.std(ddof=1)) if several else None,
            "Xi": float(100 * (n - sizes.mean()) / n),
            "score": float((sizes / n * errors).sum()),
        }
        rows.append(row)
        if title in ALGORITHMS:
            printed = (
                published.mean_error,
                published.sd_error,
                published.improvement,
                published.mean_size,
                published.sd_size,
                published.reduction,
                published.score,
            )
            at = ALGORITHMS.index(title)
            values = [title, PAPER, *(column[at] for column in printed)]
            rows.append(dict(zip(row, values, strict=True)))
    return _table(
        found,
        "performance",
        f"Search performance with {found.name}, {_runs(found)}",
        rows,
        {
            "algorithm": ("Algorithm", ""),
            "mean_J": ("mean J", ".5f"),
            "sd_J": ("SD J", ".5f"),
            "PI": ("PI [%]", ".1f"),
            "mean_size": ("mean ξ", ".1f"),
            "sd_size": ("SD ξ", ".1f"),
            "Xi": ("Ξ [%]", ".1f"),
            "score": ("overall score", ".4f"),
        },
        lowest=("mean_J", "mean_size", "score"),
        highest=("PI", "Xi"),
        note=f"J: share of events that are taken for another class, mean over the folds; all {n} features have J(U) = "
        f"{whole:.4f} (paper: {published.all_features:.4f}). PI: by how much J is below J(U). ξ: number of features "
        f"selected; Ξ: by how much it is below {n}. SD: standard deviation over the runs. Overall score: the sum over "
        f"the runs of (ξ/{n}) J; it grows with the number of runs, which was 40 in the paper.",
    )


def _runs(found: ClassifierSummary) -> str:
    return f"{found.n_runs} runs" if found.n_runs > 1 else "one run"


def _ranks(found: ClassifierSummary) -> list[Table]:
    if found.errors is None or found.sizes is None:
        return []
    published = PUBLISHED[found.kind]
    rows = []
    for what, comparison, printed, at in (
        ("J", found.errors, published.ranks_error, 0),
        ("ξ", found.sizes, published.ranks_size, 1),
    ):
        test = comparison.friedman
        ranks = dict(zip(test.names, test.mean_ranks.tolist(), strict=True))
        ties = {"chi2_ties": test.chi2_corrected, "p_ties": test.p_value_corrected}
        rows.append({"result": what, SOURCE: STUDY} | ranks | {"chi2": test.chi2, "p": test.p_value} | ties)
        theirs = {name: printed[ALGORITHMS.index(name)] if name in ALGORITHMS else None for name in test.names}
        statistic = {"chi2": published.chi2[at], "p": published.p_value[at]}
        rows.append({"result": what, SOURCE: PAPER} | theirs | statistic | dict.fromkeys(ties))
    columns = {
        "result": ("Result", ""),
        "chi2": ("χ²", ".2f"),
        "p": ("p", "#.3g"),
        "chi2_ties": ("χ², ties corrected", ".2f"),
        "p_ties": ("p, ties corrected", "#.3g"),
    }
    return [
        _table(
            found,
            "friedman",
            f"Friedman test with {found.name}: average ranks (1 is best) and statistic",
            rows,
            {name: (name, ".2f") for name in found.runs} | columns,
            note=f"In each of the {found.n_runs} runs the algorithms are ranked. χ² grows with the differences of the "
            f"average ranks; p is the probability of one so large if all were equally good. The paper's statistic has "
            f"no correction for ties; both are given. The p-values that the paper printed do not belong to its "
            f"statistics.",
        )
    ]


def _posthoc(found: ClassifierSummary) -> list[Table]:
    if found.errors is None or found.sizes is None:
        return []
    p = PUBLISHED[found.kind]
    error, size = (
        zip(p.z_error, p.p_error, p.limit_error, strict=True),
        zip(p.z_size, p.p_size, p.limit_size, strict=True),
    )
    return [
        _posthoc_table(found, found.errors, "error J", "error", dict(zip(ALGORITHMS, error, strict=False))),
        _posthoc_table(found, found.sizes, "subset size ξ", "size", dict(zip(ALGORITHMS, size, strict=False))),
    ]


def _posthoc_table(
    found: ClassifierSummary,
    comparison: Comparison,
    what: str,
    key: str,
    printed: dict[str, tuple[float, float, float]],
) -> Table:
    rows = []
    result = comparison.posthoc
    for name in comparison.friedman.names:
        if name in result.names:
            i = result.names.index(name)
            rows.append(
                {
                    "algorithm": name,
                    SOURCE: STUDY,
                    "control": result.control,
                    "z": float(result.z[i]),
                    "p": float(result.p_values[i]),
                    "adjusted": float(result.p_hommel[i]),
                    "limit": float(result.alpha_over_i[i]),
                    "differs": bool(result.p_hommel[i] <= result.alpha),
                }
            )
        if name in printed:
            z, p, limit = printed[name]
            row = {"algorithm": name, SOURCE: PAPER, "control": ALGORITHMS[-1], "z": z, "p": p}
            rows.append(row | {"adjusted": None, "limit": limit, "differs": True})
    return _table(
        found,
        f"posthoc-{key}",
        f"Each algorithm against the best, {result.control}, with {found.name}: {what}",
        rows,
        {
            "algorithm": ("Algorithm", ""),
            "control": ("against", ""),
            "p": ("p", "#.3g"),
            "z": ("z", ".2f"),
            "adjusted": ("p, Hommel adjusted", "#.3g"),
            "limit": ("0.05/i (the paper's “APV”)", ".4f"),
            "differs": ("differs at 5 %", ""),
        },
        note="z: difference of the average ranks in standard errors. An adjusted p-value of 0.05 or less means a "
        "significant difference, all comparisons taken together.",
    )


def _sffs(found: ClassifierSummary) -> list[Table]:
    best = found.best(found.reference)
    rows = [
        {
            "search": title,
            SOURCE: STUDY,
            "size": record.size,
            "sffs": record.error,
            "reference": found.reference,
            "reference_size": best.size,
            "reference_J": best.error,
        }
        for title, record in found.sffs.items()
    ]
    if not rows:
        return []
    size, theirs, ours = PUBLISHED[found.kind].sffs
    rows.append(dict(zip(rows[0], ["SFFS", PAPER, size, theirs, ALGORITHMS[-1], size, ours], strict=True)))
    return [
        _table(
            found,
            "sffs",
            f"Sequential floating search against the best subset of {found.reference} with {found.name}",
            rows,
            {
                "search": ("Search", ""),
                "size": ("ξ", ""),
                "sffs": ("J", ".4f"),
                "reference": ("against", ""),
                "reference_size": ("ξ", ""),
                "reference_J": ("J", ".4f"),
            },
            note=f"SFFS adds and removes one feature at a time. Unless the plan says otherwise, it is told the size of "
            f"the best subset of {found.reference}. It runs once: nothing in it is left to chance.",
        )
    ]


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
            _table(
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
    return _table(
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
        tables.append(_table(found, what, caption, rows, columns, signed=tuple(names), note=words))
    return tables


def _fresh(found: ClassifierSummary) -> list[Table]:
    rows = []
    for title, error in found.fresh.items():
        if title == ALL_FEATURES:
            size, told = found.n_features, found.all_features
        elif title == ONE_STANDARD_ERROR and found.smaller is not None:
            size, told = found.smaller["mask"].count("1"), found.smaller["error"]
        else:
            size, told = found.best(title).size, found.best(title).error
        rows.append({"subset": title, "size": size, "J": told, "fresh": error, "gap": error - told})
    if not rows:
        return []
    return [
        _table(
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
        _table(
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
    return _table(
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
