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

import psutil

# Imported once by the server that all processes are forked from; what is missing is said by the method's record.
PRELOADED = ["race.preload"]
IDLE = 300  # seconds without any use of the processor after which a process hangs; a busy machine only makes it slow


def one_thread():
    """Let the libraries of processes that are started from now on use one thread."""
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
            if ended := not _hangs(process.pid, receiver):
                told = receiver.recv()
                process.join(IDLE)
    finally:
        process.kill()
        process.join()
    if told is not None:
        return told
    if ended and process.exitcode == -signal.SIGXCPU:
        return {"status": "over", "limit": limit}
    why = f"the process ended with {process.exitcode}" if ended else f"it did nothing for {IDLE} s"
    return {"status": "failed", "reason": why}


def _hangs(pid, receiver):
    """Wait until the process answers or ends, or has not used the processor for long."""
    used, since = -1.0, time.monotonic()
    while not receiver.poll(1):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended: the next look at the pipe says so
            times = psutil.Process(pid).cpu_times()
            if times.user + times.system > used:
                used, since = times.user + times.system, time.monotonic()
        if time.monotonic() - since > IDLE:
            return True
    return False


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
