"""Save and resume a search: the state of its run, and the identity of its task."""

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from pqswarm._base.array_file import DAMAGE, write_arrays
from pqswarm._base.files import write_atomically
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.search import Run
from pqswarm.selector.rescoring import Pool

NO_SHARING = " (clones, as in GridSearchCV or cross_val_score, cannot share one: set storage=None there)"
"""What a message about storage says to those whose clones share a file."""
_FORMAT = "pqswarm-selector"
_VERSION = 2
_PAUSE = 5.0  # minimum seconds between two saves
_PAUSES = 20.0  # minimum pause, as a multiple of the time of a save
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Saved:
    """The state of a run, of the pool of its best subsets, and the `identity` of its task as texts and digests."""

    identity: Mapping[str, str]
    run: Mapping[str, AnyArray]
    pool: Mapping[str, AnyArray]

    def restore(self, run: Run, pool: Pool, identity: Mapping[str, str], path: Path) -> None:
        """Restore the run; if the task differs, raise an error that says what differs, and a remedy."""
        remedy = f"delete that file, or use another file for storage{NO_SHARING}"
        for key in sorted(self.identity.keys() | identity.keys()):
            before = self.identity.get(key, "nothing")
            now = identity.get(key, "nothing")
            if before != now:
                what = _DIGESTS.get(key, f"{key}: {shorten(before, 120)} before, {shorten(now, 120)} now")
                raise PqswarmError(f"storage {path} is of another search with different {what}: {remedy}.")
        run.restore(self.run)
        pool.restore(self.pool)
        done = run.n_evaluations
        if done > run.max_evaluations:
            raise PqswarmError(
                f"storage {path} is of a search of {done} evaluations: set max_evaluations to at least that, or "
                f"{remedy}."
            )


_DIGESTS = {
    "data": "data (X, y or sample_weight differ)",
    "splits": "cross-validation (cv splits differently: does it shuffle without a random_state?)",
}


class Saver:
    """Saves the state of a run to a file at intervals, atomically."""

    def __init__(self, path: Path, identity: Mapping[str, str], run: Run, pool: Pool) -> None:
        self._path = path
        self._identity = identity
        self._run = run
        self._pool = pool
        self._due = time.monotonic() + _PAUSE

    def save_if_due(self) -> None:
        """Save if the last save was long enough ago."""
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save now."""
        began = time.monotonic()
        texts = {"format": _FORMAT, "version": _VERSION, "identity": dict(self._identity)}
        arrays = {f"run.{name}": array for name, array in self._run.state().items()}
        arrays |= {f"pool.{name}": array for name, array in self._pool.state().items()}
        manifest = {"manifest.json": json.dumps(texts, indent=1)}
        write_atomically(self._path, lambda file: write_arrays(file, arrays, manifest, zipfile.ZIP_DEFLATED))
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, _PAUSES * (ended - began))


def read_saved(path: Path) -> Saved | None:
    """Return the content of a file of :class:`Saver`, or None if there is no file; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        if manifest["format"] != _FORMAT:
            raise FileFormatError(f"{path} is not a SwarmSelector file: use another file for storage.")
        if manifest["version"] != _VERSION:
            raise FileFormatError(f"{path} was written by another version of pqswarm: delete it and fit again.")
        states: dict[str, dict[str, AnyArray]] = {"run": {}, "pool": {}}
        with np.load(path, allow_pickle=False) as arrays:
            for key in arrays.files:
                owner, dot, name = key.partition(".")
                if dot and owner in states:
                    states[owner][name] = arrays[key]
        return Saved({str(key): str(value) for key, value in manifest["identity"].items()}, **states)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except FileFormatError:
        raise
    except (*DAMAGE, AttributeError, TypeError) as error:
        raise FileFormatError(
            f"{path} is damaged or not a SwarmSelector file: delete it, or use another file for storage."
        ) from error


def storage_path(storage: Any) -> Path | None:
    """Return the file of a selector's `storage`, if any."""
    if storage is None:
        return None
    if not isinstance(storage, str | Path) or not Path(storage).name:
        raise PqswarmError(f"storage must be a file name or None, not {storage!r}.")
    return Path(storage)


@contextmanager
def lock_storage_file(path: Path) -> Iterator[None]:
    """Keep other processes from using a storage file inside this context."""
    guard = path.with_name(f"{path.name}.lock")
    if not path.parent.is_dir():
        raise PqswarmError(f"storage {path} is in a folder that does not exist: create {path.parent}, or use another.")
    try:
        lock = FileLock(guard, fallback_to_soft=False)
        lock.acquire(blocking=False)
    except Timeout:
        raise PqswarmError(
            f"another process is using {path}: wait until it ends, or use another file for storage{NO_SHARING}."
        ) from None
    except OSError as error:
        raise PqswarmError(f"cannot use {path} as storage: {error.strerror or error}.") from error
    try:
        yield
    finally:
        with suppress(OSError):
            guard.unlink()
        lock.release()


def digest_for_storage(*arrays: Any) -> str:
    """Return the SHA-256 digest of arrays; None is allowed."""
    digest = hashlib.sha256()
    for given in arrays:
        if hasattr(given, "tocsr"):
            rows = given.tocsr()
            digest.update(digest_for_storage(rows.data, rows.indices, rows.indptr).encode())
            continue
        array = np.asarray("none" if given is None else given)
        plain = np.ascontiguousarray(array.astype(str) if array.dtype.hasobject else array)
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.reshape(-1).view(np.uint8).data)  # without a copy
    return digest.hexdigest()


def describe_for_storage(thing: Any) -> str:
    """Return the repr of an estimator or scoring with all parameters, and without memory addresses."""
    if not hasattr(thing, "get_params") or isinstance(thing, type):
        return _ADDRESS.sub("", repr(thing))
    given = thing.get_params().items()
    values = {
        key: type(value).__name__ if hasattr(value, "get_params") else describe_for_storage(value)
        for key, value in given
    }
    return f"{type(thing).__name__}({', '.join(f'{key}={values[key]}' for key in sorted(values))})"
