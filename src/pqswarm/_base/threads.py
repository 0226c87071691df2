"""The number of threads, and a limit on those of BLAS."""

import multiprocessing
import os
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
def _blas_libraries() -> Any:
    """The BLAS libraries of NumPy and SciPy.

    SciPy is imported first, so that they are looked for once: threadpoolctl holds the lock of the dynamic loader while
    it waits for Python's, and a thread that imports a library does the reverse.
    """
    import scipy.linalg  # noqa: F401 (loads its BLAS)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _OneThread:
    """A process-wide limit on BLAS threads: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._limit is None:
                self._limit = _blas_libraries().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()
                self._limit = None


one_blas_thread = _OneThread()
"""A context that keeps BLAS from starting threads in addition to those of pqswarm; several threads may enter it."""
