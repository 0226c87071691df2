"""Compiled functions, and the files that keep them from one process to the next, which only save time.

Numba keeps what it has compiled beside the sources, or in a folder of the user's. Where there is no such folder, where
the disk is full, or where such a file is not what was written, it gives up, or runs what it finds. Here every file has
a digest, and what cannot be read or written is compiled again. A file also counts as outdated when another file
changes whose functions it calls. Processes that begin together compile each function once: the others wait for it.
"""

import hashlib
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from filelock import FileLock, Timeout
from numba.core.caching import FunctionCache, IndexDataCacheFile

from pqswarm._kernels.compile_times import note_compiling

__all__ = ["njit"]

_IMPORT = re.compile(r"^from (pqswarm[\w.]*) import", re.MULTILINE)
_PATIENCE = 60.0  # seconds for which another process may compile the same function
_told = False


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as :func:`numba.njit` does; with ``cache=True``, keep it where that is possible."""
    keep = options.pop("cache", False)

    def compiled(function: Callable[..., Any]) -> Any:
        made = numba.njit(**options)(function)
        if keep and hasattr(made, "_cache"):  # else the compiler is turned off
            try:
                made._cache = _CheckedCache(function)
            except (RuntimeError, OSError):
                _tell("there is no folder that can be written to keep them: name one by NUMBA_CACHE_DIR")
        return made

    return compiled


def _tell(why: str) -> None:
    """Say once why functions are compiled that were, or could have been, compiled before."""
    global _told
    if not _told:
        _told = True
        warnings.warn(f"functions are compiled anew, which takes a while: {why}.", RuntimeWarning, stacklevel=2)


class _CheckedFile(IndexDataCacheFile):
    """The files of a compiled function: beside that with the code of a signature lies one with the digest of both."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, data)
        path = self._path(key)
        with self._open_for_write(f"{path}.sha256") as file:
            file.write(_digest(key, path))

    def load(self, key: Any) -> Any:
        path = self._path(key)
        if path is None or not Path(f"{path}.sha256").exists():
            return None
        if Path(f"{path}.sha256").read_bytes() != _digest(key, path):
            raise ValueError("it is not what was written")
        return super().load(key)

    def _path(self, key: Any) -> str | None:
        """Where the code of a signature is kept, if it is."""
        name = self._load_index().get(key)
        return None if name is None else str(self._data_path(name))

    def remove(self) -> None:
        """Forget what is kept."""
        with suppress(OSError):
            Path(self._index_path).unlink()


class _CheckedCache(FunctionCache):
    """What is kept of a compiled function, if anything."""

    _cache_file: _CheckedFile

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _source_stamp(function.__module__, function.__code__.co_filename)
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)
        # It is held from when nothing was found until that is compiled. Threads of a process never wait for each other:
        # the compiler lets in one of them at a time.
        path = Path(self._cache_path, f"{self._impl.filename_base}.lock")
        self._lock = FileLock(path, timeout=_PATIENCE, thread_local=False)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept, if need be after another process has compiled it; None if there is nothing."""
        found, _ = self._look(sig, target_context)
        if found is not None or self._lock.is_locked:
            return found
        note_compiling()
        with suppress(OSError, NotImplementedError, Timeout):
            self._impl.locator.ensure_cache_path()
            self._lock.acquire()
            found, error = self._look(sig, target_context)  # again, as it may just have been written
            if error is not None:
                self._cache_file.remove()
                _tell(f"those that were kept in {self._cache_path} cannot be read ({_reason(error)})")
            if found is not None:
                self._lock.release()
        return found

    def _look(self, sig: Any, target_context: Any) -> tuple[Any, Exception | None]:
        """Look for what is kept, and for why it cannot be used."""
        try:
            return super().load_overload(sig, target_context), None
        except Exception as error:  # a damaged file may raise anything
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise
            return None, error

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001
            self._cache_file.remove()
            _tell(f"they cannot be kept in {self._cache_path} ({_reason(error)}); NUMBA_CACHE_DIR names another folder")
        finally:
            note_compiling()
            self._lock.release(force=True)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _digest(key: Any, path: str | None) -> bytes:
    return hashlib.sha256(repr(key).encode() + Path(str(path)).read_bytes()).digest()


@cache
def _source_stamp(module: str, path: str) -> str:
    """A digest of the source of a module, and of those of this package that it imports."""
    source = Path(path).read_bytes()
    digest = hashlib.sha256(source)
    for name in sorted(set(_IMPORT.findall(source.decode("utf-8")))):
        other = getattr(sys.modules.get(name), "__file__", None)
        if other is not None and name not in (module, __name__):
            digest.update(_source_stamp(name, other).encode())
    return digest.hexdigest()
