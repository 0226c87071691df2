"""The results of a study on several data sets: a summary of each, and its runs by algorithm."""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.shared.palette import Palette
from pqswarm.report.summary import ClassifierSummary, StudySummary, summarize
from pqswarm.study import RunKey, Store, StudyPlan, findings
from pqswarm.study.plan_file import restore_plan


@dataclass(frozen=True, eq=False)
class OverDatasets:
    """The results with one classifier over the data sets."""

    name: str
    slug: str  # for files and links
    members: dict[str, ClassifierSummary]
    reference: str  # title of an algorithm

    @cached_property
    def titles(self) -> list[str]:
        """Titles of the algorithms with runs on every data set, those that run once last."""
        first, *others = self.members.values()
        return [title for title in first.groups if all(title in other.groups for other in others)]

    def errors(self, title: str) -> list[FloatArray]:
        """Return the error of each run of an algorithm, by data set."""
        return [np.array([r.error for r in found.groups[title]]).round(12) for found in self.members.values()]

    def sizes(self, title: str) -> list[FloatArray]:
        """Return the size of each subset found by an algorithm, by data set."""
        return [np.array([float(r.size) for r in found.groups[title]]) for found in self.members.values()]

    def mean_errors(self, title: str) -> FloatArray:
        """Return the mean error of the runs of an algorithm on each data set."""
        return np.array([each.mean() for each in self.errors(title)])

    def mean_sizes(self, title: str) -> FloatArray:
        """Return the mean size of the subsets of an algorithm on each data set."""
        return np.array([each.mean() for each in self.sizes(title)])

    @property
    def all_features(self) -> FloatArray:
        """J(U) on each data set."""
        return np.array([found.all_features for found in self.members.values()])


@dataclass(frozen=True, eq=False)
class DatasetsSummary:
    """The results of a study on several data sets."""

    plan: StudyPlan
    about: findings.About
    members: dict[str, StudySummary]  # data sets with finished runs of every algorithm and classifier
    missing: tuple[str, ...]  # names of the other data sets

    @cached_property
    def classifiers(self) -> list[OverDatasets]:
        """Results by classifier."""
        names = [found.name for found in next(iter(self.members.values())).classifiers]
        return [self._over(i, name) for i, name in enumerate(names)]

    def _over(self, place: int, name: str) -> OverDatasets:
        members = {dataset: study.classifiers[place] for dataset, study in self.members.items()}
        first = next(iter(members.values()))
        return OverDatasets(name, first.slug, members, first.reference)

    @classmethod
    def of(cls, study: StudySummary) -> "DatasetsSummary":
        """Return a study on a single data set, whose name is empty."""
        return cls(study.plan, study.about, {"": study}, ())

    @property
    def single(self) -> bool:
        """Whether the study has a single data set."""
        return "" in self.members

    def same_data(self, other: "DatasetsSummary") -> bool:
        """Whether another study searched on the same data sets."""
        mine, theirs = (
            {name: (one.digest, one.generated) for name, one in study.members.items()} for study in (self, other)
        )
        return mine == theirs

    @property
    def unfinished(self) -> list[str]:
        """Names of the data sets on which runs are still missing, beside those that are left out."""
        once = {algorithm.title for algorithm in self.plan.sequential}
        return [
            name
            for name, study in self.members.items()
            if any(found.n_runs < self.plan.runs or once - set(found.sequential) for found in study.classifiers)
        ]

    @property
    def reference(self) -> str:
        """Title of the reference algorithm."""
        return self.plan.algorithm(self.plan.baseline).title

    @property
    def control(self) -> str | None:
        """Title of the algorithm that tests compare with the others; None: the best."""
        name = self.plan.control
        return self.reference if name is None else None if name == "best" else self.plan.title_of(name)

    @property
    def item(self) -> str:
        """The word for one row of the data: event if generated, otherwise sample."""
        return next(iter(self.members.values())).item

    @property
    def levels(self) -> tuple[float, ...]:
        """Noise levels [dB] of all data sets; only infinity if they differ."""
        found = {study.plan.dataset.snr for study in self.members.values()}
        return found.pop() if len(found) == 1 else (inf,)

    @property
    def palette(self) -> Palette:
        """The colours of its algorithms; the reference is emphasised."""
        return Palette([algorithm.title for algorithm in self.plan.algorithms], self.reference)


def summarize_datasets(store: Store) -> DatasetsSummary:
    """Read a study on several data sets, finished or not; those without runs of all algorithms are left out."""
    about = store.of("").find(findings.About)
    if about is None:
        raise PqswarmError(f"{store.folder} holds a study that has not started: run it first.")
    plan = restore_plan(about.plan)
    finished = {status.key for status in store.statuses() if status.finished}

    def has_runs(dataset: str) -> bool:
        names = [algorithm.name for algorithm in plan.searched]
        return all(
            any(all(RunKey(each.name, name, run, dataset) in finished for name in names) for run in range(plan.runs))
            for each in plan.classifiers
        )

    members = {name: summarize(store.of(name)) for name in plan.cells() if has_runs(name)}
    if not members:
        raise PqswarmError(
            f"{store.folder} has no data set with finished runs of all algorithms yet: wait, or resume it."
        )
    return DatasetsSummary(plan, about, members, tuple(name for name in plan.cells() if name not in members))
