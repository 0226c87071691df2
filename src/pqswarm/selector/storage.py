"""What is needed to go on with a search: the states of its runs, and what they are the states of."""

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from pqswarm._base.archive import DAMAGE, write_arrays
from pqswarm._base.files import write_atomically
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.search import Run

__all__ = ["Saved", "Saver", "describe", "digest", "lock_file", "read_saved"]

_FORMAT, _VERSION = "pqswarm-selector", 1
_PAUSE = 5.0  # seconds between two saves, at least
_PAUSES = 20.0  # times as long as a save takes
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Saved:
    """The states of some runs, and the `identity` of the task that they search, in words and digests."""

    identity: Mapping[str, str]
    states: Sequence[Mapping[str, AnyArray]]

    def restore(self, runs: Sequence[Run], identity: Mapping[str, str], where: str, remedy: str) -> None:
        """Let runs go on from here; an error says what differs in the task, `where` it is from, and a `remedy`."""
        keys = sorted(self.identity.keys() | identity.keys())
        for key in keys:
            was, now = self.identity.get(key, "nothing"), identity.get(key, "nothing")
            if was != now:
                what = f"{key}: it was {shorten(was, 120)}, and is now {shorten(now, 120)}"
                if key in _DIGESTS:
                    what = _DIGESTS[key]
                raise PqswarmError(f"{where} is of another search, with other {what}: {remedy}.")
        for run, state in zip(runs, self.states, strict=True):
            run.restore(state)
        most = max(run.n_evaluations for run in runs)
        if any(most > run.max_evaluations for run in runs):
            raise PqswarmError(
                f"{where} is of a search of {most} evaluations: max_evaluations must be at least as many, or {remedy}."
            )


_DIGESTS = {
    "data": "data (X, y or sample_weight differ)",
    "splits": "cross-validation (cv splits in another way; does it shuffle without a random_state?)",
}


class Saver:
    """Saves the states of runs in a file, now and then; the file is replaced whole."""

    def __init__(self, path: Path, identity: Mapping[str, str], runs: Sequence[Run]) -> None:
        self._path, self._identity, self._runs = path, identity, runs
        self._due = time.monotonic() + _PAUSE

    def save_if_due(self) -> None:
        """Save if that was some seconds ago."""
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save."""
        began = time.monotonic()
        texts = {"format": _FORMAT, "version": _VERSION, "runs": len(self._runs), "identity": dict(self._identity)}
        arrays = {f"{n}.{name}": array for n, run in enumerate(self._runs) for name, array in run.state().items()}
        manifest = {"manifest.json": json.dumps(texts, indent=1)}
        write_atomically(self._path, lambda file: write_arrays(file, arrays, manifest, zipfile.ZIP_DEFLATED))
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, _PAUSES * (ended - began))


def read_saved(path: Path) -> Saved | None:
    """Return what a :class:`Saver` has saved in a file, None if there is no such file; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        if manifest["format"] != _FORMAT:
            raise FileFormatError(f"{path} is not a file of SwarmSelector: give storage another name.")
        if manifest["version"] != _VERSION:
            raise FileFormatError(f"{path} was written by another version of pqswarm: delete it, and fit again.")
        states: list[dict[str, AnyArray]] = [{} for _ in range(manifest["runs"])]
        with np.load(path, allow_pickle=False) as arrays:
            for key in arrays.files:
                number, dot, name = key.partition(".")
                if dot and number.isdigit():
                    states[int(number)][name] = arrays[key]
        return Saved({str(key): str(value) for key, value in manifest["identity"].items()}, states)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except FileFormatError:
        raise
    except (*DAMAGE, AttributeError, TypeError) as error:
        raise FileFormatError(
            f"{path} is damaged, or is not a file of SwarmSelector: delete it, or give storage another name."
        ) from error


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Keep other processes from using a storage file as long as the block runs."""
    guard = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(guard, fallback_to_soft=False)
        lock.acquire(blocking=False)
    except Timeout:
        raise PqswarmError(
            f"another process is using {path}: wait until it ends, or give storage another name."
        ) from None
    except OSError as error:
        raise PqswarmError(f"cannot use {path} as storage: {error.strerror or error}.") from error
    try:
        yield
    finally:
        with suppress(OSError):
            guard.unlink()
        lock.release()


def digest(*arrays: Any) -> str:
    """Return the SHA-256 digest of arrays, of which some may be None."""
    found = hashlib.sha256()
    for given in arrays:
        array = np.asarray("none" if given is None else given)
        plain = np.ascontiguousarray(array.astype(str) if array.dtype.hasobject else array)
        found.update(f"{plain.dtype.str}{plain.shape}".encode())
        found.update(plain.reshape(-1).view(np.uint8).data)  # the bytes themselves, not a copy of them
    return found.hexdigest()


def describe(thing: Any) -> str:
    """Return what an estimator, or a scoring, is, with all parameters and without addresses in memory.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    if not hasattr(thing, "get_params") or isinstance(thing, type):
        return _ADDRESS.sub("", repr(thing))
    given = thing.get_params().items()
    values = {key: type(value).__name__ if hasattr(value, "get_params") else describe(value) for key, value in given}
    return f"{type(thing).__name__}({', '.join(f'{key}={values[key]}' for key in sorted(values))})"
