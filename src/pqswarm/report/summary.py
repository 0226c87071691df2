"""Read the store of a study into the numbers that the sections of a report use."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import inf, nan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Classifier, GridSearchResult
from pqswarm.report.consistency import check_consistency
from pqswarm.report.paper import Overlay, paper_overlay
from pqswarm.report.shared.meanings import names_of, wavelet_level
from pqswarm.study import RunRecord, Store, StudyPlan, best_run, findings
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, OneStandardError
from pqswarm.study.plan import held_out_levels, held_out_seeds
from pqswarm.study.plan_data import DatasetPlan, HeldOutPlan
from pqswarm.study.plan_file import restore_plan

if TYPE_CHECKING:
    from pqswarm.report.shared.palette import Palette

_Finding = TypeVar("_Finding", bound=findings.Finding)


@dataclass(frozen=True, eq=False)
class NoiseSummary:
    """Stage II: accuracies [%] of all features and, by title, of the best subsets, at each noise level [dB]."""

    levels: tuple[float, ...]
    all_features: FloatArray
    accuracy: dict[str, FloatArray]
    before: IntArray  # confusion matrix without noise of all features
    after: IntArray  # of the reference's best subset
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


@dataclass(frozen=True, eq=False)
class ClassifierSummary:
    """The results with one classifier.

    Attributes
    ----------
    name, slug : str
        Its name in the study, and a unique form of it for files and links.
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
    reference : str
        Title of the reference algorithm.
    best_known : dict or None
        The best known subset for the same events.
    paper : Overlay
        The paper's values for it; false and empty if there are none, or the plan does not ask for them.
    """

    name: str
    slug: str
    classifier: Classifier
    grid: GridSearchResult | None
    all_features: float
    runs: dict[str, list[RunRecord]]
    sequential: dict[str, RunRecord]
    noise: NoiseSummary | None
    held_out: dict[str, FloatArray]
    smaller: OneStandardError | None
    reference: str
    best_known: dict[str, Any] | None
    paper: Overlay

    @property
    def n_features(self) -> int:
        """Features to choose from."""
        return int(self.best(self.reference).mask.size)

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
class StudySummary:
    """The results of a study.

    Attributes
    ----------
    plan : StudyPlan
        What was planned.
    about : About
        Version of pqswarm, time and machine.
    n_events : int
        Events of the study.
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
    """

    plan: StudyPlan
    about: findings.About
    n_events: int
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    seconds: float
    classifiers: list[ClassifierSummary]
    n_held_out: int = 0
    digest: str = ""

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
    def reference(self) -> str:
        """Title of the reference algorithm."""
        return self.plan.algorithm(self.plan.baseline).title

    @property
    def wavelet_level(self) -> int | None:
        """Level of the wavelet transform behind the features; None for other features."""
        return wavelet_level(self.feature_names)

    @property
    def palette(self) -> "Palette":
        """The colours of its algorithms; the reference is emphasised."""
        from pqswarm.report.shared.palette import Palette

        return Palette([algorithm.title for algorithm in self.plan.algorithms], self.reference)


def summarize(store: Store) -> StudySummary:
    """Read the results of a study on one data set, finished or not.

    Of an unfinished study, only the runs that all algorithms have finished are used. Of several data sets, give the
    store of one (:meth:`pqswarm.study.Store.of`).
    """
    about = store.of("").find(findings.About)
    if about is None:
        raise PqswarmError(f"{store.folder} holds a study that has not started: run it first.")
    try:
        found = _summary(store, about)
        check_consistency(found)
    except PqswarmError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise store.damaged(f"its content is inconsistent: {error}") from None
    return found


def _summary(store: Store, about: findings.About) -> StudySummary:
    plan, records = restore_plan(about.plan).cells()[store.dataset], store.finished()
    classifiers = [_summarize_classifier(store, plan, classifier.name, records) for classifier in plan.classifiers]
    present = [classifier for classifier in classifiers if classifier is not None]
    if not present:
        raise PqswarmError(f"{store.folder} has no finished run of every algorithm yet: wait, or resume it.")
    events, held_out = required_finding(store.find(findings.Events)), plan.held_out
    # Studies that do not store class names have those of the preset.
    generated = plan.dataset.class_names if isinstance(plan.dataset, DatasetPlan) else ()
    classes = events.class_names or generated
    return StudySummary(
        plan=plan,
        about=about,
        n_events=events.count,
        class_names=classes,
        feature_names=names_of(events, records[0].mask.size),
        seconds=sum(record.seconds for record in records),
        classifiers=present,
        n_held_out=held_out.events_per_class * len(classes) if isinstance(held_out, HeldOutPlan) else events.held_out,
        digest=events.digest,
    )


def required_finding(finding: _Finding | None) -> _Finding:
    """A finding that every study with searches must have."""
    if finding is None:
        raise KeyError("runs without the data they searched")
    return finding


def _summarize_classifier(
    store: Store, plan: StudyPlan, name: str, records: Sequence[RunRecord]
) -> ClassifierSummary | None:
    mine = [record for record in records if record.key.classifier == name]
    by_algorithm = {a.name: [record for record in mine if record.key.algorithm == a.name] for a in plan.algorithms}
    # Runs of the same number are compared.
    numbers = [{record.key.run for record in by_algorithm[a.name]} for a in plan.searched]
    shared = set.intersection(*numbers)
    if not shared:
        return None
    titles = {a.name: a.title for a in plan.algorithms}
    grid, held_out = store.find(findings.GridFinding, name), _summarize_held_out(store, plan, name, titles)
    return ClassifierSummary(
        name=name,
        slug=classifier_slugs([c.name for c in plan.classifiers])[name],
        classifier=plan.classifier(name).make(required_finding(store.find(findings.Hyperparameters, name)).settings),
        grid=None if grid is None else grid.result,
        all_features=required_finding(store.find(findings.AllFeatures, name)).error,
        runs={a.title: [r for r in by_algorithm[a.name] if r.key.run in shared] for a in plan.searched},
        sequential={a.title: by_algorithm[a.name][0] for a in plan.sequential if by_algorithm[a.name]},
        noise=_summarize_noise(store, plan, name, titles, held_out),
        held_out={title: errors[:, plan.dataset.snr.index(inf)] for title, errors in held_out.items()},
        smaller=store.find(OneStandardError, name),
        reference=titles[plan.baseline],
        best_known=_summarize_best_known(required_finding(store.find(findings.ProblemDigest, name)).digest),
        paper=paper_overlay(plan, name),
    )


def _summarize_held_out(store: Store, plan: StudyPlan, name: str, titles: dict[str, str]) -> dict[str, FloatArray]:
    """Error rates by title, (n_sets, n_levels), of finished held-out sets; NaN at levels that are not tested."""
    levels, tested, sets = plan.dataset.snr, held_out_levels(plan), []
    for seed in held_out_seeds(plan):
        found = {level: store.find(findings.HeldOut, name, level, seed) for level in tested}
        errors = {level: one.errors for level, one in found.items() if one is not None}
        if len(errors) == len(tested):
            sets.append([errors.get(level, dict.fromkeys(errors[inf], nan)) for level in levels])
    old = store.find(findings.HeldOut, name)
    if old is not None:
        sets.append([old.errors if level == inf else dict.fromkeys(old.errors, nan) for level in levels])
    if not sets:
        return {}
    return {titles.get(key, key): np.array([[errors[key] for errors in one] for one in sets]) for key in sets[0][0]}


def _summarize_noise(
    store: Store, plan: StudyPlan, name: str, titles: dict[str, str], held_out: dict[str, FloatArray]
) -> NoiseSummary | None:
    levels = plan.dataset.snr
    found = {level: one for level in levels if (one := store.find(findings.StageTwo, name, level)) is not None}
    if len(found) < len(levels):
        return None
    columns = {key: np.array([found[level].accuracy[key] for level in levels]) for key in found[inf].accuracy}
    return NoiseSummary(
        levels=levels,
        all_features=columns.pop(ALL_FEATURES),
        accuracy={titles[key]: column for key, column in columns.items() if key != ONE_STANDARD_ERROR},
        before=np.asarray(found[inf].before),
        after=np.asarray(found[inf].after),
        held_out={
            title: 100.0 * (1.0 - errors)
            for title, errors in held_out.items()
            if title != ONE_STANDARD_ERROR and np.isfinite(errors).all()
        },
    )


def _summarize_best_known(problem: str) -> dict[str, Any] | None:
    """The best known subset for the same events, folds and classifier."""
    records = json.loads((files("pqswarm.report") / "best_known.json").read_text(encoding="utf-8"))
    return next((record for record in records if record["problem"] == problem), None)


def classifier_slugs(names: list[str]) -> dict[str, str]:
    """Unique names in lower case without spaces."""
    slugs: dict[str, str] = {}
    for name in names:
        plain = name.replace(" ", "-").lower()
        tries = (f"{plain}-{i}" if i > 1 else plain for i in range(1, len(names) + 2))
        slugs[name] = next(slug for slug in tries if slug not in slugs.values())
    return slugs
