"""The paper's claims, and whether each holds, does not hold, or is inconclusive, by stated rules.

A claim is checked on the runs of one data set, over several data sets, or as the fraction of the specifications of a
multiverse in which it holds; :data:`CLAIMS` says how.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import comb, sqrt
from typing import Any, Literal

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.report.paper import ALGORITHMS, PAPER_RUNS, Overlay
from pqswarm.report.section import Table, enumerate_words, percent, probability
from pqswarm.report.summary import (
    ALPHA,
    ClassifierAcrossDatasets,
    ClassifierAcrossSpecifications,
    ClassifierSummary,
    DatasetSummary,
    Measure,
    MultiverseSummary,
    NoiseSummary,
    StudySummary,
)
from pqswarm.statistics import (
    Comparison,
    PairedComparison,
    compare_runs,
    contrast_estimation,
    friedman,
    posthoc,
    wilcoxon_signed_rank,
)
from pqswarm.statistics.comparisons import compare_datasets
from pqswarm.study import StudyPlan, load_plan
from pqswarm.study.plan import DatasetPlan

HOLDS = "holds"
FAILS = "does not hold"
UNKNOWN = "inconclusive"
EQUAL = "practically equal"
LETTER = f"holds, but {EQUAL}"
UNTESTED = "not tested"

HERO = ALGORITHMS[-1]
"""The algorithm of the paper."""

VARIANTS = ("BPSO", "CBPSO", "chBPSO", HERO)
OLDER = ("GA", "ACO")
"""The paper's swarms, and the algorithms that it says they all beat."""

_ERRORS = 2.0  # standard errors by which two error rates must differ
_PROBABLE = 0.95  # posterior probability of practical equality

Quantity = Literal["error", "size", "score"]
"""What algorithms are compared by; the score is the paper's overall score."""

_SHOW: dict[Quantity, Callable[[float], str]] = {"error": percent, "size": "{:.1f}".format, "score": "{:.4g}".format}

Outcome = tuple[str, str]
"""The conclusion on a claim, one of the words above, and the numbers behind it."""

_RULES_FOR_RUNS = (
    "Unit: the run. Comparisons of means: holds if every one is significant (Mann-Whitney test, Hommel-adjusted p ≤ "
    "0.05), does not hold if one is significantly reversed. Holds, but practically equal: the means also differ by "
    "less than {margin:.0f} % (equivalence test). Significance: the paper's test (Friedman ranks, Hommel-adjusted). "
    "SFFS: its single run against the best run of {hero}; inconclusive within two standard errors. Ranges: those of "
    "the paper's algorithms lie within the printed ones. Noise, contrasts: holds if the best subsets show it at every "
    "level; what an untested level could change is “inconclusive”. All features: within two standard errors. In a "
    "study smaller than the paper's ({events} events, {runs} runs, {evaluations} evaluations) what does not hold is "
    "“inconclusive”."
)
_RULES_FOR_DATASETS = (
    "Unit: the data set ({k}). Comparisons of means: holds if every one is significant (Wilcoxon signed ranks over the "
    "data sets, Hommel-adjusted p ≤ 0.05), does not hold if one is significantly reversed. Holds, but practically "
    "equal: the Bayesian signed-rank test gives at least 95 % to a difference of less than {margin:.0f} %. "
    "Significance: Friedman ranks over the data sets, Hommel-adjusted. SFFS: its single run against the median run of "
    "{hero}. Noise, contrasts, gain of k-NN: holds if it does on significantly more than half of the data sets (sign "
    "test, p ≤ 0.05), does not hold if on significantly fewer; this takes six data sets. What an untested level of "
    "noise could change is “inconclusive”. Ranges: those of the means lie within the printed ones. All features: the "
    "paper's value lies within the 95 % prediction interval for one more data set. With fewer evaluations than the "
    "paper's ({evaluations}), or for ranges, all features and the gain of k-NN fewer events ({events}), what does not "
    "hold is “inconclusive”."
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, its conclusion in a study, and the numbers behind it."""

    statement: str
    conclusion: str
    numbers: str


@dataclass(frozen=True)
class _ClaimEvidence:
    """Results with a classifier of the paper, from which claims are checked.

    The unit is the run on a single data set, and the data set if there are several.
    """

    plan: StudyPlan
    classifier: ClassifierAcrossDatasets
    others: Sequence[ClassifierAcrossDatasets]  # all classifiers of the study
    n_events: int  # of a data set
    by_run: bool

    @property
    def refuted(self) -> str:
        """The conclusion if the opposite is shown; fewer evaluations than the paper's show nothing.

        Nor does a single data set with fewer events or runs.
        """
        given = (self.n_events, next(iter(self.classifier.datasets.values())).n_runs, self.plan.max_evaluations)
        smaller = [ours < theirs for ours, theirs in zip(given, _claimed_paper_size(), strict=True)]
        return UNKNOWN if smaller[-1] or (self.by_run and any(smaller)) else FAILS

    @property
    def unlike(self) -> str:
        """The conclusion if a level is not the paper's; with fewer events a classifier learns less."""
        return self.refuted if self.n_events >= _claimed_paper_size()[0] else UNKNOWN

    @property
    def unconfirmed(self) -> str:
        """The conclusion if significance was claimed and is not shown; over data sets that shows nothing."""
        return self.refuted if self.by_run else UNKNOWN

    @property
    def rivals(self) -> list[str]:
        """The paper's other algorithms that ran."""
        return [title for title in ALGORITHMS if title != HERO and title in self.classifier.titles]

    @property
    def noise(self) -> list[NoiseSummary]:
        """Stage II on each data set; empty if it is not finished on all."""
        tested = [dataset.noise for dataset in self.classifier.datasets.values() if dataset.noise is not None]
        return tested if len(tested) == self.classifier.n_datasets else []

    def runs(self, quantity: Quantity, title: str) -> list[FloatArray]:
        """One value per run, on each data set."""
        if quantity != "score":
            return self.classifier.values(quantity)[title]
        scale = PAPER_RUNS / self.classifier.n_features  # to the paper's score, a sum over its runs
        pairs = zip(self.classifier.errors[title], self.classifier.sizes[title], strict=True)
        return [scale * errors * sizes for errors, sizes in pairs]

    def values(self, quantity: Quantity, title: str) -> FloatArray:
        """One value per unit."""
        runs = self.runs(quantity, title)
        return runs[0] if self.by_run else np.array([each.mean() for each in runs])

    def compare(self, quantity: Quantity, pairs: Sequence[tuple[str, str]]) -> Sequence[Comparison | PairedComparison]:
        """Compare pairs of algorithms."""
        runs = {title: self.runs(quantity, title) for pair in pairs for title in pair}
        if not self.by_run:
            return compare_datasets(runs, pairs=pairs, margin=self.plan.margin)
        return compare_runs({title: each[0] for title, each in runs.items()}, pairs=pairs, margin=self.plan.margin)

    def conclude_pattern(self, shown: Sequence[bool]) -> Outcome:
        """Conclude from whether something was seen on each data set.

        Of a single one, only a study as large as the paper's shows a pattern, because nothing tests it.
        """
        if self.by_run:
            return UNKNOWN if self.refuted == UNKNOWN else HOLDS if all(shown) else FAILS, ""
        from scipy.stats import binomtest

        n = sum(shown)
        where = f"on {n} of {len(shown)} data sets"
        if binomtest(n, len(shown)).pvalue > ALPHA:
            return UNKNOWN, where
        return (HOLDS if 2 * n > len(shown) else self.refuted), where


def _is_practically_equal(comparison: Comparison | PairedComparison) -> bool:
    if isinstance(comparison, PairedComparison):
        return comparison.posterior.equal >= _PROBABLE
    return comparison.within_margin


def _conclude_order(found: Sequence[Comparison | PairedComparison], refuted: str) -> str:
    """Whether the first algorithm of every pair is significantly better."""
    open_pairs = [one for one in found if one.conclusion != "better"]
    if any(one.conclusion == "worse" for one in open_pairs):
        return refuted
    if not open_pairs:
        return LETTER if any(map(_is_practically_equal, found)) else HOLDS
    return EQUAL if all(map(_is_practically_equal, open_pairs)) else UNKNOWN


def _order_claim(
    evidence: _ClaimEvidence, quantity: Quantity, pairs: Sequence[tuple[str, str]], printed: str
) -> Outcome:
    """Whether the first algorithm of every pair has the lower mean; the numbers are of the least clear pair."""
    if not pairs:
        return UNKNOWN, "no other algorithm ran"
    found = evidence.compare(quantity, pairs)
    closest = max(found, key=lambda one: one.mean - one.mean_against)
    show = _SHOW[quantity]
    won = f", lower on {closest.wins} of {closest.n_datasets}" if isinstance(closest, PairedComparison) else ""
    numbers = (
        f"{closest.algorithm} {show(closest.mean)}, {closest.against} {show(closest.mean_against)}{won} "
        f"({probability(closest.p_hommel)}){printed}"
    )
    return _conclude_order(found, evidence.refuted), numbers


def _lowest_claim(evidence: _ClaimEvidence, quantity: Quantity) -> Outcome:
    printed = evidence.classifier.paper.means(quantity)
    rival = min((title for title in printed if title != HERO), key=lambda title: printed[title])
    show = _SHOW[quantity]
    words = f"; paper: {show(printed[HERO])}, {rival} {show(printed[rival])}"
    return _order_claim(evidence, quantity, [(HERO, title) for title in evidence.rivals], words)


def _variants_claim(evidence: _ClaimEvidence) -> Outcome:
    pairs = [(one, other) for one in VARIANTS for other in OLDER if {one, other} <= set(evidence.classifier.titles)]
    return _order_claim(evidence, "error", pairs, "")


def _significance_claim(evidence: _ClaimEvidence, quantity: Quantity) -> Outcome:
    """Whether the hero is significantly better than all others by the paper's test."""
    titles = [HERO, *evidence.rivals]
    table = np.array([evidence.values(quantity, title) for title in titles]).T
    if min(table.shape) < 2:
        return UNKNOWN, "needs two runs or data sets, and two algorithms"
    result = posthoc(friedman(table, names=titles), HERO, alpha=ALPHA)
    p = dict(zip(result.names, result.p_hommel.tolist(), strict=True))
    is_ahead = dict(zip(result.names, (result.differences > 0).tolist(), strict=True))
    better = [title for title in p if not is_ahead[title] and p[title] <= ALPHA]
    level = [title for title in p if p[title] > ALPHA]
    if better:
        return evidence.refuted, f"{enumerate_words(better)} significantly better"
    if level:
        named = [f"{title} ({probability(p[title])})" for title in level]
        return evidence.unconfirmed, f"not from {enumerate_words(named)}"
    return HOLDS, f"from all, each {probability(max(p.values())).replace('=', '≤')}"


def _ranges_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether the improvements and reductions of the paper's algorithms lie within the printed ranges."""
    titles = [*evidence.rivals, HERO]
    whole = float(evidence.classifier.all_features.mean())
    n = evidence.classifier.n_features
    ours = {
        "PI": [100 * (1 - evidence.classifier.mean("error", title) / whole) for title in titles] if whole else [0.0],
        "Xi": [100 * (1 - evidence.classifier.mean("size", title) / n) for title in titles],
    }
    parts = []
    within = True
    for key, values in ours.items():
        printed = [row[key] for row in evidence.classifier.paper.performance.values()]
        low, high = round(min(printed)), round(max(printed))
        within &= low <= round(min(values)) and round(max(values)) <= high
        word = {"PI": "error rates lower by", "Xi": "subsets smaller by"}[key]
        parts.append(f"{word} {min(values):.0f} to {max(values):.0f} % (paper: {low} to {high} %)")
    return (HOLDS if within else evidence.unlike), "; ".join(parts)


def _sffs_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether the subsets are better than the one SFFS finds at the same size."""
    classifier = evidence.classifier
    if evidence.by_run:
        return _sffs_claim_by_runs(evidence, next(iter(classifier.datasets.values())))
    if "SFFS" not in classifier.titles:
        return UNTESTED, "SFFS has not run"
    medians = np.array([np.median(errors) for errors in classifier.errors[HERO]])
    single = classifier.means("error", "SFFS")
    p = wilcoxon_signed_rank(medians, single)
    numbers = (
        f"median run {percent(float(medians.mean()))}, SFFS {percent(float(single.mean()))}, lower on "
        f"{int((medians < single - 1e-9).sum())} of {medians.size} ({probability(p)})"
    )
    if p > ALPHA:
        return UNKNOWN, numbers
    return (HOLDS if medians.mean() < single.mean() else evidence.refuted), numbers


def _sffs_claim_by_runs(evidence: _ClaimEvidence, classifier: ClassifierSummary) -> Outcome:
    titles = [algorithm.title for algorithm in evidence.plan.sequential if algorithm.algorithm == "sffs"]
    records = [classifier.sequential[title] for title in titles if title in classifier.sequential]
    best = classifier.best(HERO)
    if not records or records[0].size != best.size:
        return UNTESTED, "SFFS did not search this size" if records else "SFFS has not run"
    errors = evidence.values("error", HERO)
    reached = int((errors >= round(records[0].error, 12)).sum())
    numbers = (
        f"{percent(best.error)}, SFFS {percent(records[0].error)} with {best.size} features; the single run of SFFS "
        f"matches or beats {reached} of {errors.size} runs"
    )
    both = np.array([best.error, records[0].error])
    margin = _ERRORS * sqrt(float((both * (1 - both)).sum()) / evidence.n_events)
    if abs(best.error - records[0].error) <= margin:  # as few as one event would decide
        return UNKNOWN, numbers
    return (HOLDS if best.error < records[0].error else evidence.unconfirmed), numbers


def _noise_claim(
    evidence: _ClaimEvidence, shows: Callable[[NoiseSummary], bool], words: str, *, some_levels_refute: bool = False
) -> Outcome:
    """Whether something is seen in stage II, at every noise level of the paper."""
    if not evidence.noise:
        return UNTESTED, "stage II is not finished"
    conclusion, where = evidence.conclude_pattern([shows(noise) for noise in evidence.noise])
    missing = {level for level, *_ in evidence.classifier.paper.noise} - set(evidence.noise[0].levels)
    if missing and not (some_levels_refute and conclusion == FAILS):
        conclusion = UNKNOWN
    gaps = f"{len(missing)} of the paper's levels not tested" if missing else ""
    return conclusion, "; ".join(filter(None, [where, words, gaps]))


def _paper_titles(noise: NoiseSummary) -> list[str]:
    return [title for title in ALGORITHMS if title in noise.accuracy]


def _levels_led(noise: NoiseSummary) -> int:
    """At how many levels the hero has the highest gain of the paper's algorithms; ties count."""
    gains = np.array([noise.gain(title) for title in _paper_titles(noise)])
    return int((noise.gain(HERO) >= gains.max(axis=0)).sum())


def _gain_claim(evidence: _ClaimEvidence) -> Outcome:
    led = [_levels_led(noise) for noise in evidence.noise]
    average = " on average" if len(led) > 1 else ""
    words = f"highest at {np.mean(led):.2g} of {len(evidence.noise[0].levels)} levels{average}" if led else ""
    return _noise_claim(evidence, _leads_at_every_level, words, some_levels_refute=True)


def _leads_at_every_level(noise: NoiseSummary) -> bool:
    return _levels_led(noise) == len(noise.levels)


def _robust_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether the subsets that are robust are those that are in the paper."""
    robust = {
        title: sum(noise.robust(title) for noise in evidence.noise)
        for title in (_paper_titles(evidence.noise[0]) if evidence.noise else ())
    }
    n = len(evidence.noise)
    named = [title if n == 1 else f"{title} on {times}" for title, times in robust.items() if times]
    words = f"robust: {enumerate_words(named) if named else 'none'}"
    return _noise_claim(
        evidence,
        partial(_is_robust_as_printed, evidence.classifier.paper),
        words,
        some_levels_refute=all(map(evidence.classifier.paper.robust, robust)),
    )


def _is_robust_as_printed(paper: Overlay, noise: NoiseSummary) -> bool:
    return all(noise.robust(title) == paper.robust(title) for title in _paper_titles(noise))


def _contrasts(noise: NoiseSummary, title: str) -> dict[str, float]:
    """Contrast estimates of an algorithm against the others of the paper [percentage points]."""
    titles = _paper_titles(noise)
    if len(titles) < 2 or len(noise.levels) < 2:
        return {}
    matrix = contrast_estimation(np.array([noise.accuracy[one] for one in titles]).T, names=titles).matrix
    row = dict(zip(titles, matrix[titles.index(title)].tolist(), strict=True))
    return {other: value for other, value in row.items() if other != title}


def _contrast_claim(evidence: _ClaimEvidence, title: str) -> Outcome:
    """Whether the contrast estimates of an algorithm have the signs that they have in the paper."""
    found = [_contrasts(noise, title) for noise in evidence.noise] if evidence.noise else []
    if not all(found):
        return UNTESTED, "needs two noise levels and two algorithms"
    means = {other: float(np.mean([each[other] for each in found])) for other in (found[0] if found else ())}
    words = ", ".join(f"{value:+.2f} against {other}" for other, value in means.items())
    return _noise_claim(evidence, partial(_contrasts_as_printed, title, evidence.classifier.paper), words)


def _contrasts_as_printed(title: str, paper: Overlay, noise: NoiseSummary) -> bool:
    ours = _contrasts(noise, title)
    return bool(ours) and all(np.sign(value) == np.sign(paper.contrast[title][other]) for other, value in ours.items())


def _level_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether all features have the error rate printed in the paper."""
    printed = evidence.classifier.paper.all_features
    here = evidence.classifier.all_features
    numbers = f"{percent(float(here.mean()))}; paper: {percent(printed)}"
    if evidence.by_run:
        n_events = _claimed_paper_size()[0]
        whole = float(here[0])
        error = sqrt(whole * (1 - whole) / evidence.n_events + printed * (1 - printed) / n_events)
        return (HOLDS if abs(whole - printed) <= _ERRORS * error else evidence.unlike), numbers
    if here.size < 2:
        return UNKNOWN, numbers
    from scipy.stats import t

    width = float(t.ppf(0.975, here.size - 1)) * float(here.std(ddof=1)) * sqrt(1 + 1 / here.size)
    return (HOLDS if abs(printed - here.mean()) <= width else evidence.unlike), numbers


def _landscape_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether the searches improve k-NN more than naive Bayes."""
    kinds = {evidence.plan.classifier(other.name).kind: other for other in evidence.others}
    if not {"k-nn", "kernel-nb"} <= set(kinds):
        return UNTESTED, "needs both classifiers"
    gains = {}
    for kind in ("k-nn", "kernel-nb"):
        one = replace(evidence, classifier=kinds[kind])
        whole = one.classifier.all_features
        means = [[runs.mean() for runs in one.runs("error", title)] for title in (*one.rivals, HERO)]
        errors = np.mean(means, axis=0)
        gains[kind] = 100 * (1 - errors / np.where(whole > 0, whole, np.inf))
    conclusion, where = evidence.conclude_pattern((gains["k-nn"] > gains["kernel-nb"]).tolist())
    words = f"mean improvement {gains['k-nn'].mean():.0f} % with k-NN, {gains['kernel-nb'].mean():.0f} % with NB"
    return evidence.unlike if conclusion == FAILS else conclusion, "; ".join(filter(None, [where, words]))


def _cause_claim(evidence: _ClaimEvidence) -> Outcome:
    """Whether cardinality learning makes the difference: against variants of the hero that do not learn sizes."""
    ablated = [
        algorithm.title
        for algorithm in evidence.plan.searched
        if getattr(algorithm.search.Parameters.of(algorithm.settings), "cardinality", "learned") != "learned"
        and algorithm.title in evidence.classifier.titles
    ]
    if not ablated:
        return UNTESTED, f"needs {HERO} without cardinality learning among the algorithms"
    return _order_claim(evidence, "error", [(HERO, title) for title in ablated], "")


def _lowest_in_specifications(classifier: ClassifierAcrossSpecifications, quantity: Quantity) -> BoolArray:
    values = _spec_values(classifier, quantity)
    lowest = np.min([values[title] for title in classifier.rivals], axis=0)
    return np.asarray(values[classifier.baseline] < lowest - 1e-12)


def _spec_values(classifier: ClassifierAcrossSpecifications, quantity: Quantity) -> dict[str, FloatArray]:
    """Means over data sets and runs in each specification."""
    scores = {title: errors * classifier.sizes[title] for title, errors in classifier.errors.items()}
    values = scores if quantity == "score" else classifier.values(quantity)
    return {title: each.mean(axis=(1, 2)) for title, each in values.items()}


def _chance_of_lowest(classifier: ClassifierAcrossSpecifications, quantity: Quantity) -> float:
    """How often the baseline would lead if those that ever lead were exchangeable."""
    values = _spec_values(classifier, quantity)
    titles = [classifier.baseline, *classifier.rivals]
    leaders = {titles[i] for i in np.argmin([values[title] for title in titles], axis=0)}
    return 1 / len(leaders | {classifier.baseline})


def _significant_in_specifications(classifier: ClassifierAcrossSpecifications, quantity: Measure) -> BoolArray:
    """Whether the paper's test, over the runs on all data sets, is significant against every rival."""
    values = classifier.values(quantity)
    titles = [classifier.baseline, *classifier.rivals]
    table = np.array([values[title] for title in titles])
    ranks = [friedman(table[:, i].reshape(len(titles), -1).T, names=titles) for i in range(table.shape[1])]
    tests = [posthoc(each, titles[0], alpha=ALPHA) for each in ranks]
    return np.array([bool((test.p_hommel <= ALPHA).all() and (test.differences > 0).all()) for test in tests])


def _variants_in_specifications(classifier: ClassifierAcrossSpecifications) -> BoolArray | None:
    values = _spec_values(classifier, "error")
    if not {*VARIANTS, *OLDER} <= set(values):
        return None
    return np.asarray(
        np.max([values[title] for title in VARIANTS], axis=0) < np.min([values[title] for title in OLDER], axis=0)
    )


def _sffs_in_specifications(classifier: ClassifierAcrossSpecifications) -> BoolArray | None:
    if "SFFS" not in classifier.errors:
        return None
    medians = np.median(classifier.errors[classifier.baseline], axis=2).mean(axis=1)
    return np.asarray(medians < classifier.errors["SFFS"].mean(axis=(1, 2)) - 1e-12)


def _noise_in_specifications(
    classifier: ClassifierAcrossSpecifications, shows: Callable[[NoiseSummary], bool]
) -> BoolArray | None:
    """Whether the mean accuracies over the data sets show something, in each specification."""
    if not classifier.paper or not all(classifier.stage_two):
        return None
    means = [
        replace(
            noise[0],
            all_features=np.mean([one.all_features for one in noise], axis=0),
            accuracy={title: np.mean([one.accuracy[title] for one in noise], axis=0) for title in noise[0].accuracy},
        )
        for noise in classifier.stage_two
    ]
    return np.array([shows(mean) for mean in means])


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper and how it is checked.

    `check` takes the runs on one data set, or the results over several; `in_specifications` returns whether it holds
    in each specification of a multiverse, and `chance` in which fraction it would if the algorithms were exchangeable.
    None: it is not checked so.
    """

    statement: str
    check: Callable[[_ClaimEvidence], Outcome]
    in_specifications: Callable[[ClassifierAcrossSpecifications], BoolArray | None] | None = None
    chance: Callable[[ClassifierAcrossSpecifications], float] | None = None


CLAIMS = (
    PaperClaim(
        "{hero} has the lowest mean error rate",
        lambda evidence: _lowest_claim(evidence, "error"),
        lambda classifier: _lowest_in_specifications(classifier, "error"),
        lambda classifier: _chance_of_lowest(classifier, "error"),
    ),
    PaperClaim(
        "{hero} has the smallest subsets",
        lambda evidence: _lowest_claim(evidence, "size"),
        lambda classifier: _lowest_in_specifications(classifier, "size"),
        lambda classifier: _chance_of_lowest(classifier, "size"),
    ),
    PaperClaim(
        "The lower error rate of {hero} is significant",
        lambda evidence: _significance_claim(evidence, "error"),
        lambda classifier: _significant_in_specifications(classifier, "error"),
    ),
    PaperClaim(
        "The smaller size of {hero} is significant",
        lambda evidence: _significance_claim(evidence, "size"),
        lambda classifier: _significant_in_specifications(classifier, "size"),
    ),
    PaperClaim(
        "{hero} has the lowest overall score",
        lambda evidence: _lowest_claim(evidence, "score"),
        lambda classifier: _lowest_in_specifications(classifier, "score"),
        lambda classifier: _chance_of_lowest(classifier, "score"),
    ),
    PaperClaim(
        "All BPSO variants beat GA and ACO in error rate",
        _variants_claim,
        _variants_in_specifications,
        lambda _: 1 / comb(len(VARIANTS) + len(OLDER), len(OLDER)),
    ),
    PaperClaim("Error rate and size improve within the printed ranges", _ranges_claim),
    PaperClaim("{hero} beats SFFS at the same size", _sffs_claim, _sffs_in_specifications, lambda _: 0.5),
    PaperClaim(
        "{hero} gains most at every noise level",
        _gain_claim,
        lambda classifier: _noise_in_specifications(classifier, _leads_at_every_level),
    ),
    PaperClaim(
        "Robust: all with k-NN, only {hero} with NB",
        _robust_claim,
        lambda classifier: _noise_in_specifications(classifier, partial(_is_robust_as_printed, classifier.paper)),
    ),
    PaperClaim(
        "All contrasts of {hero} are positive",
        lambda evidence: _contrast_claim(evidence, HERO),
        lambda classifier: _noise_in_specifications(classifier, partial(_contrasts_as_printed, HERO, classifier.paper)),
        lambda classifier: 1 / (1 + len(classifier.rivals)),  # so often one of them has the highest mean of all
    ),
    PaperClaim(
        "Contrasts of GA: all negative with k-NN, not with NB",
        lambda evidence: _contrast_claim(evidence, "GA"),
        lambda classifier: _noise_in_specifications(classifier, partial(_contrasts_as_printed, "GA", classifier.paper)),
    ),
    PaperClaim("All features have the paper's error rate", _level_claim),
    PaperClaim("Selection improves k-NN more than NB", _landscape_claim),
    PaperClaim("Cardinality learning causes the improvement", _cause_claim),
)
"""The claims of the paper, in the order of the tables."""


def check_claims(study: StudySummary, classifier: ClassifierAcrossDatasets) -> list[Claim]:
    """Check the paper's claims; none if the plan or paper lacks the classifier."""
    if not classifier.paper or HERO not in classifier.titles:
        return []
    by_run = study.only is not None
    evidence = _ClaimEvidence(study.plan, classifier, study.classifiers, study.first.n_events, by_run)
    return [Claim(claim.statement.format(hero=HERO), *claim.check(evidence)) for claim in CLAIMS]


def check_claims_in_specifications(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications
) -> dict[str, BoolArray]:
    """Return whether each claim holds, in each specification of the design, and who has the lower error rate."""
    hero = classifier.baseline
    checked = {
        claim.statement.format(hero=hero): claim.in_specifications(classifier)
        for claim in CLAIMS
        if claim.in_specifications is not None
    }
    checked |= {
        f"{hero} has a lower mean error rate than {title}": classifier.is_lower("error", hero, title)
        for title in classifier.rivals
    }
    checked |= {
        f"{title} has a lower mean error rate than {hero}": classifier.is_lower("error", title, hero)
        for title in classifier.errors
        if title not in (hero, "SFFS", *classifier.rivals)
    }
    return {statement: holds[study.counted] for statement, holds in checked.items() if holds is not None}


def all_claims(study: DatasetSummary | StudySummary) -> dict[str, list[Claim]]:
    """Return the claims by classifier; only classifiers that the paper has."""
    datasets = StudySummary.of(study) if isinstance(study, DatasetSummary) else study
    checked = {each.name: check_claims(datasets, each) for each in datasets.classifiers}
    return {name: claims for name, claims in checked.items() if claims}


def claims_table(
    study: DatasetSummary | StudySummary, checked: Mapping[str, Sequence[Claim]] | None = None
) -> Table | None:
    """Return the conclusions on the paper's claims, with their numbers, one row per claim; None if there are none."""
    checked = all_claims(study) if checked is None else checked
    if not checked:
        return None
    margin = 100 * study.plan.margin
    events, runs, evaluations = _claimed_paper_size()
    if isinstance(study, DatasetSummary):
        caption = f"The paper's claims, over the runs{study.where}"
        rules = _RULES_FOR_RUNS.format(hero=HERO, events=events, runs=runs, evaluations=evaluations, margin=margin)
    else:
        caption = f"The paper's claims, over {len(study.datasets)} data sets"
        rules = _RULES_FOR_DATASETS.format(
            hero=HERO, k=len(study.datasets), margin=margin, events=events, evaluations=evaluations
        )
    rows = []
    for claims in zip(*checked.values(), strict=True):
        row = {"claim": claims[0].statement}
        for name, claim in zip(checked, claims, strict=True):
            row |= {f"conclusion {name}": claim.conclusion, f"numbers {name}": claim.numbers}
        rows.append(row)
    headings = {"claim": ("The paper's claim", "")}
    for name in checked:
        headings |= {f"conclusion {name}": (name, ""), f"numbers {name}": (f"numbers, {name}", "")}
    conclusions = {f"conclusion {name}": (f"numbers {name}",) for name in checked}
    return Table("claims", caption, rows, headings, conclusions=conclusions, note=rules)


def claim_fractions_table(study: MultiverseSummary, checked: Mapping[str, Mapping[str, BoolArray]]) -> Table:
    """Return in which fraction of the specifications each claim holds, by classifier, and how often by chance."""
    chances = {claim.statement.format(hero=study.baseline): claim.chance for claim in CLAIMS}
    of_pair: Callable[[ClassifierAcrossSpecifications], float] = lambda _: 0.5  # noqa: E731
    tested = list(dict.fromkeys(statement for claims in checked.values() for statement in claims))
    untested = [statement for statement in chances if statement not in tested]
    n_claims = sum(statement in chances for statement in tested)
    rows: list[dict[str, Any]] = []
    for statement in (*tested[:n_claims], *untested, *tested[n_claims:]):
        row: dict[str, Any] = {"claim": statement}
        for classifier in study.classifiers:
            holds = checked[classifier.name].get(statement)
            chance = chances.get(statement, of_pair)
            row[f"fraction {classifier.name}"] = None if holds is None else 100 * float(holds.mean())
            row[f"chance {classifier.name}"] = None if holds is None or chance is None else 100 * chance(classifier)
        rows.append(row)
    headings = {"claim": ("The paper's claim, and who leads", "")}
    for name in checked:
        headings[f"fraction {name}"] = (f"{name}: holds in [%]", ".0f")
        headings[f"chance {name}"] = ("by chance [%]", ".0f")
    return Table(
        "claims",
        f"In how many of {study.n_counted} specifications each claim holds",
        rows,
        headings,
        note="A claim holds in a specification if it does for the means over its data sets; significance by Friedman "
        "ranks over all runs; noise and contrasts for the mean accuracies over its data sets. By chance: in how many "
        "it would hold if the algorithms that are the lowest in at least one specification were exchangeable (for "
        "contrasts, all algorithms of the paper); of a pair, 50 %. – : not tested in the specifications.",  # noqa: RUF001
    )


@cache
def _claimed_paper_size() -> tuple[int, int, int]:
    """Numbers of events, runs and evaluations per run in the paper."""
    plan = load_plan("paper")
    assert isinstance(plan.dataset, DatasetPlan)  # noqa: S101
    return plan.dataset.n_events, plan.runs, plan.max_evaluations
