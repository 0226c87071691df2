"""Read the store of a study into the numbers that the sections of a report use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nan
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import Classifier, GridSearchResult
from pqswarm.features import FUNCTIONS, feature_names
from pqswarm.report.paper import Overlay, paper_overlay
from pqswarm.report.section import enumerate_words
from pqswarm.report.style import Palette
from pqswarm.statistics.intervals import Spread, t_interval
from pqswarm.study import RunKey, RunRecord, Store, StudyPlan, best_run, findings
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, OneStandardError, mean_name
from pqswarm.study.plan import DatasetPlan, HeldOutPlan, MultiversePlan, Specification, held_out_levels, held_out_seeds
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.records import best_subsets

Measure = Literal["error", "size"]
"""What algorithms are compared by: error rates, or numbers of selected features."""

MEASURES: tuple[Measure, ...] = ("error", "size")
MEASURE_NOUNS: dict[Measure, str] = {"error": "error rate [%]", "size": "features"}
MEASURE_FACTORS: dict[Measure, float] = {"error": 100.0, "size": 1.0}
MEASURE_FORMATS: dict[Measure, str] = {"error": ".2f", "size": ".1f"}

ALPHA = 0.05
"""Significance level of the tests of a report."""

_Finding = TypeVar("_Finding", bound=findings.Finding)


@dataclass(frozen=True, eq=False)
class NoiseSummary:
    """Stage II: accuracies [%] of all features and, by title, of best subsets and means, at each noise level [dB]."""

    levels: tuple[float, ...]
    all_features: FloatArray
    accuracy: dict[str, FloatArray]
    before: IntArray  # confusion matrix without noise of all features
    after: IntArray  # of the baseline's best subset
    held_out: dict[str, FloatArray] = field(default_factory=dict)  # accuracies [%], shape (n_sets, n_levels)

    def gain(self, title: str) -> FloatArray:
        """Return theta = Theta - Theta(U) of an algorithm's best subset [percentage points], free of rounding."""
        return np.round(self.accuracy[title] - self.all_features, 9) + 0.0

    def robust(self, title: str) -> bool:
        """Whether a subset is at least as good as all features at every level, in cross-validation."""
        return bool((self.gain(title) >= 0).all())

    def gains(self, title: str) -> FloatArray:
        """Return theta on each set of held-out events, shape (n_sets, n_levels) [percentage points]."""
        return np.round(self.held_out[title] - self.held_out[ALL_FEATURES], 9) + 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierResults:
    """What all results with one classifier have.

    Attributes
    ----------
    name, slug : str
        Its name in the study, and a unique form of it for files and links.
    description : str
        The classifier in words.
    baseline : str
        Title of the baseline algorithm.
    paper : Overlay
        The paper's values for it; false and empty if there are none, or the plan does not ask for them.
    """

    name: str
    slug: str
    description: str
    baseline: str
    paper: Overlay


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierSummary(ClassifierResults):
    """The results with one classifier on one data set, next to those of every :class:`ClassifierResults`.

    Attributes
    ----------
    classifier : Classifier
        The classifier with the hyperparameters used.
    grid : GridSearchResult or None
        The grid search for hyperparameters.
    all_features : float
        J(U).
    runs : dict of str to list of RunRecord
        Finished runs of each repeated algorithm, by title; the same number for each.
    sequential : dict of str to RunRecord
        The run of each algorithm that runs once, by title.
    noise : NoiseSummary or None
        Stage II; None if not reached yet.
    held_out : dict of str to array of float, shape (n_sets,)
        Error rates on each set of held-out events without noise, by title.
    smaller : OneStandardError or None
        The one-standard-error choice.
    ensembles : dict of str to array of bool, shape (m, n_features)
        The subsets of each algorithm whose classifiers are averaged, by the title of the mean.
    """

    classifier: Classifier
    grid: GridSearchResult | None
    all_features: float
    runs: dict[str, list[RunRecord]]
    sequential: dict[str, RunRecord]
    noise: NoiseSummary | None
    held_out: dict[str, FloatArray]
    smaller: OneStandardError | None
    ensembles: dict[str, BoolArray] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Features to choose from."""
        return int(self.best(self.baseline).mask.size)

    @property
    def n_runs(self) -> int:
        """Runs of each algorithm."""
        return min((len(records) for records in self.runs.values()), default=0)

    @property
    def groups(self) -> dict[str, list[RunRecord]]:
        """The runs of each algorithm, also of those that run once, by title."""
        return self.runs | {title: [record] for title, record in self.sequential.items()}

    def best(self, title: str) -> RunRecord:
        """Return the best run of an algorithm."""
        return self.sequential[title] if title in self.sequential else best_run(self.runs[title])

    def errors(self, title: str) -> FloatArray:
        """Return the error of each run of an algorithm."""
        return np.array([record.error for record in self.runs[title]])

    def sizes(self, title: str) -> FloatArray:
        """Return the size of the subset of each run of an algorithm."""
        return np.array([float(record.size) for record in self.runs[title]])

    def masks(self, title: str) -> BoolArray:
        """Return the subset of each run of an algorithm, shape (n_runs, n_features)."""
        return np.array([record.mask for record in self.runs[title]])


@dataclass(frozen=True, eq=False)
class Summary:
    """What all summaries have: what was planned; version of pqswarm, time and machine."""

    plan: StudyPlan
    about: findings.About

    @property
    def baseline(self) -> str:
        """Title of the baseline algorithm."""
        return self.plan.algorithm(self.plan.baseline).title

    @property
    def palette(self) -> Palette:
        """The colors of its algorithms; the baseline is emphasized."""
        return Palette(_titles_by_name(self.plan).values(), self.baseline)


def _titles_by_name(plan: StudyPlan) -> dict[str, str]:
    """Titles of algorithms, and of means of their best subsets."""
    means = {mean: mean_name(algorithm.title, plan.averaged) for mean, algorithm in plan.ensembles.items()}
    return {algorithm.name: algorithm.title for algorithm in plan.algorithms} | means


@dataclass(frozen=True, eq=False)
class DatasetSummary(Summary):
    """The results on one data set.

    Attributes
    ----------
    plan : StudyPlan
        What was planned for this data set.
    about : About
        Version of pqswarm, time and machine.
    n_events : int
        Events of the data set.
    class_names, feature_names : tuple of str
        Classes of the events, and features to choose from.
    seconds : float
        Total time of all searches on one core.
    classifiers : list of ClassifierSummary
        Results by classifier.
    n_held_out : int
        Events per held-out set; 0 if there is none.
    digest : str
        Digest of features and labels.
    name : str
        Its name among several data sets; empty of a single one.
    """

    n_events: int
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    seconds: float
    classifiers: list[ClassifierSummary]
    n_held_out: int = 0
    digest: str = ""
    name: str = ""

    @property
    def first(self) -> "DatasetSummary":
        """The results on the first data set, as of a study on several: these."""
        return self

    @property
    def where(self) -> str:
        """Words for captions: which of several data sets this is."""
        return f", data set {self.name}" if self.name else ""

    @property
    def generated(self) -> DatasetPlan | None:
        """How the events were generated; None for your own data."""
        return self.plan.dataset if isinstance(self.plan.dataset, DatasetPlan) else None

    @property
    def item(self) -> str:
        """The word for one row of the data: event if generated, otherwise sample."""
        return "sample" if self.generated is None else "event"

    @property
    def searched_on(self) -> str:
        """The phrase for the rows that the searches used."""
        return "samples" if self.generated is None else "events without noise"

    @property
    def wavelet_level(self) -> int | None:
        """Level of the wavelet transform behind the features; None for other features."""
        level = len(self.feature_names) // len(FUNCTIONS) - 1
        return level if level > 0 and self.feature_names == feature_names(level) else None

    @property
    def sampling_rate(self) -> float | None:
        """Sampling rate of all events [Hz]; None if they differ or it is unknown."""
        if self.wavelet_level is None or self.generated is None:
            return None
        rate = getattr(self.generated.make_preset().common.get("sampling_rate"), "value", None)
        return None if rate is None else float(rate)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierAcrossDatasets(ClassifierResults):
    """The results with one classifier on the data sets of a study, next to those of every :class:`ClassifierResults`.

    Attributes
    ----------
    errors, sizes : dict of str to list of array of float
        Error and size of each run on each data set, by the title of the algorithm; only algorithms with runs on every
        data set, those that run once last.
    all_features : array of float, shape (n_datasets,)
        J(U) on each data set.
    datasets : dict of str to ClassifierSummary
        The results on each data set.
    """

    errors: dict[str, list[FloatArray]]
    sizes: dict[str, list[FloatArray]]
    all_features: FloatArray
    datasets: dict[str, ClassifierSummary]

    @classmethod
    def of(cls, datasets: dict[str, ClassifierSummary]) -> "ClassifierAcrossDatasets":
        """Return the results with one classifier, given on each data set."""
        first, *others = datasets.values()
        titles = [title for title in first.groups if all(title in other.groups for other in others)]
        groups = {title: [dataset.groups[title] for dataset in datasets.values()] for title in titles}
        described = list(dict.fromkeys(dataset.description for dataset in datasets.values()))
        elsewhere = f"; on other data sets {enumerate_words(described[1:])}" if described[1:] else ""
        return cls(
            name=first.name,
            slug=first.slug,
            description=f"{described[0]}{elsewhere}",
            baseline=first.baseline,
            paper=first.paper,
            errors={
                title: [np.array([run.error for run in runs]).round(12) for runs in group]
                for title, group in groups.items()
            },
            sizes={
                title: [np.array([float(run.size) for run in runs]) for runs in group]
                for title, group in groups.items()
            },
            all_features=np.array([dataset.all_features for dataset in datasets.values()]),
            datasets=datasets,
        )

    @property
    def titles(self) -> list[str]:
        """Titles of the algorithms with runs on every data set."""
        return list(self.errors)

    @property
    def ensembles(self) -> list[str]:
        """Titles of the means of best subsets."""
        return list(next(iter(self.datasets.values())).ensembles)

    @property
    def n_datasets(self) -> int:
        """Number of data sets."""
        return int(self.all_features.size)

    @property
    def n_features(self) -> int:
        """Features of the first data set to choose from."""
        return next(iter(self.datasets.values())).n_features

    def values(self, measure: Measure) -> dict[str, list[FloatArray]]:
        """Return errors or sizes of each run on each data set, by the title of the algorithm."""
        return self.errors if measure == "error" else self.sizes

    def means(self, measure: Measure, title: str) -> FloatArray:
        """Return the mean of the runs of an algorithm on each data set."""
        return np.array([runs.mean() for runs in self.values(measure)[title]])

    def mean(self, measure: Measure, title: str) -> float:
        """Return the mean over the data sets of the means of the runs."""
        return float(self.means(measure, title).mean())


@dataclass(frozen=True, eq=False)
class StudySummary(Summary):
    """The results of a study on one or several data sets; the name of the only one is empty."""

    datasets: dict[str, DatasetSummary]  # those with finished runs of every algorithm and classifier
    missing: tuple[str, ...] = ()  # names of the others

    @classmethod
    def of(cls, dataset: DatasetSummary) -> "StudySummary":
        """Return the study on a single data set."""
        return cls(dataset.plan, dataset.about, {"": dataset})

    @property
    def only(self) -> DatasetSummary | None:
        """The results on the data set of a study that has a single one."""
        return self.datasets.get("")

    @property
    def first(self) -> DatasetSummary:
        """The results on the first data set."""
        return next(iter(self.datasets.values()))

    @cached_property
    def classifiers(self) -> list[ClassifierAcrossDatasets]:
        """Results by classifier."""
        return [
            ClassifierAcrossDatasets.of({name: study.classifiers[i] for name, study in self.datasets.items()})
            for i in range(len(self.first.classifiers))
        ]

    @property
    def searched_data(self) -> dict[str, tuple[str, DatasetPlan | None]]:
        """What the searches used, by data set; the same in studies on the same data sets."""
        return {name: (dataset.digest, dataset.generated) for name, dataset in self.datasets.items()}

    @property
    def unfinished(self) -> list[str]:
        """Names of the data sets on which runs are still missing, apart from those that are left out."""
        once = {algorithm.title for algorithm in self.plan.sequential}
        return [
            name
            for name, dataset in self.datasets.items()
            if any(each.n_runs < self.plan.runs or once - set(each.sequential) for each in dataset.classifiers)
        ]

    @property
    def seconds(self) -> float:
        """Total time of all searches on one core."""
        return sum(dataset.seconds for dataset in self.datasets.values())

    @property
    def control(self) -> str | None:
        """Title of the algorithm that tests compare with the others; None: the best."""
        if self.plan.control is None:
            return self.baseline
        return None if self.plan.control == "best" else self.plan.title_of(self.plan.control)

    @property
    def item(self) -> str:
        """The word for one row of the data: event if generated, otherwise sample."""
        return self.first.item

    @property
    def levels(self) -> tuple[float, ...]:
        """Noise levels [dB] of all data sets; only infinity if they differ."""
        levels = {dataset.plan.dataset.snr for dataset in self.datasets.values()}
        return levels.pop() if len(levels) == 1 else (inf,)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierAcrossSpecifications(ClassifierResults):
    """The results with one classifier in the specifications of a multiverse, each of them a study.

    An error rate of zero counts as half an event.

    Attributes
    ----------
    errors, sizes : dict of str to array of float, shape (n_specifications, n_datasets, n_runs)
        Error and size of each run, by the title of the algorithm.
    all_features : array of float, shape (n_specifications, n_datasets)
        J(U).
    stage_two : list of lists of NoiseSummary
        Stage II in each specification, on each data set; empty if it is not finished on all.
    rivals : list of str
        Algorithms that the baseline is compared with: those of the paper, if its values are shown.
    """

    errors: dict[str, FloatArray]
    sizes: dict[str, FloatArray]
    all_features: FloatArray
    stage_two: list[list[NoiseSummary]]
    rivals: list[str]

    def values(self, measure: Measure) -> dict[str, FloatArray]:
        """Return errors or sizes."""
        return self.errors if measure == "error" else self.sizes

    def best_rivals(self, measure: Measure) -> list[str]:
        """Return the rival with the lowest mean in each specification."""
        means = np.array([self.values(measure)[title].mean(axis=(1, 2)) for title in self.rivals])
        return [self.rivals[i] for i in means.argmin(axis=0)]

    def effects(self, measure: Measure) -> FloatArray:
        """Return the log ratio of the baseline's mean to that of its best rival, by specification and data set."""
        return np.array([self.ratio(measure, title)[i] for i, title in enumerate(self.best_rivals(measure))])

    def ratio(self, measure: Measure, against: str) -> FloatArray:
        """Return the log ratio of the baseline's mean to that of another, by specification and data set."""
        values = self.values(measure)
        return np.asarray(np.log(values[self.baseline].mean(axis=2) / values[against].mean(axis=2)))

    def spread(self, measure: Measure) -> Spread:
        """Return the mean effect in each specification, with its t interval over data sets."""
        return t_interval(self.effects(measure).T)

    def is_lower(self, measure: Measure, first: str, second: str) -> BoolArray:
        """Return whether the mean of the first algorithm over data sets is the lower one, in each specification."""
        values = self.values(measure)
        return np.asarray(values[first].mean(axis=(1, 2)) < values[second].mean(axis=(1, 2)) - 1e-12)


@dataclass(frozen=True, eq=False)
class MultiverseSummary(Summary):
    """The results of a multiverse: a study in each specification."""

    specifications: list[Specification]  # those with finished runs on all of their data sets
    datasets: list[str]  # of a specification
    missing: int  # number of the other specifications
    classifiers: list[ClassifierAcrossSpecifications]
    first: DatasetSummary  # on the first data set of the first specification that is marked, or of the first
    where: dict[str, str] = field(default_factory=dict)

    @cached_property
    def counted(self) -> BoolArray:
        """Whether each specification belongs to the design, and is not only marked."""
        return np.array([not specification.marked for specification in self.specifications])

    @property
    def n_counted(self) -> int:
        """Number of specifications of the design."""
        return int(self.counted.sum())

    @property
    def restriction(self) -> str:
        """Words for the alternatives that all specifications have in common, if they were selected."""
        return f" with {enumerate_words([f'{c}: {a}' for c, a in self.where.items()])}" if self.where else ""


def check_consistency(study: DatasetSummary) -> None:
    """Raise a ValueError that names the impossible or inconsistent part of a study."""
    for is_consistent, what in _list_consistency_checks(study):
        if not is_consistent:
            raise ValueError(what)


def _list_consistency_checks(study: DatasetSummary) -> Iterator[tuple[bool, str]]:
    """Whether each part of a study is consistent, and its name; what comes later relies on what comes before."""
    names = study.feature_names
    yield study.n_events > 0 and len(study.class_names) > 1, "the events"
    yield len(set(names)) == len(names) > 0, "the names of features"
    for classifier in study.classifiers:
        records = [record for group in classifier.groups.values() for record in group]
        for record in records:
            yield _is_consistent_run(record), f"{classifier.name}, {record.key.algorithm}, run {record.key.run}"
        masks = [record.mask for record in records] + ([] if classifier.smaller is None else [classifier.smaller.mask])
        yield all(mask.size == len(names) and mask.any() for mask in masks), f"the subsets of {classifier.name}"
        yield (
            _are_stored_numbers_up_to(classifier.all_features, 1.0),
            f"the error of all features of {classifier.name}",
        )
        if classifier.smaller is not None:
            rates = [classifier.smaller.error, classifier.smaller.standard_error]
            yield _are_stored_numbers_up_to(rates, 1.0), "the smaller subset"
        if classifier.grid is not None:
            yield _is_consistent_grid(classifier.grid), "the search of hyperparameters"
        yield _is_consistent_held_out(classifier), f"the held-out data of {classifier.name}"
        if classifier.noise is not None:
            percents = [
                classifier.noise.all_features,
                *classifier.noise.accuracy.values(),
                *classifier.noise.held_out.values(),
            ]
            known = {*classifier.groups, *classifier.ensembles}
            fits = {classifier.baseline} <= set(classifier.noise.accuracy) <= known
            yield (
                fits and all(_are_stored_numbers_up_to(some, 100.0) for some in percents),
                f"stage II of {classifier.name}",
            )
            for table in (classifier.noise.before, classifier.noise.after):
                counts = table.shape == (len(study.class_names),) * 2 and table.dtype.kind == "i"
                fits = counts and bool((table >= 0).all() and table.any())
                yield fits, f"the confusion matrices of {classifier.name}"


def _is_consistent_run(record: RunRecord) -> bool:
    """Whether a run can have this result."""
    result = record.result
    steps = record.result.improvements
    counted = isinstance(result.n_evaluations, int) and result.n_evaluations > 0 and record.key.run >= 0
    if not (counted and _are_stored_numbers_up_to(result.error, 1.0) and 0.0 <= record.seconds < inf and len(steps)):
        return False
    if np.isnan(steps).any() or not np.isfinite(steps[-1]).all() or (np.diff(steps[:, 0]) < 0).any():
        return False
    if result.front_masks is None or result.front_errors is None:
        return True
    fits = result.front_masks.shape[1:] == result.mask.shape and bool(result.front_masks.any(axis=1).all())
    return fits and _are_stored_numbers_up_to(result.front_errors, 1.0)


def _is_consistent_grid(grid: GridSearchResult) -> bool:
    shapes = {len(point) for point in grid.points} == {len(grid.names)} and bool(grid.names)
    fits = grid.accuracies.shape == (len(grid.points),) and len(grid.usable) in (0, len(grid.points))
    plain = all(isinstance(value, str | int | float) for point in grid.points for value in point)
    return shapes and fits and plain and _are_stored_numbers_up_to(grid.accuracies, 1.0)


def _is_consistent_held_out(classifier: ClassifierSummary) -> bool:
    tested = set(classifier.held_out)
    known = {ALL_FEATURES, *classifier.groups, *classifier.ensembles}
    known |= set() if classifier.smaller is None else {ONE_STANDARD_ERROR}
    fits = not tested or {ALL_FEATURES, classifier.baseline} <= tested <= known
    rates = [errors[~np.isnan(errors)] for errors in classifier.held_out.values()]
    return fits and all(_are_stored_numbers_up_to(some, 1.0) for some in rates)


def _are_stored_numbers_up_to(values: ArrayLike, maximum: float) -> bool:
    """Whether all values are numbers from 0 to `maximum`."""
    numbers = np.asarray(values)
    return numbers.dtype.kind in "fi" and bool(((numbers >= 0.0) & (numbers <= maximum)).all())


def summarize(store: Store, dataset: str | None = None) -> StudySummary:
    """Read the results of a study, finished or not.

    Of an unfinished study, only the runs that all algorithms have finished are used, and data sets without are left
    out. Of a study on several data sets, one can be given by its name.
    """
    about = store.about()
    plan = restore_plan(about.plan)
    cells = plan.cells()
    if dataset is not None or list(cells) == [""]:
        return StudySummary.of(_summarize_dataset(store.of(dataset or ""), cells[dataset or ""], about))
    datasets = {
        name: _summarize_dataset(store.of(name), cells[name], about) for name in _datasets_to_summarize(store, plan)
    }
    if not datasets:
        raise PqswarmError(
            f"{store.folder} has no data set with finished runs of all algorithms yet: wait, or resume it."
        )
    return StudySummary(plan, about, datasets, tuple(name for name in cells if name not in datasets))


def _datasets_to_summarize(store: Store, plan: StudyPlan) -> list[str]:
    """Data sets on which, with each classifier, all algorithms have finished a run of the same number."""
    finished = {status.key for status in store.statuses() if status.finished}

    def has_run(dataset: str, classifier: str) -> bool:
        return any(
            all(RunKey(classifier, algorithm.name, run, dataset) in finished for algorithm in plan.searched)
            for run in range(plan.runs)
        )

    return [name for name in plan.cells() if all(has_run(name, classifier.name) for classifier in plan.classifiers)]


def _summarize_dataset(store: Store, plan: StudyPlan, about: findings.About) -> DatasetSummary:
    records = store.finished()
    held_out = plan.held_out
    try:
        classifiers = [_summarize_classifier(store, plan, classifier.name, records) for classifier in plan.classifiers]
        present = [classifier for classifier in classifiers if classifier is not None]
        if not present:
            raise PqswarmError(f"{store.folder} has no finished run of every algorithm yet: wait, or resume it.")
        events = _summary_finding(store.find(findings.Events))
        summary = DatasetSummary(
            plan=plan,
            about=about,
            n_events=events.count,
            class_names=events.class_names,
            feature_names=events.feature_names,
            seconds=sum(record.seconds for record in records),
            classifiers=present,
            n_held_out=held_out.events_per_class * len(events.class_names)
            if isinstance(held_out, HeldOutPlan)
            else events.held_out,
            digest=events.digest,
            name=store.dataset,
        )
        check_consistency(summary)
    except PqswarmError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise store.database.damaged(f"its content is inconsistent: {error}") from None
    return summary


def _summary_finding(finding: _Finding | None) -> _Finding:
    """A finding that every study with searches must have."""
    if finding is None:
        raise KeyError("runs without the data they searched")
    return finding


def _summarize_classifier(
    store: Store, plan: StudyPlan, name: str, records: Sequence[RunRecord]
) -> ClassifierSummary | None:
    by_algorithm = {
        a.name: [record for record in records if (record.key.classifier, record.key.algorithm) == (name, a.name)]
        for a in plan.algorithms
    }
    # Runs of the same number are compared.
    numbers = [{record.key.run for record in by_algorithm[a.name]} for a in plan.searched]
    shared = set.intersection(*numbers)
    if not shared:
        return None
    titles = _titles_by_name(plan)
    runs = {a.title: [r for r in by_algorithm[a.name] if r.key.run in shared] for a in plan.searched}
    classifier = plan.classifier(name).make(_summary_finding(store.find(findings.Hyperparameters, name)).settings)
    grid = store.find(findings.GridFinding, name)
    best = {a.name: best_run(by_algorithm[a.name]).key.run for a in plan.algorithms if by_algorithm[a.name]}
    held_out = _summarize_held_out(store, plan, name, titles, best)
    return ClassifierSummary(
        name=name,
        slug=classifier_slugs([c.name for c in plan.classifiers])[name],
        description=classifier.describe(),
        classifier=classifier,
        grid=None if grid is None else grid.result,
        all_features=_summary_finding(store.find(findings.AllFeatures, name)).error,
        runs=runs,
        sequential={a.title: by_algorithm[a.name][0] for a in plan.sequential if by_algorithm[a.name]},
        noise=_summarize_noise(store, plan, name, titles, held_out, best),
        held_out={title: errors[:, plan.dataset.snr.index(inf)] for title, errors in held_out.items()},
        smaller=store.find(OneStandardError, name),
        baseline=titles[plan.baseline],
        paper=paper_overlay(plan, name),
        ensembles={titles[mean]: best_subsets(runs[a.title], plan.averaged) for mean, a in plan.ensembles.items()},
    )


def _summarize_held_out(
    store: Store, plan: StudyPlan, name: str, titles: dict[str, str], best: Mapping[str, int]
) -> dict[str, FloatArray]:
    """Error rates by title, (n_sets, n_levels), of finished held-out sets; NaN at levels that are not tested.

    Of the runs of an algorithm it is the `best`.
    """
    levels = plan.dataset.snr
    tested = held_out_levels(plan)
    sets = []
    for seed in held_out_seeds(plan):
        findings_by_level = {level: store.find(findings.HeldOut, name, level, seed) for level in tested}
        errors = {level: finding.errors for level, finding in findings_by_level.items() if finding is not None}
        if len(errors) == len(tested):
            sets.append([errors.get(level, dict.fromkeys(errors[inf], (nan,))) for level in levels])
    if not sets:
        return {}
    return {
        titles.get(key, key): np.array(
            [[findings.rate_of_run(errors[key], best.get(key, 0)) for errors in by_level] for by_level in sets]
        )
        for key in sets[0][0]
    }


def _summarize_noise(
    store: Store,
    plan: StudyPlan,
    name: str,
    titles: dict[str, str],
    held_out: dict[str, FloatArray],
    best: Mapping[str, int],
) -> NoiseSummary | None:
    levels = plan.dataset.snr
    stages = {level: store.find(findings.StageTwo, name, level) for level in levels}
    tested = {level: stage for level, stage in stages.items() if stage is not None}
    if len(tested) < len(levels):
        return None
    columns = {
        key: np.array([findings.rate_of_run(tested[level].accuracy[key], best.get(key, 0)) for level in levels])
        for key in tested[inf].accuracy
    }
    return NoiseSummary(
        levels=levels,
        all_features=columns.pop(ALL_FEATURES),
        accuracy={titles[key]: column for key, column in columns.items() if key != ONE_STANDARD_ERROR},
        before=np.asarray(tested[inf].before),
        after=np.asarray(tested[inf].after),
        held_out={
            title: 100.0 * (1.0 - errors)
            for title, errors in held_out.items()
            if title != ONE_STANDARD_ERROR and np.isfinite(errors).all()
        },
    )


def classifier_slugs(names: list[str]) -> dict[str, str]:
    """Unique names in lower case without spaces."""
    slugs: dict[str, str] = {}
    for name in names:
        plain = name.replace(" ", "-").lower()
        tries = (f"{plain}-{i}" if i > 1 else plain for i in range(1, len(names) + 2))
        slugs[name] = next(slug for slug in tries if slug not in slugs.values())
    return slugs


def summarize_multiverse(store: Store, where: Mapping[str, str] | None = None) -> MultiverseSummary:
    """Read the results of a multiverse.

    Specifications without all runs are left out, as are those with other alternatives than `where` gives by choice.
    """
    about = store.about()
    plan = restore_plan(about.plan)
    assert plan.multiverse is not None  # noqa: S101
    specifications = _specifications_to_summarize(plan.multiverse, where or {})
    cells = plan.cells()
    names: dict[str, list[str]] = {}  # of the data sets of each specification
    for name in cells:
        names.setdefault(name.partition(", ")[0], []).append(name)
    n_runs = min(cell.runs for cell in cells.values())
    # The first runs of all algorithms, and those that run once.
    runs = [
        (classifier.name, algorithm.name, run)
        for classifier in plan.classifiers
        for algorithm in plan.algorithms
        for run in range(1 if algorithm.sequential else n_runs)
    ]
    finished = {status.key for status in store.statuses() if status.finished}
    complete = [
        each
        for each in specifications
        if all(RunKey(*run, name) in finished for name in names[each.name] for run in runs)
    ]
    if sum(not specification.marked for specification in complete) < 2:
        raise PqswarmError(f"{store.folder} has fewer than two finished specifications yet: wait, or resume it.")
    studies = [
        [_summarize_dataset(store.of(name), cells[name], about) for name in names[specification.name]]
        for specification in complete
    ]
    return MultiverseSummary(
        plan=plan,
        about=about,
        specifications=complete,
        datasets=[name.partition(", ")[2] or name for name in names[complete[0].name]],
        missing=len(specifications) - len(complete),
        classifiers=[_summarize_specifications(plan, studies, i, n_runs) for i in range(len(plan.classifiers))],
        first=studies[complete.index(max(complete, key=lambda each: each.marked))][0],
        where=dict(where or {}),
    )


def _summarize_specifications(
    plan: StudyPlan, studies: Sequence[Sequence[DatasetSummary]], i: int, n_runs: int
) -> ClassifierAcrossSpecifications:
    """The results with the classifier at a place of the plan, in the study of each specification."""
    found = [[dataset.classifiers[i] for dataset in study] for study in studies]
    first = found[0][0]

    def values(measure: Measure) -> dict[str, FloatArray]:
        """Of the first runs; the titles of algorithms may depend on the specification."""
        return {
            algorithm.title: np.array(
                [
                    [
                        [
                            float(getattr(record, measure))
                            for record in dataset.classifiers[i].groups[dataset.plan.algorithms[k].title][:n_runs]
                        ]
                        for dataset in study
                    ]
                    for study in studies
                ]
            )
            for k, algorithm in enumerate(plan.algorithms)
        }

    half_event = np.array([[[0.5 / dataset.n_events] for dataset in study] for study in studies])
    baseline = plan.algorithm(plan.baseline).title
    others = [algorithm.title for algorithm in plan.searched if algorithm.title != baseline]
    paper = paper_overlay(plan, first.name)
    noise = [[dataset.noise for dataset in study if dataset.noise is not None] for study in found]
    return ClassifierAcrossSpecifications(
        name=first.name,
        slug=first.slug,
        description=f"{plan.classifiers[i].make().describe()}, or as the specification chooses",
        baseline=baseline,
        paper=paper,
        errors={title: np.maximum(errors, half_event) for title, errors in values("error").items()},
        sizes=values("size"),
        all_features=np.array([[dataset.all_features for dataset in study] for study in found]),
        stage_two=[each if len(each) == len(study) else [] for each, study in zip(noise, studies, strict=True)],
        rivals=[title for title in others if title in paper.performance] or others,
    )


def _specifications_to_summarize(multiverse: MultiversePlan, where: Mapping[str, str]) -> list[Specification]:
    """The specifications with the alternatives asked for; a choice may be given by the last part of its name."""
    choices = {name: choice for choice in multiverse.choices for name in (choice, choice.rpartition(".")[2])}
    specifications = multiverse.list_specifications()
    for name, alternative in where.items():
        check_name("choice of --where", name, choices)
        alternatives = multiverse.choices[choices[name]]
        check_name(f"alternative of --where {name}", alternative, alternatives)
        specifications = [each for each in specifications if each.chosen[choices[name]] == alternative]
    return specifications


def read_summary(
    folder: str | Path, dataset: str | None = None, where: Mapping[str, str] | None = None
) -> StudySummary | MultiverseSummary:
    """Read the results of a study or multiverse from its folder: all, or those on one of several data sets."""
    with Store(folder) as store:
        plan = restore_plan(store.about().plan)
        if dataset is None and plan.multiverse is not None:
            return summarize_multiverse(store, where)
        if where:
            raise PqswarmError(f"the study in {folder} is not a multiverse: leave --where out.")
        names = list(plan.cells())
        if dataset is not None and names == [""]:
            raise PqswarmError(f"the study in {folder} has one data set: leave --dataset out.")
        if dataset is not None and dataset not in names:
            raise unknown_name("data set", dataset, names)
        return summarize(store, dataset)
