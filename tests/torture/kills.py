"""Kill studies and watchers at random moments, resume them until they end, and compare the outcomes."""

import atexit
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import chain, count
from pathlib import Path

import psutil

from tests.study.studies import survivors, workers_of
from tests.torture.faults import Faults
from tests.torture.forks import fork_command, true_command
from tests.torture.outcomes import names, study_outcome, take_semaphores, watch_outcome

LONG = 900.0  # seconds for a whole small study on a shared machine
MAX_RESUMES = 40  # of one study, which may then end
WRITE = "KILL in a write"

# Signal, whether to the group, and the allowed exit codes; 0 if the command was faster.
ENDINGS = {
    "KILL main": (signal.SIGKILL, False, {-9}),
    "KILL group": (signal.SIGKILL, True, {-9}),
    "TERM main": (signal.SIGTERM, False, {-15}),
    "INT main": (signal.SIGINT, False, {130}),
    "INT group": (signal.SIGINT, True, {130}),
    "HUP main": (signal.SIGHUP, False, {-1}),
    "HUP group": (signal.SIGHUP, True, {-1}),
}
TO_WORKERS = ("KILL worker", "STOP worker, KILL worker", "STOP worker, KILL main")

# Weight of each kind.
MODES = {
    "one process": {WRITE: 8, "KILL main": 8, "TERM main": 2, "INT main": 3, "HUP main": 1},
    "two workers": dict.fromkeys((*ENDINGS, *TO_WORKERS), 1),
    "Dask": {"KILL main": 5, "INT main": 3, "KILL Dask worker": 3, "KILL Dask scheduler": 1},
    "command line": dict.fromkeys(("KILL main", "KILL group", "TERM main", "INT group", "HUP group"), 1),
    "watch": {WRITE: 6, "KILL main": 5, "TERM main": 2, "INT main": 2, "HUP main": 1},
    "watch, command line": dict.fromkeys(("KILL main", "TERM main", "INT group"), 1),
}

CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


class Cluster:
    """A Dask cluster: a scheduler in its own process, and two workers."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / "cluster.py"
        script.write_text(CLUSTER)
        self.process = subprocess.Popen(
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *filter(None, sys.path)])},
        )
        self.address = self.process.stdout.readline().strip()

    def is_alive(self):
        return self.process.poll() is None

    def workers(self):
        try:
            children = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            return []
        return [one for one in children if "spawn_main" in " ".join(one.cmdline())]

    def kill_scheduler(self):
        """Kill the scheduler; its workers end with it."""
        self.process.kill()
        self._forget()

    def close(self):
        if self.is_alive():
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._forget()

    def _forget(self):
        self.process.wait()
        self.process.stdout.close()
        for process in survivors(self.process.pid, 30.0):
            process.kill()


def count_writes(folder, *arguments, before=lambda: None):
    """Run a command undisturbed; return its duration [s] and its number of writes below a folder."""
    faults = Faults(folder)

    def prepare():
        before()
        faults.install()
        atexit.register(lambda: sys.stdout.write(f"writes: {faults.count}\n"))

    start = time.monotonic()
    command = fork_command(*arguments, prepare=prepare)
    code = command.wait(LONG)
    if code:
        raise SystemExit(f"pqswarm {' '.join(map(str, arguments))} fails undisturbed:\n{command.text()}")
    command.end()
    return time.monotonic() - start, int(re.search(r"writes: (\d+)", command.text())[1])


class Killing:
    """Kills commands of one of the `MODES` repeatedly, in a folder, at moments of a seed."""

    def __init__(self, mode, folder, seed, tally):
        self.mode, self.folder, self.tally = mode, folder, tally
        self.rng = random.Random(seed)
        self.folders = (folder / str(number) for number in count())
        self.kinds = MODES[mode]
        self.cluster = None

    def run(self, kills):
        """Kill that many times, then let the last command finish."""
        self.left = kills
        try:
            while self.left > 0:
                self.run_one(next(self.folders))
        finally:
            if self.cluster is not None:
                self.cluster.close()

    def draw_kind(self):
        return self.rng.choices([*self.kinds], [*self.kinds.values()])[0]

    def compare(self, folder, outcome):
        """Compare a finished outcome with the undisturbed one."""
        different = [part for part, value in self.expected.items() if outcome[part] != value]
        self.tally.check("differences", not different, f"{self.mode}, {folder}: {different}")
        left = names(folder) ^ self.files
        self.tally.check("files left", not left, f"{self.mode}, {folder}: {sorted(left)}")
        if not different and not left:
            shutil.rmtree(folder)

    def start(self, *arguments, place, kind, writes):
        """Start a command; a kill in a write is installed in advance."""
        if self.mode.endswith("command line"):
            return true_command(*arguments)
        if kind == WRITE:
            return fork_command(*arguments, prepare=Faults(place, self.rng.randint(1, writes), kill=True).install)
        return fork_command(*arguments)

    def disturb(self, command, kind, moment, codes=None):
        """Disturb a command after a time [s]; return whether that was before its end."""
        if kind == WRITE:
            done = command.wait(LONG) == -9
            allowed = {-9}
        elif kind in ENDINGS:
            number, group, allowed = ENDINGS[kind]
            done = command.wait(moment) is None
            if done:
                command.signal(number, group)
                done = command.wait() != 0 or bool(codes)
        else:
            return self.disturb_others(command, kind, moment)
        return self.check_end(command, kind, allowed | {0} | set(codes or ()), done)

    def check_end(self, command, kind, allowed, done):
        text = command.text()
        if self.mode.endswith("command line") and "INT" in kind and command.code == -signal.SIGINT:
            allowed, text = {command.code}, ""  # Python itself, before the command was loaded
        fine = command.code in allowed and "Traceback" not in text
        self.tally.check("wrong endings", fine, f"{self.mode}, {kind}: {command.code}: {text[-1500:]}")
        left = command.end()
        self.tally.check("processes left", not left, f"{self.mode}, {kind}: {left}")
        semaphores = take_semaphores(command.pid)
        self.tally.add("semaphores of joblib left", semaphores)
        with_tracker = kind in ("KILL group", "HUP group")  # which would have removed them
        self.tally.check("files left", with_tracker or not semaphores, f"{self.mode}, {kind}: {semaphores} semaphores")
        if done:
            self.tally.add(f"{kind}: {self.mode}")
            self.tally.add("kills")
            self.left -= 1
        return done

    def disturb_others(self, command, kind, moment):
        """Kill a worker, which the study survives, or the cluster."""
        if command.wait(moment) is not None:
            return self.check_end(command, kind, {0}, done=False)
        if kind == "KILL Dask scheduler":
            self.cluster.kill_scheduler()
            self.tally.add("came through", command.wait(LONG) == 0)
            return self.check_end(command, kind, {0, 2}, done=True)
        if kind == "KILL Dask worker":
            workers = self.cluster.workers()
        else:
            workers = workers_of(command.pid) if command.code is None else []
        if not workers:
            command.wait(LONG)
            return self.check_end(command, kind, {0}, done=False)
        worker = self.rng.choice(workers)
        with suppress(ProcessLookupError):
            if kind.startswith("STOP"):
                os.kill(worker.pid, signal.SIGSTOP)
                time.sleep(self.rng.uniform(0, 0.3))
            if kind == "STOP worker, KILL main":
                command.signal(signal.SIGKILL)
                command.wait()
                os.kill(worker.pid, signal.SIGCONT)  # no other process could end it
            else:
                os.kill(worker.pid, signal.SIGKILL)
        if kind != "STOP worker, KILL main":
            command.wait(LONG)
            self.tally.add("came through")
        return self.check_end(command, kind, {0, -9}, done=True)


class StudyKilling(Killing):
    """Kills studies and resumes each until it ends."""

    def __init__(self, mode, folder, seed, tally, plan, whole, seconds):
        super().__init__(mode, folder, seed, tally)
        self.plan, (_, self.writes), self.expected, self.files = plan, *whole
        self.seconds = seconds

    def run_one(self, folder):
        """Start a study and kill it until it ends, or until there were enough kills."""
        self.tally.add("studies")
        for resumed in count():
            enough = self.left <= 0 or resumed >= MAX_RESUMES
            kind = "" if enough else self.draw_kind()
            command = self.start(*self.arguments(folder), place=folder, kind=kind, writes=self.writes)
            self.tally.add("resumes", resumed > 0)
            if enough:
                command.wait(LONG)
                self.check_end(command, "undisturbed", {0}, done=False)
            else:
                self.disturb(command, kind, self.rng.uniform(0, self.seconds))
            if command.code == 0 or enough:
                break
        if command.code == 0:
            self.compare(folder, study_outcome(folder))

    def arguments(self, folder):
        jobs = 2 if self.mode in ("two workers", "command line") else 1
        given = ("study", self.plan, "--out", folder, "--jobs", jobs)
        if self.mode != "Dask":
            return given
        if self.cluster is None or not self.cluster.is_alive():
            self.cluster = Cluster(self.folder)
        return (*given, "--cluster", self.cluster.address)


class WatchKilling(Killing):
    """Kills watchers of folders into which recordings are copied."""

    def __init__(self, mode, folder, seed, tally, recordings, whole):
        super().__init__(mode, folder, seed, tally)
        self.recordings, (self.seconds, self.writes), self.expected, self.files = recordings, *whole

    def run_one(self, folder):
        """Watch a folder, kill the watcher a few times while recordings arrive, and let it finish."""
        incoming = folder / "incoming"
        copy_recordings([], incoming)
        coming = self.rng.sample(self.recordings, len(self.recordings))
        self.tally.add("watched folders")
        command_line = self.mode.endswith("command line")
        for resumed in range(min(self.left, self.rng.randint(3, 8))):
            while coming and self.rng.random() < 0.5:
                copy_recordings([coming.pop()], incoming)
            kind = self.draw_kind()
            command = self.start(*watch_arguments(folder), place=folder, kind=kind, writes=self.writes)
            self.tally.add("resumes", resumed > 0)
            moment = self.rng.uniform(0, self.seconds) + (3.0 if command_line else 0.0)
            if kind == WRITE and command.wait(2.0 * self.seconds + 2.0) is None:  # it has nothing to write
                kind, moment = "KILL main", 0.0
            codes = {"TERM main": {0, -15}, "INT main": {0, 130}, "INT group": {0, 130}}.get(kind)
            self.disturb(command, kind, moment, codes)
        copy_recordings(coming, incoming)
        command = fork_command(*watch_arguments(folder), "--once")
        code = command.wait(LONG)
        self.tally.check("wrong endings", code == 0, f"{self.mode}: {code}: {command.text()[-600:]}")
        self.tally.add("resumes")
        self.tally.check("processes left", not command.end(), f"{self.mode}, --once")
        self.compare(folder, watch_outcome(folder))


def copy_recordings(recordings, folder):
    """Copy the parts of recordings into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in chain.from_iterable(recordings):
        (folder / part.name).write_bytes(part.read_bytes())


def watch_arguments(folder):
    lines = folder / "events.jsonl"
    return ("watch", folder / "incoming", "--jsonl", lines, "--interval", 0.05, "--settle", 0.05)


def undisturbed_study(plan, folder):
    """Seconds and writes of a study, its outcome and its files."""
    measured = count_writes(folder, "study", plan, "--out", folder, "--jobs", 1)
    return measured, study_outcome(folder), names(folder)


def study_seconds(modes, plan, folder):
    """Duration [s] of an undisturbed study in modes that start interpreters; a cluster is as slow as workers."""
    starts = {"two workers": fork_command, "Dask": fork_command, "command line": true_command}
    found = {}
    for mode in set(modes) & set(starts):
        began = time.monotonic()
        command = starts[mode]("study", plan, "--out", folder / f"seconds of {mode}", "--jobs", 2)
        command.wait(LONG)
        command.end()
        found[mode] = time.monotonic() - began
    return found


def undisturbed_watch(recordings, folder):
    """Seconds and writes of a watcher, its outcome and its files."""
    copy_recordings(recordings, folder / "incoming")
    measured = count_writes(folder, *watch_arguments(folder), "--once")
    return measured, watch_outcome(folder), names(folder)


def kill(mode, folder, seed, prepared, kills, tally):
    if mode.startswith("watch"):
        killing = WatchKilling(mode, folder, seed, tally, prepared["recordings"], prepared["watch"])
    else:
        plan = "plan" if mode == "one process" else "light"
        seconds = prepared["seconds"].get(mode, prepared[plan][0][0])
        killing = StudyKilling(mode, folder, seed, tally, prepared[f"{plan}.toml"], prepared[plan], seconds)
    killing.run(kills)
