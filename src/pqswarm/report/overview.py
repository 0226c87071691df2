"""The first screen of a report: what was run, one sentence per classifier, one figure, one table, and the limits."""

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
    HERO,
    HOLDS,
    LETTER,
    UNKNOWN,
    UNTESTED,
    Claim,
    all_claims,
    check_claims_in_specifications,
    claim_fractions_table,
    claim_p_values,
    claims_table,
)
from pqswarm.report.paper import ABBREVIATIONS
from pqswarm.report.runs import Panel, draw_run_panels, run_points
from pqswarm.report.section import Content, Table, adaptive_drawing, count, count_runs, enumerate_words, percent
from pqswarm.report.sections.datasets import say_leader_over_datasets
from pqswarm.report.sections.held_out import before_held_out
from pqswarm.report.sections.specifications import specification_curve
from pqswarm.report.style import GREY, NARROW, Palette, draw_rows, mark, settle_layout, styled
from pqswarm.report.summary import (
    ALPHA,
    ClassifierAcrossDatasets,
    ClassifierAcrossSpecifications,
    ClassifierSummary,
    DatasetSummary,
    MultiverseSummary,
    StudySummary,
)
from pqswarm.study import StudyPlan, load_plan
from pqswarm.study.findings import ALL_FEATURES
from pqswarm.study.plan import HeldOutPlan, held_out_seeds

_CAPTION = "Error rate against number of features"
_MIN_RUNS = 4  # of each algorithm, for a significant difference at 5 %
_DETECTABLE = 2.8  # standard errors of a difference that a two-sided test at 5 % detects with a power of 80 %


def overview_of_dataset(study: DatasetSummary) -> Content:
    """Return the first screen of the report on one data set, where the unit is the run."""
    if claims := all_claims(study):
        return _overview_of_paper(study, claims, [overview_limits(study)])
    note = "Lower left is better. Small markers are runs, large ones means, hollow ones searches that run only once."
    return Content(
        answer=[_overview_sentence(classifier) for classifier in study.classifiers],
        drawings=[adaptive_drawing("overview", _CAPTION, note, plot_overview, study)],
        tables=[_overview_means_table(study)],
        words=[overview_limits(study)],
    )


def overview_of_study(study: StudySummary) -> Content:
    """Return the first screen of the report on several data sets, which are the unit."""
    note = "Lower left is better. Small markers are data sets (means over runs), large ones their means."
    words = (
        f"The unit of all tests is the data set ({len(study.datasets)}), not the run: the results say what to expect "
        f"on further data sets of the same kind. For the report on one data set: pqswarm report DIR --dataset NAME."
    )
    if claims := all_claims(study):
        return _overview_of_paper(study, claims, [words])
    return Content(
        answer=[say_leader_over_datasets(study, classifier) for classifier in study.classifiers],
        drawings=[adaptive_drawing("overview", _CAPTION, note, plot_overview, study)],
        words=[words],
    )


def _overview_of_paper(
    study: DatasetSummary | StudySummary, claims: Mapping[str, Sequence[Claim]], words: Sequence[str]
) -> Content:
    """Answer whether the paper holds: the errors on new data, one figure, and the claims."""
    panels = {each.name: _new_data_panel(each) for each in study.classifiers}
    table = claims_table(study, claims)
    assert table is not None  # noqa: S101
    is_new = any(new is not None for panel in panels.values() for *_, new in panel.values())
    where = _new_data_words(study)
    caption = f"Error rate {f'on {where}' if is_new else 'in the search'}, best subset of each algorithm"
    note = (
        "Filled: events that no search saw. Hollow: cross-validated in the search, which is optimistic. Dashed: all "
        "features, on new events. Numbers of features are in brackets."
        if is_new
        else "Cross-validated in the search, which is optimistic. Numbers of features are in brackets."
    )
    return Content(
        answer=[*(_say_new_data(name, panel, where) for name, panel in panels.items()), _say_conclusions(claims)],
        drawings=[adaptive_drawing("overview", caption, note, plot_new_data, panels, study.palette)],
        tables=[table],
        words=[expand_abbreviations(study.plan, panels), *words],
    )


NewData = tuple[float, float | None, float | None]
"""Number of features, error rate in the search (None of a mean), and on new data (None if it was not tested)."""


def _new_data_panel(classifier: ClassifierSummary | ClassifierAcrossDatasets) -> dict[str, NewData]:
    """The best subset of each algorithm, by title, and all features; means over the data sets."""
    if isinstance(classifier, ClassifierSummary):
        datasets = [classifier]
        titles = list(classifier.groups)
    else:
        datasets = list(classifier.datasets.values())
        titles = classifier.titles
    panel: dict[str, NewData] = {}
    for title in (*titles, ALL_FEATURES):
        before = np.array([before_held_out(dataset, title) for dataset in datasets])
        is_tested = all(title in dataset.held_out for dataset in datasets)
        new = float(np.mean([dataset.held_out[title].mean() for dataset in datasets])) if is_tested else None
        panel[title] = float(before[:, 0].mean()), float(before[:, 1].mean()), new
    return panel


def _new_data_words(study: DatasetSummary | StudySummary) -> str:
    held_out = study.plan.held_out
    is_cross = isinstance(study, StudySummary) and isinstance(held_out, HeldOutPlan) and held_out.cross_dataset
    return "events of the other data sets" if is_cross else f"held-out {study.item}s"


def _say_new_data(name: str, panel: Mapping[str, NewData], where: str) -> str:
    """One sentence on the errors of the paper's algorithm, of all features and of the best search on new data."""
    new = {title: values[2] for title, values in panel.items() if values[2] is not None}
    searched = {title: values[1] for title, values in panel.items() if values[1] is not None}
    errors = new or searched
    best = min((title for title in errors if title != ALL_FEATURES), key=lambda title: errors[title])

    def say(title: str) -> str:
        return f"{percent(errors[title])} with {count(round(panel[title][0], 1))} features"

    start = f"{name}, on {where}, which no search saw" if new else f"{name}, in the search only, which is optimistic"
    lowest = (
        "the lowest of the searches"
        if best == HERO
        else f"the lowest is {best} with {say(best).replace(' with ', ' and ')}"
    )
    whole = f"all {panel[ALL_FEATURES][0]:.0f} features {percent(errors[ALL_FEATURES])}"
    return f"{start}: the best subsets of {HERO} misclassify {say(HERO)}, {whole}; {lowest}."


def _say_conclusions(claims: Mapping[str, Sequence[Claim]]) -> str:
    """How many claims hold, by classifier."""
    order = (HOLDS, LETTER, EQUAL, FAILS, UNKNOWN, UNTESTED)
    words = {HOLDS: "hold", FAILS: "do not hold", LETTER: "hold by the letter but are practically equal"}
    parts = []
    for name, each in claims.items():
        conclusions = [claim.conclusion for claim in each]
        counts = [f"{conclusions.count(one)} {words.get(one, one)}" for one in order if one in conclusions]
        parts.append(f"of {len(each)} claims with {name}: {', '.join(counts)}")
    return f"Does the paper hold? O{'; '.join(parts)[1:]}."


def expand_abbreviations(plan: StudyPlan, classifiers: Iterable[str]) -> str:
    """Return what the titles of the algorithms and classifiers of a plan stand for."""
    titles = [*(algorithm.title for algorithm in plan.algorithms), *classifiers]
    known = [f"{title}: {ABBREVIATIONS[title]}" for title in titles if title in ABBREVIATIONS]
    return f"{'; '.join(known)}." if known else ""


@styled
def plot_new_data(panels: Mapping[str, Mapping[str, NewData]], palette: Palette, *, narrow: bool = False) -> Figure:
    """Draw the error of each algorithm's best subset on new data and in the search, in a panel for each classifier."""
    rows = max(len(panel) for panel in panels.values()) - 1
    height = 0.95 + 0.25 * rows
    columns = 1 if narrow else len(panels)
    size = (NARROW, height * len(panels)) if narrow else (6.4, height)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(panels) if narrow else 1, columns, squeeze=False).ravel()
    for axis, (name, panel) in zip(axes, panels.items(), strict=True):
        titles = [title for title in panel if title != ALL_FEATURES]
        whole = panel[ALL_FEATURES][2]
        whole = panel[ALL_FEATURES][1] if whole is None else whole
        if whole is not None:
            line = axis.axvline(100 * whole, color=GREY, lw=1.3, ls=(0, (5, 2)))
            mark(line, tips=[f"all features: {percent(whole)}"])
        for place, title in enumerate(titles):
            _, searched, new = panel[title]
            look: dict[str, Any] = {"ls": "", "marker": palette.marker(title), "ms": 6, "color": palette.color(title)}
            if searched is not None:
                tip = f"{title}, in the search: {percent(searched)}"
                mark(axis.plot([100 * searched], [place], mfc="none", **look)[0], tips=[tip])
            if new is not None:
                mark(axis.plot([100 * new], [place], **look)[0], tips=[f"{title}, on new events: {percent(new)}"])
        draw_rows(axis, [f"{title} ({count(round(panel[title][0], 1))})" for title in titles])
        axis.set(ylim=(len(titles) - 0.5, -0.5), xlabel="error rate [%]")
        axis.set_xlim(left=0)
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


def plot_overview(study: DatasetSummary | StudySummary, *, narrow: bool = False) -> Figure:
    """Draw error against size for all classifiers of a study: runs, or means on data sets, and larger, their means."""
    if isinstance(study, DatasetSummary):
        return draw_run_panels(
            {each.name: overview_runs_panel(each) for each in study.classifiers}, study.palette, narrow
        )
    panels = {each.name: overview_datasets_panel(each) for each in study.classifiers}
    return draw_run_panels(panels, study.palette, narrow, "data set")


def overview_runs_panel(classifier: ClassifierSummary) -> Panel:
    """Return the points of the runs with one classifier."""
    return *run_points(classifier), (classifier.n_features, classifier.all_features)


def overview_datasets_panel(classifier: ClassifierAcrossDatasets) -> Panel:
    """Return the points of the means on each data set with one classifier."""
    first = next(iter(classifier.datasets.values()))
    points = {title: (classifier.means("size", title), classifier.means("error", title)) for title in classifier.titles}
    return points, {}, list(classifier.datasets), (first.n_features, float(classifier.all_features.mean()))


def _overview_sentence(classifier: ClassifierSummary) -> str:
    """The result with one classifier: the best algorithms, and a search that runs only once if it has a lower error."""
    sentence = _overview_of_best_repeated(classifier)
    lowest = min(float(classifier.errors(title).mean()) for title in classifier.runs)
    single = min(classifier.sequential, key=lambda title: (classifier.sequential[title].error, title), default=None)
    if single is None or round(classifier.sequential[single].error, 12) >= round(lowest, 12):
        return sentence
    record = classifier.sequential[single]
    return (
        f"{sentence} The single run of {single} is lower: {percent(record.error)} with {count(record.size)} features."
    )


def _overview_of_best_repeated(classifier: ClassifierSummary) -> str:
    """The repeated algorithms with the lowest mean error, and those not significantly different, in one sentence."""
    errors = {title: np.round(classifier.errors(title), 12) for title in classifier.runs}
    means = {title: (float(values.mean()), float(classifier.sizes(title).mean())) for title, values in errors.items()}
    leader = min(means, key=lambda title: means[title])
    p = claim_p_values(errors, leader)
    level = sorted((t for t in means if t == leader or p[t] > ALPHA), key=lambda title: means[title])
    smallest = min(level, key=lambda title: means[title][::-1])
    error, size = means[leader]
    name = f"{classifier.name}, on this data set"
    mean = "mean " if classifier.n_runs > 1 else ""
    whole = f"all {classifier.n_features} features: {percent(classifier.all_features)}"
    if error >= classifier.all_features:
        return f"{name}: no algorithm has a lower {mean}error rate than {whole.replace(':', ' with')}."
    if classifier.n_runs == 1 or len(level) == 1:
        best = f"the lowest {mean}error rate," if len(means) > 1 else f"a {mean}error rate of"
        return f"{name}: {leader} has {best} {percent(error)} with {count(round(size, 1))} features ({whole})."
    bounds = _overview_error_range([means[title][0] for title in level])
    if len(level) == len(means):
        return f"{name}: the mean error rates of the algorithms do not differ significantly ({bounds}; {whole})."
    return (
        f"{name}: {enumerate_words(level)} have the lowest mean error rates, with no significant difference "
        f"({bounds}; {whole}). {smallest} selects the fewest features of these, "
        f"{count(round(means[smallest][1], 1))}."
    )


def _overview_error_range(errors: Sequence[float]) -> str:
    low = f"{100 * min(errors):.2f}"
    high = f"{100 * max(errors):.2f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


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
    sentences.append(f"All this is said of one data set: several show what holds on others ({several} in a plan).")
    return " ".join(sentences)


def _overview_detectable_difference(classifier: ClassifierSummary) -> float | None:
    """The difference in mean error that the runs can detect, from the variance of the two best algorithms."""
    if classifier.n_runs < _MIN_RUNS:
        return None
    errors = sorted((classifier.errors(title) for title in classifier.runs), key=lambda each: float(each.mean()))
    variance = float(np.mean([each.var(ddof=1) for each in errors[:2]]))
    # Runs that all end with the same error say nothing about the variance.
    return _DETECTABLE * sqrt(2 * variance / classifier.n_runs) if variance > 1e-20 else None


def _overview_means_table(study: DatasetSummary) -> Table:
    """The means of the algorithms, one row each, for studies without a comparison with the paper."""
    first = study.classifiers[0]
    rows: list[dict[str, Any]] = [{"algorithm": title} for title in first.runs]
    columns: dict[str, tuple[str, str]] = {"algorithm": ("Algorithm", "")}
    for classifier in study.classifiers:
        error = f"error {classifier.name}"
        size = f"size {classifier.name}"
        for row in rows:
            row[error] = 100 * float(classifier.errors(row["algorithm"]).mean())
            row[size] = float(classifier.sizes(row["algorithm"]).mean())
        columns[error] = (f"error rate [%], {classifier.name}", ".2f")
        columns[size] = (f"features, {classifier.name}", ".1f")
    whole = enumerate_words([f"{percent(each.all_features)} ({each.name})" for each in study.classifiers])
    return Table(
        "means",
        f"Means over {count_runs(min(classifier.n_runs for classifier in study.classifiers))}",
        rows,
        columns,
        lowest=tuple(key for key in columns if key != "algorithm"),
        note=f"The lowest value of each column is in bold. Error rate of all {first.n_features} features: {whole}.",
    )


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
