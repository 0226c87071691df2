"""Commands in processes forked from this one, which has imported everything: they start at once."""

import atexit
import os
import select
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field

from pqswarm.cli.main import main
from pqswarm.report import html
from tests.study.studies import start_command, survivors

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a fork waits forever for threads of its parent
PATIENCE = 60.0  # seconds for something that takes a few: machines are shared


def warm_up(plans, recordings, folder):
    """Load everything that studies, reports and analyses need by running each once; no thread may be left."""
    from pqswarm.datasets import make_dataset
    from pqswarm.identify import identify_file
    from pqswarm.report import write_report
    from pqswarm.study import load_plan, run_study

    html._html_pictures = lambda drawing, prefix: {"wide": ""}  # most of the time of a small study
    for number, plan in enumerate(plans):
        place = folder / f"warm-{number}"
        run_study(load_plan(plan), place, jobs=1)
        for form in ("html", "csv"):
            write_report(place, form)
    for path in recordings:
        list(identify_file(path))
    make_dataset(1, (float("inf"), 20.0), 0, "paper", n_jobs=1)
    if threading.active_count() > 1:
        raise SystemExit(f"threads are left that forks would lose: {threading.enumerate()}")


@dataclass
class Command:
    """A command in its own session."""

    pid: int
    pipe: int
    code: int | None = None
    said: bytes = field(default=b"", repr=False)

    def wait(self, seconds=PATIENCE):
        """Wait for its end; return its exit code, or None after that time."""
        deadline = time.monotonic() + seconds
        while self.code is None:
            left = deadline - time.monotonic()
            self._read(min(max(left, 0.0), 0.01))
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self._read(0.0)
            elif left <= 0:
                break
        return self.code

    def _read(self, seconds):
        """Read its output, so that it never blocks."""
        if self.pipe >= 0 and select.select([self.pipe], [], [], seconds)[0]:
            piece = os.read(self.pipe, 1 << 16)
            self.said += piece
            if piece:
                return
            os.close(self.pipe)
            self.pipe = -1
        elif self.pipe < 0:
            time.sleep(seconds)

    def text(self):
        while self.pipe >= 0 and select.select([self.pipe], [], [], 0.0)[0]:
            self._read(0.0)
        return self.said.decode(errors="replace")

    def signal(self, number, group=False):
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, number)

    def end(self):
        """Kill all of its processes; return those that had survived on their own."""
        if self.code is None:
            self.signal(signal.SIGKILL)
            self.wait()
        left = survivors(self.pid, PATIENCE / 2)
        for process in left:
            with suppress(Exception):
                process.kill()
        self.text()
        if self.pipe >= 0:
            os.close(self.pipe)
            self.pipe = -1
        return [" ".join(process.cmdline())[:80] for process in left if process.is_running()]


def fork_command(*arguments, prepare=None):
    """Start a command in a process forked from this one, after a call of `prepare`."""
    ours, its = os.pipe()
    pid = os.fork()
    if pid:
        os.close(its)
        return Command(pid, ours)
    code = 1
    try:
        os.setsid()
        for number in (1, 2):
            os.dup2(its, number)
        os.close(ours)
        os.close(its)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["pqswarm", *map(str, arguments)]
        if prepare is not None:
            prepare()
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:  # noqa: BLE001 (as the interpreter does)
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def true_command(*arguments):
    """Start a command as a person does, in a new interpreter."""
    ours, its = os.pipe()
    process = start_command(*arguments, stdout=its, stderr=its)
    os.close(its)
    process.returncode = 0  # this object is not used to wait for it
    return Command(process.pid, ours)
