"""What a study keeps: finished runs, and runs on their way."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.archive import DAMAGE, read_npy
from pqswarm._base.typing import AnyArray, BoolArray
from pqswarm.errors import FileFormatError
from pqswarm.search import SearchResult

__all__ = ["Checkpoint", "RunKey", "RunRecord", "RunStatus", "best_of", "packed_state", "unpacked_state"]

_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, order=True)
class RunKey:
    """Which run: of which classifier and algorithm, and its number."""

    classifier: str
    algorithm: str
    run: int


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A finished run; it is never modified.

    Attributes
    ----------
    key : RunKey
        Which run.
    seed : int
        Its seed.
    result : SearchResult
        What it found; `error`, `mask` and `size` are those of the result.
    seconds : float
        Time that it took, shared evenly among runs in lockstep.
    """

    key: RunKey
    seed: int
    result: SearchResult
    seconds: float

    @property
    def error(self) -> float:
        """Least error that it found."""
        return self.result.error

    @property
    def mask(self) -> BoolArray:
        """The subset with that error."""
        return self.result.mask

    @property
    def size(self) -> int:
        """Features of the subset."""
        return self.result.size


def best_of(records: Sequence[RunRecord]) -> RunRecord:
    """Return the run with the least error; of equals that with the fewest features, then the first.

    Parameters
    ----------
    records : sequence of RunRecord
        Finished runs.

    Returns
    -------
    RunRecord
        One of them.
    """
    return min(records, key=lambda record: (round(record.error, 12), record.size, record.key.run))


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run on its way: where it is, and what it has found and taken so far."""

    key: RunKey
    n_evaluations: int
    best_error: float
    state: Mapping[str, AnyArray]  # see :meth:`pqswarm.search.Run.state`
    seconds: float


@dataclass(frozen=True)
class RunStatus:
    """Where a run is, finished or on its way, in few words.

    Attributes
    ----------
    key : RunKey
        Which run.
    n_evaluations : int
        Subsets evaluated so far.
    error : float
        Least error so far.
    size : int or None
        Features of the subset with that error; None of a run on its way.
    """

    key: RunKey
    n_evaluations: int
    error: float
    size: int | None = None

    @property
    def finished(self) -> bool:
        """Whether it is done."""
        return self.size is not None


def packed_state(state: Mapping[str, AnyArray]) -> bytes:
    """Return the state of a run as bytes, without pickle: a SHA-256 digest, and the npz file whose digest it is.

    Examples
    --------
    >>> unpacked_state(packed_state({"a": np.arange(3)}))["a"].tolist()
    [0, 1, 2]
    """
    file = io.BytesIO()
    np.savez(file, **state)  # type: ignore[arg-type]
    data = file.getvalue()
    return hashlib.sha256(data).digest() + data


def unpacked_state(data: bytes) -> dict[str, AnyArray]:
    """Return the state of a run from the bytes that :func:`packed_state` returned."""
    digest, content = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise FileFormatError("a checkpoint is damaged: it is not what was written.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            return {
                info.filename.removesuffix(".npy"): read_npy(file.read(info), info.filename).copy()
                for info in file.infolist()
                if info.compress_type == zipfile.ZIP_STORED  # as it is written: else a few bytes could become many
            }
    except DAMAGE as error:
        raise FileFormatError(f"a checkpoint is damaged: {error}") from None


def mask_text(mask: BoolArray) -> str:
    """Return a mask as zeros and ones."""
    return "".join("1" if bit else "0" for bit in mask)


def text_mask(text: str) -> BoolArray:
    """Return the mask that was written as zeros and ones; other letters are a ValueError."""
    if set(text) - {"0", "1"}:
        raise ValueError(f"{text!r} is not a mask of zeros and ones")
    return np.array([letter == "1" for letter in text], dtype=np.bool_)


def front_text(result: SearchResult) -> str | None:
    """Return the front of a result, if it has one, as JSON: pairs of a mask and its error."""
    if result.front_masks is None or result.front_errors is None:
        return None
    return json.dumps(list(zip(map(mask_text, result.front_masks), result.front_errors.tolist(), strict=True)))


def text_front(text: str | None) -> dict[str, AnyArray]:
    """Return the front that was written as JSON, as arguments of a result."""
    if text is None:
        return {}
    masks, errors = zip(*json.loads(text), strict=True)
    return {"front_masks": np.stack([text_mask(mask) for mask in masks]), "front_errors": np.array(errors)}
