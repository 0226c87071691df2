"""The number of threads, and a limit on those of BLAS."""

import multiprocessing
import os
import sys
from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any

from pqswarm._base.checks import check_integer


def effective_jobs(n_jobs: int | None) -> int:
    """Return the threads to use: by default all cores; in a worker process OMP_NUM_THREADS of its parent, or 1."""
    if n_jobs is None or n_jobs == -1:
        if multiprocessing.parent_process() is not None:
            granted = os.environ.get("OMP_NUM_THREADS", "1")
            return int(granted) if granted.isdigit() and int(granted) > 0 else 1
        from joblib import cpu_count

        return int(cpu_count())
    return check_integer("n_jobs", n_jobs, 1, also=", or -1 or None for all cores")


@cache
def _blas(scipy_too: bool) -> Any:  # noqa: ARG001
    """The loaded BLAS libraries, including SciPy's once it has been imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _OneThread:
    """A process-wide limit on BLAS threads: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits: list[tuple[bool, Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            scipy_too = "scipy.linalg" in sys.modules
            if not self._limits or self._limits[-1][0] < scipy_too:  # SciPy may have been imported in the meantime
                self._limits.append((scipy_too, _blas(scipy_too).limit(limits=1, user_api="blas")))
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            while self._limits and self._users == 0:
                self._limits.pop()[1].restore_original_limits()


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep BLAS libraries from starting threads beside those of pqswarm; any number of threads may enter it."""
    return _ONE_THREAD
