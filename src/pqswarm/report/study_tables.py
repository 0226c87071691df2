"""The tables of a study: those of the paper, with the paper's values, and those beyond it."""

from math import inf

import numpy as np

from pqswarm.features import feature_names
from pqswarm.report.published import ALGORITHMS, LEVELS, PUBLISHED
from pqswarm.report.summary import ClassifierSummary, Comparison
from pqswarm.report.tables import Table
from pqswarm.study.runner import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["classifier_tables"]


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
    tables = [_performance(found), *_ranks(found), *_posthoc(found), *_sffs(found), *_noise(found)]
    tables += [*_fresh(found), _stability(found), _features(found)]
    return {table.name.removeprefix(_name(found, "")): table for table in tables}


def _name(found: ClassifierSummary, what: str) -> str:
    return f"{found.name}-{what}".replace(" ", "-").lower()


def _performance(found: ClassifierSummary) -> Table:
    n = next(iter(found.runs.values()))[0].mask.size
    published = PUBLISHED[found.kind]
    rows = []
    for title in found.runs:
        errors, sizes = found.error_of(title), found.size_of(title)
        spread = 1 if errors.size > 1 else 0
        row = {
            "algorithm": title,
            "mean_J": float(errors.mean()),
            "sd_J": float(errors.std(ddof=spread)),
            "PI": float(100 * (found.all_features - errors.mean()) / found.all_features),
            "mean_size": float(sizes.mean()),
            "sd_size": float(sizes.std(ddof=spread)),
            "Xi": float(100 * (n - sizes.mean()) / n),
            "score": float((sizes / n * errors).sum()),
        }
        at = ALGORITHMS.index(title) if title in ALGORITHMS else None
        printed = {
            "paper_J": published.mean_error,
            "paper_PI": published.improvement,
            "paper_size": published.mean_size,
            "paper_Xi": published.reduction,
            "paper_score": published.score,
        }
        rows.append(row | {key: None if at is None else values[at] for key, values in printed.items()})
    return Table(
        _name(found, "performance"),
        f"Search performance with {found.name}, {found.n_runs} runs",
        rows,
        {
            "algorithm": "Algorithm",
            "mean_J": "mean J",
            "sd_J": "SD J",
            "PI": "PI [%]",
            "mean_size": "mean ξ",
            "sd_size": "SD ξ",
            "Xi": "Ξ [%]",
            "score": "overall score",
            "paper_J": "paper: J",
            "paper_PI": "PI [%]",
            "paper_size": "ξ",
            "paper_Xi": "Ξ [%]",
            "paper_score": "score",
        },
        {
            "mean_J": ".4f",
            "sd_J": ".1e",
            "PI": ".1f",
            "mean_size": ".1f",
            "sd_size": ".1f",
            "Xi": ".1f",
            "score": ".4f",
            "paper_J": ".4f",
            "paper_PI": ".1f",
            "paper_size": ".1f",
            "paper_Xi": ".1f",
            "paper_score": ".4f",
        },
        lowest=("mean_J", "mean_size", "score", "paper_J", "paper_size", "paper_score"),
        highest=("PI", "Xi", "paper_PI", "paper_Xi"),
        note=f"J: error, mean over the folds; all {n} features have J(U) = {found.all_features:.4f} (paper: "
        f"{published.all_features:.4f}). PI: improvement of J over J(U). ξ: features selected; Ξ: reduction of their "
        f"number. Overall score: the sum over the runs of (ξ/n) J, which grows with the number of runs (paper: 40).",
    )


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
        rows.append(
            {"result": what}
            | dict(zip(test.names, test.mean_ranks.tolist(), strict=True))
            | {"chi2": test.chi2, "p": test.p_value, "chi2_ties": test.chi2_corrected, "p_ties": test.p_value_corrected}
        )
        paper: dict[str, object] = {"result": f"{what}, paper"}
        paper |= {name: printed[ALGORITHMS.index(name)] if name in ALGORITHMS else None for name in test.names}
        rows.append(paper | {"chi2": published.chi2[at], "p": published.p_value[at], "chi2_ties": None, "p_ties": None})
    return [
        Table(
            _name(found, "friedman"),
            f"Friedman test with {found.name}: average ranks (1 is best) and statistic",
            rows,
            {
                "result": "Result",
                "chi2": "χ²",
                "p": "p",
                "chi2_ties": "χ², ties corrected",
                "p_ties": "p, ties corrected",
            },
            dict.fromkeys(found.runs, ".2f") | {"chi2": ".2f", "chi2_ties": ".2f", "p": ".2e", "p_ties": ".2e"},
            note=f"Blocks are the {found.n_runs} runs. The paper's statistic has no correction for ties; both are "
            f"given. The p-values that the paper printed do not belong to its statistics.",
        )
    ]


def _posthoc(found: ClassifierSummary) -> list[Table]:
    if found.errors is None or found.sizes is None:
        return []
    published = PUBLISHED[found.kind]
    tables = []
    for what, key, comparison, z, p in (
        ("error J", "error", found.errors, published.z_error, published.p_error),
        ("subset size ξ", "size", found.sizes, published.z_size, published.p_size),
    ):
        tables.append(
            _posthoc_table(found, comparison, what, key, dict(zip(ALGORITHMS, zip(z, p, strict=True), strict=False)))
        )
    return tables


def _posthoc_table(
    found: ClassifierSummary, comparison: Comparison, what: str, key: str, printed: dict[str, tuple[float, float]]
) -> Table:
    rows = []
    result = comparison.posthoc
    for i, name in enumerate(result.names):
        paper = printed.get(name, (None, None)) if result.control == "2D-UPSO" else (None, None)
        rows.append(
            {
                "algorithm": name,
                "z": float(result.z[i]),
                "p": float(result.p_values[i]),
                "adjusted": float(result.p_hommel[i]),
                "limit": float(result.alpha_over_i[i]),
                "differs": bool(result.p_hommel[i] <= result.alpha),
                "paper_z": paper[0],
                "paper_p": paper[1],
            }
        )
    return Table(
        _name(found, f"posthoc-{key}"),
        f"Each algorithm against the best, {result.control}, with {found.name}: {what}",
        rows,
        {
            "algorithm": "Algorithm",
            "adjusted": "p, Hommel adjusted",
            "limit": "0.05/i (the paper's “APV”)",
            "differs": "differs at 5 %",
            "paper_z": "paper: z",
            "paper_p": "p",
        },
        {"z": ".2f", "p": ".2e", "adjusted": ".2e", "limit": ".4f", "paper_z": ".2f", "paper_p": ".2e"},
        note="z: difference of the average ranks in standard errors. An adjusted p-value below 0.05 means a "
        "significant difference, all comparisons taken together.",
    )


def _sffs(found: ClassifierSummary) -> list[Table]:
    published = PUBLISHED[found.kind]
    rows = []
    for title, record in found.sffs.items():
        best = found.best(found.reference)
        rows.append(
            {"search": f"{title}, this study", "size": record.size, "sffs": record.error, "reference": best.error}
        )
    if not rows:
        return []
    size, theirs, ours = published.sffs
    rows.append({"search": "SFFS, paper", "size": size, "sffs": theirs, "reference": ours})
    return [
        Table(
            _name(found, "sffs"),
            f"Sequential floating search against {found.reference} with {found.name}, at the same number of features",
            rows,
            {"search": "", "size": "ξ", "sffs": "J, SFFS", "reference": f"J, best of {found.reference}"},
            {"sffs": ".4f", "reference": ".4f"},
            note=f"SFFS is told the size of the best subset of {found.reference}; its search is deterministic.",
        )
    ]


def _noise(found: ClassifierSummary) -> list[Table]:
    noise, published = found.noise, PUBLISHED[found.kind]
    if noise is None:
        return []
    titles = [title for title in noise.accuracy if title != ONE_STANDARD_ERROR]
    rows, printed = [], []
    for i, level in enumerate(noise.levels):
        row = {"level": _decibel(level), "all": float(noise.all_features[i])}
        for title in titles:
            row |= {title: float(noise.accuracy[title][i]), f"θ {title}": float(noise.gain(title)[i])}
        rows.append(row)
    for i, level in enumerate(LEVELS):
        row = {"level": _decibel(level), "all": published.accuracy_all[i]}
        for title, value in zip(ALGORITHMS, published.accuracy[i], strict=True):
            row |= {title: value, f"θ {title}": round(value - published.accuracy_all[i], 2)}
        printed.append(row)
    headings = {"level": "SNR", "all": "Θ(U)"} | {f"θ {title}": "θ" for title in (*titles, *ALGORITHMS)}
    formats = {"all": ".2f"} | {
        key: ".2f" for row in (rows[0], printed[0]) for key in row if key not in ("level", "all")
    }
    verdict = [
        {
            "algorithm": title,
            "least": float(noise.gain(title).min()),
            "where": _decibel(noise.levels[int(noise.gain(title).argmin())]),
            "robust": noise.robust(title),
            "paper": _paper_robust(found, title),
        }
        for title in titles
    ]
    tables = [
        Table(
            _name(found, "noise"),
            f"Accuracy Θ [%] of the best subsets at each noise level with {found.name}, and gain θ over all features",
            rows,
            headings,
            formats,
            signed=tuple(f"θ {title}" for title in titles),
            note="Selected without noise, tested with it, on a new partition into folds. Negative gains are marked.",
        ),
        Table(
            _name(found, "noise-paper"),
            f"The same in the paper, {found.name}",
            printed,
            headings,
            formats,
            signed=tuple(f"θ {title}" for title in ALGORITHMS),
        ),
        Table(
            _name(found, "robust"),
            f"Robust subsets with {found.name}: at least as good as all features at every noise level",
            verdict,
            {
                "algorithm": "Algorithm",
                "least": "least θ",
                "where": "at",
                "robust": "robust",
                "paper": "robust in the paper",
            },
            {"least": ".2f"},
            signed=("least",),
        ),
    ]
    if noise.contrast is not None:
        names = noise.contrast.names
        matrix = [
            {"": name} | {other: float(noise.contrast.matrix[i, j]) for j, other in enumerate(names)}
            for i, name in enumerate(names)
        ]
        theirs = [
            {"": name} | dict(zip(ALGORITHMS, (float(v) for v in published.contrast[i]), strict=True))
            for i, name in enumerate(ALGORITHMS)
        ]
        note = "Median-based estimate of the difference in accuracy, row minus column [percentage points]."
        tables += [
            Table(
                _name(found, "contrast"),
                f"Contrast estimation over the noise levels with {found.name}",
                matrix,
                formats=dict.fromkeys(names, ".4f"),
                signed=names,
                note=note,
            ),
            Table(
                _name(found, "contrast-paper"),
                f"The same in the paper, {found.name}",
                theirs,
                formats=dict.fromkeys(ALGORITHMS, ".4f"),
                signed=ALGORITHMS,
            ),
        ]
    return tables


def _paper_robust(found: ClassifierSummary, title: str) -> bool | None:
    if title not in ALGORITHMS:
        return None
    published, at = PUBLISHED[found.kind], ALGORITHMS.index(title)
    return all(row[at] >= whole for row, whole in zip(published.accuracy, published.accuracy_all, strict=True))


def _decibel(level: float) -> str:
    return "∞ dB" if level == inf else f"{level:g} dB"


def _fresh(found: ClassifierSummary) -> list[Table]:
    if not found.fresh:
        return []
    rows = []
    for title, error in found.fresh.items():
        if title == ALL_FEATURES:
            size, told = found.best(found.reference).mask.size, found.all_features
        elif title == ONE_STANDARD_ERROR and found.smaller is not None:
            size, told = found.smaller["mask"].count("1"), found.smaller["error"]
        else:
            size, told = found.best(title).size, found.best(title).error
        rows.append({"subset": title, "size": size, "J": told, "fresh": error, "gap": error - told})
    return [
        Table(
            _name(found, "fresh"),
            f"Best subsets on fresh events that no search saw, with {found.name}",
            rows,
            {
                "subset": "Subset",
                "size": "ξ",
                "J": "J in the search",
                "fresh": "error on fresh events",
                "gap": "optimism gap",
            },
            {"J": ".4f", "fresh": ".4f", "gap": "+.4f"},
            lowest=("J", "fresh"),
            note="Trained on all events of the study. The gap is what the search promised too much: an error that was "
            "minimised is no estimate of the error to come.",
        )
    ]


def _stability(found: ClassifierSummary) -> Table:
    rows = []
    for title in found.runs:
        value = found.stability(title)
        low, high = (None, None) if value is None else value[1:]
        rows.append({"algorithm": title, "stability": None if value is None else value[0], "low": low, "high": high})
    return Table(
        _name(found, "stability"),
        f"Stability of the selection over the runs with {found.name}",
        rows,
        {"algorithm": "Algorithm", "stability": "Nogueira's measure", "low": "95 % interval from", "high": "to"},
        {"stability": ".3f", "low": ".3f", "high": ".3f"},
        highest=("stability",),
        note="1: every run selects the same features; 0: as often the same as by chance.",
    )


def _features(found: ClassifierSummary) -> Table:
    share = found.frequency(found.reference)
    names = feature_names() if share.size == 99 else tuple(f"feature {i}" for i in range(share.size))
    best, smaller = found.best(found.reference).mask, found.smaller_mask
    chosen = np.flatnonzero(best | (share >= 0.5) | (best if smaller is None else smaller))
    rows = [
        {
            "feature": names[i],
            "share": float(100 * share[i]),
            "best": bool(best[i]),
            "smaller": None if smaller is None else bool(smaller[i]),
        }
        for i in sorted(chosen, key=lambda i: (-share[i], i))
    ]
    return Table(
        _name(found, "features"),
        f"The features that matter: chosen by {found.reference} with {found.name}",
        rows,
        {
            "feature": "Feature",
            "share": "chosen in so many runs [%]",
            "best": "in the best subset",
            "smaller": "in the one-standard-error subset",
        },
        {"share": ".0f"},
        note="Listed are the features of the two subsets, and all that were chosen in at least half of the runs.",
    )
