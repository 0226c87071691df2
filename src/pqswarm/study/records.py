"""Records of a study: finished runs and checkpoints of running ones."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.array_file import DAMAGE, read_npy
from pqswarm._base.typing import AnyArray, BoolArray
from pqswarm.errors import FileFormatError
from pqswarm.search import SearchResult

_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, order=True)
class RunKey:
    """The key of a run: classifier, algorithm, run number, and data set; the only one of a study has no name."""

    classifier: str
    algorithm: str
    run: int
    dataset: str = ""


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A finished run.

    Attributes
    ----------
    key : RunKey
        Key of the run.
    seed : int
        Its seed.
    result : SearchResult
        Its result; `error`, `mask` and `size` refer to it.
    seconds : float
        Its time, shared evenly among runs that step together.
    """

    key: RunKey
    seed: int
    result: SearchResult
    seconds: float

    @property
    def error(self) -> float:
        """Lowest error found."""
        return self.result.error

    @property
    def mask(self) -> BoolArray:
        """The subset with that error."""
        return self.result.mask

    @property
    def size(self) -> int:
        """Number of features of the subset."""
        return self.result.size


def best_run(records: Sequence[RunRecord]) -> RunRecord:
    """Return the run with the lowest error; ties are broken by the fewest features, then by number."""
    return ranked_runs(records)[0]


def ranked_runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs by error, then by number of features, then by number."""
    return sorted(records, key=lambda record: (round(record.error, 12), record.size, record.key.run))


def best_subsets(records: Sequence[RunRecord], number: int) -> BoolArray:
    """Return the distinct subsets of the best runs, shape (m, n_features); fewer than `number` if there are no more."""
    distinct = {record.mask.tobytes(): record.mask for record in ranked_runs(records)}
    return np.stack(list(distinct.values())[:number])


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a running run, its lowest error and its time so far."""

    key: RunKey
    n_evaluations: int
    best_error: float
    state: Mapping[str, AnyArray]  # see :meth:`pqswarm.search.Run.state`
    seconds: float


@dataclass(frozen=True)
class RunStatus:
    """The status of a run, finished or not."""

    key: RunKey
    n_evaluations: int  # so far
    error: float  # the lowest so far
    size: int | None = None  # number of features of the subset with that error; None if not finished

    @property
    def finished(self) -> bool:
        """Whether it is finished."""
        return self.size is not None


def packed_state(state: Mapping[str, AnyArray]) -> bytes:
    """Return the state of a run as bytes, without pickle: a SHA-256 digest followed by an npz file."""
    file = io.BytesIO()
    np.savez(file, **state)  # type: ignore[arg-type]
    data = file.getvalue()
    return hashlib.sha256(data).digest() + data


def unpacked_state(data: bytes) -> dict[str, AnyArray]:
    """Return the state of a run from the bytes of :func:`packed_state`."""
    digest = data[:_DIGEST]
    content = data[_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise FileFormatError("a checkpoint is damaged: its digest does not match.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            return {
                info.filename.removesuffix(".npy"): read_npy(file.read(info), info.filename).copy()
                for info in file.infolist()
                if info.compress_type == zipfile.ZIP_STORED  # compressed data could expand without limit
            }
    except DAMAGE as error:
        raise FileFormatError(f"a checkpoint is damaged: {error}") from None


def mask_text(mask: BoolArray) -> str:
    """Return a mask as zeros and ones."""
    return "".join("1" if bit else "0" for bit in mask)


def text_mask(text: str) -> BoolArray:
    """Return the mask written as zeros and ones; other characters raise a ValueError."""
    if set(text) - {"0", "1"}:
        raise ValueError(f"{text!r} is not a mask of zeros and ones")
    return np.array([letter == "1" for letter in text], dtype=np.bool_)


def front_text(result: SearchResult) -> str | None:
    """Return the front of a result as JSON, pairs of a mask and its error; None if it has none."""
    if result.front_masks is None or result.front_errors is None:
        return None
    return json.dumps(list(zip(map(mask_text, result.front_masks), result.front_errors.tolist(), strict=True)))


def text_front(text: str | None) -> dict[str, AnyArray]:
    """Return the front from JSON, as arguments of a result."""
    if text is None:
        return {}
    masks, errors = zip(*json.loads(text), strict=True)
    return {"front_masks": np.stack([text_mask(mask) for mask in masks]), "front_errors": np.array(errors)}
