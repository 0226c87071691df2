"""Follow a running study by reading its store, without disturbing it."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pqswarm.errors import PqswarmError
from pqswarm.study import findings
from pqswarm.study.database import store_stamp
from pqswarm.study.findings import place_text
from pqswarm.study.lock import is_locked
from pqswarm.study.plan import held_out_levels, held_out_seeds
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.progress import Meter, StudyProgress, count_steps
from pqswarm.study.records import RunKey, RunRecord, RunStatus
from pqswarm.study.store import Store

if TYPE_CHECKING:
    from pqswarm.study.plan import StudyPlan


State = Literal["running", "stopped", "finished"]


@dataclass(frozen=True)
class StageProgress:
    """A stage of a study: its name, and how much is done."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class StudyStatus:
    """The state of a study."""

    state: State  # whether a process is running it, and otherwise whether it is finished
    progress: StudyProgress  # rates are measured since it is followed
    stages: tuple[StageProgress, ...]
    best: dict[str, RunStatus]  # the run of each classifier with the lowest error so far; empty with several data sets


class Follower:
    """Follows the progress of a study, in one thread, by short reads of only what is new."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.store = Store(folder)
        try:
            about = self.store.find(findings.About)
            if about is None:
                raise PqswarmError(f"{folder} holds a study that has not started.")
            self.about = about
            self.plan: StudyPlan = restore_plan(about.plan)
        except BaseException:
            self.store.close()
            raise
        self._told: list[StudyProgress] = []
        self._meter = Meter(self.plan, self._told.append)
        self._stamp: tuple[int, ...] = ()
        self._stages: tuple[StageProgress, ...] = ()
        self._best: dict[str, RunStatus] = {}
        self._finished = False
        self._records: dict[RunKey, RunRecord] = {}

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def look(self) -> StudyStatus:
        """Return the current state; the store is read only if it has changed."""
        stamp = store_stamp(self.folder)
        if stamp != self._stamp:
            first = not self._stamp
            self._stamp = stamp
            self._read()
            if first:
                self._meter.restart()
        locked = is_locked(self.folder)
        if locked is None:  # where locks are not listed: whether the store was written in the last minute
            locked = time.time() - max(stamp[0], stamp[2]) / 1e9 < _RECENT
        state: State = "finished" if self._finished else "running" if locked else "stopped"
        self._meter.tell(self._stage())
        progress = self._told.pop()
        return StudyStatus(state, progress, self._stages, self._best)

    def records(self) -> list[RunRecord]:
        """Return all finished runs, by classifier, algorithm, number and data set."""
        new = [one.key for one in self.store.statuses() if one.finished and one.key not in self._records]
        self._records |= {record.key: record for record in self.store.records(new)}
        return [self._records[key] for key in sorted(self._records)]

    def _read(self) -> None:
        statuses = self.store.statuses()
        places = set(self.store.places())
        cells = self.plan.cells()
        self._finished = ("", "Finished", "", "") in places
        self._best = _best_statuses(statuses) if len(cells) == 1 else {}
        counts = sum((_count_done(name, cell, places) for name, cell in cells.items()), Counter[str]())
        self._meter.follow(statuses, counts | ({"report": 1} if self._finished else {}))
        totals = sum((count_steps(cell) for cell in cells.values()), Counter[str]())
        totals["events"] = sum(len(cell.dataset.snr) for cell in cells.values())  # without held-out ones
        stages = [
            StageProgress(title, min(counts[step], totals[step]), totals[step]) for step, title in _TITLES.items()
        ]
        done = sum(one.finished for one in statuses)
        stages.insert(2, StageProgress("searches", done, self._meter.runs_total))
        self._stages = tuple(stage for stage in stages if stage.total)

    def _stage(self) -> str:
        if self._finished:
            return "finished"
        return next((stage.name for stage in self._stages if stage.done < stage.total), "the end")


_RECENT = 60.0  # seconds
_TITLES = {
    "events": "data",
    "hyperparameters": "hyperparameters",
    "smaller": "smaller subsets",
    "stage II": "stage II",
    "held-out": "held-out data",
}


def _count_done(dataset: str, cell: "StudyPlan", places: set[tuple[str, str, str, str]]) -> Counter[str]:
    """How many times each step is done for one data set."""
    names = {classifier.name for classifier in cell.classifiers}
    tested = held_out_levels(cell)
    kinds = Counter(kind for mine, kind, classifier, _ in places if mine == dataset and classifier in names)
    begun = sum(
        any((dataset, "HeldOut", name, place_text(level, seed)) in places for name in names for level in tested)
        for seed in held_out_seeds(cell)
    )
    is_generated = (dataset, "Events", "", "") in places
    steps = {"AllFeatures": "hyperparameters", "OneStandardError": "smaller", "StageTwo": "stage II"}
    done = {step: kinds[kind] for kind, step in (steps | {"HeldOut": "held-out"}).items()}
    return Counter({"events": len(cell.dataset.snr) * is_generated + len(tested) * begun} | done)


def _best_statuses(statuses: Iterable[RunStatus]) -> dict[str, RunStatus]:
    best: dict[str, RunStatus] = {}
    for one in sorted(statuses, key=lambda one: (round(one.error, 12), one.size is None, one.size or 0)):
        best.setdefault(one.key.classifier, one)
    return best
