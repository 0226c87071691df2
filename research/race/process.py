"""One fit in a separate process: a hang, crash or exception becomes a record and never ends the race."""

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

# Imported once by the server that all processes are forked from; the method's record reports missing packages.
PRELOADED = ["race.preload"]
GRACE = 3  # times the limit after which a process is ended that did not stop
IDLE = 300  # seconds without CPU use after which a process counts as hanging; a busy machine only makes it slow


def one_thread():
    """Restrict libraries to one thread in processes started from now on."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    os.environ |= {"POLARS_MAX_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}


def attempt(work, limit, *args):
    """Return the dict ``work(limit, *args)`` from a new process, or the reason for its failure."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, work, limit, args), daemon=True)
    process.start()
    sender.close()
    result = None
    try:
        with contextlib.suppress(EOFError):  # it died
            if ended := not _hangs(process.pid, receiver):
                result = receiver.recv()
                process.join(IDLE)
    finally:
        process.kill()
        process.join()
    if result is not None:
        return result
    if ended and process.exitcode == -signal.SIGXCPU:
        return {"status": "over"}
    why = f"the process ended with {process.exitcode}" if ended else f"it did nothing for {IDLE} s"
    return {"status": "failed", "reason": why}


def _hangs(pid, receiver):
    """Wait for an answer or the end of the process; return whether it stopped using the CPU instead."""
    used, since = -1.0, time.monotonic()
    while not receiver.poll(1):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended: the next poll shows it
            times = psutil.Process(pid).cpu_times()
            if times.user + times.system > used:
                used, since = times.user + times.system, time.monotonic()
        if time.monotonic() - since > IDLE:
            return True
    return False


def start_clock(limit, raising=False):
    """Have `TimeIsUp` raised in this process after `limit` more CPU seconds, and the process ended a while later."""
    if raising:
        signal.signal(signal.SIGPROF, _raise)
        signal.setitimer(signal.ITIMER_PROF, limit)
    soon = math.ceil(time.process_time() + GRACE * limit)
    resource.setrlimit(resource.RLIMIT_CPU, (soon, resource.RLIM_INFINITY))


def stop_clock():
    """Let the process take its time from now on."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class TimeIsUp(KeyboardInterrupt):
    """The CPU time of a method is over."""


def _raise(_number, _frame):
    raise TimeIsUp


def _run(sender, work, limit, args):
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        sys.stdout = sys.stderr = nowhere
        try:
            result = work(limit, *args)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
            first = (str(error).strip().splitlines() or [""])[0][:120]
            result = {"status": "failed", "reason": f"{type(error).__name__}: {first}"}
    sender.send(result)
