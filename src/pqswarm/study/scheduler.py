"""Distribute the searches of a study in time slices, and store the results, even if workers die."""

from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from math import ceil
from typing import Any

from pqswarm.errors import PqswarmError, shorten
from pqswarm.search.ranking import required_filter
from pqswarm.study.plan import StudyPlan
from pqswarm.study.progress import Meter
from pqswarm.study.records import RunKey, RunRecord, best_run
from pqswarm.study.store import Store
from pqswarm.study.worker import Outcome, PlannedRun, RunGroup, StudyProblem, WorkerPool, advance, is_worker_death

_MAX_LOCKSTEP = {"cpu": 10, "cuda": 100}  # runs of an algorithm that step together; on a GPU those of all algorithms do
_UNLIMITED = 10**8  # evaluations of a search that stops by itself
_FIRST_SLICE = 0.5  # seconds; each slice is twice as long as the one before, up to the target of the pool
_FIRST = "starting the searches (workers compile the first time)"
_MAX_DEATHS = 5  # of workers in a row, without a result in between

Place = tuple[str, str]
"""Names of a data set and a classifier."""


class Scheduler:
    """Runs the searches of a study on some of its data sets, with the plan of each, and stores the finished ones."""

    def __init__(self, plans: Mapping[str, StudyPlan], store: Store, meter: Meter) -> None:
        self._plans = plans
        self._store = store
        self._meter = meter
        self.finished = {record.key: record for name in plans for record in store.of(name).finished()}

    def runs(self, dataset: str, classifier: str, algorithm: str) -> list[RunRecord]:
        """Return the finished runs of an algorithm with a classifier on a data set, by number."""
        wanted = (dataset, classifier, algorithm)
        ours = [key for key in self.finished if (key.dataset, key.classifier, key.algorithm) == wanted]
        return [self.finished[key] for key in sorted(ours)]

    def search(self, pool: WorkerPool, problems: Mapping[Place, StudyProblem], *, sequential: bool) -> None:
        """Run the unfinished searches of problems, given by data set and classifier: repeated ones, or sequential."""
        waiting = self._group_unfinished_runs(problems, sequential, pool.device, pool.slots)
        waiting.reverse()
        at_work: dict[Future[Outcome], RunGroup] = {}
        deaths = 0
        stage = _FIRST if waiting else "searching"
        self._meter.restart()
        self._meter.report_stage(stage)
        while waiting or at_work:
            while waiting and len(at_work) < pool.slots:
                group = waiting.pop()
                at_work[submit_slice(pool, group)] = group
            done, _ = wait(at_work, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                group = at_work.pop(future)
                try:
                    outcome = future.result()
                except Exception as error:
                    if isinstance(error, MemoryError | ImportError | OSError):
                        raise _explain_worker_error(error) from error
                    if not is_worker_death(error):
                        of_store = group.checkpoints and not group.slices
                        if of_store and not isinstance(error, PqswarmError):
                            raise PqswarmError(
                                f"{self._store.path}: runs could not resume from their checkpoints "
                                f"({type(error).__name__}: {shorten(error, 200)}): restore the file from a copy, or "
                                f"start again in another folder. It was not changed."
                            ) from error
                        raise
                    deaths += 1
                    if deaths > _MAX_DEATHS:
                        raise PqswarmError(
                            f"workers died {deaths} times in a row ({error}): is there enough memory? Finished runs "
                            f"are safe; try fewer jobs."
                        ) from error
                    # All running slices are lost and start again.
                    waiting += [group, *at_work.values()]
                    at_work.clear()
                    pool.restart()
                    break
                self._store_outcome(outcome)
                if stage == _FIRST:  # compilation would distort the estimate
                    self._meter.restart()
                deaths = 0
                stage = "searching"
                if outcome.running:
                    waiting.append(unfinished_runs(group, outcome))
            self._meter.report_stage(stage)

    def _store_outcome(self, outcome: Outcome) -> None:
        if outcome.running:
            self._store.save_checkpoints(outcome.running)
        for record in outcome.finished:
            self._store.finish(record)
            self.finished[record.key] = record
        self._meter.count_runs(outcome.finished, outcome.running)

    def _group_unfinished_runs(
        self, problems: Mapping[Place, StudyProblem], sequential: bool, device: str, slots: int
    ) -> list[RunGroup]:
        """Groups of unfinished runs: one data set after the other, on each first the first runs of all algorithms."""
        keys = [
            RunKey(classifier, algorithm.name, run, dataset)
            for dataset, classifier in problems
            for algorithm in (self._plans[dataset].sequential if sequential else self._plans[dataset].searched)
            for run in range(1 if algorithm.sequential else self._plans[dataset].runs)
        ]
        left = [key for key in keys if key not in self.finished]
        size = min(_MAX_LOCKSTEP[device], max(1, ceil(len(left) / (3 * slots))))
        teams: dict[tuple[str, int, str, str], list[RunKey]] = {}
        for key in left:
            apart = key.algorithm if device == "cpu" or sequential else ""
            teams.setdefault((key.dataset, key.run // size, key.classifier, apart), []).append(key)
        places = {dataset: i for i, dataset in enumerate(self._plans)}
        # Stable: otherwise in the order of the plan.
        ordered = sorted(teams.values(), key=lambda team: (places[team[0].dataset], team[0].run // size))
        checkpoints = {key: one for name in places for key, one in self._store.of(name).checkpoints().items()}
        groups = []
        for team in ordered:
            problem = problems[team[0].dataset, team[0].classifier]
            begun = {key: checkpoints[key] for key in team if key in checkpoints}
            groups.append(RunGroup(problem, {key: self._plan_run(problem, key) for key in team}, begun, device=device))
        return groups

    def _plan_run(self, problem: StudyProblem, key: RunKey) -> PlannedRun:
        plan = self._plans[key.dataset]
        algorithm = plan.algorithm(key.algorithm)
        parameters: dict[str, Any] = dict(algorithm.settings)
        groups = problem.groups
        if algorithm.needs_size:
            best = best_run(self.runs(key.dataset, key.classifier, plan.baseline)).mask
            parameters["size"] = int((best if groups is None else groups.contract(best)).sum())
        if (ranking := required_filter(algorithm.search, parameters)) is not None:
            order = ranking.rank(problem.X, problem.y, continuous=False)
            parameters["order"] = order if groups is None else groups.rank_bits(order)
        ends = algorithm.sequential and not algorithm.all_sizes
        seed = plan.run_seed(key.classifier, key.algorithm, key.run)
        return PlannedRun(algorithm.search, parameters, _UNLIMITED if ends else plan.max_evaluations, seed)


def submit_slice(pool: WorkerPool, group: RunGroup) -> "Future[Outcome]":
    """Submit the next slice of a group."""
    return pool.submit(advance, group, min(pool.slice_seconds, _FIRST_SLICE * 2 ** min(group.slices, 20)))


def unfinished_runs(group: RunGroup, outcome: Outcome) -> RunGroup:
    """The unfinished runs of a group, at their checkpoints."""
    running = {checkpoint.key: checkpoint for checkpoint in outcome.running}
    planned = {key: group.planned[key] for key in running}
    return replace(group, planned=planned, checkpoints=running, slices=group.slices + 1)


def _explain_worker_error(error: Exception) -> PqswarmError:
    """The error for a worker that could not start or continue: without memory, libraries fail to load too."""
    if isinstance(error, ModuleNotFoundError):
        return PqswarmError(f"a worker lacks a package ({shorten(error)}): install the same packages there as here.")
    return PqswarmError(
        f"a worker failed ({shorten(error, 200)}): is there enough memory? Finished runs are safe; try fewer jobs."
    )
