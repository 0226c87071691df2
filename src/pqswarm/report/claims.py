"""The paper's claims, and whether each holds in a study, does not hold, or is inconclusive, by stated rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.report.paper_values import ALGORITHMS
from pqswarm.report.shared.sentences import at_most, decibel, enumerate_words, percent, probability
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.statistics import friedman, hommel, mann_whitney, posthoc
from pqswarm.study import load_plan
from pqswarm.study.plan_data import DatasetPlan

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "inconclusive"
"""Verdicts on a claim."""

_ALPHA = 0.05
_ERRORS = 2.0  # standard errors by which two error rates must differ
_RULES = (
    "Means: holds if the mean of {hero} is significantly lower than every rival's (two-sided Mann-Whitney test, "
    "Hommel-adjusted p ≤ 0.05); does not hold if a rival's mean is significantly lower. Significance: the paper's test "
    "(Friedman ranks, Hommel-adjusted). SFFS: its single run against the best run of {hero}, as in the paper; "
    "inconclusive within two standard errors. Noise: holds if the gain is positive at every noise level of the paper; "
    "does not hold if a loss exceeds two standard errors. All features: holds if the error rates differ by at most two "
    "standard errors. If the study is smaller than the paper's ({events} events, {runs} runs, {evaluations} "
    "evaluations), any verdict that a larger study might reverse is marked “inconclusive”."
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, its verdict in a study (`HOLDS`, `FAILS` or `UNKNOWN`), and the numbers behind it."""

    statement: str
    verdict: str
    numbers: str


@dataclass(frozen=True, eq=False)
class _ClaimedSize:
    """Whether the study has at least as many events, runs and evaluations as the paper."""

    events: bool
    runs: bool
    evaluations: bool

    def deny(self, *, runs: bool = True) -> str:
        """The verdict on a claim that was not confirmed; `runs`: whether more runs could change it."""
        return FAILS if self.evaluations and (self.runs or not runs) else UNKNOWN


def check_claims(study: StudySummary, found: ClassifierSummary) -> list[Claim]:
    """Check the paper's claims against the results with one classifier; none if the plan or paper lacks it."""
    hero = ALGORITHMS[-1]
    if not found.paper or hero not in found.runs:
        return []
    events, runs, evaluations = _paper_size()
    size = _ClaimedSize(study.n_events >= events, found.n_runs >= runs, study.plan.max_evaluations >= evaluations)
    errors = {title: np.round(found.errors(title), 12) for title in found.runs}
    sizes = {title: found.sizes(title) for title in found.runs}
    printed = {key: {t: row[key] for t, row in found.paper.performance.items()} for key in ("mean_J", "mean_size")}
    return [
        Claim(
            f"{hero} has the lowest mean error rate (Mann-Whitney test)",
            *_claim_lowest_mean(errors, hero, printed["mean_J"], percent, size),
        ),
        Claim(
            f"{hero} has the smallest subsets (Mann-Whitney test)",
            *_claim_lowest_mean(sizes, hero, printed["mean_size"], "{:.1f}".format, size),
        ),
        Claim(
            "its error rate differs significantly from every rival's (Friedman test)", *_significant(errors, hero, size)
        ),
        Claim(
            "its best subset makes fewer errors than SFFS at the same size",
            *_claim_better_than_sequential(study, found, hero, size),
        ),
        Claim(
            "its best subset beats all features at every noise level", *_claim_robust_to_noise(study, found, hero, size)
        ),
        Claim(
            "the error rate of all features, J(U), is the paper's",
            *_claim_same_level(found, study.n_events, events, size),
        ),
    ]


def claims_table(study: StudySummary) -> Table | None:
    """Return the verdicts on the paper's claims, with their numbers, one row per claim; None if there are none."""
    checked = {found.name: claims for found in study.classifiers if (claims := check_claims(study, found))}
    if not checked:
        return None
    events, runs, evaluations = _paper_size()
    rules = _RULES.format(hero=ALGORITHMS[-1], events=events, runs=runs, evaluations=evaluations)
    return table_of_claims(checked, "The paper's claims and this study", rules)


def table_of_claims(checked: Mapping[str, Sequence[Claim]], caption: str, rules: str) -> Table:
    """Return claims by classifier as a table, with the rules of their verdicts as a note."""
    rows = []
    for same in zip(*checked.values(), strict=True):
        row = {"claim": same[0].statement}
        for name, claim in zip(checked, same, strict=True):
            row |= {f"verdict {name}": claim.verdict, f"numbers {name}": claim.numbers}
        rows.append(row)
    headings = {"claim": ("The paper's claim", "")}
    for name in checked:
        headings |= {f"verdict {name}": (name, ""), f"numbers {name}": (f"numbers, {name}", "")}
    verdicts = tuple(f"verdict {name}" for name in checked)
    return Table("claims", caption, rows, headings, verdicts=verdicts, note=rules)


def _paper_size() -> tuple[int, int, int]:
    """Numbers of events, runs and evaluations per run in the paper."""
    plan = load_plan("paper")
    assert isinstance(plan.dataset, DatasetPlan)  # noqa: S101
    return plan.dataset.n_events, plan.runs, plan.max_evaluations


def adjusted_p(values: Mapping[str, FloatArray], control: str) -> dict[str, float]:
    """Return the p-value of each other group against a control: two-sided Mann-Whitney test, Hommel-adjusted."""
    others = [title for title in values if title != control]
    if not others:
        return {}
    adjusted = hommel(np.array([mann_whitney(values[title], values[control])[0] for title in others]))
    return dict(zip(others, adjusted.tolist(), strict=True))


def _claim_lowest_mean(
    values: Mapping[str, FloatArray], hero: str, printed: Mapping[str, float], show: Callable[[float], str],
    size: _ClaimedSize,
) -> tuple[str, str]:  # fmt: skip
    """Whether the mean of one algorithm is significantly lower than all others."""
    means, p = {title: float(each.mean()) for title, each in values.items()}, adjusted_p(values, hero)
    if not p:
        return UNKNOWN, "no other algorithm ran"
    ahead = [title for title in p if means[title] < means[hero]]
    next_best = min(p, key=lambda title: means[title])
    if any(p[title] <= _ALPHA for title in ahead):
        verdict = size.deny(runs=False)
    else:
        verdict = HOLDS if not ahead and max(p.values()) <= _ALPHA else UNKNOWN
    theirs = min((title for title in printed if title != hero), key=lambda title: printed[title])
    numbers = (
        f"{show(means[hero])} vs. {next_best} {show(means[next_best])} ({probability(p[next_best])}); paper: "
        f"{show(printed[hero])} vs. {theirs} {show(printed[theirs])}"
    )
    return verdict, numbers


def _significant(errors: Mapping[str, FloatArray], hero: str, size: _ClaimedSize) -> tuple[str, str]:
    """Whether an algorithm is significantly better than all others by the paper's test."""
    table = np.array(list(errors.values())).T
    if min(table.shape) < 2:
        return UNKNOWN, "needs two runs and two algorithms"
    result = posthoc(friedman(table, names=list(errors)), hero, alpha=_ALPHA)
    p = dict(zip(result.names, result.p_hommel.tolist(), strict=True))
    ahead = dict(zip(result.names, (result.differences > 0).tolist(), strict=True))  # the hero is
    behind = [title for title in p if not ahead[title] and p[title] <= _ALPHA]
    level = [title for title in p if p[title] > _ALPHA]
    if behind:
        return size.deny(runs=False), f"{enumerate_words(behind)} significantly better"
    if level:
        return size.deny(), f"not from {enumerate_words([f'{title} ({probability(p[title])})' for title in level])}"
    return HOLDS, f"from all, each {at_most(max(p.values()))}" if len(p) > 1 else probability(*p.values())


def _claim_better_than_sequential(
    study: StudySummary, found: ClassifierSummary, hero: str, size: _ClaimedSize
) -> tuple[str, str]:
    """Whether the best subset is better than the one SFFS finds at the same size."""
    titles = [algorithm.title for algorithm in study.plan.sequential if algorithm.algorithm == "sffs"]
    records = [found.sequential[title] for title in titles if title in found.sequential]
    best = found.best(hero)
    if not records or records[0].size != best.size:
        return UNKNOWN, "SFFS did not search this size" if records else "SFFS has not run"
    errors = np.round(found.errors(hero), 12)
    reached = int((errors >= round(records[0].error, 12)).sum())
    numbers = (
        f"{percent(best.error)} vs. SFFS {percent(records[0].error)} at {best.size} features; the single run of SFFS "
        f"matches or beats {reached} of {errors.size} runs"
    )
    both = np.array([best.error, records[0].error])
    margin = _ERRORS * sqrt(float((both * (1 - both)).sum()) / study.n_events)
    if abs(best.error - records[0].error) <= margin:  # as few as one event would decide
        return UNKNOWN, numbers
    return (HOLDS if best.error < records[0].error else size.deny()), numbers


def _claim_robust_to_noise(
    study: StudySummary, found: ClassifierSummary, hero: str, size: _ClaimedSize
) -> tuple[str, str]:
    """Whether the best subset is better than all features at each noise level of the paper."""
    noise = found.noise
    if noise is None or hero not in noise.accuracy:
        return UNKNOWN, "not tested yet"
    gain, both = noise.gain(hero), np.array([noise.accuracy[hero], noise.all_features]) / 100
    error = 100 * np.sqrt((both * (1 - both)).sum(axis=0) / study.n_events)
    worst = int(gain.argmin())
    numbers = f"minimum gain {gain[worst]:+.2f} points, at {decibel(noise.levels[worst])}"
    if (gain < -_ERRORS * error).any():
        return size.deny(), numbers
    missing = {level for level, *_ in found.paper.noise} - set(noise.levels)
    numbers += f"; {len(missing)} of the paper's levels not tested" if missing else ""
    return (HOLDS if gain.min() > 0 and not missing else UNKNOWN), numbers


def _claim_same_level(found: ClassifierSummary, ours: int, theirs: int, size: _ClaimedSize) -> tuple[str, str]:
    """Whether all features have the error rate printed in the paper."""
    here, printed = found.all_features, found.paper.all_features
    assert printed is not None  # noqa: S101
    error = sqrt(here * (1 - here) / ours + printed * (1 - printed) / theirs)
    equal = abs(here - printed) <= _ERRORS * error
    denied = FAILS if size.events else UNKNOWN  # with fewer events a classifier learns less
    return (HOLDS if equal else denied), f"{percent(here)}; paper: {percent(printed)}"
