"""The paper's claims over several data sets: on how many each holds, and whether that could be chance."""

from collections.abc import Callable, Mapping
from math import sqrt

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.report.claims import FAILS, HOLDS, UNKNOWN, Claim, table_of_claims
from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
from pqswarm.report.paper import Overlay
from pqswarm.report.paper_values import ALGORITHMS
from pqswarm.report.shared.sentences import percent, points, probability
from pqswarm.report.tables import Table
from pqswarm.statistics import hommel, wilcoxon_signed_rank

_ALPHA = 0.05
_RULES = (
    "Unit: the data set ({k}). Means: holds if {hero} has the lower mean than every rival of the paper (Wilcoxon "
    "signed ranks over the data sets, Hommel-adjusted p ≤ 0.05), does not hold if a rival has the lower one; N is the "
    "number of data sets on which it is lower than that of every rival, p the largest. SFFS: its single run against "
    "the median run of {hero}. Noise: on how many data sets the best subset is at least as accurate as all features at "
    "every level. All features: whether the paper's value lies within the 95 % prediction interval for one more data "
    "set."
)


def claims_over_datasets(study: DatasetsSummary) -> Table | None:
    """Return the verdicts on the paper's claims, one row per claim; None if the plan does not ask for the paper."""
    checked = {found.name: claims for found in study.classifiers if (claims := check_over_datasets(found))}
    if not checked:
        return None
    rules = _RULES.format(hero=ALGORITHMS[-1], k=len(study.members))
    return table_of_claims(checked, f"The paper's claims on {len(study.members)} data sets", rules)


def check_over_datasets(found: OverDatasets) -> list[Claim]:
    """Check the paper's claims with one classifier over the data sets; empty if the paper did not use it."""
    paper, hero = next(iter(found.members.values())).paper, ALGORITHMS[-1]
    if not paper or hero not in found.titles:
        return []
    rivals = [title for title in found.titles if title in paper.performance and title != hero]
    errors = {title: found.mean_errors(title) for title in (hero, *rivals)}
    sizes = {title: found.mean_sizes(title) for title in (hero, *rivals)}
    printed = {key: {t: row[key] for t, row in paper.performance.items()} for key in ("mean_J", "mean_size")}
    return [
        Claim(f"{hero} has the lowest mean error rate", *_lowest(errors, hero, printed["mean_J"], percent)),
        Claim(f"{hero} has the smallest subsets", *_lowest(sizes, hero, printed["mean_size"], "{:.1f}".format)),
        Claim("its subsets have fewer errors than that of SFFS at the same size", *_against_sffs(found, hero)),
        Claim("its best subset beats all features at every noise level", *_with_noise(found, hero)),
        Claim("the error rate of all features, J(U), is the paper's", *_same_level(found, paper)),
    ]


def _lowest(
    values: Mapping[str, FloatArray], hero: str, printed: Mapping[str, float], show: Callable[[float], str]
) -> tuple[str, str]:
    rivals = [title for title in values if title != hero]
    if not rivals:
        return UNKNOWN, "no other algorithm ran"
    mine = values[hero]
    p = dict(zip(rivals, hommel([wilcoxon_signed_rank(mine, values[t]) for t in rivals]).tolist(), strict=True))
    nearest = min(rivals, key=lambda title: float(values[title].mean()))
    lower = int(np.all([mine < values[title] - 1e-9 for title in rivals], axis=0).sum())
    ahead = [title for title in rivals if values[title].mean() < mine.mean()]
    if any(p[title] <= _ALPHA for title in ahead):
        verdict = FAILS
    else:
        verdict = HOLDS if not ahead and max(p.values()) <= _ALPHA else UNKNOWN
    theirs = min((title for title in printed if title != hero), key=lambda title: printed[title])
    numbers = (
        f"on {lower} of {mine.size} ({probability(max(p.values()))}): {show(float(mine.mean()))} vs. {nearest} "
        f"{show(float(values[nearest].mean()))} ({probability(p[nearest])}); paper: {show(printed[hero])} vs. {theirs} "
        f"{show(printed[theirs])}"
    )
    return verdict, numbers


def _against_sffs(found: OverDatasets, hero: str) -> tuple[str, str]:
    if "SFFS" not in found.titles:
        return UNKNOWN, "SFFS has not run"
    mine = np.array([np.median(each) for each in found.errors(hero)])
    theirs = found.mean_errors("SFFS")
    p, wins = wilcoxon_signed_rank(mine, theirs), int((mine < theirs - 1e-9).sum())
    verdict = UNKNOWN if p > _ALPHA else HOLDS if mine.mean() < theirs.mean() else FAILS
    return verdict, (
        f"on {wins} of {mine.size} ({probability(p)}): median run {percent(float(mine.mean()))} vs. "
        f"{percent(float(theirs.mean()))}"
    )


def _with_noise(found: OverDatasets, hero: str) -> tuple[str, str]:
    noise = [one.noise for one in found.members.values() if one.noise is not None]
    if len(noise) < len(found.members):
        return UNKNOWN, "not tested yet"
    lowest = np.array([float(one.gain(hero).min()) for one in noise])
    number = int((lowest >= 0).sum())
    numbers = f"on {number} of {len(noise)}; mean of the minimum gains {points(float(lowest.mean()))} points"
    p = wilcoxon_signed_rank(lowest, np.zeros(lowest.size))
    if p > _ALPHA:
        return UNKNOWN, numbers
    return (HOLDS if lowest.mean() > 0 else FAILS), numbers


def _same_level(found: OverDatasets, paper: Overlay) -> tuple[str, str]:
    from scipy.stats import t

    values, printed = found.all_features, paper.all_features
    assert printed is not None  # noqa: S101
    ends = f"{percent(float(values.min()))} to {percent(float(values.max()))}"
    numbers = f"{percent(float(values.mean()))} ({ends}); paper: {percent(printed)}"
    if values.size < 2:
        return UNKNOWN, numbers
    width = float(t.ppf(0.975, values.size - 1)) * float(values.std(ddof=1)) * sqrt(1 + 1 / values.size)
    return (HOLDS if abs(printed - values.mean()) <= width else FAILS), numbers
