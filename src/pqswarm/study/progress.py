"""The progress of a study: counted while it runs, and followed from outside by reading its store."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

from pqswarm._kernels.compile_times import last_compiled
from pqswarm.study.findings import place_text
from pqswarm.study.plan import StudyPlan, held_out_levels, held_out_seeds
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.records import Checkpoint, RunKey, RunRecord, RunStatus
from pqswarm.study.store import Store, is_study_locked, store_stamp

_RECENT = 60.0  # seconds over which rates are averaged

# Approximate cost of the other steps in evaluations of subsets, used until one has been timed.
_STEPS = {"events": 300, "hyperparameters": 1500, "smaller": 150, "stage II": 50, "held-out": 150}
_REPORT_SECONDS = 8.0  # 4 of an idle machine, 15 of a busy one; independent of the evaluation rate
_USUAL_SECONDS = 0.001  # of an evaluation, until something has been timed
_SEARCHES = "searches"
_SOME = 5  # steps of usual cost that count with those timed
_TITLES = {
    "events": "data",
    "hyperparameters": "hyperparameters",
    "smaller": "smaller subsets",
    "stage II": "stage II",
    "held-out": "held-out data",
}


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study.

    Attributes
    ----------
    stage : str
        The current stage.
    runs_done, runs_total, evaluations_done, evaluations_total : int
        Runs finished and planned; subsets evaluated and planned.
    rate : float
        Evaluations per second in the last minute.
    best : dict of str to RunStatus
        The run of each classifier with the lowest error so far; empty with several data sets.
    fraction : float
        Approximate fraction of the whole study that is done, 0 to 1.
    seconds_left : float
        Estimated remaining time [s].
    """

    stage: str
    runs_done: int
    runs_total: int
    evaluations_done: int
    evaluations_total: int
    rate: float
    best: dict[str, RunStatus]
    fraction: float = 0.0
    seconds_left: float = inf


Report = Callable[[StudyProgress], None]


def count_study_steps(cell: StudyPlan) -> Counter[str]:
    """Return how many times each step other than a search is done for one data set."""
    levels = len(cell.dataset.snr)
    classifiers = len(cell.classifiers)
    tested = len(held_out_levels(cell)) * len(held_out_seeds(cell))
    steps = Counter({"events": levels, "hyperparameters": classifiers})
    if cell.stage_two:
        steps |= {"smaller": classifiers, "stage II": levels * classifiers, "held-out": tested * classifiers}
        steps["events"] += tested
    return steps


class Meter:
    """Counts the work of a study and reports it."""

    def __init__(self, plan: StudyPlan, report: Report) -> None:
        self._report = report
        cells = plan.cells().values()
        # Searches that stop by themselves are not counted: their evaluations are not planned.
        self._planned = {algorithm.name for algorithm in plan.searched}
        self._several = len(cells) > 1
        self.runs_total = sum(cell.n_runs for cell in cells)
        self._total = sum(len(c.searched) * len(c.classifiers) * c.runs * c.max_evaluations for c in cells)
        self._budget = max(cell.max_evaluations for cell in cells)
        self._planned_steps = sum((count_study_steps(cell) for cell in cells), Counter[str]())
        self._searches = Counter(
            (classifier.name, algorithm.name)
            for cell in cells
            for classifier in cell.classifiers
            for algorithm in cell.algorithms
            for _ in range(1 if algorithm.sequential else cell.runs)
        )
        self._steps = Counter[str]()
        self._reported = False  # whether the report has been written
        self._finished: set[RunKey] = set()
        self._evaluations: dict[RunKey, int] = {}
        self._seconds: dict[RunKey, float] = {}  # of workers
        self._best: dict[str, RunStatus] = {}
        self._timed: dict[str, tuple[float, float]] = {}  # of each kind of work: seconds that passed, amount done
        self._begun = 0.0  # the fraction done before anything was timed
        self._fraction = 0.0
        self.restart()

    def restart(self) -> None:
        """Measure rates from now on."""
        self._recent = [(time.monotonic(), 0)]
        self._mark = time.monotonic()
        self._before = self._amounts()

    def count_runs(self, finished: Sequence[RunRecord], running: Sequence[Checkpoint]) -> None:
        """Record the state of runs."""
        self._seconds |= {run.key: run.seconds for run in finished}
        self._seconds |= {run.key: run.seconds for run in running}
        ended = [RunStatus(run.key, run.result.n_evaluations, run.error, run.size) for run in finished]
        self._count([*ended, *(RunStatus(run.key, run.n_evaluations, run.best_error) for run in running)])

    def follow(self, statuses: Iterable[RunStatus], steps: Mapping[str, int]) -> None:
        """Record the state of all runs and steps as read from a store."""
        self._count(statuses)
        self._reported = "report" in steps
        self._steps = Counter({step: times for step, times in steps.items() if step in _STEPS})

    def _count(self, runs: Iterable[RunStatus]) -> None:
        before = sum(self._evaluations.values())
        for run in runs:
            if run.finished:
                self._finished.add(run.key)
            self._evaluations[run.key] = run.n_evaluations
            if not self._several:  # errors on different data sets are not comparable
                name = run.key.classifier
                self._best[name] = min(self._best.get(name, run), run, key=_rank_by_error_and_size)
        self._recent.append((time.monotonic(), sum(self._evaluations.values()) - before))

    def step(self, what: str, times: int = 1) -> None:
        """Count a finished step other than a search, such as one noise level of stage II."""
        self._steps[what] += times

    def _search_work(self) -> tuple[float, float]:
        """The work of the searches that is done and left, in evaluations of average cost.

        An evaluation costs what it has cost with the same classifier and algorithm, and a search that stops by itself
        makes as many as those before it.
        """
        kinds: dict[tuple[str, str], list[RunKey]] = {kind: [] for kind in self._searches}
        for key in self._evaluations:
            kinds.setdefault((key.classifier, key.algorithm), []).append(key)
        timed = sum(self._evaluations[key] for key in self._seconds)
        mean = sum(self._seconds.values()) / timed if timed else 0.0
        done = left = 0.0
        for kind, keys in kinds.items():
            evaluations = sum(self._evaluations[key] for key in keys)
            ended = [self._evaluations[key] for key in keys if key in self._finished]
            each = sum(ended) / len(ended) if ended else self._budget
            own = [key for key in keys if key in self._seconds]
            asked = sum(self._evaluations[key] for key in own)
            cost = sum(self._seconds[key] for key in own) / asked / mean if asked and mean else 1.0
            done += cost * evaluations
            begun = [max(0.0, each - self._evaluations[key]) for key in keys if key not in self._finished]
            left += cost * (sum(begun) + each * max(0, self._searches[kind] - len(keys)))
        return done, left

    def _amounts(self) -> Counter[str]:
        """How much of each kind of work is done."""
        return Counter({**self._steps, _SEARCHES: sum(self._evaluations.values())})

    def _time_work(self) -> None:
        """Ascribe the time since the last call to what was done in it, unless functions were compiled."""
        now = time.monotonic()
        amounts = self._amounts()
        new = amounts - self._before
        if not new:
            return
        if last_compiled() <= self._mark:
            total = sum(_STEPS.get(kind, 1) * amount for kind, amount in new.items())
            for kind, amount in new.items():
                seconds, timed = self._timed.get(kind, (0.0, 0.0))
                part = _STEPS.get(kind, 1) * amount / total
                self._timed[kind] = (seconds + part * (now - self._mark), timed + amount)
        self._mark = now
        self._before = amounts

    def _time_done_and_left(self) -> tuple[float, float]:
        """The duration of all that is done and of all that is left but the report [s], at the speed so far."""
        passed = sum(seconds for seconds, _ in self._timed.values())
        weighed = sum(_STEPS.get(kind, 1) * amount for kind, (_, amount) in self._timed.items())
        usual = passed / weighed if weighed else _USUAL_SECONDS
        done, left = self._search_work()
        seconds, timed = self._timed.get(_SEARCHES, (usual, 1.0))
        done *= seconds / timed
        left *= seconds / timed
        for step, planned in self._planned_steps.items():
            seconds, timed = self._timed.get(step, (0.0, 0.0))
            # The first ones may be slow: some of usual cost are added.
            each = (seconds + _SOME * usual * _STEPS[step]) / (timed + _SOME)
            finished = min(planned, self._steps[step])
            done += finished * each
            left += (planned - finished) * each
        return done, left

    def report_stage(self, stage: str) -> None:
        """Report the current stage."""
        self._time_work()
        now = time.monotonic()
        done_time, left = self._time_done_and_left()
        report = 0.0 if self._reported else _REPORT_SECONDS
        passed = sum(seconds for seconds, _ in self._timed.values())
        if passed:  # of what was left when it began, or was resumed
            part = passed / (passed + left + report)
            self._fraction = max(self._fraction, self._begun + (1.0 - self._begun) * part)
        elif done_time:
            self._fraction = self._begun = done_time / (done_time + left + report)
        self._recent = [(at, count) for at, count in self._recent if now - at < _RECENT]
        since = now - self._recent[0][0] if self._recent else 0.0
        done = sum(count for key, count in self._evaluations.items() if key.algorithm in self._planned)
        self._report(
            StudyProgress(
                stage=stage,
                runs_done=len(self._finished),
                runs_total=self.runs_total,
                evaluations_done=min(self._total, done),
                evaluations_total=self._total,
                rate=sum(count for _, count in self._recent[1:]) / since if since > 0 else 0.0,
                best=dict(self._best),
                fraction=self._fraction,
                seconds_left=left + report if passed else inf,
            )
        )


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


class Follower:
    """Follows the progress of a study, in one thread, by short reads of only what is new."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.store = Store(folder)
        try:
            self.plan: StudyPlan = restore_plan(self.store.about().plan)
        except BaseException:
            self.store.close()
            raise
        self._reported: list[StudyProgress] = []
        self._meter = Meter(self.plan, self._reported.append)
        self._stamp: tuple[int, ...] = ()
        self._stages: tuple[StageProgress, ...] = ()
        self._finished = False

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def read_status(self) -> StudyStatus:
        """Return the current state; the store is read only if it has changed."""
        stamp = store_stamp(self.folder)
        if stamp != self._stamp:
            first = not self._stamp
            self._stamp = stamp
            self._read_store()
            if first:
                self._meter.restart()
        locked = is_study_locked(self.folder)
        if locked is None:  # where that cannot be tested: whether the store was written in the last minute
            locked = time.time() - max(stamp[0], stamp[2]) / 1e9 < _RECENT
        state: State = "running" if locked else "stopped"
        stage = next((stage.name for stage in self._stages if stage.done < stage.total), "the end")
        if self._finished:
            state = stage = "finished"
        self._meter.report_stage(stage)
        return StudyStatus(state, self._reported.pop(), self._stages)

    def _read_store(self) -> None:
        statuses = self.store.statuses()
        places = set(self.store.finding_places())
        cells = self.plan.cells()
        self._finished = ("", "Finished", "", "") in places
        counts = sum((_count_study_steps_done(name, cell, places) for name, cell in cells.items()), Counter[str]())
        self._meter.follow(statuses, counts | ({"report": 1} if self._finished else {}))
        totals = sum((count_study_steps(cell) for cell in cells.values()), Counter[str]())
        totals["events"] = sum(len(cell.dataset.snr) for cell in cells.values())  # without held-out ones
        stages = [
            StageProgress(title, min(counts[step], totals[step]), totals[step]) for step, title in _TITLES.items()
        ]
        done = sum(run.finished for run in statuses)
        stages.insert(2, StageProgress("searches", done, self._meter.runs_total))
        self._stages = tuple(stage for stage in stages if stage.total)


def _count_study_steps_done(dataset: str, cell: StudyPlan, places: set[tuple[Any, ...]]) -> Counter[str]:
    """How many times each step is done for one data set."""
    names = {classifier.name for classifier in cell.classifiers}
    tested = held_out_levels(cell)
    kinds = Counter(kind for mine, kind, classifier, _ in places if mine == dataset and classifier in names)
    begun = sum(
        any((dataset, "HeldOut", name, place_text(level, seed)) in places for name in names for level in tested)
        for seed in held_out_seeds(cell)
    )
    is_generated = (dataset, "Events", "", "") in places
    return Counter(
        {
            "events": len(cell.dataset.snr) * is_generated + len(tested) * begun,
            "hyperparameters": kinds["AllFeatures"],
            "smaller": kinds["OneStandardError"],
            "stage II": kinds["StageTwo"],
            "held-out": kinds["HeldOut"],
        }
    )


def _rank_by_error_and_size(run: RunStatus) -> tuple[float, bool, int]:
    """Lower errors are better, then finished runs with few features."""
    return round(run.error, 12), run.size is None, run.size or 0
