"""The data of a study: generated events or your own samples, and held-out data."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pqswarm import __version__
from pqswarm.datasets import Dataset, Samples, load_dataset, make_dataset, read_samples
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study.findings import Events
from pqswarm.study.plan import DatasetPlan, HeldOutPlan, OwnDataPlan, OwnHeldOutPlan, StudyPlan
from pqswarm.study.plan_file import COPY

_HELD_OUT_COPY = "held-out.npz"
_COPIES = "datasets"  # folder of the copies of several data sets


class StudyData(NamedTuple):
    """The data that the searches use, your own samples that are held out, and a description of both."""

    seen: Dataset | Samples
    held_out: Samples | None
    about: Events


def open_data(
    plan: StudyPlan, folder: Path, jobs: int, given: Samples | None, began: Events | None, name: str = ""
) -> StudyData:
    """Return the data of a study on one data set, which must match those it `began` with; keep a copy in its folder."""
    copy, aside_copy = _copies(folder, name)
    if isinstance(plan.dataset, DatasetPlan):
        digest = None if began is None else began.digest
        events = _open_events(plan.dataset, copy, jobs, digest, keep=plan.stage_two)
        return StudyData(events, None, Events(len(events), _digest(events), events.class_names, events.feature_names))
    own = plan.dataset
    aside = plan.held_out
    data = _open_samples(own.path, own, copy, given, None if began is None else began.digest)
    test = None
    if isinstance(aside, OwnHeldOutPlan) and aside.path is not None:
        kept = None if began is None else began.held_out_digest
        test = _open_samples(aside.path, own, aside_copy, None, kept)
    seen, held_out = _part_samples(plan, data, test)
    n_aside = 0 if held_out is None else len(held_out)
    digest = "" if test is None else test.digest
    about = Events(len(seen), data.digest, seen.class_names, seen.feature_names, n_aside, digest)
    return StudyData(seen, held_out, about)


def _copies(folder: Path, name: str) -> tuple[Path, Path]:
    """Paths of the copies of a data set and of its held-out data."""
    if not name:
        return folder / COPY, folder / _HELD_OUT_COPY
    slug = name.replace(" ", "-")
    return folder / _COPIES / f"{slug}.npz", folder / _COPIES / f"{slug}-{_HELD_OUT_COPY}"


def read_own(plan: StudyPlan) -> Samples | None:
    """Read and check the data files of a plan and return the samples for the searches; None if it names none."""
    if isinstance(plan.dataset, DatasetPlan):
        return None
    aside = plan.held_out
    named = aside.path if isinstance(aside, OwnHeldOutPlan) else None
    test = None if named is None else _read_samples(named, plan.dataset)
    return _part_samples(plan, _read_samples(plan.dataset.path, plan.dataset), test)[0]


def _part_samples(plan: StudyPlan, data: Samples, test: Samples | None) -> tuple[Samples, Samples | None]:
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


def _read_samples(path: Path, plan: OwnDataPlan) -> Samples:
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
        return _open_events(other, _copies(folder, f"seed {seed}")[0], jobs, None)
    preset = plan.dataset.make_preset()
    options = plan.dataset.feature_options
    return make_dataset(plan.held_out.events_per_class, levels, seed, preset, jobs, features=options)


def _digest(events: Dataset) -> str:
    return hashlib.sha256(np.ascontiguousarray(events.features).tobytes() + events.y.tobytes()).hexdigest()


def _open_events(plan: DatasetPlan, path: Path, jobs: int, digest: str | None, keep: bool = True) -> Dataset:
    """Return the planned events, from the file if it exists; a study that has started must have the same digest."""
    if not path.exists():
        options = plan.feature_options
        events = make_dataset(plan.events_per_class, plan.snr, plan.seed, plan.make_preset(), jobs, features=options)
        if digest not in (None, _digest(events)):
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
    if digest not in (None, _digest(kept)):
        raise PqswarmError(
            f"{path} does not hold the events this study started with: restore it, or remove it to generate them again."
        )
    return kept


def _open_samples(path: Path, plan: OwnDataPlan, copy: Path, given: Samples | None, digest: str | None) -> Samples:
    """Return the given samples, those of the file, or the copy in the folder; a study must go on with its own."""
    if given is None and (digest is None or path.exists()):
        given = _read_samples(path, plan)
    copy.parent.mkdir(exist_ok=True)
    if digest is None:
        assert given is not None  # noqa: S101
        given.save(copy)
        return given
    if given is not None and given.digest != digest:
        raise PqswarmError(
            f"{path} does not hold the data this study started with ({copy} is a copy): restore them, or give --out "
            f"another folder."
        )
    if copy.exists():
        kept = read_samples(copy)
        if kept.digest != digest:
            raise FileFormatError(f"{copy} is damaged: it does not hold the data this study started with. Remove it.")
        return kept
    if given is None:
        raise PqswarmError(f"neither {path} nor its copy {copy} exists: restore one of them to resume the study.")
    given.save(copy)
    return given
