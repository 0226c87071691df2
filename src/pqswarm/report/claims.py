"""The paper's claims, and whether each holds, does not hold, or is inconclusive, by stated rules.

A claim is checked on the runs of one data set, on several data sets, or as the fraction of the specifications of a
multiverse in which it holds; :data:`CLAIMS` says how.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.report.paper import ALGORITHMS, Overlay
from pqswarm.report.section import Table, at_most, decibel, enumerate_words, percent, points, probability
from pqswarm.report.summary import (
    ALPHA,
    ClassifierAcrossDatasets,
    ClassifierAcrossSpecifications,
    ClassifierSummary,
    DatasetSummary,
    Measure,
    MultiverseSummary,
    StudySummary,
)
from pqswarm.statistics import friedman, hommel, mann_whitney, posthoc, wilcoxon_signed_rank, wilson_interval
from pqswarm.study import load_plan
from pqswarm.study.plan import DatasetPlan

HOLDS = "holds"
FAILS = "does not hold"
UNKNOWN = "inconclusive"

HERO = ALGORITHMS[-1]
"""The algorithm of the paper."""

_ERRORS = 2.0  # standard errors by which two error rates must differ
_RULES_FOR_RUNS = (
    "Means: holds if the mean of {hero} is significantly lower than every rival's (two-sided Mann-Whitney test, "
    "Hommel-adjusted p ≤ 0.05); does not hold if a rival's mean is significantly lower. Significance: the paper's test "
    "(Friedman ranks, Hommel-adjusted). SFFS: its single run against the best run of {hero}, as in the paper; "
    "inconclusive within two standard errors. Noise: holds if the gain is positive at every noise level of the paper; "
    "does not hold if a loss exceeds two standard errors. All features: holds if the error rates differ by at most two "
    "standard errors. If the study is smaller than the paper's ({events} events, {runs} runs, {evaluations} "
    "evaluations), any conclusion that a larger study might reverse is marked “inconclusive”."
)
_RULES_FOR_DATASETS = (
    "Unit: the data set ({k}). Means: holds if {hero} has the lower mean than every rival of the paper (Wilcoxon "
    "signed ranks over the data sets, Hommel-adjusted p ≤ 0.05), does not hold if a rival has the lower one; N is the "
    "number of data sets on which it is lower than that of every rival, p the largest. SFFS: its single run against "
    "the median run of {hero}. Noise: on how many data sets the best subset is at least as accurate as all features at "
    "every level. All features: whether the paper's value lies within the 95 % prediction interval for one more data "
    "set."
)
_SHOW: dict[Measure, Callable[[float], str]] = {"error": percent, "size": "{:.1f}".format}

Outcome = tuple[str, str]
"""The conclusion on a claim (`HOLDS`, `FAILS` or `UNKNOWN`), and the numbers behind it."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, its conclusion in a study, and the numbers behind it."""

    statement: str
    conclusion: str
    numbers: str


class ClaimRuns:
    """The runs with a classifier of the paper on one data set, and how the size of the study compares with the paper.

    `n_events`, `n_runs` and `n_evaluations` are those of the paper.
    """

    def __init__(self, study: DatasetSummary, classifier: ClassifierSummary) -> None:
        self.study = study
        self.classifier = classifier
        self.n_events, self.n_runs, self.n_evaluations = _claimed_paper_size()

    def values(self, measure: Measure) -> dict[str, FloatArray]:
        """Errors or sizes of the runs of each algorithm."""
        if measure == "size":
            return {title: self.classifier.sizes(title) for title in self.classifier.runs}
        return {title: np.round(self.classifier.errors(title), 12) for title in self.classifier.runs}

    def refute(self, *, by_runs: bool = True) -> str:
        """The conclusion on a claim that was not confirmed; `by_runs`: whether more runs could change it."""
        enough_runs = self.classifier.n_runs >= self.n_runs or not by_runs
        return FAILS if self.study.plan.max_evaluations >= self.n_evaluations and enough_runs else UNKNOWN


def claim_p_values(values: Mapping[str, FloatArray], control: str) -> dict[str, float]:
    """Return the p-value of each other group against a control: two-sided Mann-Whitney test, Hommel-adjusted."""
    others = [title for title in values if title != control]
    p = [mann_whitney(values[title], values[control])[0] for title in others]
    return dict(zip(others, hommel(p).tolist(), strict=True))


def _conclude_claim_on_means(means: Mapping[str, float], p: Mapping[str, float], refuted: str) -> str:
    """Whether the mean of the hero is significantly lower than all others."""
    ahead = [title for title in p if means[title] < means[HERO]]
    if any(p[title] <= ALPHA for title in ahead):
        return refuted
    return HOLDS if not ahead and max(p.values()) <= ALPHA else UNKNOWN


def _say_claim_means(
    means: Mapping[str, float], p: Mapping[str, float], rival: str, measure: Measure, paper: Overlay
) -> str:
    """The mean of the hero and of its best rival, here and in the paper."""
    show = _SHOW[measure]
    printed = paper.means(measure)
    printed_rival = min((title for title in printed if title != HERO), key=lambda title: printed[title])
    return (
        f"{show(means[HERO])} vs. {rival} {show(means[rival])} ({probability(p[rival])}); paper: "
        f"{show(printed[HERO])} vs. {printed_rival} {show(printed[printed_rival])}"
    )


def _lowest_claim_by_runs(runs: ClaimRuns, measure: Measure) -> Outcome:
    values = runs.values(measure)
    means = {title: float(each.mean()) for title, each in values.items()}
    p = claim_p_values(values, HERO)
    if not p:
        return UNKNOWN, "no other algorithm ran"
    rival = min(p, key=lambda title: means[title])
    numbers = _say_claim_means(means, p, rival, measure, runs.classifier.paper)
    return _conclude_claim_on_means(means, p, runs.refute(by_runs=False)), numbers


def _lowest_claim_by_datasets(classifier: ClassifierAcrossDatasets, measure: Measure) -> Outcome:
    rivals = [title for title in classifier.titles if title in classifier.paper.performance and title != HERO]
    if not rivals:
        return UNKNOWN, "no other algorithm ran"
    values = {title: classifier.means(measure, title) for title in (HERO, *rivals)}
    means = {title: float(each.mean()) for title, each in values.items()}
    adjusted = hommel([wilcoxon_signed_rank(values[HERO], values[title]) for title in rivals])
    p = dict(zip(rivals, adjusted.tolist(), strict=True))
    rival = min(rivals, key=lambda title: means[title])
    n_lower = int(np.all([values[HERO] < values[title] - 1e-9 for title in rivals], axis=0).sum())
    numbers = _say_claim_means(means, p, rival, measure, classifier.paper)
    where = f"on {n_lower} of {classifier.n_datasets} ({probability(max(p.values()))})"
    return _conclude_claim_on_means(means, p, FAILS), f"{where}: {numbers}"


def _lowest_claim_in_specifications(classifier: ClassifierAcrossSpecifications, measure: Measure) -> BoolArray:
    lower = [classifier.is_lower(measure, classifier.baseline, title) for title in classifier.rivals]
    return np.asarray(np.all(lower, axis=0))


def _significance_claim_by_runs(runs: ClaimRuns) -> Outcome:
    """Whether the hero is significantly better than all others by the paper's test."""
    errors = runs.values("error")
    table = np.array(list(errors.values())).T
    if min(table.shape) < 2:
        return UNKNOWN, "needs two runs and two algorithms"
    result = posthoc(friedman(table, names=list(errors)), HERO, alpha=ALPHA)
    p = dict(zip(result.names, result.p_hommel.tolist(), strict=True))
    hero_is_ahead = dict(zip(result.names, (result.differences > 0).tolist(), strict=True))
    better = [title for title in p if not hero_is_ahead[title] and p[title] <= ALPHA]
    level = [title for title in p if p[title] > ALPHA]
    if better:
        return runs.refute(by_runs=False), f"{enumerate_words(better)} significantly better"
    if level:
        return runs.refute(), f"not from {enumerate_words([f'{title} ({probability(p[title])})' for title in level])}"
    return HOLDS, f"from all, each {at_most(max(p.values()))}" if len(p) > 1 else probability(*p.values())


def _sffs_claim_by_runs(runs: ClaimRuns) -> Outcome:
    """Whether the best subset is better than the one SFFS finds at the same size."""
    classifier = runs.classifier
    titles = [algorithm.title for algorithm in runs.study.plan.sequential if algorithm.algorithm == "sffs"]
    records = [classifier.sequential[title] for title in titles if title in classifier.sequential]
    best = classifier.best(HERO)
    if not records or records[0].size != best.size:
        return UNKNOWN, "SFFS did not search this size" if records else "SFFS has not run"
    errors = runs.values("error")[HERO]
    reached = int((errors >= round(records[0].error, 12)).sum())
    numbers = (
        f"{percent(best.error)} vs. SFFS {percent(records[0].error)} at {best.size} features; the single run of SFFS "
        f"matches or beats {reached} of {errors.size} runs"
    )
    both = np.array([best.error, records[0].error])
    margin = _ERRORS * sqrt(float((both * (1 - both)).sum()) / runs.study.n_events)
    if abs(best.error - records[0].error) <= margin:  # as few as one event would decide
        return UNKNOWN, numbers
    return (HOLDS if best.error < records[0].error else runs.refute()), numbers


def _sffs_claim_by_datasets(classifier: ClassifierAcrossDatasets) -> Outcome:
    if "SFFS" not in classifier.titles:
        return UNKNOWN, "SFFS has not run"
    medians = np.array([np.median(errors) for errors in classifier.errors[HERO]])
    single = classifier.means("error", "SFFS")
    p = wilcoxon_signed_rank(medians, single)
    numbers = (
        f"on {int((medians < single - 1e-9).sum())} of {medians.size} ({probability(p)}): median run "
        f"{percent(float(medians.mean()))} vs. {percent(float(single.mean()))}"
    )
    if p > ALPHA:
        return UNKNOWN, numbers
    return (HOLDS if medians.mean() < single.mean() else FAILS), numbers


def _sffs_claim_in_specifications(classifier: ClassifierAcrossSpecifications) -> BoolArray | None:
    if "SFFS" not in classifier.errors:
        return None
    medians = np.median(classifier.errors[classifier.baseline], axis=2).mean(axis=1)
    return np.asarray(medians < classifier.errors["SFFS"].mean(axis=(1, 2)) - 1e-12)


def _noise_claim_by_runs(runs: ClaimRuns) -> Outcome:
    """Whether the best subset is better than all features at each noise level of the paper."""
    noise = runs.classifier.noise
    if noise is None or HERO not in noise.accuracy:
        return UNKNOWN, "not tested yet"
    gain = noise.gain(HERO)
    both = np.array([noise.accuracy[HERO], noise.all_features]) / 100
    error = 100 * np.sqrt((both * (1 - both)).sum(axis=0) / runs.study.n_events)
    worst = int(gain.argmin())
    numbers = f"minimum gain {gain[worst]:+.2f} points, at {decibel(noise.levels[worst])}"
    if (gain < -_ERRORS * error).any():
        return runs.refute(), numbers
    missing = {level for level, *_ in runs.classifier.paper.noise} - set(noise.levels)
    numbers += f"; {len(missing)} of the paper's levels not tested" if missing else ""
    return (HOLDS if gain.min() > 0 and not missing else UNKNOWN), numbers


def _noise_claim_by_datasets(classifier: ClassifierAcrossDatasets) -> Outcome:
    tested = [dataset.noise for dataset in classifier.datasets.values() if dataset.noise is not None]
    if len(tested) < classifier.n_datasets:
        return UNKNOWN, "not tested yet"
    lowest = np.array([float(noise.gain(HERO).min()) for noise in tested])
    n_robust = int((lowest >= 0).sum())
    numbers = f"on {n_robust} of {len(tested)}; mean of the minimum gains {points(float(lowest.mean()))} points"
    if wilcoxon_signed_rank(lowest, np.zeros(lowest.size)) > ALPHA:
        return UNKNOWN, numbers
    return (HOLDS if lowest.mean() > 0 else FAILS), numbers


def _level_claim_by_runs(runs: ClaimRuns) -> Outcome:
    """Whether all features have the error rate printed in the paper."""
    here = runs.classifier.all_features
    printed = runs.classifier.paper.all_features
    error = sqrt(here * (1 - here) / runs.study.n_events + printed * (1 - printed) / runs.n_events)
    refuted = FAILS if runs.study.n_events >= runs.n_events else UNKNOWN  # with fewer events a classifier learns less
    conclusion = HOLDS if abs(here - printed) <= _ERRORS * error else refuted
    return conclusion, f"{percent(here)}; paper: {percent(printed)}"


def _level_claim_by_datasets(classifier: ClassifierAcrossDatasets) -> Outcome:
    from scipy.stats import t

    values = classifier.all_features
    printed = classifier.paper.all_features
    ends = f"{percent(float(values.min()))} to {percent(float(values.max()))}"
    numbers = f"{percent(float(values.mean()))} ({ends}); paper: {percent(printed)}"
    if values.size < 2:
        return UNKNOWN, numbers
    width = float(t.ppf(0.975, values.size - 1)) * float(values.std(ddof=1)) * sqrt(1 + 1 / values.size)
    return (HOLDS if abs(printed - values.mean()) <= width else FAILS), numbers


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper and how it is checked.

    `by_runs` takes the runs on one data set, `by_datasets` the results over several; `in_specifications` returns
    whether it holds in each specification of a multiverse. None: it is not checked so.
    """

    statement: str
    by_runs: Callable[[ClaimRuns], Outcome]
    by_datasets: Callable[[ClassifierAcrossDatasets], Outcome] | None = None
    in_specifications: Callable[[ClassifierAcrossSpecifications], BoolArray | None] | None = None


CLAIMS = (
    PaperClaim(
        "{hero} has the lowest mean error rate",
        lambda runs: _lowest_claim_by_runs(runs, "error"),
        lambda classifier: _lowest_claim_by_datasets(classifier, "error"),
        lambda classifier: _lowest_claim_in_specifications(classifier, "error"),
    ),
    PaperClaim(
        "{hero} has the smallest subsets",
        lambda runs: _lowest_claim_by_runs(runs, "size"),
        lambda classifier: _lowest_claim_by_datasets(classifier, "size"),
        lambda classifier: _lowest_claim_in_specifications(classifier, "size"),
    ),
    PaperClaim("its error rate differs significantly from every rival's (Friedman test)", _significance_claim_by_runs),
    PaperClaim(
        "its subsets make fewer errors than that of SFFS at the same size",
        _sffs_claim_by_runs,
        _sffs_claim_by_datasets,
        _sffs_claim_in_specifications,
    ),
    PaperClaim(
        "its best subset beats all features at every noise level", _noise_claim_by_runs, _noise_claim_by_datasets
    ),
    PaperClaim("the error rate of all features, J(U), is the paper's", _level_claim_by_runs, _level_claim_by_datasets),
)
"""The claims of the paper, in the order of the tables."""


def check_claims(study: DatasetSummary, classifier: ClassifierSummary) -> list[Claim]:
    """Check the paper's claims on one data set; none if the plan or paper lacks the classifier."""
    if not classifier.paper or HERO not in classifier.runs:
        return []
    runs = ClaimRuns(study, classifier)
    return [Claim(claim.statement.format(hero=HERO), *claim.by_runs(runs)) for claim in CLAIMS]


def check_claims_over_datasets(classifier: ClassifierAcrossDatasets) -> list[Claim]:
    """Check the paper's claims over several data sets; none if the plan or paper lacks the classifier."""
    return [
        Claim(claim.statement.format(hero=HERO), *claim.by_datasets(classifier))
        for claim in CLAIMS
        if claim.by_datasets is not None and classifier.paper and HERO in classifier.titles
    ]


def check_claims_in_specifications(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications
) -> dict[str, BoolArray]:
    """Return whether each claim holds, in each specification of the design, and who has the lower error rate."""
    hero = classifier.baseline
    checked: dict[str, BoolArray] = {}
    for claim in CLAIMS:
        holds = None if claim.in_specifications is None else claim.in_specifications(classifier)
        if holds is not None:
            checked[claim.statement.format(hero=hero)] = holds
    for title in classifier.rivals:
        checked[f"{hero} has a lower mean error rate than {title}"] = classifier.is_lower("error", hero, title)
    for title in classifier.errors:
        if title not in (hero, "SFFS", *classifier.rivals):
            checked[f"{title} has a lower mean error rate than {hero}"] = classifier.is_lower("error", title, hero)
    return {statement: holds[study.counted] for statement, holds in checked.items()}


def claims_table(study: DatasetSummary | StudySummary) -> Table | None:
    """Return the conclusions on the paper's claims, with their numbers, one row per claim; None if there are none."""
    if isinstance(study, DatasetSummary):
        checked = {each.name: check_claims(study, each) for each in study.classifiers}
        events, runs, evaluations = _claimed_paper_size()
        caption = "The paper's claims and this study"
        rules = _RULES_FOR_RUNS.format(hero=HERO, events=events, runs=runs, evaluations=evaluations)
    else:
        checked = {each.name: check_claims_over_datasets(each) for each in study.classifiers}
        caption = f"The paper's claims on {len(study.datasets)} data sets"
        rules = _RULES_FOR_DATASETS.format(hero=HERO, k=len(study.datasets))
    checked = {name: claims for name, claims in checked.items() if claims}
    return _table_of_claims(checked, caption, rules) if checked else None


def _table_of_claims(checked: Mapping[str, Sequence[Claim]], caption: str, rules: str) -> Table:
    """Claims by classifier as a table, with the rules of their conclusions as a note."""
    rows = []
    for claims in zip(*checked.values(), strict=True):
        row = {"claim": claims[0].statement}
        for name, claim in zip(checked, claims, strict=True):
            row |= {f"conclusion {name}": claim.conclusion, f"numbers {name}": claim.numbers}
        rows.append(row)
    headings = {"claim": ("The paper's claim", "")}
    for name in checked:
        headings |= {f"conclusion {name}": (name, ""), f"numbers {name}": (f"numbers, {name}", "")}
    conclusions = tuple(f"conclusion {name}" for name in checked)
    return Table("claims", caption, rows, headings, conclusions=conclusions, note=rules)


def claim_fractions_table(study: MultiverseSummary, checked: Mapping[str, Mapping[str, BoolArray]]) -> Table:
    """Return in which fraction of the specifications each claim holds, by classifier."""
    rows: list[dict[str, Any]] = []
    for statement in next(iter(checked.values())):
        row: dict[str, Any] = {"claim": statement}
        for name, claims in checked.items():
            holds = claims[statement]
            low, high = wilson_interval(int(holds.sum()), holds.size)
            row[f"fraction {name}"] = 100 * float(holds.mean())
            row[f"{name}_interval"] = (100 * low, 100 * high)
        rows.append(row)
    headings = {"claim": ("Claim", "")}
    for name in checked:
        headings[f"fraction {name}"] = (f"{name} [% of specifications]", ".0f")
        headings[f"{name}_interval"] = ("95 % interval", ".0f")
    return Table(
        "claims",
        f"In how many of {study.n_counted} specifications each claim holds",
        rows,
        headings,
        note="A claim holds in a specification if it does for the means over its data sets. Wilson's intervals, as if "
        "the specifications were drawn at random: they describe the choices of the plan, not all imaginable ones.",
    )


def _claimed_paper_size() -> tuple[int, int, int]:
    """Numbers of events, runs and evaluations per run in the paper."""
    plan = load_plan("paper")
    assert isinstance(plan.dataset, DatasetPlan)  # noqa: S101
    return plan.dataset.n_events, plan.runs, plan.max_evaluations
