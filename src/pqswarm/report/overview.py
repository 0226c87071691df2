"""The first screen of a report: what was run, one sentence per classifier, one figure, one table, and the limits."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import BoolArray
from pqswarm.events import get_preset
from pqswarm.report.claims import (
    EQUAL,
    FAILS,
    HOLDS,
    LETTER,
    UNKNOWN,
    UNTESTED,
    Claim,
    all_claims,
    check_claims_in_specifications,
    claim_fractions_table,
    claims_table,
)
from pqswarm.report.paper import ABBREVIATIONS
from pqswarm.report.section import Content, adaptive_drawing, count, count_runs, enumerate_words, percent
from pqswarm.report.sections.held_out import before_held_out
from pqswarm.report.sections.specifications import specification_curve
from pqswarm.report.style import GREY, NARROW, Palette, draw_rows, mark, settle_layout, styled
from pqswarm.report.summary import (
    ClassifierAcrossDatasets,
    ClassifierAcrossSpecifications,
    ClassifierSummary,
    DatasetSummary,
    MultiverseSummary,
    StudySummary,
)
from pqswarm.study import StudyPlan, load_plan
from pqswarm.study.findings import ALL_FEATURES
from pqswarm.study.plan import held_out_seeds

NewData = tuple[float, float, float | None]
"""Number of features, error rate in the search, and on new data (None if it was not tested)."""

_MIN_RUNS = 4  # of each algorithm, for a significant difference at 5 %
_DETECTABLE = 2.8  # standard errors of a difference that a two-sided test at 5 % detects with a power of 80 %


def overview_of_study(study: DatasetSummary | StudySummary) -> Content:
    """Return the first screen of the report on one data set, where the unit is the run, or on several data sets.

    It has the errors on new data, one figure, and whether the paper holds, if the plan asks for it.
    """
    if isinstance(study, DatasetSummary):
        datasets = StudySummary.of(study)
        words = overview_limits(study)
    else:
        datasets = study
        words = (
            f"The unit of all tests is the data set ({len(study.datasets)}), not the run: the results say what to "
            f"expect on further data sets of the same kind. “pqswarm report DIR --dataset NAME” reports on one data "
            f"set."
        )
    panels = {each.name: new_data_panel(each) for each in datasets.classifiers}
    claims = all_claims(study)
    table = claims_table(study, claims)
    is_across = isinstance(study, StudySummary) and study.plan.is_tested_across
    where = "events of the other data sets" if is_across else f"held-out {study.item}s"
    caption = f"Error rate {'on new data' if _has_new_data(panels) else 'in the search'}, best subset of each algorithm"
    answer = [_say_new_data(name, panel, study.baseline, where) for name, panel in panels.items()]
    return Content(
        answer=[*answer, _say_conclusions(study, claims)] if claims else answer,
        drawings=[adaptive_drawing("overview", caption, new_data_note(panels), plot_new_data, panels, study.palette)],
        tables=[] if table is None else [table],
        words=[*filter(None, [expand_abbreviations(study.plan, panels)]), words],
    )


def new_data_note(panels: Mapping[str, Mapping[str, NewData]]) -> str:
    """Return the note of a figure by :func:`plot_new_data`."""
    searched = "cross-validated in the search, which is optimistic. Numbers of features are in parentheses."
    if not _has_new_data(panels):
        return f"Error rates are {searched}"
    return f"Filled: new data, which no search saw; the dashed line is all features. Hollow: {searched}"


def _has_new_data(panels: Mapping[str, Mapping[str, NewData]]) -> bool:
    return any(new is not None for panel in panels.values() for *_, new in panel.values())


def new_data_panel(classifier: ClassifierAcrossDatasets) -> dict[str, NewData]:
    """Return the best subset of each algorithm, by title, and all features; means over the data sets."""
    datasets = list(classifier.datasets.values())
    panel: dict[str, NewData] = {}
    for title in (*classifier.titles, ALL_FEATURES):
        before = np.array([before_held_out(dataset, title) for dataset in datasets])
        is_tested = all(title in dataset.held_out for dataset in datasets)
        new = float(np.mean([dataset.held_out[title].mean() for dataset in datasets])) if is_tested else None
        panel[title] = float(before[:, 0].mean()), float(before[:, 1].mean()), new
    return panel


def _say_new_data(name: str, panel: Mapping[str, NewData], baseline: str, where: str) -> str:
    """One sentence on the errors on new data of all features, of the baseline, and of the best search."""
    tested = {title: new for title, (_, _, new) in panel.items() if new is not None}
    errors = tested or {title: searched for title, (_, searched, _) in panel.items()}
    best = min((title for title in errors if title != ALL_FEATURES), key=lambda title: errors[title])
    parts = [
        f"{percent(errors[title])} with the {count(round(panel[title][0], 1))} features of {title}"
        for title in dict.fromkeys((baseline, best))
    ]
    start = f"On new data ({where})" if tested else "In the search only, which is optimistic"
    whole = f"{percent(errors[ALL_FEATURES])} with all {panel[ALL_FEATURES][0]:.0f} features"
    return f"{start}, {name} misclassifies {enumerate_words([whole, *parts])}, the lowest."


_COUNTED = {
    HOLDS: ("holds", "hold"),
    LETTER: ("holds, but is practically equal", "hold, but are practically equal"),
    EQUAL: ("is practically equal", "are practically equal"),
    FAILS: ("does not hold", "do not hold"),
    UNKNOWN: ("is inconclusive", "are inconclusive"),
    UNTESTED: ("is not tested", "are not tested"),
}
"""Each conclusion as the verb of one claim, and of several."""


def _say_conclusions(study: DatasetSummary | StudySummary, claims: Mapping[str, Sequence[Claim]]) -> str:
    """How many claims hold, by classifier, and what would settle them if most are open."""
    counts: dict[str, list[str]] = {}
    for name, each in claims.items():
        found = Counter(claim.conclusion for claim in each)
        said = [f"{found[one]} {verbs[found[one] > 1]}" for one, verbs in _COUNTED.items() if found[one]]
        counts.setdefault(enumerate_words(said), []).append(name)
    parts = [f"{said} with {' and with '.join(names)}" for said, names in counts.items()]
    number = len(next(iter(claims.values())))
    text = f"Does the paper hold? Of its {number} claims, {'; '.join(parts)}."
    conclusions = [claim.conclusion for each in claims.values() for claim in each]
    replication = load_plan("replication")
    n_datasets = 1 if isinstance(study, DatasetSummary) else len(study.datasets)
    is_smaller = n_datasets < len(replication.cells()) or study.plan.max_evaluations < replication.max_evaluations
    if is_smaller and 2 * conclusions.count(UNKNOWN) > len(conclusions):
        return f"{text} At the paper's size, “pqswarm study replication” gives the answer."
    return text


def expand_abbreviations(plan: StudyPlan, classifiers: Iterable[str]) -> str:
    """Return what the titles of the algorithms and classifiers of a plan stand for."""
    titles = [*(algorithm.title for algorithm in plan.algorithms), *classifiers]
    known = [f"{title}: {ABBREVIATIONS[title]}" for title in titles if title in ABBREVIATIONS]
    return f"{'; '.join(known)}." if known else ""


@styled
def plot_new_data(panels: Mapping[str, Mapping[str, NewData]], palette: Palette, *, narrow: bool = False) -> Figure:
    """Draw the error of each algorithm's best subset on new data and in the search, in a panel for each classifier."""
    n_titles = max(len(panel) for panel in panels.values()) - 1
    columns = 1 if narrow else min(2, len(panels))
    rows = -(-len(panels) // columns)
    width = NARROW if narrow else 3.2 * max(2, columns)
    figure = Figure(figsize=(width, rows * (0.95 + 0.25 * n_titles)), layout="constrained")
    for i, (name, panel) in enumerate(panels.items()):
        axis = figure.add_subplot(rows, columns, i + 1)
        titles = [title for title in panel if title != ALL_FEATURES]
        _, searched, new = panel[ALL_FEATURES]
        whole = searched if new is None else new
        line = axis.axvline(100 * whole, color=GREY, lw=1.3, ls=(0, (5, 2)))
        mark(line, tips=[f"all features: {percent(whole)}"])
        for place, title in enumerate(titles):
            _, searched, new = panel[title]
            look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "ms": 6, "color": palette.color(title)}
            tip = f"{title}, in the search: {percent(searched)}"
            mark(axis.plot([100 * searched], [place], mfc="none", **look)[0], tips=[tip])
            if new is not None:
                mark(axis.plot([100 * new], [place], **look)[0], tips=[f"{title}, on new data: {percent(new)}"])
        draw_rows(axis, [f"{title} ({count(round(panel[title][0], 1))})" for title in titles])
        highest = max(error for _, *errors in panel.values() for error in errors if error is not None)
        axis.set(xlim=(0, max(106 * highest, 1e-6)), ylim=(len(titles) - 0.5, -0.5), xlabel="error rate [%]")
        axis.set_title(name, fontweight="bold", parse_math=False)
    return settle_layout(figure)


def overview_of_multiverse(study: MultiverseSummary) -> Content:
    """Return the first screen of the report of a multiverse, where the unit is the specification."""
    claims = {each.name: check_claims_in_specifications(study, each) for each in study.classifiers}
    first = study.classifiers[0]
    n_datasets = len(study.datasets)
    over = "are over runs"
    if n_datasets > 1:
        over = f"and intervals are over {n_datasets} data sets, the same seeds in all specifications"
    words = (
        f"A specification is one way to settle what the plan leaves open; its means {over}. Click a specification in a "
        f"figure for the keys it sets; filter specifications by choice above the figure."
    )
    return Content(
        answer=[_overview_of_specification_fractions(study, each, claims[each.name]) for each in study.classifiers],
        drawings=[specification_curve(study, first, "error", f"{first.slug}-curve-error")],
        tables=[claim_fractions_table(study, claims)],
        words=[*filter(None, [expand_abbreviations(study.plan, claims)]), words],
    )


def _overview_of_specification_fractions(
    study: MultiverseSummary, classifier: ClassifierAcrossSpecifications, claims: Mapping[str, BoolArray]
) -> str:
    """In how many specifications the baseline is ahead, and which others are ahead of it."""
    error, size = list(claims.values())[:2]
    text = (
        f"{classifier.name}: over {study.n_counted} specifications of the plan{study.restriction}, "
        f"{classifier.baseline} has the lowest mean error rate in {int(error.sum())} and the smallest subsets in "
        f"{int(size.sum())}"
    )
    ahead = [
        f"{claim.partition(' has ')[0]} has a lower error rate than {classifier.baseline} in {int(holds.sum())}"
        for claim, holds in claims.items()
        if claim.endswith(f"than {classifier.baseline}")
    ]
    return f"{text}; {enumerate_words(ahead)}." if ahead else f"{text}."


def overview_limits(study: DatasetSummary) -> str:
    """Return what a study of this size can detect, and what it cannot."""
    plan = study.plan
    item = study.item
    n_runs = min(classifier.n_runs for classifier in study.classifiers)
    size = f"With {count_runs(n_runs)} of {plan.max_evaluations} evaluations on {study.n_events} {item}s, this study"
    gaps = {classifier.name: _overview_detectable_difference(classifier) for classifier in study.classifiers}
    detectable = [f"{100 * gap:.2f} ({name})" for name, gap in gaps.items() if gap is not None]
    if detectable:
        power = "percentage points or more (80 % power at the 5 % level)"
        can = f"can detect differences in mean error rate of about {enumerate_words(detectable)} {power}."
    elif n_runs > 1:
        can = f"cannot show significant differences: at least {_MIN_RUNS} runs per algorithm are needed."
    else:
        can = "cannot tell whether another run would give the same result."
    sentences = [
        f"{size} {can}",
        f"One misclassified {item} changes an error rate by {100 / study.n_events:.2g} percentage points.",
    ]
    paper = load_plan("paper")
    if plan.paper and plan.max_evaluations < paper.max_evaluations:
        sentences.append(f"The paper's {paper.max_evaluations} evaluations might give other results.")
    several = "[dataset] seeds" if study.generated else "[[datasets]]"
    sentences.append(f"This is one data set: use several to see what holds on others ({several} in a plan).")
    return " ".join(sentences)


def _overview_detectable_difference(classifier: ClassifierSummary) -> float | None:
    """The difference in mean error that the runs can detect, from the variance of the two best algorithms."""
    if classifier.n_runs < _MIN_RUNS:
        return None
    errors = sorted((classifier.errors(title) for title in classifier.runs), key=lambda each: float(each.mean()))
    variance = float(np.mean([each.var(ddof=1) for each in errors[:2]]))
    # Runs that all end with the same error say nothing about the variance.
    return _DETECTABLE * sqrt(2 * variance / classifier.n_runs) if variance > 1e-20 else None


def describe_dataset(study: DatasetSummary) -> str:
    """Return a paragraph on a study on one data set."""
    return " ".join(
        [
            _overview_of_data(study),
            _overview_of_searches(study.plan, [classifier.name for classifier in study.classifiers], study.item, study),
            *_overview_of_tests(study),
            *_overview_of_unfinished(study),
        ]
    )


def _overview_of_data(study: DatasetSummary) -> str:
    generated = study.generated
    wavelet = "" if study.wavelet_level is None else "wavelet "
    data = f"{study.n_events} {study.item}s of {len(study.class_names)} classes"
    features = f"{len(study.feature_names)} {wavelet}features each"
    if generated is None:
        return f"{data}, with {features}."
    standard = " after IEEE 1159" if set(study.class_names) <= set(get_preset("paper").classes) else ""
    options = f" ({generated.feature_options.describe()})" if generated.features else ""
    return f"{data}{standard} (preset {generated.preset_name}, seed {generated.seed}), with {features}{options}."


def _overview_of_searches(
    plan: StudyPlan, classifiers: list[str], item: str, dataset: DatasetSummary | None = None
) -> str:
    """Who searched for what, and with which budget."""
    once = [algorithm.title for algorithm in plan.sequential]
    titles = enumerate_words([algorithm.title for algorithm in plan.searched] + once)
    verb = "misclassifies" if len(classifiers) == 1 else "misclassify"
    rows = f" on {dataset.searched_on}" if dataset is not None and dataset.generated else ""
    return (
        f"{titles} searched for the features with which {enumerate_words(classifiers)} {verb} the fewest {item}s, in "
        f"{plan.folds.number}-fold cross-validation{rows}: {count_runs(plan.runs)} of {plan.max_evaluations} "
        f"evaluations each{f' ({enumerate_words(once)}: once)' if once else ''}."
    )


def _overview_of_tests(study: DatasetSummary) -> list[str]:
    """How the best subsets were tested, if all were."""
    n_levels = sum(level != inf for level in study.plan.dataset.snr)
    n_sets = len(held_out_seeds(study.plan))
    tests = []
    if n_levels:
        tests.append(f"at {n_levels} noise level{'s' if n_levels > 1 else ''}")
    if n_sets:
        sets = f"{n_sets} sets of " if n_sets > 1 else ""
        tests.append(f"on {sets}{study.n_held_out} held-out {study.item}s")
    is_tested = all(each.noise is not None and bool(each.held_out) == bool(n_sets) for each in study.classifiers)
    return [f"The best subsets were then tested {enumerate_words(tests)}."] if tests and is_tested else []


def _overview_of_unfinished(study: DatasetSummary) -> list[str]:
    plan = study.plan
    names = [classifier.name for classifier in study.classifiers]
    behind = [f"{c.name}: {c.n_runs} of {plan.runs} runs" for c in study.classifiers if c.n_runs < plan.runs]
    behind += [f"{c.name}: no run" for c in plan.classifiers if c.name not in names]
    sentences = []
    if behind:
        sentences.append(
            f"The study is not finished ({'; '.join(behind)}): only runs that all algorithms have finished count."
        )
    untested = [classifier.name for classifier in study.classifiers if classifier.noise is None]
    if untested:
        noise = " with noise" if study.generated else ""
        sentences.append(f"The tests of the best subsets{noise} are still pending for {enumerate_words(untested)}.")
    return sentences


def describe_study(study: StudySummary) -> str:
    """Return a paragraph on a study, on one or several data sets."""
    if study.only is not None:
        return describe_dataset(study.only)
    sizes = [dataset.n_events for dataset in study.datasets.values()]
    events = f"{sizes[0]}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    presets = {each.generated.preset_name for each in study.datasets.values() if each.generated}
    origin = f" (preset {presets.pop()})" if study.first.generated and len(presets) == 1 else ""
    sentences = [
        f"{len(study.datasets)} data sets of {events} {study.item}s each{origin}: "
        f"{_overview_names(list(study.datasets))}. On each, "
        f"{_overview_of_searches(study.plan, [classifier.name for classifier in study.classifiers], study.item)}"
    ]
    if study.missing:
        verb = "is" if len(study.missing) == 1 else "are"
        sentences.append(f"The study is not finished: {_overview_names(list(study.missing))} {verb} left out.")
    if study.unfinished:
        sentences.append(
            f"Runs are missing on {_overview_names(study.unfinished)}: only runs that all algorithms have finished "
            f"count, and searches that have not run on every data set are left out."
        )
    return " ".join(sentences)


def _overview_names(names: list[str]) -> str:
    """The names of data sets; seeds as a list of numbers."""
    if len(names) > 1 and all(name.startswith("seed ") for name in names):
        return f"seeds {enumerate_words([name.removeprefix('seed ') for name in names])}"
    return enumerate_words(names)


def describe_multiverse(study: MultiverseSummary) -> str:
    """Return a paragraph on a multiverse."""
    plan = study.plan
    assert plan.multiverse is not None  # noqa: S101
    choices = enumerate_words([choice.rpartition(".")[2] for choice in plan.multiverse.choices])
    n_marked = len(study.specifications) - study.n_counted
    marked = f", and {n_marked} marked" if n_marked else ""
    sentences = [
        f"{study.n_counted} specifications{study.restriction} of a plan ({plan.multiverse.design} design{marked}) vary "
        f"{choices}. In each, on {enumerate_words(study.datasets)}, "
        f"{_overview_of_searches(plan, [classifier.name for classifier in study.classifiers], 'event')}"
    ]
    if study.missing:
        sentences.append(f"The study is not finished: {study.missing} specifications are left out.")
    return " ".join(sentences)
