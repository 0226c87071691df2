"""Run cases in worker processes with limits on time and memory.

A process is prepared once: everything is imported, compiled and tried. Workers are forked from it, and again whenever
one dies, after the case that killed it has been kept. Case n of a seed is the same file whatever the number of workers.
"""

import hashlib
import json
import math
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.fuzz.generate import generate
from tests.fuzz.mutations import MUTATORS
from tests.fuzz.seeds import CORPUS, make_seeds, read_case, write_case
from tests.fuzz.targets import EVERYTHING, READERS, TARGETS, Outcome, Shares, examine

WEIGHTS = {"comtrade": 30, "pqdif": 20, "csv": 18, "npz": 12, "sel": 8, "mat": 6, "zip": 6, "site": 5}
WEIGHTS |= {"archive": 3, "samples": 3, "model": 2}
"""Weights of the targets; 1 for all others."""

RECYCLED = 20_000
"""Cases after which a worker is forked again, so that caches of libraries do not count as memory of a case."""

KEPT = 3
"""Maximum number of saved findings of the same kind and place."""

MAX_TRIALS = 2000
"""Maximum number of trials to reduce a finding."""


@dataclass(frozen=True)
class Limits:
    """Limits of one case: processor time and wall-clock time [s], additional memory [MB]."""

    seconds: float = 20.0
    waiting: float = 120.0
    memory: int = 512


def make_case(seed, number, seeds, targets=TARGETS):
    """The target and the files of a case, and its random numbers."""
    rng = random.Random(f"{seed}/{number}")
    target = rng.choices(targets, [WEIGHTS.get(name, 1) for name in targets])[0]
    files = generate(target, rng) if rng.random() < 0.3 else None
    files = rng.choice(seeds[target]) if files is None else files
    if rng.random() < 0.75 or target not in READERS:
        files = MUTATORS[target](files, rng)
    return target, files, rng


def limit_process(limits):
    """Limit the memory of this process; `start_clock` limits its time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + limits.memory * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for name in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(name, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers


def start_clock(limits):
    """Start the timers whose signals end the process; zero stops them."""
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.waiting)


DEATHS = {
    signal.SIGPROF: "hangs: it was killed after {0.seconds:g} s of processor time",
    signal.SIGALRM: "waits: it was killed after {0.waiting:g} s",
}


class Board:
    """Shared memory of the workers and their parent: the current case of each worker, counts of each target."""

    COLUMNS = ("files", "accepted", "refused", "findings", "slowest_us", "slowest_case")

    def __init__(self, workers):
        shape = (workers, 1 + len(TARGETS), len(self.COLUMNS))
        numbers = np.frombuffer(mmap.mmap(-1, 8 * math.prod(shape)), dtype=np.int64).reshape(shape)
        self.cases, self.counts = numbers[:, 0, :2], numbers[:, 1:]

    def enter(self, worker, number, place):
        self.cases[worker] = number, place

    def current(self, worker):
        return self.cases[worker].tolist()

    def count(self, worker, target, word, seconds, number):
        row = self.counts[worker, TARGETS.index(target)]
        row[0] += 1
        row[{"accepted": 1, "refused": 2}.get(word, 3)] += 1
        if seconds * 1e6 > row[4]:
            row[4:] = int(seconds * 1e6), number

    def table(self):
        """Rows of numbers by target."""
        rows = {}
        for target, each in zip(TARGETS, self.counts.swapaxes(0, 1), strict=True):
            slowest, case = max(each[:, 4:].tolist())
            rows[target] = [*each[:, :4].sum(axis=0).tolist(), slowest / 1e6, case]
        return rows


@dataclass
class Campaign:
    """A fuzzing run: cases `first` to `first + files`, within the given time."""

    seed: int = 0
    first: int = 0
    files: int = 10**18
    seconds: float = 3600.0
    workers: int = 1
    targets: tuple = TARGETS
    limits: Limits = field(default_factory=Limits)
    findings: Path = Path("fuzz-findings")
    samples: Path | None = None

    def run(self, told=sys.stderr):
        self.seeds = make_seeds(self.samples)
        self.board = Board(self.workers)
        began = time.monotonic()
        self.end = began + self.seconds
        peak, used, next_line = 0, 0.0, began + 60
        with tempfile.TemporaryDirectory(prefix="fuzz-", dir=fast_folder()) as name:
            self.folder = Path(name)
            prepare(make_seeds(), self.folder / "prepare", self.targets)
            base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            for past in past_findings():
                self._try_past(past)
            ready = time.monotonic()
            self.end += ready - began
            running = {self._fork(worker, self.first + worker): worker for worker in range(self.workers)}
            try:
                while running:
                    pid, status, usage = os.wait4(-1, os.WNOHANG)
                    if pid:
                        worker = running.pop(pid)
                        peak, used = max(peak, usage.ru_maxrss / 1024), used + usage.ru_utime + usage.ru_stime
                        following = self._after(worker, status)
                        if following is not None:
                            running[self._fork(worker, following)] = worker
                    else:
                        time.sleep(0.05)
                    if time.monotonic() > next_line:
                        next_line += 60
                        told.write(f"{sum(row[0] for row in self.board.table().values())} files\n")
                        told.flush()
            except KeyboardInterrupt:  # the figures so far are reported
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                    used += sum(os.wait4(pid, 0)[2][:2])
        return self._figures(time.monotonic() - ready, used, base, peak)

    def _try_past(self, past):
        """Past findings stay fixed."""
        target = past.parent.name
        if target in self.targets:
            outcome = try_again(past, self.limits)
            if outcome.word == "finding":
                self.keep(target, read_case(past), -1, outcome)
            self.board.count(0, target, outcome.word, 0.0, -1)

    def _figures(self, seconds, used, base, peak):
        table = self.board.table()
        files = sum(row[0] for row in table.values())
        kinds = sorted({json.loads(p.read_text())["place"] for p in self.findings.glob("*/finding.json")})
        return {
            "seed": self.seed,
            "workers": self.workers,
            "seconds": round(seconds, 1),
            "files": files,
            "files_per_second": round(files / max(seconds, 1e-9), 1),
            "files_per_core_second": round(files / max(used, 1e-9), 1),
            "accepted": sum(row[1] for row in table.values()),
            "refused": sum(row[2] for row in table.values()),
            "findings": sum(row[3] for row in table.values()),
            "kinds": kinds,
            "slowest_s": round(max(row[4] for row in table.values()), 3),
            "memory_mb": {"prepared": round(base), "peak": round(peak)},
            "targets": {
                name: dict(zip((*Board.COLUMNS[:4], "slowest_s", "slowest_case"), row, strict=True))
                for name, row in table.items()
                if row[0]
            },
        }

    def _fork(self, worker, number):
        pid = fork()
        if pid:
            return pid
        code = 1
        try:
            code = self._work(worker, number)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(code)

    def _work(self, worker, number):
        """Run a worker; return 0 when done, 3 to be forked again."""
        limit_process(self.limits)
        last = min(number + RECYCLED * self.workers, self.first + self.files)
        while number < last:
            if time.monotonic() > self.end:
                return 0
            self.board.enter(worker, number, -1)
            start_clock(self.limits)
            self._try_case(worker, number, *make_case(self.seed, number, self.seeds, self.targets))
            number += self.workers
        self.board.enter(worker, number, -1)
        return 0 if number >= self.first + self.files else 3

    def _try_case(self, worker, number, target, files, rng):
        """Examine a case within its limits, count it and keep a finding."""
        folder = self.folder / str(worker)
        place_case(files, folder)
        self.board.enter(worker, number, TARGETS.index(target))
        start_clock(self.limits)
        began = time.process_time()
        outcome = examine(target, folder, rng, Shares())
        seconds = time.process_time() - began
        start_clock(Limits(0, 0))
        if outcome.word == "finding":
            self.keep(target, files, number, outcome)
        self.board.count(worker, target, outcome.word, seconds, number)

    def _after(self, worker, status):
        """The case at which a worker resumes; None if it is done."""
        number, place = self.board.current(worker)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return None
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3:
            return number
        if os.WIFSIGNALED(status):
            name = os.WTERMSIG(status)
            sentence = DEATHS.get(name, f"kills the process by {signal.Signals(name).name}").format(self.limits)
        else:
            sentence = f"ends the process with code {os.WEXITSTATUS(status)}"
        folder = self.folder / str(worker)
        files = read_case(folder) if folder.is_dir() and place >= 0 else {}
        target = TARGETS[place] if place >= 0 else "making"
        self.keep(target, files, number, Outcome("finding", sentence, f"{target} {sentence.split(':')[0]}"))
        if place >= 0:
            self.board.count(worker, target, "finding", self.limits.seconds, number)
        return number + self.workers

    def keep(self, target, files, number, outcome):
        """Save a finding, unless enough of its kind are saved."""
        self.findings.mkdir(parents=True, exist_ok=True)
        kind = hashlib.sha256(outcome.place.encode()).hexdigest()[:6]
        if len(list(self.findings.glob(f"*-{kind}-*"))) >= KEPT:
            return
        folder = self.findings / f"{target}-{kind}-{self.seed}-{number}"
        write_case(files, folder)
        about = {"target": target, "seed": self.seed, "number": number, "sentence": outcome.sentence}
        about |= {"place": outcome.place, "trace": outcome.trace.splitlines()[-40:]}
        (folder / "finding.json").write_text(json.dumps(about, indent=1))


def fork():
    """Fork, even if the test runner has other threads: workers need none of their locks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
        return os.fork()


def fast_folder():
    """A file system in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def place_case(files, folder):
    """Put exactly the files of a case into a folder."""
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in files:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    write_case(files, folder)


def prepare(seeds, folder, targets=TARGETS):
    """Import and compile everything that cases need; good files must be accepted."""
    for target in targets:
        for place, files in enumerate(seeds[target]):
            place_case(files, folder)
            outcome = examine(target, folder, random.Random(0), Shares(1, 0, 0, 0) if place else EVERYTHING)
            if outcome.word != "accepted":
                raise SystemExit(f"a good {target} is not accepted: {outcome}")
    shutil.rmtree(folder)


def try_again(folder, limits):
    """Repeat the case in a folder in a separate process; return its outcome."""
    folder = Path(folder)
    target = find_target(folder)
    files = read_case(folder)
    reading, writing = os.pipe()
    pid = fork()
    if not pid:
        try:
            with tempfile.TemporaryDirectory(dir=fast_folder()) as name:
                write_case(files, name)
                limit_process(limits)
                start_clock(limits)
                outcome = examine(target, Path(name), random.Random(0), EVERYTHING)
                start_clock(Limits(0, 0))
            os.write(writing, json.dumps(vars(outcome)).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        name = os.WTERMSIG(status)
        return Outcome("finding", DEATHS.get(name, f"killed by signal {name}").format(limits), "killed")
    return Outcome(**json.loads(told)) if told else Outcome("finding", "ends the process", "killed")


def find_target(folder):
    """The target of a case: from its note, or from the parent folder."""
    note = folder / "finding.json"
    return json.loads(note.read_text())["target"] if note.exists() else folder.resolve().parent.name


def past_findings():
    """Folders of past findings, all fixed."""
    return sorted(CORPUS.glob("found/*/*"))


def minimize(folder, limits):
    """Remove ever smaller pieces of the files of a finding that stays the same; return the folder of the small ones."""
    folder = Path(folder)
    about = json.loads((folder / "finding.json").read_text())
    small = folder.with_name(f"{folder.name}-small")
    files, trials = read_case(folder), 0

    def is_same(changed):
        nonlocal trials
        trials += 1
        write_case({**changed, "finding.json": json.dumps(about).encode()}, small)
        outcome = try_again(small, limits)
        return outcome.word == "finding" and outcome.place == about["place"]

    about["place"] = try_again(folder, limits).place
    for name in list(files):
        size = len(files[name])
        while size := size // 2:
            at = 0
            while at < len(files[name]) and trials < MAX_TRIALS:
                shorter = {**files, name: files[name][:at] + files[name][at + size :]}
                if is_same(shorter):
                    files = shorter
                else:
                    at += size
    write_case({**files, "finding.json": json.dumps(about, indent=1).encode()}, small)
    return small
