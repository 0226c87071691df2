"""Run a study: prepare the data, run the searches, and test the subsets found."""

import hashlib
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from timeit import timeit
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pqswarm import __version__
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.datasets import Dataset, Samples, load_dataset, make_dataset, read_samples
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.evaluation import CLASSIFIERS, ClassificationEvaluator, Classifier, FeatureGroups, Folds
from pqswarm.evaluation.base import check_device, first_error_line
from pqswarm.evaluation.estimators import fit_estimator
from pqswarm.evaluation.scaling import scale_by_extremes, scale_for_fold
from pqswarm.study.findings import (
    ALL_FEATURES,
    ONE_STANDARD_ERROR,
    About,
    AllFeatures,
    Events,
    Finding,
    Finished,
    GridFinding,
    HeldOut,
    Hyperparameters,
    OneStandardError,
    StageTwo,
)
from pqswarm.study.plan import (
    ClassifierPlan,
    DatasetPlan,
    HeldOutPlan,
    OwnDataPlan,
    OwnHeldOutPlan,
    StudyPlan,
    held_out_levels,
    held_out_seeds,
)
from pqswarm.study.plan_file import COPY, plan_for_given_data, restore_plan
from pqswarm.study.progress import Meter, Report, StudyProgress, count_study_steps
from pqswarm.study.records import RunRecord, best_run, best_subsets
from pqswarm.study.scheduler import Scheduler
from pqswarm.study.store import Store, lock_study
from pqswarm.study.worker import StudyProblem, WorkerPool, worker_pool

_MANY = 100  # features, above which several are removed at a time


class TestedSubsets(NamedTuple):
    """The subsets of one classifier that are tested, as rows of matrices."""

    single: Mapping[str, BoolArray]
    """Of each run, by name of the algorithm; and one of `ALL_FEATURES` and of `ONE_STANDARD_ERROR`."""
    averaged: Mapping[str, BoolArray]
    """Those whose classifiers are averaged, by name of their mean."""

    def by_name(self, values: FloatArray) -> dict[str, tuple[float, ...]]:
        """Return the values of all single subsets, one after the other, by name."""
        left = iter(values)
        return {name: tuple(float(next(left)) for _ in masks) for name, masks in self.single.items()}


def search_grid(plan: ClassifierPlan, events: Dataset | Samples, folds: Folds, jobs: int) -> GridFinding | None:
    """Search the grid of a classifier's hyperparameters; None if it has none."""
    search = CLASSIFIERS[plan.kind].search_grid
    result = search(events.X(inf), events.y, folds, scaling=plan.scaling, n_jobs=jobs)
    return None if result is None else GridFinding(plan.name, result)


def choose_hyperparameters(plan: ClassifierPlan, grid: GridFinding | None) -> Hyperparameters:
    """Return the planned hyperparameters, otherwise the best of a grid, otherwise the defaults."""
    settings = None if grid is None or plan.parameters else grid.result.best
    return Hyperparameters(plan.name, plan.make(settings).settings)


def find_smaller_subset(
    name: str, problem: StudyProblem, best: BoolArray, others: Sequence[BoolArray], jobs: int, device: str = "cpu"
) -> OneStandardError:
    """Return the smallest subset whose error is within one standard error of that of the best.

    Candidates are the subsets found by searches, and the best one after repeatedly removing the feature whose loss
    costs least; with more than 100 features up to a tenth at a time, to save evaluations. Of equal sizes the one with
    the lowest error is chosen.
    """
    evaluator = problem.searched(jobs, device)
    if problem.groups is not None:
        best, *others = (problem.groups.contract(mask) for mask in (best, *others))
    rates = evaluator.fold_errors(best[np.newaxis])[0]
    width = float(rates.std(ddof=1) / np.sqrt(rates.size))
    allowed = float(evaluator.errors(best[np.newaxis])[0]) + width
    candidates = [best, *others]
    shrunk = best
    while shrunk.sum() > 1:
        smaller = np.tile(shrunk, (int(shrunk.sum()), 1))
        smaller[np.arange(len(smaller)), np.flatnonzero(shrunk)] = False
        errors = evaluator.errors(smaller)
        if errors.min() > allowed:
            break
        if len(smaller) <= _MANY:
            shrunk = smaller[int(errors.argmin())]
        else:
            shrunk = _drop_least_costly_features(evaluator, shrunk, np.argsort(errors, kind="stable"), allowed)
        candidates.append(shrunk)
    masks = np.stack(candidates)
    errors = evaluator.errors(masks)
    chosen = min(np.flatnonzero(errors <= allowed).tolist(), key=lambda row: (masks[row].sum(), errors[row]))
    mask_found = masks[chosen] if problem.groups is None else problem.groups.expand(masks[chosen])
    return OneStandardError(name, mask_found, float(errors[chosen]), width)


def _drop_least_costly_features(evaluator: Any, mask: BoolArray, least_costly: IntArray, allowed: float) -> BoolArray:
    """Remove as many features as the error allows: a tenth, half of that, ..., or one, which is known to work."""
    selected = np.flatnonzero(mask)[least_costly]
    count = mask.sum() // 10
    while True:
        tried = mask.copy()
        tried[selected[:count]] = False
        if count == 1 or evaluator.errors(tried[np.newaxis])[0] <= allowed:
            return tried
        count //= 2


def evaluate_held_out(
    name: str,
    problem: StudyProblem,
    subsets: TestedSubsets,
    data: Samples | Dataset,
    new: Samples | Dataset,
    at: tuple[float, int],
    jobs: int,
) -> HeldOut:
    """Return the errors on new events of a seed and noise level, after training on all of the study at that level."""
    level, seed = at
    train = data.X(level)
    test = new.X(level)
    if problem.scaling == "once":
        train, test = scale_by_extremes(train, train), scale_by_extremes(test, train)
    else:
        both = scale_for_fold(np.concatenate([train, test]), np.arange(len(train)), problem.scaling)
        train, test = both[: len(train)], both[len(train) :]
    masks = np.concatenate(list(subsets.single.values()))
    predict = partial(_predict_by_mean, problem.classifier, train, problem.y, test)
    try:
        single = problem.classifier.predict_new(train, problem.y, test, masks, n_jobs=jobs)
        averaged = _apply_in_threads(predict, subsets.averaged, jobs)
    except PqswarmError as error:
        raise PqswarmError(f"{name} fails on held-out data (seed {seed}): {error}") from error
    rates = subsets.by_name((single != new.y).mean(axis=1))
    rates |= {mean: (float((labels != new.y).mean()),) for mean, labels in averaged.items()}
    return HeldOut(name, rates, level, seed)


def _apply_in_threads(
    function: Callable[[BoolArray], Any], averaged: Mapping[str, BoolArray], jobs: int
) -> dict[str, Any]:
    """The result of a function for the subsets of each mean."""
    from joblib import Parallel, delayed

    results = Parallel(n_jobs=jobs, backend="threading")(delayed(function)(masks) for masks in averaged.values())
    return dict(zip(averaged, results, strict=True))


def _predict_by_mean(
    classifier: Classifier, X: FloatArray, y: IntArray, new: FloatArray, subsets: BoolArray
) -> IntArray:
    """Predict the labels of new events by the mean of classifiers that are fitted to several subsets."""
    from pqswarm.selector.ensemble import SubsetEnsemble  # imports scikit-learn

    try:
        members = [fit_estimator(classifier.estimator(), X[:, mask], y) for mask in subsets]
        return SubsetEnsemble(members, subsets).predict(new)
    except Exception as error:  # third-party code may raise anything
        what = f"{classifier.describe()} cannot be averaged over subsets"
        raise PqswarmError(f"{what}: {first_error_line(error)}") from error


def _cross_validate_mean(problem: StudyProblem, subsets: BoolArray) -> float:
    """The error of the mean of the classifiers of several subsets."""
    folds = Folds(problem.test_fold)
    missed = []
    for train, test in folds.split():
        X = scale_for_fold(problem.X, train, problem.scaling)
        predicted = _predict_by_mean(problem.classifier, X[train], problem.y[train], X[test], subsets)
        missed.append(np.count_nonzero(predicted != problem.y[test]))
    return float(folds.mean_rates(np.array([missed]))[0])


def evaluate_stage_two(
    name: str, problem: StudyProblem, subsets: TestedSubsets, level: float, best: BoolArray, jobs: int, device: str
) -> StageTwo:
    """Return the accuracies of subsets at a noise level; without noise also confusion matrices, one of the best."""
    evaluator = problem.evaluator(jobs, device)
    errors = subsets.by_name(evaluator.errors(np.concatenate(list(subsets.single.values()))))
    averaged = _apply_in_threads(partial(_cross_validate_mean, problem), subsets.averaged, jobs)
    errors |= {mean: (error,) for mean, error in averaged.items()}
    accuracy = {subset: tuple(100.0 * (1.0 - error) for error in each) for subset, each in errors.items()}
    if level != inf:
        return StageTwo(name, level, accuracy)
    before, after = (_confusion_matrix(evaluator, mask) for mask in (np.ones_like(best), best))
    return StageTwo(name, level, accuracy, before, after)


def _confusion_matrix(evaluator: ClassificationEvaluator, mask: BoolArray) -> IntArray:
    """The confusion matrix: rows are true classes, columns predicted ones."""
    predicted = np.searchsorted(evaluator.classes, evaluator.predictions(mask))
    table = np.zeros((evaluator.classes.size,) * 2, dtype=np.int64)
    np.add.at(table, (evaluator.labels, predicted), 1)
    return table


_HELD_OUT_COPY = "held-out.npz"
_COPIES = "datasets"  # folder of the copies of several data sets


class StudyData(NamedTuple):
    """The data that the searches use, your own samples that are held out, and a description of both."""

    seen: Dataset | Samples
    held_out: Samples | None
    about: Events


def open_study_data(
    plan: StudyPlan,
    folder: Path,
    jobs: int,
    given: Samples | None,
    began: Events | None,
    name: str = "",
    *,
    keep: bool = True,
) -> StudyData:
    """Return the data of a study on one data set, which must match those it `began` with.

    A copy is kept in its folder; of events only if this is asked for.
    """
    copy, aside_copy = _data_copy_paths(folder, name)
    if isinstance(plan.dataset, DatasetPlan):
        digest = None if began is None else began.digest
        events = _open_study_events(plan.dataset, copy, jobs, digest, keep=keep)
        return StudyData(
            events, None, Events(len(events), _events_digest(events), events.class_names, events.feature_names)
        )
    own = plan.dataset
    aside = plan.held_out
    data = _open_study_samples(own.path, own, copy, given, None if began is None else began.digest)
    test = None
    if isinstance(aside, OwnHeldOutPlan) and aside.path is not None:
        kept = None if began is None else began.held_out_digest
        test = _open_study_samples(aside.path, own, aside_copy, None, kept)
    seen, held_out = _split_held_out_samples(plan, data, test)
    n_aside = 0 if held_out is None else len(held_out)
    digest = "" if test is None else test.digest
    about = Events(len(seen), data.digest, seen.class_names, seen.feature_names, n_aside, digest)
    return StudyData(seen, held_out, about)


def _data_copy_paths(folder: Path, name: str) -> tuple[Path, Path]:
    """Paths of the copies of a data set and of its held-out data."""
    if not name:
        return folder / COPY, folder / _HELD_OUT_COPY
    slug = name.replace(" ", "-")
    return folder / _COPIES / f"{slug}.npz", folder / _COPIES / f"{slug}-{_HELD_OUT_COPY}"


def read_own_data(plan: StudyPlan) -> Samples | None:
    """Read and check the data files of a plan and return the samples for the searches; None if it names none."""
    if isinstance(plan.dataset, DatasetPlan):
        return None
    aside = plan.held_out
    named = aside.path if isinstance(aside, OwnHeldOutPlan) else None
    test = None if named is None else _read_planned_samples(named, plan.dataset)
    return _split_held_out_samples(plan, _read_planned_samples(plan.dataset.path, plan.dataset), test)[0]


def time_estimators(plan: StudyPlan, samples: Samples) -> dict[str, float]:
    """Return how long one subset, all features, takes with each classifier that has no exact evaluator [s]."""
    X = samples.X(inf)
    whole = np.ones((1, X.shape[1]), dtype=np.bool_)
    folds = plan.folds.partition(samples.y)
    return {
        each.name: timeit(partial(each.make().evaluator(X, samples.y, folds, n_jobs=1).errors, whole), number=1)
        for each in plan.classifiers
        if CLASSIFIERS[each.kind].fast_evaluator is None
    }


def _split_held_out_samples(plan: StudyPlan, data: Samples, test: Samples | None) -> tuple[Samples, Samples | None]:
    """Split your own samples into those for the searches and those held out, if any, and check both."""
    seen = data
    held_out = None
    aside = plan.held_out
    if isinstance(aside, OwnHeldOutPlan) and aside.fraction is not None:
        seen, held_out = data.split(aside.fraction, aside.seed)
    elif isinstance(aside, OwnHeldOutPlan) and test is not None:
        if test.digest == data.digest:
            raise PqswarmError(
                f"{aside.path} is searched, so it cannot be held out: hold out other data, or a fraction."
            )
        held_out = test.arranged_like(data, str(aside.path))
    plan.check_sizes(len(seen.feature_names))
    counts = np.bincount(seen.y, minlength=len(seen.class_names))
    rare = int(counts.argmin())
    if counts[rare] < plan.folds.number:
        where = plan.dataset.file if isinstance(plan.dataset, OwnDataPlan) else "the data"
        left = " that are not held out" if seen is not data else ""
        raise PqswarmError(
            f"class {seen.class_names[rare]!r} of {where} has {counts[rare]} rows{left}, fewer than the "
            f"{plan.folds.number} folds: add rows, remove the class, or use fewer folds ([folds] number). If it is not "
            f"a class, name the label column ([dataset] label)."
        )
    return seen, held_out


def _read_planned_samples(path: Path, plan: OwnDataPlan) -> Samples:
    """Read the samples of a file; only CSV files have columns to choose."""
    if path.suffix.lower() == ".npz":
        return read_samples(path)
    return read_samples(path, plan.label, ignore=plan.ignore, drop_missing=plan.drop_missing)


def make_held_out(
    plan: StudyPlan, data: StudyData, seed: int, levels: list[float], jobs: int, folder: Path
) -> Dataset | Samples:
    """Generate the held-out events of a seed at noise levels [dB], or return your own held-out samples."""
    if data.held_out is not None:
        return data.held_out
    assert isinstance(plan.held_out, HeldOutPlan)  # noqa: S101
    assert isinstance(plan.dataset, DatasetPlan)  # noqa: S101
    if plan.held_out.cross_dataset:
        other = plan.dataset.model_copy(update={"seed": seed})
        return _open_study_events(other, _data_copy_paths(folder, f"seed {seed}")[0], jobs, None)
    preset = plan.dataset.make_preset()
    options = plan.dataset.feature_options
    return make_dataset(plan.held_out.events_per_class, levels, seed, preset, jobs, features=options)


def _events_digest(events: Dataset) -> str:
    return hashlib.sha256(np.ascontiguousarray(events.features).tobytes() + events.y.tobytes()).hexdigest()


def _open_study_events(plan: DatasetPlan, path: Path, jobs: int, digest: str | None, keep: bool = True) -> Dataset:
    """Return the planned events, from the file if it exists; a study that has started must have the same digest."""
    if not path.exists():
        options = plan.feature_options
        events = make_dataset(plan.events_per_class, plan.snr, plan.seed, plan.make_preset(), jobs, features=options)
        if digest not in (None, _events_digest(events)):
            raise PqswarmError(
                f"{path} is missing, and the events generated here differ from those this study started with: copy the "
                f"file from where it started, or give --out another folder to start again."
            )
        if keep:
            path.parent.mkdir(exist_ok=True)
            events.save(path)
        return events
    try:
        kept = load_dataset(path)
    except FileFormatError as error:
        raise FileFormatError(f"{str(error).rstrip('.')}. Remove it to generate the events again.") from None
    planned = (plan.seed, plan.make_preset().name, plan.snr, plan.n_events, plan.class_names, __version__)
    stored = (kept.seed, kept.preset["name"], kept.snr, len(kept), kept.class_names, kept.version)
    if stored != planned or kept.feature_options != plan.feature_options:
        raise PqswarmError(f"{path} does not hold the events of the plan: remove it to generate them again.")
    if digest not in (None, _events_digest(kept)):
        raise PqswarmError(
            f"{path} does not hold the events this study started with: restore it, or remove it to generate them again."
        )
    return kept


def _open_study_samples(
    path: Path, plan: OwnDataPlan, copy: Path, given: Samples | None, digest: str | None
) -> Samples:
    """Return the given samples, those of the file, or the copy in the folder; a study must go on with its own."""
    if given is None and (digest is None or path.exists()):
        given = _read_planned_samples(path, plan)
    if given is not None and digest not in (None, given.digest):
        raise PqswarmError(
            f"{path} does not hold the data this study started with ({copy} is a copy): restore them, or give --out "
            f"another folder."
        )
    if digest is not None and copy.exists():
        kept = read_samples(copy)
        if kept.digest != digest:
            raise FileFormatError(f"{copy} is damaged: it does not hold the data this study started with. Remove it.")
        return kept
    if given is None:
        raise PqswarmError(f"neither {path} nor its copy {copy} exists: restore one of them to resume the study.")
    copy.parent.mkdir(exist_ok=True)
    given.save(copy)
    return given


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
    jobs : int or None, default=None
        Processes; None uses all cores.
    device : {"cpu", "cuda"}, default="cpu"
        Where subsets are evaluated. Classifiers without GPU support are evaluated on the CPU.
    cluster : str or None, default=None
        Address of a Dask scheduler to use instead of processes on this machine.
    progress : callable, default=None
        Called with :class:`StudyProgress` every few seconds.
    data : Samples, DataFrame or (X, y), default=None
        Your own data, instead of the file named in the plan; see :meth:`pqswarm.datasets.Samples.of`. The study keeps a
        copy, ``dataset.npz``.
    """
    given = None
    if data is not None:
        plan = plan_for_given_data(plan)
        given = Samples.of(data, label=getattr(plan.dataset, "label", None))
    if cluster is None:  # otherwise the workers check for a GPU
        check_device(device)
    workers = effective_jobs(jobs)
    with ExitStack() as stack:
        # First, so that a study that cannot start leaves no folder.
        pools = _open_worker_pools(stack, plan, workers, device, cluster)
        with lock_study(Path(folder)) as check_lock, Store(folder, write=True) as store:
            _check_same_plan(store, plan)

            def report_progress(now: StudyProgress) -> None:
                check_lock()  # the next write may be days away
                store.database.check()
                if progress is not None:
                    progress(now)

            meter = Meter(plan, report_progress)
            meter.follow(store.statuses(), {})
            tested_on = "cpu" if cluster is not None else device  # by this process
            cells = {
                name: _Cell(name, cell, store.of(name), workers, meter, tested_on, keep=plan.multiverse is None)
                for name, cell in plan.cells().items()
            }
            left = [cell for cell in cells.values() if not cell.skip_if_finished()]
            for start in range(0, len(left), _WAVE):
                last = start + _WAVE >= len(left)
                _run_wave(left[start : start + _WAVE], store, meter, pools, stack.close if last else None, given)
            meter.report_stage("tested")
            if store.find(Finished) is None:
                store.put(Finished(time.time()))


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


def _device_of(classifier: ClassifierPlan, device: str) -> str:
    """The device, if the classifier can use it, otherwise the CPU."""
    return device if device in CLASSIFIERS[classifier.kind].devices else "cpu"


def _open_worker_pools(
    stack: ExitStack, plan: StudyPlan, jobs: int, device: str, cluster: str | None
) -> dict[str, WorkerPool]:
    """Open the pools of workers and return them by classifier."""
    devices = {classifier.name: _device_of(classifier, device) for classifier in plan.classifiers}
    jobs = min(jobs, sum(cell.n_runs for cell in plan.cells().values()))
    pools = {
        device: stack.enter_context(worker_pool(jobs, cluster, device)) for device in dict.fromkeys(devices.values())
    }
    return {name: pools[one] for name, one in devices.items()}


def _check_same_plan(store: Store, plan: StudyPlan) -> None:
    kept = store.find(About)
    if kept is None:
        machine = {
            "system": platform.system(),
            "processor": _processor_name(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        }
        store.put(About(plan.model_dump(), __version__, time.time(), machine))
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
        store.put(replace(kept, plan=plan.model_dump()), replace=True)


def _processor_name() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class _Cell:
    """A running study on one data set: results are stored, and stored results are not computed again."""

    def __init__(
        self, name: str, plan: StudyPlan, store: Store, jobs: int, meter: Meter, device: str, *, keep: bool
    ) -> None:
        self.name = name
        self.plan = plan
        self.store = store
        self.jobs = jobs
        self.meter = meter
        self.devices = {classifier.name: _device_of(classifier, device) for classifier in plan.classifiers}
        self.keep = keep  # the events, in a file
        self._data: StudyData  # while it is needed, like the problems
        self._problems: dict[str, StudyProblem] = {}

    def skip_if_finished(self) -> bool:
        """Return whether nothing is left to do for one of several data sets, and count its steps as done."""
        if not self.name or self.store.find(Finished) is None:
            return False
        for step, times in count_study_steps(self.plan).items():
            self.meter.step(step, times)
        return True

    def prepare(self, given: Samples | None) -> dict[str, StudyProblem]:
        """Return the problem of each classifier."""
        self._data = self.open_data(given)
        self._problems = {
            classifier.name: self.prepare_classifier(classifier, self._data.seen)
            for classifier in self.plan.classifiers
        }
        return self._problems

    def test(self, scheduler: Scheduler) -> None:
        """Finish the study on the data set: test the subsets found, if planned, and release the data."""
        if self.plan.stage_two:
            subsets = {}
            for name, problem in self._problems.items():
                runs = {each.name: scheduler.runs(self.name, name, each.name) for each in self.plan.algorithms}
                subsets[name] = self.tested_subsets(name, problem, runs)
                self.stage_two(name, problem, subsets[name], best_run(runs[self.plan.baseline]).mask)
            for seed in held_out_seeds(self.plan):
                self.test_held_out(seed, subsets)
        if self.name and self.store.find(Finished) is None:
            self.store.put(Finished(time.time()))
        del self._data
        self._problems = {}

    def report_stage(self, stage: str) -> None:
        """Report the current stage."""
        self.meter.report_stage(f"{self.name}: {stage}" if self.name else stage)

    def find_or_compute(
        self, compute: Callable[[], _Kind], kind: type[_Kind], classifier: str = "", level: float | None = None
    ) -> _Kind:
        """Return the stored finding, computing it first if necessary."""
        finding = self.store.find(kind, classifier, level)
        if finding is None:
            finding = compute()
            self.store.put(finding)
        return finding

    def open_data(self, given: Samples | None) -> StudyData:
        """Return the data, which must be those that the study started with."""
        self.report_stage("generating events" if isinstance(self.plan.dataset, DatasetPlan) else "reading data")
        began = self.store.find(Events)
        data = open_study_data(self.plan, self.store.folder, self.jobs, given, began, self.name, keep=self.keep)
        self.find_or_compute(lambda: data.about, Events)
        self.meter.step("events", len(self.plan.dataset.snr))
        return data

    def prepare_classifier(self, plan: ClassifierPlan, events: Dataset | Samples) -> StudyProblem:
        """Prepare the searches with one classifier, and evaluate all features."""
        name = plan.name
        self.report_stage(f"{name}: hyperparameters")
        folds = self.plan.folds.partition(events.y)
        grid = self.store.find(GridFinding, name)
        if plan.grid_search and grid is None:
            grid = search_grid(plan, events, folds, self.jobs)
            if grid is not None:
                self.store.put(grid)
        chosen = self.find_or_compute(lambda: choose_hyperparameters(plan, grid), Hyperparameters, name)
        rule = self.plan.subsets
        groups = (
            FeatureGroups.of(events.feature_names, rule.fixed, rule.excluded, rule.groups)
            if rule is not None and (rule.fixed or rule.excluded or rule.groups)
            else None
        )
        classifier = plan.make(chosen.settings)
        problem = StudyProblem(events.X(inf), events.y, folds.test_fold, classifier, plan.scaling, groups)
        self.find_or_compute(lambda: AllFeatures(name, problem.error_of_all(self.jobs)), AllFeatures, name)
        self.meter.step("hyperparameters")
        return problem

    def tested_subsets(
        self, name: str, problem: StudyProblem, runs: Mapping[str, Sequence[RunRecord]]
    ) -> TestedSubsets:
        """Return the subsets of the runs of one classifier, those to average, and the smallest of the baseline."""
        plan = self.plan
        self.report_stage(f"{name}: a smaller subset")
        found = {algorithm: np.stack([record.mask for record in records]) for algorithm, records in runs.items()}
        best = best_run(runs[plan.baseline]).mask
        find = partial(find_smaller_subset, name, problem, best, [*found[plan.baseline]], self.jobs, self.devices[name])
        smaller = self.find_or_compute(find, OneStandardError, name).mask
        self.meter.step("smaller")
        whole = np.ones((1, problem.X.shape[1]), dtype=np.bool_)
        averaged = {mean: best_subsets(runs[each.name], plan.averaged) for mean, each in plan.ensembles.items()}
        return TestedSubsets({ALL_FEATURES: whole, **found, ONE_STANDARD_ERROR: smaller[np.newaxis]}, averaged)

    def stage_two(self, name: str, problem: StudyProblem, subsets: TestedSubsets, best: BoolArray) -> None:
        """Test the subsets of one classifier at each noise level."""
        events = self._data.seen
        folds = self.plan.folds.partition(events.y, stage_two=True)
        for level in self.plan.dataset.snr:
            self.report_stage(f"{name}: stage II at {level:g} dB" if level != inf else f"{name}: stage II")
            noisy = replace(problem, X=events.X(level), test_fold=folds.test_fold)
            evaluate = partial(evaluate_stage_two, name, noisy, subsets, level, best, self.jobs, self.devices[name])
            self.find_or_compute(evaluate, StageTwo, name, level)
            self.meter.step("stage II")

    def test_held_out(self, seed: int, subsets: Mapping[str, TestedSubsets]) -> None:
        """Test the subsets of all classifiers on one set of held-out events, at each noise level."""
        left = [
            (level, name)
            for level in held_out_levels(self.plan)
            for name in subsets
            if self.store.find(HeldOut, name, level, seed) is None
        ]
        levels = len(held_out_levels(self.plan))
        self.meter.step("held-out", levels * len(subsets) - len(left))
        if not left:
            self.meter.step("events", levels)
            return
        self.report_stage(f"held-out data, seed {seed}")
        wanted = list(dict.fromkeys(level for level, _ in left))
        new = make_held_out(self.plan, self._data, seed, wanted, self.jobs, self.store.folder)
        self.meter.step("events", levels)
        for level, name in left:
            self.report_stage(f"held-out data, seed {seed}: {name}")
            problem = self._problems[name]
            at = (level, seed)
            self.store.put(evaluate_held_out(name, problem, subsets[name], self._data.seen, new, at, self.jobs))
            self.meter.step("held-out")
