"""Compile functions by Numba, and cache the machine code from one process to the next.

Numba's own cache fails, or runs damaged code, if there is no writable folder, the disk is full or a file was altered.
Here every file has a digest, and code that cannot be read or written is compiled again. Cached code is also outdated
if a module changes whose functions it calls. Of processes that start together, one compiles each function, and the
others wait for it.

This subclasses private classes of Numba, so a new release may break it. The environment variable
``PQSWARM_NUMBA_CACHE=1`` falls back to Numba's own cache. The two have different files: one leaves the other as it is.
"""

import atexit
import functools
import gc
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from filelock import FileLock, Timeout
from numba.core.caching import FunctionCache, IndexDataCacheFile

from pqswarm._kernels.compile_times import note_compile_time

_IMPORT = re.compile(r"^from (pqswarm[\w.]*) import", re.MULTILINE)
_PATIENCE = 60.0  # seconds that another process may take to compile the same function
_FALLBACK = "PQSWARM_NUMBA_CACHE"
_warned = False


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as :func:`numba.njit` does; ``cache=True`` caches it where possible."""
    if os.environ.get(_FALLBACK) == "1":
        return numba.njit(**options)  # type: ignore[no-any-return]
    keep = options.pop("cache", False)

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options, no_cfunc_wrapper=True)(function)  # nothing calls it from C
        if keep and hasattr(dispatcher, "_cache"):  # else the compiler is turned off
            dispatcher._compiler.compile = _without_collecting_garbage(dispatcher._compiler.compile)
            try:
                dispatcher._cache = _CompiledCodeCache(function)
            except (RuntimeError, OSError):
                _warn_compiling("there is no writable folder to cache them: set NUMBA_CACHE_DIR")
        return dispatcher

    return compiled


def _without_collecting_garbage(compile_function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a compiler keep its garbage while it runs: to look for it would take a fifth of the time."""

    @functools.wraps(compile_function)
    def compiled(*args: Any) -> Any:
        if not gc.isenabled():  # turned off by the user, or by the function that calls this one
            return compile_function(*args)
        gc.disable()
        try:
            return compile_function(*args)
        finally:
            gc.enable()

    return compiled


def _warn_compiling(why: str) -> None:
    """Warn once why functions are compiled although they could come from the cache."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"functions are compiled again, which takes a while: {why}.", RuntimeWarning, stacklevel=2)


class _CompiledCodeFile(IndexDataCacheFile):
    """The files of a compiled function: next to the code of each signature, a digest of code and signature."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, data)
        path = self._path(key)
        with self._open_for_write(f"{path}.sha256") as file:
            file.write(_compiled_code_digest(key, path))

    def load(self, key: Any) -> Any:
        path = self._path(key)
        if path is None or not Path(f"{path}.sha256").exists():
            return None
        if Path(f"{path}.sha256").read_bytes() != _compiled_code_digest(key, path):
            raise ValueError("the file was altered")
        return super().load(key)

    def _path(self, key: Any) -> str | None:
        """Path of the code of a signature, if it is cached."""
        name = self._load_index().get(key)
        return None if name is None else str(self._data_path(name))

    def remove(self) -> None:
        """Drop all cached signatures."""
        with suppress(OSError):
            Path(self._index_path).unlink()


class _CompiledCodeCache(FunctionCache):
    """The cache of one compiled function."""

    _cache_file: _CompiledCodeFile

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = _compiled_source_stamp(function.__module__, function.__code__.co_filename)
        name = f"{self._impl.filename_base}-checked"  # not the name of Numba's own files
        self._cache_file = _CompiledCodeFile(self._cache_path, name, stamp)
        # Held from a cache miss until the function is compiled. Threads of a process never wait for one another: the
        # compiler admits one at a time.
        self._lock = FileLock(Path(self._cache_path, f"{name}.lock"), timeout=_PATIENCE, thread_local=False)
        atexit.register(self.__dict__.pop, "_lock")  # later, a lock cannot be released: modules are empty

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code, if need be after another process has compiled it, or None."""
        code, _ = self._look(sig, target_context)
        if code is not None or self._lock.is_locked:
            return code
        note_compile_time()
        with suppress(OSError, NotImplementedError, Timeout, RuntimeError):  # the last: a lock from before a fork
            self._impl.locator.ensure_cache_path()
            self._lock.acquire()
            code, error = self._look(sig, target_context)  # again: it may just have been written
            if error is not None:
                self._cache_file.remove()
                _warn_compiling(
                    f"the cache in {self._cache_path} cannot be read ({_compile_cache_error_reason(error)})"
                )
            if code is not None:
                self._lock.release()
        return code

    def _look(self, sig: Any, target_context: Any) -> tuple[Any, Exception | None]:
        """Return the cached code, and why it cannot be used."""
        try:
            return super().load_overload(sig, target_context), None
        except Exception as error:  # a damaged file may raise anything
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise
            return None, error

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the compiled code."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # noqa: BLE001
            self._cache_file.remove()
            reason = _compile_cache_error_reason(error)
            _warn_compiling(
                f"they cannot be cached in {self._cache_path} ({reason}); NUMBA_CACHE_DIR sets another folder"
            )
        finally:
            note_compile_time()
            self._lock.release(force=True)


def _compile_cache_error_reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _compiled_code_digest(key: Any, path: str | None) -> bytes:
    return hashlib.sha256(repr(key).encode() + Path(str(path)).read_bytes()).digest()


@functools.cache
def _compiled_source_stamp(module: str, path: str) -> str:
    """A digest of the source of a module and of the pqswarm modules that it imports."""
    source = Path(path).read_bytes()
    digest = hashlib.sha256(source)
    for name in sorted(set(_IMPORT.findall(source.decode("utf-8")))):
        other = getattr(sys.modules.get(name), "__file__", None)
        if other is not None and name not in (module, __name__):
            digest.update(_compiled_source_stamp(name, other).encode())
    return digest.hexdigest()
