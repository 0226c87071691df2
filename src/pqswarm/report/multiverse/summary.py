"""The results of a multiverse: errors and sizes of all runs, by reading and data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.report.paper import Overlay, paper_overlay
from pqswarm.report.shared.palette import Palette
from pqswarm.report.shared.sentences import enumerate_words
from pqswarm.report.shared.spread import Spread, t_interval
from pqswarm.report.summary import classifier_slugs, required_finding
from pqswarm.study import RunKey, Store, StudyPlan, findings
from pqswarm.study.multiverse import Specification
from pqswarm.study.plan_file import restore_plan


@dataclass(frozen=True, eq=False)
class OverReadings:
    """The results with one classifier over the readings.

    `errors` and `sizes` of each run, by the title of the algorithm, have the shape (n_readings, n_datasets, n_runs); an
    error rate of zero counts as half an event.
    """

    name: str
    slug: str  # for files and links
    reference: str  # title of an algorithm
    rivals: list[str]  # algorithms that it is compared with: those of the paper, if its values are shown
    errors: dict[str, FloatArray]
    sizes: dict[str, FloatArray]
    all_features: FloatArray  # error rates, shape (n_readings, n_datasets)
    paper: Overlay

    def values(self, what: str) -> dict[str, FloatArray]:
        """Return the values of ``"error"`` or ``"size"``."""
        return self.errors if what == "error" else self.sizes

    def best_rivals(self, what: str) -> list[str]:
        """Return the rival with the lowest mean in each reading."""
        means = np.array([self.values(what)[title].mean(axis=(1, 2)) for title in self.rivals])
        return [self.rivals[i] for i in means.argmin(axis=0)]

    def effects(self, what: str) -> FloatArray:
        """Return the log ratio of the reference's mean to that of its best rival, by reading and data set."""
        return np.array([self.ratio(what, title)[i] for i, title in enumerate(self.best_rivals(what))])

    def ratio(self, what: str, against: str) -> FloatArray:
        """Return the log ratio of the reference's mean to that of another, by reading and data set."""
        values = self.values(what)
        return np.asarray(np.log(values[self.reference].mean(axis=2) / values[against].mean(axis=2)))

    def spread(self, what: str) -> Spread:
        """Return the mean effect of each reading, with its t interval over data sets."""
        return t_interval(self.effects(what).T)

    def is_lower(self, what: str, against: str) -> FloatArray:
        """Return whether the reference's mean over data sets is lower than that of another, in each reading."""
        values = self.values(what)
        mine, other = (values[title].mean(axis=(1, 2)) for title in (self.reference, against))
        return np.asarray(mine < other - 1e-12)


@dataclass(frozen=True, eq=False)
class MultiverseSummary:
    """The results of a multiverse."""

    plan: StudyPlan
    about: findings.About
    readings: list[Specification]  # those with finished runs on all of their data sets
    datasets: list[str]  # of a reading
    missing: int  # number of the other readings
    classifiers: list[OverReadings]
    where: dict[str, str] = field(default_factory=dict)

    @cached_property
    def counted(self) -> FloatArray:
        """Whether each reading belongs to the design, and is not only marked."""
        return np.array([not reading.marked for reading in self.readings])

    @property
    def only(self) -> str:
        """Words for the alternatives that all readings have in common, if they were selected."""
        return f" with {enumerate_words([f'{c}: {a}' for c, a in self.where.items()])}" if self.where else ""

    @property
    def reference(self) -> str:
        """Title of the reference algorithm."""
        return self.plan.algorithm(self.plan.baseline).title

    @property
    def palette(self) -> Palette:
        """The colours of its algorithms; the reference is emphasised."""
        return Palette([algorithm.title for algorithm in self.plan.algorithms], self.reference)


def summarize_multiverse(store: Store, where: Mapping[str, str] | None = None) -> MultiverseSummary:
    """Read the results of a multiverse; readings without all runs, or with other alternatives, are left out."""
    about = store.of("").find(findings.About)
    if about is None:
        raise PqswarmError(f"{store.folder} holds a study that has not started: run it first.")
    plan = restore_plan(about.plan)
    assert plan.multiverse is not None  # noqa: S101
    names_of = {name: choice for choice in plan.multiverse.choices for name in (choice, choice.rpartition(".")[2])}
    readings = plan.multiverse.list_specifications()
    for name, alternative in (where or {}).items():
        if name not in names_of:
            raise unknown_name("choice of --where", name, names_of)
        if alternative not in (known := plan.multiverse.choices[names_of[name]]):
            raise unknown_name(f"alternative of --where {name}", alternative, known)
        readings = [reading for reading in readings if reading.chosen[names_of[name]] == alternative]
    cells: dict[str, list[str]] = {reading.name: [] for reading in readings}
    for name in plan.cells():
        cells.setdefault(name.partition(", ")[0], []).append(name)
    finished = {status.key: status for status in store.statuses() if status.finished}
    runs = {one.name: 1 if one.sequential else min(c.runs for c in plan.cells().values()) for one in plan.algorithms}

    def is_whole(name: str) -> bool:
        return all(
            RunKey(classifier.name, algorithm, run, name) in finished
            for classifier in plan.classifiers
            for algorithm, number in runs.items()
            for run in range(number)
        )

    whole = [reading for reading in readings if all(map(is_whole, cells[reading.name]))]
    if sum(not reading.marked for reading in whole) < 2:
        raise PqswarmError(f"{store.folder} has fewer than two finished readings yet: wait, or resume it.")
    names = [cells[reading.name] for reading in whole]
    events = [[required_finding(store.of(name).find(findings.Events)).count for name in row] for row in names]
    counts = np.array(events, dtype=np.float64)
    slugs, reference = classifier_slugs([one.name for one in plan.classifiers]), plan.algorithm(plan.baseline).title
    others = [algorithm.title for algorithm in plan.searched if algorithm.title != reference]
    found = []
    for classifier in slugs:
        overlay = paper_overlay(plan, classifier)
        errors, sizes = {}, {}
        for one in plan.algorithms:
            keys = [
                RunKey(classifier, one.name, run, name)
                for row in names
                for name in row
                for run in range(runs[one.name])
            ]
            shape = (*counts.shape, runs[one.name])
            errors[one.title] = np.array([finished[key].error for key in keys]).reshape(shape)
            errors[one.title] = np.maximum(errors[one.title], 0.5 / counts[:, :, np.newaxis])
            sizes[one.title] = np.array([finished[key].size for key in keys], dtype=np.float64).reshape(shape)
        kept = [
            required_finding(store.of(name).find(findings.AllFeatures, classifier)) for row in names for name in row
        ]
        found.append(
            OverReadings(
                name=classifier,
                slug=slugs[classifier],
                reference=reference,
                rivals=[title for title in others if title in overlay.performance] or others,
                errors=errors,
                sizes=sizes,
                all_features=np.array([one.error for one in kept]).reshape(counts.shape),
                paper=overlay,
            )
        )
    datasets = [name.partition(", ")[2] or name for name in names[0]]
    return MultiverseSummary(plan, about, whole, datasets, len(readings) - len(whole), found, dict(where or {}))
