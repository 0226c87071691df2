"""The tables of a study: those of the paper, with the paper's values, and those beyond it."""

import numpy as np

from pqswarm.report.published import ALGORITHMS, PUBLISHED
from pqswarm.report.subset_tables import own_table, subset_tables
from pqswarm.report.summary import ClassifierSummary, Comparison
from pqswarm.report.tables import PAPER, SOURCE, STUDY, Table

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
    tables = [_performance(found), *_gap(found), *_ranks(found), *_posthoc(found), *_sffs(found)]
    tables += subset_tables(found)
    return {table.name.removeprefix(f"{found.slug}-"): table for table in tables}


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
    return own_table(
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


def _gap(found: ClassifierSummary) -> list[Table]:
    """How far the algorithms stay from the best subset that is known, where one is known for these very events."""
    known = found.best_known
    if known is None:
        return []
    rows = []
    for title in (*found.runs, *found.sffs):
        errors = found.error_of(title) if title in found.runs else np.array([found.sffs[title].error])
        gaps = 100 * (errors - known["error"])
        rows.append(
            {"algorithm": title, "mean": float(gaps.mean()), "least": float(gaps.min()), "most": float(gaps.max())}
        )
    return [
        own_table(
            found,
            "gap",
            f"How far from the best known subset, with {found.name}",
            rows,
            {
                "algorithm": ("Algorithm", ""),
                "mean": ("mean gap [percentage points]", ".2f"),
                "least": ("least", ".2f"),
                "most": ("greatest", ".2f"),
            },
            lowest=("mean", "least", "most"),
            note=f"The best subset that is known for these events has {len(known['features'])} features and an error "
            f"of {100 * known['error']:.2f} %. It took {known['evaluations'] / 1e6:.1f} million evaluations, and no "
            f"adding or removing of one or two features, nor any exchange of one for another, makes it better.",
        )
    ]


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
        own_table(
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
    return own_table(
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
        own_table(
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
