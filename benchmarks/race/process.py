"""One fit in a process of its own: what hangs, dies or raises becomes a record, never the end of the race."""

import contextlib
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings

# Imported once by the server that all processes are forked from; what is missing is said by the method's record.
PRELOADED = ["race.preload"]
WAITING = 5  # wall time that a fit may take, in limits of processor time: other work may be going on


def one_thread():
    """Let every library that is loaded from now on, here and in processes started from here, use one thread."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    os.environ |= {"POLARS_MAX_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}


def attempt(work, limit, *args):
    """Return ``work(*args)``, a dict, of a process that may use `limit` seconds of processor time; else the reason."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, work, limit, args), daemon=True)
    process.start()
    sender.close()
    told = None
    try:
        with contextlib.suppress(EOFError):  # it died
            if waited := receiver.poll(WAITING * limit + 60):
                told = receiver.recv()
    finally:
        process.kill()
        process.join()
    if told is not None:
        return told
    if not waited or process.exitcode == -signal.SIGXCPU:
        return {"status": "over", "limit": limit}
    return {"status": "failed", "reason": f"the process ended with {process.exitcode}"}


def start_clock(limit):
    """Let the system end this process when it has used `limit` seconds from now on; return the time used so far."""
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + limit), resource.RLIM_INFINITY))
    return used


def _run(sender, work, limit, args):
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        sys.stdout = sys.stderr = nowhere
        try:
            told = work(limit, *args)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
            first = (str(error).strip().splitlines() or [""])[0][:120]
            told = {"status": "failed", "reason": f"{type(error).__name__}: {first}"}
    sender.send(told)
