"""Run a study: prepare the data, run the searches, and test the subsets found."""

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pqswarm import __version__
from pqswarm._base.threads import effective_jobs
from pqswarm.datasets import Dataset, Samples
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, FeatureGroups, Folds
from pqswarm.evaluation.devices import check_device
from pqswarm.study import findings, stages
from pqswarm.study.data import StudyData, make_held_out, open_data
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR, Finding
from pqswarm.study.plan import ClassifierPlan, DatasetPlan, StudyPlan, held_out_levels, held_out_seeds
from pqswarm.study.plan_file import plan_given_data, restore_plan
from pqswarm.study.progress import Meter, Report, StudyProgress, count_steps
from pqswarm.study.records import best_run
from pqswarm.study.scheduler import Scheduler
from pqswarm.study.stages import Masks
from pqswarm.study.store import Store, lock_folder
from pqswarm.study.worker import StudyProblem, WorkerPool, worker_pool

_Kind = TypeVar("_Kind", bound=Finding)
_WAVE = 8  # data sets that are searched together: enough to keep all workers busy, few enough to keep in memory


def run_study(
    plan: StudyPlan,
    folder: str | Path,
    *,
    jobs: int | None = None,
    device: str = "cpu",
    cluster: str | None = None,
    progress: Report | None = None,
    data: Any = None,
) -> None:
    """Run or resume a study and store its results in a folder.

    The results do not depend on `jobs`, `device`, `cluster` or interruptions.

    Parameters
    ----------
    plan : StudyPlan
        What to run.
    folder : str or Path
        Folder of the study. An existing study is resumed; its plan must be the same.
    jobs : int or None
        Processes; None uses all cores.
    device : {"cpu", "cuda"}
        Where subsets are evaluated. Classifiers without GPU support are evaluated on the CPU.
    cluster : str or None
        Address of a Dask scheduler to use instead of processes on this machine.
    progress : callable, optional
        Called with :class:`StudyProgress` every few seconds.
    data : Samples, DataFrame or (X, y), optional
        Your own data, instead of the file named in the plan; see :meth:`pqswarm.datasets.Samples.of`. The study keeps a
        copy, ``dataset.npz``.
    """
    given = None
    if data is not None:
        plan = plan_given_data(plan)
        given = Samples.of(data, label=getattr(plan.dataset, "label", None))
    if cluster is None:  # otherwise the workers check for a GPU
        check_device(device)
    workers = effective_jobs(jobs)
    with ExitStack() as stack:
        # First, so that a study that cannot start leaves no folder.
        pools = _open_pools(stack, plan, workers, device, cluster)
        with lock_folder(Path(folder)) as check_lock, Store(folder, write=True) as store:
            _check_same_plan(store, plan)

            def tell(now: StudyProgress) -> None:
                check_lock()  # the next write may be days away
                store.check()
                if progress is not None:
                    progress(now)

            meter = Meter(plan, tell)
            meter.follow(store.statuses(), {})
            cells = {name: _Cell(name, cell, store.of(name), workers, meter) for name, cell in plan.cells().items()}
            left = [cell for cell in cells.values() if not cell.skip_if_finished()]
            for start in range(0, len(left), _WAVE):
                last = start + _WAVE >= len(left)
                _run_wave(left[start : start + _WAVE], store, meter, pools, stack.close if last else None, given)
            meter.tell("tested")
            if store.find(findings.Finished) is None:
                store.put(findings.Finished(time.time()))


def _run_wave(
    wave: "Sequence[_Cell]",
    store: Store,
    meter: Meter,
    pools: Mapping[str, WorkerPool],
    close_pools: Callable[[], None] | None,
    given: Samples | None,
) -> None:
    """Run all stages on some data sets; workers, one pool per classifier, are stopped after the last searches."""
    scheduler = Scheduler({cell.name: cell.plan for cell in wave}, store, meter)
    problems = {(cell.name, name): problem for cell in wave for name, problem in cell.prepare(given).items()}
    for pool in dict.fromkeys(pools.values()):
        chosen = {place: problem for place, problem in problems.items() if pools[place[1]] is pool}
        for sequential in (False, True):
            scheduler.search(pool, chosen, sequential=sequential)
    if close_pools is not None:
        close_pools()
    for cell in wave:
        cell.test(scheduler)


def _open_pools(
    stack: ExitStack, plan: StudyPlan, jobs: int, device: str, cluster: str | None
) -> dict[str, WorkerPool]:
    """Open the pools of workers and return them by classifier."""
    devices = {c.name: device if device in CLASSIFIERS[c.kind].devices else "cpu" for c in plan.classifiers}
    jobs = min(jobs, sum(cell.n_runs for cell in plan.cells().values()))
    pools = {one: stack.enter_context(worker_pool(jobs, cluster, one)) for one in dict.fromkeys(devices.values())}
    return {name: pools[one] for name, one in devices.items()}


def _check_same_plan(store: Store, plan: StudyPlan) -> None:
    kept = store.find(findings.About)
    if kept is None:
        machine = {"system": platform.system(), "processor": _processor(), "cores": os.cpu_count()}
        machine |= {"python": platform.python_version(), "numpy": np.__version__}
        store.put(findings.About(plan.model_dump(), __version__, time.time(), machine))
        return
    began = restore_plan(kept.plan)
    differences = plan.differences(began)
    if differences:
        lines = "\n".join(f"  {key}: {new} in the plan, {old} in the study" for key, new, old in differences)
        raise PqswarmError(
            f"{store.folder} holds a study with another plan:\n{lines}\nGive --out another folder, or use the original "
            f"plan."
        )
    if kept.version != __version__:
        raise PqswarmError(
            f"{store.folder} holds a study of pqswarm {kept.version}, this is {__version__}: results of two versions "
            f"cannot be mixed. Give --out another folder, or use that version."
        )
    if plan != began:  # title, control and the like affect only the report
        store.revise(replace(kept, plan=plan.model_dump()))


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class _Cell:
    """A running study on one data set: results are stored, and stored results are not computed again."""

    def __init__(self, name: str, plan: StudyPlan, store: Store, jobs: int, meter: Meter) -> None:
        self.name = name
        self.plan = plan
        self.store = store
        self.jobs = jobs
        self.meter = meter
        self._data: StudyData | None = None
        self._problems: dict[str, StudyProblem] = {}

    def skip_if_finished(self) -> bool:
        """Return whether nothing is left to do for one of several data sets, and count its steps as done."""
        if not self.name or self.store.find(findings.Finished) is None:
            return False
        for step, times in count_steps(self.plan).items():
            self.meter.step(step, times)
        return True

    def prepare(self, given: Samples | None) -> dict[str, StudyProblem]:
        """Return the problem of each classifier."""
        self._data = self.open_data(given)
        self._problems = {one.name: self.prepare_classifier(one, self._data.seen) for one in self.plan.classifiers}
        return self._problems

    def test(self, scheduler: Scheduler) -> None:
        """Finish the study on the data set: test the subsets found, if planned, and release the data."""
        if self.plan.stage_two:
            self.test_subsets(scheduler)
        if self.name and self.store.find(findings.Finished) is None:
            self.store.put(findings.Finished(time.time()))
        self._data = None
        self._problems = {}

    def test_subsets(self, scheduler: Scheduler) -> None:
        """Test the best subsets with another partition, with noise, and on held-out data."""
        data = self._data
        problems = self._problems
        assert data is not None  # noqa: S101
        masks = {name: self.best_subsets(name, problem, scheduler) for name, problem in problems.items()}
        for name, problem in problems.items():
            self.stage_two(name, problem, masks[name], data.seen)
        for seed in held_out_seeds(self.plan):
            self.test_held_out(seed, problems, masks, data)

    def tell(self, stage: str) -> None:
        """Report the current stage."""
        self.meter.tell(f"{self.name}: {stage}" if self.name else stage)

    def once(
        self, compute: Callable[[], _Kind], kind: type[_Kind], classifier: str = "", level: float | None = None
    ) -> _Kind:
        """Return the stored finding, computing it first if necessary."""
        found = self.store.find(kind, classifier, level)
        if found is None:
            found = compute()
            self.store.put(found)
        return found

    def open_data(self, given: Samples | None) -> StudyData:
        """Return the data, which must be those that the study started with."""
        self.tell("generating events" if isinstance(self.plan.dataset, DatasetPlan) else "reading data")
        began = self.store.find(findings.Events)
        data = open_data(self.plan, self.store.folder, self.jobs, given, began, self.name)
        self.once(lambda: data.about, findings.Events)
        self.meter.step("events", len(self.plan.dataset.snr))
        return data

    def prepare_classifier(self, plan: ClassifierPlan, events: Dataset | Samples) -> StudyProblem:
        """Prepare the searches with one classifier, and evaluate all features."""
        name = plan.name
        self.tell(f"{name}: hyperparameters")
        folds = Folds.stratified(events.y, self.plan.folds.number, self.plan.folds.seed)
        grid = self.store.find(findings.GridFinding, name)
        if plan.grid_search and grid is None:
            grid = stages.search_grid(plan, events, folds, self.jobs)
            if grid is not None:
                self.store.put(grid)
        chosen = self.once(lambda: stages.choose_hyperparameters(plan, grid), findings.Hyperparameters, name)
        rule = self.plan.subsets
        made = plan.make(chosen.settings)
        groups = (
            None if rule is None else FeatureGroups.of(events.feature_names, rule.fixed, rule.excluded, rule.groups)
        )
        problem = StudyProblem(events.X(inf), events.y, folds.test_fold, made, plan.scaling, groups)
        self.once(lambda: findings.ProblemDigest(name, problem.key), findings.ProblemDigest, name)
        if self.store.find(findings.AllFeatures, name) is None:
            self.store.put(findings.AllFeatures(name, problem.error_of_all(self.jobs)))
        self.meter.step("hyperparameters")
        return problem

    def best_subsets(self, name: str, problem: StudyProblem, scheduler: Scheduler) -> Masks:
        """Return the best subsets of one classifier, and the smallest within one standard error of the baseline's."""
        plan = self.plan
        runs = {one.name: scheduler.runs(self.name, name, one.name) for one in plan.algorithms}
        masks = {ALL_FEATURES: np.ones(problem.X.shape[1], dtype=np.bool_)}
        masks |= {algorithm: best_run(records).mask for algorithm, records in runs.items()}
        self.tell(f"{name}: a smaller subset")
        others = [record.mask for record in runs[plan.baseline]]
        find = partial(stages.find_smaller, name, problem, masks[plan.baseline], others, self.jobs)
        masks[ONE_STANDARD_ERROR] = self.once(find, findings.OneStandardError, name).mask
        self.meter.step("smaller")
        return masks

    def stage_two(self, name: str, problem: StudyProblem, masks: Masks, events: Dataset | Samples) -> None:
        """Test the best subsets of one classifier with another partition, at each noise level."""
        for level in self.plan.dataset.snr:
            self.tell(f"{name}: stage II at {level:g} dB" if level != inf else f"{name}: stage II")
            evaluate = partial(stages.evaluate_stage_two, name, problem, masks, events, level, self.plan, self.jobs)
            self.once(evaluate, findings.StageTwo, name, level)
            self.meter.step("stage II")

    def test_held_out(
        self, seed: int, problems: Mapping[str, StudyProblem], masks: Mapping[str, Masks], data: StudyData
    ) -> None:
        """Test the best subsets of all classifiers on one set of held-out events, at each noise level."""
        left = [
            (level, name)
            for level in held_out_levels(self.plan)
            for name in problems
            if self.store.find(findings.HeldOut, name, level, seed) is None
        ]
        levels = len(held_out_levels(self.plan))
        self.meter.step("held-out", levels * len(problems) - len(left))
        if not left:
            self.meter.step("events", levels)
            return
        self.tell(f"held-out data, seed {seed}")
        wanted = list(dict.fromkeys(level for level, _ in left))
        new = make_held_out(self.plan, data, seed, wanted, self.jobs, self.store.folder)
        self.meter.step("events", levels)
        for level, name in left:
            self.tell(f"held-out data, seed {seed}: {name}")
            at = (level, seed)
            self.store.put(stages.evaluate_held_out(name, problems[name], masks[name], data.seen, new, at, self.jobs))
            self.meter.step("held-out")
