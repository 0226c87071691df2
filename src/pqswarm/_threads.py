"""How many threads to use."""

import multiprocessing
import os

import numpy as np

from pqswarm.errors import PqswarmError

__all__ = ["effective_jobs"]


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads to use.

    By default all cores; in a worker process as many as its parent granted through OMP_NUM_THREADS, or one.
    """
    if n_jobs is None or n_jobs == -1:
        if multiprocessing.parent_process() is not None:
            granted = os.environ.get("OMP_NUM_THREADS", "1")
            return int(granted) if granted.isdigit() and int(granted) > 0 else 1
        from joblib import cpu_count

        return int(cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs < 1:
        raise PqswarmError(f"n_jobs must be an integer of at least 1, or -1 or None for all cores, not {n_jobs!r}.")
    return int(n_jobs)
