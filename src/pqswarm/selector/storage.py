"""Save and resume searches: the states of their runs, and the identity of their task."""

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout

from pqswarm._base.array_file import DAMAGE, read_npy, write_arrays
from pqswarm._base.files import open_regular, write_atomically
from pqswarm._base.text import printable
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError, PqswarmError

if TYPE_CHECKING:
    from pqswarm.selector.plan import PlannedSearch

NO_SHARING = " (clones, as in GridSearchCV or cross_val_score, cannot share one: set storage=None there)"
"""What a message about storage says to those whose clones share a file."""
_FORMAT = "pqswarm-selector"
_VERSION = 3
_MANIFEST = "manifest.json"
_PAUSE = 5.0  # minimum seconds between two saves
_PAUSES = 20.0  # minimum pause, as a multiple of the time of a save
_MAX_UNPACKED = 1_000_000_000  # bytes of all members; no more is unpacked of any than its directory entry says
_MEMBER = re.compile(r"[0-9]{1,6}\.(run|best)\..+\.npy")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


_DIGESTS = {
    "data": "data (X, y or sample_weight differ)",
    "splits": "cross-validation (cv splits differently: does it shuffle without a random_state?)",
}


class Storage:
    """A file with the states of searches, and the identity of their task as texts and digests.

    `states` are those that were read: arrays by ``NUMBER.run.NAME`` and ``NUMBER.best.NAME``. The file is saved at
    intervals, atomically, with the searches that were restored, whether or not there was a state.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._remedy = f"delete that file, or use another file for storage{NO_SHARING}"
        self._searches: list[PlannedSearch] = []
        self._due = time.monotonic() + _PAUSE
        self.identity: Mapping[str, str] = {}
        self._states: Mapping[str, AnyArray] = {}
        if path.exists():
            self.identity, self._states = _read(path)

    def check(self, identity: Mapping[str, str]) -> None:
        """Raise an error that says what differs, and a remedy, if the file is of another task."""
        for key in sorted(self.identity.keys() | identity.keys()) if self.identity else ():
            before = self.identity.get(key, "nothing")
            now = identity.get(key, "nothing")
            if before != now:
                texts = [printable(shorten(text, 120)) for text in (before, now)]
                what = _DIGESTS.get(key, f"{printable(key[:40])}: {texts[0]} before, {texts[1]} now")
                raise PqswarmError(f"storage {self._path} is of another search with different {what}: {self._remedy}.")
        self.identity = identity

    def restore(self, searches: Sequence["PlannedSearch"]) -> None:
        """Restore searches of which there is a state, and save these searches from now on."""
        self._searches += searches
        for search in searches:
            try:
                if run := self._state_of(search, "run"):
                    search.run.restore(run)
                    search.best.restore(self._state_of(search, "best"))
            except (*DAMAGE, TypeError, PqswarmError) as error:
                raise _damaged(self._path) from error
        longest = max(search.run.n_evaluations for search in searches)
        if any(search.run.n_evaluations > search.run.max_evaluations for search in searches):
            raise PqswarmError(
                f"storage {self._path} is of a search of {longest} evaluations: set max_evaluations to at least "
                f"that{' times the number of searches' if len(searches) > 1 else ''}, or {self._remedy}."
            )
        further = any(int(name.partition(".")[0]) >= len(self._searches) for name in self._states)
        if further and not all(search.run.done for search in searches):
            raise PqswarmError(
                f"storage {self._path} is of a search whose second phase, inside the pool of features, has begun: "
                f"set max_evaluations as before, or {self._remedy}."
            )

    def _state_of(self, search: "PlannedSearch", part: str) -> dict[str, AnyArray]:
        start = f"{search.number}.{part}."
        return {name.removeprefix(start): array for name, array in self._states.items() if name.startswith(start)}

    def save_if_due(self) -> None:
        """Save if the last save was long enough ago."""
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save now."""
        began = time.monotonic()
        arrays: dict[str, AnyArray] = {}
        for search in self._searches:
            for part, state in (("run", search.run.state()), ("best", search.best.state())):
                arrays |= {f"{search.number}.{part}.{name}": np.asarray(array) for name, array in state.items()}
        manifest = {
            "format": _FORMAT,
            "version": _VERSION,
            "identity": dict(self.identity),
            "digest": _digest_of_file(dict(self.identity), arrays),
        }
        texts = {_MANIFEST: json.dumps(manifest, indent=1)}
        write_atomically(self._path, lambda file: write_arrays(file, arrays, texts, zipfile.ZIP_DEFLATED))
        ended = time.monotonic()
        self._due = ended + max(_PAUSE, _PAUSES * (ended - began))


def _read(path: Path) -> tuple[dict[str, str], dict[str, AnyArray]]:
    """The identity and the arrays of a file, which is not trusted; nothing is unpickled."""
    version = None
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            are_limited = {member.compress_type for member in members} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
            if not are_limited or sum(member.file_size for member in members) > _MAX_UNPACKED:
                raise ValueError("it unpacks to more than a search can have")
            manifest = json.loads(archive.read(_MANIFEST))
            version = manifest["format"], manifest["version"]
            names = [name for name in archive.namelist() if name != _MANIFEST]
            if not all(map(_MEMBER.fullmatch, names)):
                raise ValueError("it has a member that is not of a search")
            arrays = {name.removesuffix(".npy"): read_npy(archive.read(name), name) for name in names}
        identity = {str(key): str(value) for key, value in manifest["identity"].items()}
        int(identity["random_state"])
        if (version, manifest["digest"]) != ((_FORMAT, _VERSION), _digest_of_file(identity, arrays)):
            raise ValueError("the version or the digest is another")
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except (*DAMAGE, FileFormatError, AttributeError, TypeError, RecursionError, MemoryError) as error:
        if version is not None and version[0] == _FORMAT and version != (_FORMAT, _VERSION):
            raise FileFormatError(f"{path} is of another version of pqswarm: delete it and fit again.") from error
        raise _damaged(path) from error
    return identity, arrays


def _damaged(path: Path) -> FileFormatError:
    return FileFormatError(
        f"{path} is damaged or not a SwarmSelector file: delete it, or use another file for storage."
    )


def _digest_of_file(identity: Mapping[str, str], arrays: Mapping[str, AnyArray]) -> str:
    """The digest of everything in a file."""
    names = sorted(arrays)
    return digest_for_storage(json.dumps([identity, names], sort_keys=True), *(arrays[name] for name in names))


@contextmanager
def open_storage(storage: Any) -> Iterator[Storage | None]:
    """Open the file of a selector's `storage`, if any, which other processes cannot use inside this context."""
    if storage is None:
        yield None
        return
    if not isinstance(storage, str | Path) or not Path(storage).name:
        raise PqswarmError(f"storage must be a file name or None, not {storage!r}.")
    path = Path(storage)
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
        yield Storage(path)
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
