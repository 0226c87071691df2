"""Run a study: make the data, hand out the searches in slices, keep what comes back, look at what was found."""

import fcntl
import hashlib
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm import __version__
from pqswarm._threads import effective_jobs
from pqswarm._typing import BoolArray
from pqswarm.datasets import Dataset, load_dataset, make_dataset
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.evaluation import Folds, GridSearch, tune_kernel_nb, tune_knn
from pqswarm.evaluation.cuda import check_device
from pqswarm.study.analysis import confusion, fresh_errors, one_standard_error, standard_error, subset_accuracies
from pqswarm.study.executors import Workplace, workplace
from pqswarm.study.plan import AlgorithmPlan, ClassifierPlan, StudyPlan
from pqswarm.study.problem import Problem
from pqswarm.study.records import RunKey, RunRecord, mask_text
from pqswarm.study.store import Store
from pqswarm.study.worker import Group, Outcome, advance

__all__ = ["StudyProgress", "best_of", "run_study"]

_LOCKSTEP = {"cpu": 10, "cuda": 100}  # runs that step together, at most
_UNLIMITED = 10**8  # SFFS ends by itself
_FIRST_SLICE = 0.5  # seconds; each slice of a group is twice as long as the one before, up to what the place wants
_DEATHS = 5  # of workers, without any result in between, after which something is wrong

ALL_FEATURES = "all features"
ONE_STANDARD_ERROR = "one standard error"


@dataclass(frozen=True)
class StudyProgress:
    """How far a study has come.

    Attributes
    ----------
    stage : str
        What is being done.
    runs_done, runs_total : int
        Runs finished, and planned.
    evaluations_done, evaluations_total : int
        Subsets evaluated, and planned.
    rate : float
        Evaluations per second, lately.
    best : dict of str to float
        Least error of each classifier so far.
    spent : dict of str to float
        Time of all workers together on evaluation and on search, and on the store [s].
    """

    stage: str
    runs_done: int
    runs_total: int
    evaluations_done: int
    evaluations_total: int
    rate: float
    best: dict[str, float]
    spent: dict[str, float]

    @property
    def seconds_left(self) -> float:
        """Time until all searches are done, at the present rate [s]."""
        return (self.evaluations_total - self.evaluations_done) / self.rate if self.rate > 0 else inf


Report = Callable[[StudyProgress], None]


def best_of(records: list[RunRecord]) -> RunRecord:
    """Return the run with the least error; of equals that with the fewest features, then the first.

    Parameters
    ----------
    records : list of RunRecord
        Finished runs.

    Returns
    -------
    RunRecord
        One of them.
    """
    # Equal numbers of errors, in other folds, may differ in the last bit of their mean.
    return min(records, key=lambda record: (round(record.error, 12), record.size, record.key.run))


def run_study(
    plan: StudyPlan,
    folder: str | Path,
    *,
    jobs: int | None = None,
    device: str = "cpu",
    cluster: str | None = None,
    progress: Report | None = None,
) -> None:
    """Run a study, or what is left of it, and keep everything in a folder.

    The result does not depend on `jobs`, `device`, `cluster`, nor on how often it was interrupted.

    Parameters
    ----------
    plan : StudyPlan
        What to run.
    folder : str or Path
        Where to keep it. A folder that holds a study goes on with it; its plan must be the same.
    jobs : int or None
        Processes; None uses all cores.
    device : {"cpu", "cuda"}
        Where evaluations are computed.
    cluster : str or None
        Address of a Dask scheduler that hands the work out, instead of processes on this machine.
    progress : callable, optional
        Called with :class:`StudyProgress` every few seconds.
    """
    if cluster is None:  # else its workers know whether they have a card
        check_device(device)
    workers = effective_jobs(jobs)
    with _sole(Path(folder)), Store(folder, write=True) as store:
        _check_same_plan(store, plan)
        study = _Study(plan, store, workers, device, progress or (lambda _: None))
        with workplace(min(workers, study.runs_total), cluster, device) as place:
            study.prepare()
            study.search(place, plan.searched)
            study.search(place, plan.sequential)
        for classifier in plan.classifiers:
            study.examine(classifier)
        if store.fact("finished") is None:
            store.put_fact("finished", time.time())


@contextmanager
def _sole(folder: Path) -> Iterator[None]:
    """Keep other processes from running the same study; the lock ends with the process, however that ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "study.lock").open("w")
    except OSError as error:
        raise PqswarmError(f"cannot use {folder} for a study: {error.strerror or error}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PqswarmError(f"another process is running the study in {folder}: wait until it ends.") from None
        yield


def _check_same_plan(store: Store, plan: StudyPlan) -> None:
    kept = store.fact("plan")
    if kept is None:
        about = {"title": plan.title, "version": __version__, "began": time.time(), "machine": _machine()}
        store.put_facts({"plan": plan.canonical()} | about)
    elif plan.differences(kept):
        lines = "\n".join(f"  {line}" for line in plan.differences(kept))
        raise PqswarmError(
            f"{store.folder} holds a study with another plan:\n{lines}\n"
            f"Give --out another folder, or the plan it began with."
        )
    elif store.fact("version") != __version__:
        raise PqswarmError(
            f"{store.folder} holds a study of pqswarm {store.fact('version')}, this is {__version__}: results of two "
            f"versions are not mixed. Give --out another folder, or use that version."
        )


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


class _Study:
    """A study under way."""

    def __init__(self, plan: StudyPlan, store: Store, jobs: int, device: str, report: Report) -> None:
        self.plan, self.store, self.jobs, self.device = plan, store, jobs, device
        self._spent = {"evaluation": 0.0, "search": 0.0, "store": 0.0}
        self._report = report
        self.finished = {record.key: record for record in store.finished()}
        self._underway: dict[RunKey, int] = {}
        self._rates: list[tuple[float, int]] = []
        self._least: dict[str, float] = {}
        for record in self.finished.values():
            self._notice(record.key.classifier, record.error)
        sequential = len(plan.sequential) * len(plan.classifiers)
        self.runs_total = len(plan.searched) * len(plan.classifiers) * plan.runs + sequential
        self._problems: dict[str, Problem] = {}

    def _notice(self, classifier: str, error: float) -> None:
        self._least[classifier] = min(error, self._least.get(classifier, inf))

    def _tell(self, stage: str) -> None:
        now = time.monotonic()
        self._rates = [(at, count) for at, count in self._rates if now - at < 60.0]
        since = now - self._rates[0][0] if self._rates else 0.0
        rate = sum(count for _, count in self._rates[1:]) / since if since > 0 else 0.0
        # SFFS ends when it ends: what it evaluates is not part of the plan.
        searched = {key: record for key, record in self.finished.items() if self._planned(key)}
        done = sum(record.n_evaluations for record in searched.values())
        total = len(self.plan.searched) * len(self.plan.classifiers) * self.plan.runs * self.plan.max_evaluations
        self._report(
            StudyProgress(
                stage=stage,
                runs_done=len(self.finished),
                runs_total=self.runs_total,
                evaluations_done=min(
                    total, done + sum(count for key, count in self._underway.items() if self._planned(key))
                ),
                evaluations_total=total,
                rate=rate,
                best=dict(self._least),
                spent=dict(self._spent),
            )
        )

    def _planned(self, key: RunKey) -> bool:
        return not self.plan.algorithm(key.algorithm).sequential

    # Preparation

    def prepare(self) -> None:
        """Make what all searches need: events, folds, hyperparameters, the error of all features."""
        self._tell("making events")
        self.dataset = self._dataset()
        self.folds = Folds.stratified(self.dataset.y, self.plan.folds.number, self.plan.folds.seed)
        for classifier in self.plan.classifiers:
            self._tell(f"{classifier.name}: hyperparameters")
            problem = self._problems[classifier.name] = self._problem(classifier)
            self._once(f"problem/{classifier.name}", partial(getattr, problem, "key"))
            self._once(f"J(U)/{classifier.name}", partial(self._error_of_all, classifier.name))

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Compute a fact unless it is kept already."""
        kept = self.store.fact(name)
        if kept is None:
            kept = compute()
            self.store.put_fact(name, kept)
        return kept

    def _dataset(self) -> Dataset:
        p, path = self.plan.dataset, self.store.folder / "dataset.npz"
        if path.exists():
            try:
                made = load_dataset(path)
            except FileFormatError as error:
                raise FileFormatError(f"{str(error).rstrip('.')}. Remove it to make the events again.") from None
            made_as = (made.seed, made.preset["name"], made.snr, len(made), made.version)
            if made_as != (p.seed, p.preset, p.snr, 14 * p.events_per_class, __version__):
                raise PqswarmError(f"{path} does not hold the events of the plan: remove it to make them.")
        else:
            made = make_dataset(p.events_per_class, p.snr, p.seed, p.preset, n_jobs=self.jobs)
            made.save(path)
        digest = hashlib.sha256(np.ascontiguousarray(made.features).tobytes() + made.y.tobytes()).hexdigest()
        if self._once("events", lambda: {"digest": digest, "count": len(made)})["digest"] != digest:
            raise PqswarmError(
                f"{path} does not hold the events this study began with: restore it, or remove it to make them again."
            )
        return made

    def _problem(self, classifier: ClassifierPlan) -> Problem:
        X, y = self.dataset.X(inf), self.dataset.y
        name = f"grid/{classifier.name}"
        if classifier.grid_search and self.store.fact(name) is None:
            tune: Callable[..., GridSearch] = tune_knn if classifier.kind == "k-nn" else tune_kernel_nb
            grid = tune(X, y, self.folds, scaling=classifier.scaling, n_jobs=self.jobs)
            self.store.put_fact(
                name, {"names": grid.names, "points": grid.points, "accuracies": grid.accuracies.tolist()}
            )
        chosen = self._once(f"hyperparameters/{classifier.name}", lambda: self._hyperparameters(classifier))
        return Problem.of(classifier, chosen, X, y, self.folds)

    def _hyperparameters(self, classifier: ClassifierPlan) -> dict[str, Any]:
        if classifier.hyperparameters:
            return classifier.hyperparameters
        grid = self.store.fact(f"grid/{classifier.name}")
        # The fast evaluators do not know the cosine distance.
        usable = [i for i, point in enumerate(grid["points"]) if "cosine" not in point]
        best = max(usable, key=lambda i: (grid["accuracies"][i], -i))
        return dict(zip(grid["names"], grid["points"][best], strict=True))

    def _error_of_all(self, classifier: str) -> float:
        problem = self._problems[classifier]
        everything = np.ones((1, problem.X.shape[1]), dtype=np.bool_)
        return float(problem.evaluator(self.jobs).errors(everything)[0])

    # Searches

    def search(self, place: Workplace, algorithms: tuple[AlgorithmPlan, ...]) -> None:
        """Run the searches of some algorithms that are not finished, in slices."""
        waiting = self._groups(algorithms, place.slots)
        waiting.reverse()
        at_work: dict[Future[Outcome], Group] = {}
        deaths = 0
        self._rates = [(time.monotonic(), 0)]
        self._tell("searching")
        while waiting or at_work:
            while waiting and len(at_work) < place.slots:
                group = waiting.pop()
                at_work[_begun(place, group)] = group
            done, _ = wait(at_work, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                group = at_work.pop(future)
                try:
                    outcome = future.result()
                except PqswarmError:
                    raise
                except Exception as error:
                    if not _is_death(error):
                        raise
                    deaths += 1
                    if deaths > _DEATHS:
                        raise PqswarmError(
                            f"workers died {deaths} times in a row ({error}): is there enough memory? Finished runs "
                            f"are safe; try fewer jobs."
                        ) from error
                    # All slices in work are lost, and begin again from where they began.
                    waiting += [group, *at_work.values()]
                    at_work.clear()
                    place.mend()
                    break
                deaths = 0
                self._keep(outcome)
                if outcome.running:
                    waiting.append(_continued(group, outcome))
            self._tell("searching")

    def _keep(self, outcome: Outcome) -> None:
        start = time.monotonic()
        if outcome.running:
            self.store.save_checkpoints(outcome.running)
        for checkpoint in outcome.running:
            self._underway[checkpoint.key] = checkpoint.n_evaluations
            self._notice(checkpoint.key.classifier, checkpoint.best_error)
        for record in outcome.finished:
            self.store.finish(record)
            self.finished[record.key] = record
            self._underway.pop(record.key, None)
            self._notice(record.key.classifier, record.error)
        now = time.monotonic()
        self._rates.append((now, outcome.evaluations))
        self._spent["evaluation"] += outcome.evaluating
        self._spent["search"] += outcome.seconds - outcome.evaluating
        self._spent["store"] += now - start

    def _groups(self, algorithms: tuple[AlgorithmPlan, ...], slots: int) -> list[Group]:
        """Groups of unfinished runs: the first runs of all algorithms come first."""
        checkpoints = self.store.checkpoints()
        self._underway = {key: checkpoint.n_evaluations for key, checkpoint in checkpoints.items()}
        keys = [
            RunKey(classifier.name, algorithm.name, run)
            for classifier in self.plan.classifiers
            for algorithm in algorithms
            for run in range(1 if algorithm.sequential else self.plan.runs)
        ]
        left = [key for key in keys if key not in self.finished]
        size = min(_LOCKSTEP[self.device], max(1, ceil(len(left) / (3 * slots))))
        teams: dict[tuple[int, str, str], list[RunKey]] = {}
        for key in left:
            teams.setdefault((key.run // size, key.classifier, key.algorithm), []).append(key)
        ordered = sorted(teams, key=lambda team: team[0])  # stable: else the order of the plan
        return [self._group(teams[team], checkpoints) for team in ordered]

    def _group(self, keys: list[RunKey], checkpoints: dict[RunKey, Any]) -> Group:
        classifier, algorithm = keys[0].classifier, self.plan.algorithm(keys[0].algorithm)
        parameters = dict(algorithm.parameters)
        if algorithm.sequential and "size" not in parameters:
            parameters["size"] = self.best(classifier, self.plan.reference).size
        known = [checkpoints.get(key) for key in keys]
        return Group(
            problem=self._problems[classifier],
            algorithm=algorithm.algorithm,
            parameters=parameters,
            max_evaluations=_UNLIMITED if algorithm.sequential else self.plan.max_evaluations,
            keys=tuple(keys),
            seeds=tuple(self.plan.run_seed(key.classifier, key.algorithm, key.run) for key in keys),
            states=tuple(None if checkpoint is None else checkpoint.state for checkpoint in known),
            seconds=tuple(0.0 if checkpoint is None else checkpoint.seconds for checkpoint in known),
            device=self.device,
        )

    # What was found

    def best(self, classifier: str, algorithm: str) -> RunRecord:
        """The best run of an algorithm."""
        group = [r for r in self.finished.values() if (r.key.classifier, r.key.algorithm) == (classifier, algorithm)]
        return best_of(group)

    def examine(self, classifier: ClassifierPlan) -> None:
        """Stage II and what lies beyond the paper, for one classifier."""
        name, problem = classifier.name, self._problems[classifier.name]
        masks: dict[str, BoolArray] = {ALL_FEATURES: np.ones(problem.X.shape[1], dtype=np.bool_)}
        masks |= {algorithm.name: self.best(name, algorithm.name).mask for algorithm in self.plan.algorithms}
        reference = masks[self.plan.reference]
        self._tell(f"{name}: a smaller subset")
        chosen = self._once(f"one-se/{name}", lambda: self._smaller(name, reference))
        masks[ONE_STANDARD_ERROR] = np.array([letter == "1" for letter in chosen["mask"]])
        self._tell(f"{name}: fresh events")
        self._once(f"fresh/{name}", lambda: self._fresh(problem, masks))
        folds = Folds.stratified(self.dataset.y, self.plan.folds.number, self.plan.folds.stage_two_seed)
        for level in self.plan.dataset.snr:
            self._tell(f"{name}: stage II at {level:g} dB")
            self._once(f"stage2/{name}/{level:g}", partial(self._stage_two, problem, masks, folds, level, reference))

    def _smaller(self, classifier: str, best: BoolArray) -> dict[str, Any]:
        evaluator = self._problems[classifier].evaluator(self.jobs)
        keys = [key for key in sorted(self.finished) if key.classifier == classifier]
        others = [self.finished[key].mask for key in keys if key.algorithm == self.plan.reference]
        mask = one_standard_error(evaluator, best, others)
        return {
            "mask": mask_text(mask),
            "error": float(evaluator.errors(mask[np.newaxis])[0]),
            "standard_error": standard_error(evaluator, best),
        }

    def _fresh(self, problem: Problem, masks: dict[str, BoolArray]) -> dict[str, float]:
        p = self.plan
        fresh = make_dataset(p.fresh.events_per_class, inf, p.fresh.seed, p.dataset.preset, n_jobs=self.jobs)
        return fresh_errors(problem, masks, fresh.X(inf), fresh.y)

    def _stage_two(
        self, problem: Problem, masks: dict[str, BoolArray], folds: Folds, level: float, reference: BoolArray
    ) -> dict[str, Any]:
        noisy = replace(problem, X=self.dataset.X(level), test_fold=folds.test_fold)
        evaluator = noisy.evaluator(self.jobs)
        result: dict[str, Any] = {"accuracy": subset_accuracies(evaluator, masks)}
        if level == inf:
            result["before"] = confusion(evaluator, masks[ALL_FEATURES])
            result["after"] = confusion(evaluator, reference)
        return result


def _begun(place: Workplace, group: Group) -> "Future[Outcome]":
    """Begin the next slice of a group; if a worker died before it, that is its result."""
    limit = min(place.slice_seconds, _FIRST_SLICE * 2 ** min(group.slices, 20))
    try:
        return place.submit(advance, group, limit)
    except Exception as error:
        if not _is_death(error):
            raise
        failed: Future[Outcome] = Future()
        failed.set_exception(error)
        return failed


def _continued(group: Group, outcome: Outcome) -> Group:
    """The runs of a group that are not done, from where they are."""
    seeds = dict(zip(group.keys, group.seeds, strict=True))
    return replace(
        group,
        keys=tuple(checkpoint.key for checkpoint in outcome.running),
        seeds=tuple(seeds[checkpoint.key] for checkpoint in outcome.running),
        states=tuple(checkpoint.state for checkpoint in outcome.running),
        seconds=tuple(checkpoint.seconds for checkpoint in outcome.running),
        slices=group.slices + 1,
    )


def _is_death(error: Exception) -> bool:
    """Whether a worker died, by whatever name its executor calls that."""
    return type(error).__name__ in ("BrokenProcessPool", "TerminatedWorkerError", "KilledWorker", "BrokenExecutor")
