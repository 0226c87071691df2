"""From the store of a study to plain numbers: all that tables, figures and sentences are made of."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import inf
from typing import Any

import numpy as np

from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import GridSearchResult
from pqswarm.statistics import (
    ContrastResult,
    FriedmanResult,
    PosthocResult,
    contrast_estimation,
    friedman,
    posthoc,
    stability,
)
from pqswarm.study import RunRecord, Store, StudyPlan, best_of
from pqswarm.study.findings import (
    ALL_FEATURES,
    ONE_STANDARD_ERROR,
    About,
    AllFeatures,
    Finished,
    Grid,
    HeldOut,
    Hyperparameters,
    OneStandardError,
    ProblemDigest,
    StageTwo,
)
from pqswarm.study.planfile import restore_plan

__all__ = ["ClassifierSummary", "Comparison", "NoiseSummary", "StudySummary", "summarize"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Friedman's test of the algorithms, on error or size, and the comparison of each with the best."""

    friedman: FriedmanResult
    posthoc: PosthocResult


@dataclass(frozen=True, eq=False)
class NoiseSummary:
    """Stage II: accuracies of the best subsets at each noise level.

    Attributes
    ----------
    levels : tuple of float
        Noise levels [dB].
    all_features : ndarray of shape (n_levels,)
        Theta(U) [%].
    accuracy : dict of str to ndarray
        Theta of the best subset of each algorithm, by title [%].
    contrast : ContrastResult or None
        Contrast estimation over the levels, of the algorithms that run many times.
    before, after : ndarray of int
        Confusion matrices with all features and with the reference's best subset, without noise.
    """

    levels: tuple[float, ...]
    all_features: FloatArray
    accuracy: dict[str, FloatArray]
    contrast: ContrastResult | None
    before: IntArray
    after: IntArray

    def gain(self, title: str) -> FloatArray:
        """Return theta = Theta - Theta(U) of an algorithm's best subset [percentage points], free of rounding."""
        return np.round(self.accuracy[title] - self.all_features, 9) + 0.0

    def robust(self, title: str) -> bool:
        """Whether a subset is at least as good as all features at every level."""
        return bool((self.gain(title) >= 0).all())


@dataclass(frozen=True, eq=False)
class ClassifierSummary:
    """All that was found with one classifier.

    Attributes
    ----------
    name, slug, kind : str
        Its name in the study; the same for files and links, no two alike; and its kind.
    hyperparameters : dict
        Those that were used.
    grid : dict or None
        The grid search: names, points and accuracies.
    all_features : float
        J(U).
    runs : dict of str to list of RunRecord
        Finished runs of each algorithm that runs many times, by title; the same number of each.
    sffs : dict of str to RunRecord
        The run of each sequential algorithm, by title.
    errors, sizes : Comparison or None
        Tests on error and size; None if there are not enough runs or algorithms.
    noise : NoiseSummary or None
        Stage II; None if the study has not come to it.
    fresh : dict of str to float
        Errors on fresh events, by title.
    smaller : dict or None
        The one-standard-error choice: mask, error, standard_error.
    reference : str
        Title of the reference algorithm.
    """

    name: str
    slug: str
    kind: str
    hyperparameters: dict[str, Any]
    grid: GridSearchResult | None
    all_features: float
    runs: dict[str, list[RunRecord]]
    sffs: dict[str, RunRecord]
    errors: Comparison | None
    sizes: Comparison | None
    noise: NoiseSummary | None
    fresh: dict[str, float]
    smaller: OneStandardError | None
    reference: str
    best_known: dict[str, Any] | None

    @property
    def n_features(self) -> int:
        """Features to choose from."""
        return int(self.best(self.reference).mask.size)

    @property
    def n_runs(self) -> int:
        """Runs of each algorithm."""
        return min((len(records) for records in self.runs.values()), default=0)

    def best(self, title: str) -> RunRecord:
        """Return the best run of an algorithm."""
        return self.sffs[title] if title in self.sffs else best_of(self.runs[title])

    def error_of(self, title: str) -> FloatArray:
        """Return the error of each run of an algorithm."""
        return np.array([record.error for record in self.runs[title]])

    def size_of(self, title: str) -> FloatArray:
        """Return the size of the subset of each run of an algorithm."""
        return np.array([float(record.size) for record in self.runs[title]])

    def frequency(self, title: str) -> FloatArray:
        """Return in which share of an algorithm's runs each feature was selected."""
        return np.asarray(np.mean([record.mask for record in self.runs[title]], axis=0))

    def stability(self, title: str) -> tuple[float, float, float] | None:
        """Return Nogueira's stability of an algorithm's selection, and its confidence interval; None for one run."""
        masks = np.array([record.mask for record in self.runs[title]])
        if len(masks) < 2:
            return None
        found = stability(masks)
        return (found.stability, found.lower, found.upper)

    @property
    def smaller_mask(self) -> BoolArray | None:
        """The one-standard-error subset."""
        return None if self.smaller is None else self.smaller.mask


@dataclass(frozen=True, eq=False)
class StudySummary:
    """A study in numbers.

    Attributes
    ----------
    title : str
        Heading.
    plan : StudyPlan
        What was planned.
    version : str
        Of pqswarm.
    machine : dict
        Where it ran.
    n_features : int
        Features to choose from.
    seconds : float
        Time that all searches took together, on one core.
    began, finished : float or None
        When, in seconds since 1970; None if it is not finished.
    classifiers : list of ClassifierSummary
        What was found.
    """

    title: str
    plan: StudyPlan
    version: str
    machine: dict[str, Any]
    n_features: int
    seconds: float
    began: float
    finished: float | None
    classifiers: list[ClassifierSummary]

    @property
    def reference(self) -> str:
        """Title of the reference algorithm."""
        return self.plan.algorithm(self.plan.reference).title


def summarize(store: Store) -> StudySummary:
    """Read a study, finished or not, and compute its statistics.

    Of an unfinished study, as many runs of each algorithm are taken as all of them have.

    Parameters
    ----------
    store : Store
        The store of a study.

    Returns
    -------
    StudySummary
        Plain numbers.
    """
    if store.find(About) is None:
        raise PqswarmError(f"{store.folder} holds a study that has not begun.")
    try:
        return _summary(store)
    except PqswarmError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise store.damaged(f"what it keeps does not fit together: {error!r}") from None


def _summary(store: Store) -> StudySummary:
    about, finished = store.find(About), store.find(Finished)
    assert about is not None  # noqa: S101 (the caller has looked)
    plan = restore_plan(about.plan)
    records = store.finished()
    classifiers = [_classifier(store, plan, name, records) for name in (c.name for c in plan.classifiers)]
    present = [classifier for classifier in classifiers if classifier is not None]
    if not present:
        raise PqswarmError(f"the study in {store.folder} has no finished run of every algorithm yet: let it go on.")
    return StudySummary(
        title=plan.title,
        plan=plan,
        version=about.version,
        machine=about.machine,
        n_features=records[0].mask.size,
        seconds=sum(record.seconds for record in records),
        began=about.began,
        finished=None if finished is None else finished.at,
        classifiers=present,
    )


def _classifier(store: Store, plan: StudyPlan, name: str, records: Sequence[RunRecord]) -> ClassifierSummary | None:
    mine = [record for record in records if record.key.classifier == name]
    by_algorithm = {a.name: [record for record in mine if record.key.algorithm == a.name] for a in plan.algorithms}
    # A run of one algorithm is compared with the run of the same number of the others.
    numbers = [{record.key.run for record in by_algorithm[a.name]} for a in plan.searched]
    shared = set.intersection(*numbers)
    if not shared:
        return None
    runs = {a.title: [r for r in by_algorithm[a.name] if r.key.run in shared] for a in plan.searched}
    titles = {a.name: a.title for a in plan.algorithms} | {
        ALL_FEATURES: ALL_FEATURES,
        ONE_STANDARD_ERROR: ONE_STANDARD_ERROR,
    }
    # Equal numbers of errors, in other folds, may differ in the last bit of their mean: they are ties all the same.
    errors = np.round([[record.error for record in group] for group in runs.values()], 12).T
    sizes = np.array([[float(record.size) for record in group] for group in runs.values()]).T
    used, grid, held_out = store.find(Hyperparameters, name), store.find(Grid, name), store.find(HeldOut, name)
    everything, digest = store.find(AllFeatures, name), store.find(ProblemDigest, name)
    if used is None or everything is None or digest is None:
        raise KeyError(name)
    return ClassifierSummary(
        name=name,
        slug=_slugs([c.name for c in plan.classifiers])[name],
        kind=plan.classifier(name).kind,
        hyperparameters=used.settings,
        grid=None if grid is None else grid.result,
        all_features=everything.error,
        runs=runs,
        sffs={a.title: by_algorithm[a.name][0] for a in plan.sequential if by_algorithm[a.name]},
        errors=_compared(errors, list(runs)),
        sizes=_compared(sizes, list(runs)),
        noise=_noise(store, plan, name, titles),
        fresh={} if held_out is None else {titles[key]: error for key, error in held_out.errors.items()},
        smaller=store.find(OneStandardError, name),
        reference=plan.algorithm(plan.reference).title,
        best_known=_best_known(digest.digest),
    )


def _best_known(problem: str | None) -> dict[str, Any] | None:
    """The best subset that is known for the very same events, folds and classifier."""
    records = json.loads((files("pqswarm.report") / "best_known.json").read_text(encoding="utf-8"))
    return next((record for record in records if record["problem"] == problem), None)


def _slugs(names: list[str]) -> dict[str, str]:
    """Names without spaces and capitals, and yet all different.

    Examples
    --------
    >>> _slugs(["k-NN", "k NN", "K-nn 2"])
    {'k-NN': 'k-nn', 'k NN': 'k-nn-2', 'K-nn 2': 'k-nn-2-2'}
    """
    slugs: dict[str, str] = {}
    for name in names:
        plain = name.replace(" ", "-").lower()
        tries = (f"{plain}-{i}" if i > 1 else plain for i in range(1, len(names) + 2))
        slugs[name] = next(slug for slug in tries if slug not in slugs.values())
    return slugs


def _compared(values: FloatArray, titles: list[str]) -> Comparison | None:
    if min(values.shape) < 2:
        return None
    test = friedman(values, names=titles)
    return Comparison(test, posthoc(test))


def _noise(store: Store, plan: StudyPlan, name: str, titles: dict[str, str]) -> NoiseSummary | None:
    levels = plan.dataset.snr
    found = {level: one for level in levels if (one := store.find(StageTwo, name, level)) is not None}
    if len(found) < len(levels):
        return None
    columns = {key: np.array([found[level].accuracy[key] for level in levels]) for key in found[inf].accuracy}
    accuracy = {titles[key]: column for key, column in columns.items() if key != ALL_FEATURES}
    compared = [a.title for a in plan.searched]
    values = np.array([accuracy[title] for title in compared]).T
    return NoiseSummary(
        levels=levels,
        all_features=columns[ALL_FEATURES],
        accuracy=accuracy,
        contrast=contrast_estimation(values, names=compared) if min(values.shape) >= 2 else None,
        before=np.asarray(found[inf].before),
        after=np.asarray(found[inf].after),
    )
