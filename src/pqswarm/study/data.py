"""The data of a study: generated events or samples of one's own, and those that are held out."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pqswarm import __version__
from pqswarm.datasets import Dataset, Samples, load_dataset, make_dataset, read_samples
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study.findings import Events
from pqswarm.study.plan import DatasetPlan, StudyPlan
from pqswarm.study.plan_parts import HeldOutPlan, OwnDataPlan, OwnHeldOutPlan
from pqswarm.study.planfile import COPY

__all__ = ["StudyData", "held_out_seeds", "make_held_out", "open_data", "read_own"]

_HELD_OUT_COPY = "held-out.npz"


class StudyData(NamedTuple):
    """What a study is about: what its searches see, the own samples that they do not, and what is known of both."""

    seen: Dataset | Samples
    held_out: Samples | None
    about: Events


def open_data(plan: StudyPlan, folder: Path, jobs: int, given: Samples | None, began: Events | None) -> StudyData:
    """Return the data of a study, of which a copy lies in its folder; they must be those that it `began` with."""
    if isinstance(plan.dataset, DatasetPlan):
        events = _open_events(plan.dataset, folder / COPY, jobs, None if began is None else began.digest)
        return StudyData(events, None, Events(len(events), _digest(events), events.class_names, events.feature_names))
    own, aside = plan.dataset, plan.held_out
    data = _open_samples(own.path, own, folder / COPY, given, None if began is None else began.digest)
    test = None
    if isinstance(aside, OwnHeldOutPlan) and aside.path is not None:
        kept = None if began is None else began.held_out_digest
        test = _open_samples(aside.path, own, folder / _HELD_OUT_COPY, None, kept)
    seen, held_out = _part_samples(plan, data, test)
    n_aside, digest = 0 if held_out is None else len(held_out), "" if test is None else test.digest
    about = Events(len(seen), data.digest, seen.class_names, seen.feature_names, n_aside, digest)
    return StudyData(seen, held_out, about)


def read_own(plan: StudyPlan) -> Samples | None:
    """Read and check the data files of a plan and return what its searches will see; None if it names none."""
    if isinstance(plan.dataset, DatasetPlan):
        return None
    aside = plan.held_out
    named = aside.path if isinstance(aside, OwnHeldOutPlan) else None
    test = None if named is None else _read(named, plan.dataset)
    return _part_samples(plan, _read(plan.dataset.path, plan.dataset), test)[0]


def _part_samples(plan: StudyPlan, data: Samples, test: Samples | None) -> tuple[Samples, Samples | None]:
    """Return what the searches see of samples of one's own, and what is held out, if anything; both are checked."""
    seen, held_out, aside = data, None, plan.held_out
    if isinstance(aside, OwnHeldOutPlan) and aside.share is not None:
        seen, held_out = data.split(aside.share, aside.seed)
    elif isinstance(aside, OwnHeldOutPlan) and test is not None:
        held_out = test.arranged_like(data, str(aside.path))
    plan.check_sizes(len(seen.feature_names))
    counts = np.bincount(seen.y, minlength=len(seen.class_names))
    rare = int(counts.argmin())
    if counts[rare] < plan.folds.number:
        where = plan.dataset.file if isinstance(plan.dataset, OwnDataPlan) else "the data"
        left = " that are not held out" if seen is not data else ""
        raise PqswarmError(
            f"class {seen.class_names[rare]!r} of {where} has {counts[rare]} rows{left}, fewer than the "
            f"{plan.folds.number} folds: add rows of it, leave it out, or use fewer folds ([folds] number). If it is "
            f"no class, name the column of labels ([dataset] label)."
        )
    return seen, held_out


def _read(path: Path, plan: OwnDataPlan) -> Samples:
    """The samples of a file; only those of a CSV file have a column of labels."""
    return read_samples(path, plan.label if path.suffix.lower() != ".npz" else None)


def held_out_seeds(plan: StudyPlan) -> tuple[int, ...]:
    """Return the seeds of the sets of held-out events, or that of the one set of own samples; empty without any."""
    if isinstance(plan.held_out, HeldOutPlan):
        return plan.held_out.seeds
    return () if plan.held_out is None else (plan.held_out.seed,)


def make_held_out(plan: StudyPlan, data: StudyData, seed: int, levels: list[float], jobs: int) -> Dataset | Samples:
    """Return the held-out events of a seed at some noise levels [dB], made anew, or the own samples held out."""
    if data.held_out is not None:
        return data.held_out
    assert isinstance(plan.held_out, HeldOutPlan)  # noqa: S101
    assert isinstance(plan.dataset, DatasetPlan)  # noqa: S101
    preset, options = plan.dataset.make_preset(), plan.dataset.feature_options
    return make_dataset(plan.held_out.events_per_class, levels, seed, preset, jobs, features=options)


def _digest(events: Dataset) -> str:
    return hashlib.sha256(np.ascontiguousarray(events.features).tobytes() + events.y.tobytes()).hexdigest()


def _open_events(plan: DatasetPlan, path: Path, jobs: int, digest: str | None) -> Dataset:
    """Return the planned events: those of a file, if it is there, or new ones, which are written to it.

    A study that has begun knows their digest: others are refused.
    """
    if not path.exists():
        options = plan.feature_options
        made = make_dataset(plan.events_per_class, plan.snr, plan.seed, plan.make_preset(), jobs, features=options)
        if digest not in (None, _digest(made)):
            raise PqswarmError(
                f"{path} is missing, and the events that are made here are not those this study began with: copy that "
                f"file from where it began, or give --out another folder to begin anew."
            )
        made.save(path)
        return made
    try:
        kept = load_dataset(path)
    except FileFormatError as error:
        raise FileFormatError(f"{str(error).rstrip('.')}. Remove it to make the events again.") from None
    planned = (plan.seed, plan.make_preset().name, plan.snr, plan.n_events, plan.class_names, __version__)
    found = (kept.seed, kept.preset["name"], kept.snr, len(kept), kept.class_names, kept.version)
    if found != planned or kept.feature_options != plan.feature_options:
        raise PqswarmError(f"{path} does not hold the events of the plan: remove it to make them.")
    if digest not in (None, _digest(kept)):
        raise PqswarmError(
            f"{path} does not hold the events this study began with: restore it, or remove it to make them again."
        )
    return kept


def _open_samples(path: Path, plan: OwnDataPlan, copy: Path, given: Samples | None, digest: str | None) -> Samples:
    """Return samples as they are given, in Python or by a file, or, where that is gone, the copy that the study keeps.

    A study that has begun knows their digest: others are refused.
    """
    if given is None and (digest is None or path.exists()):
        given = _read(path, plan)
    if digest is None:
        assert given is not None  # noqa: S101
        given.save(copy)
        return given
    if given is not None and given.digest != digest:
        raise PqswarmError(
            f"{path} does not hold the data this study began with, of which {copy} is a copy: restore them, or give "
            f"--out another folder."
        )
    if copy.exists():
        kept = read_samples(copy)
        if kept.digest != digest:
            raise FileFormatError(f"{copy} is damaged: it does not hold the data this study began with. Remove it.")
        return kept
    if given is None:
        raise PqswarmError(f"there is neither {path} nor its copy {copy}: restore one of them to resume the study.")
    given.save(copy)
    return given
