"""A disk that fills up at the first, second, third, ... write of a command: one message, nothing half-written."""

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pqswarm import identify
from tests.torture.faults import Faults, limit_files
from tests.torture.forks import fork_command
from tests.torture.kills import LONG, copy_recordings, count_writes, watch_arguments
from tests.torture.outcomes import file_outcome, names, study_outcome, watch_outcome

OLD = b"what was there before\n"
LIMITS = (0, 1, 600, 5000, 40_000, 150_000)  # bytes that a file may have
TEMPORARY = ("-journal", "-wal", "-shm")  # SQLite's: part of the database, and used by the next command


@dataclass(frozen=True)
class Case:
    """A command, the files it writes in its folder, and how to read them."""

    arguments: tuple
    written: tuple
    codes: frozenset = frozenset({2})
    outcome: object = None  # of the folder; the digests of the written files by default
    has_old: bool = True  # whether each file exists before

    def at(self, folder):
        """The arguments, with each Path placed in a folder."""
        return [folder / one if isinstance(one, Path) else one for one in self.arguments]

    def result(self, folder):
        """The outcome of a command that succeeded."""
        return self.outcome(folder) if self.outcome else file_outcome([folder / name for name in self.written])


def make_cases(prepared):
    """Commands that write, by name; `prepared` holds plans, a finished study and recordings."""
    plan, ran = prepared["plan.toml"], prepared["study"]
    page, table, model = Path("events.html"), Path("events.csv"), Path("model.npz")
    recordings = prepared["recordings"]
    two = [part for parts in recordings[:2] for part in parts if part.suffix == ".cfg"]
    report = ("report", ran, "--out")
    identify = ("identify", *two, "--html", page, "--csv", table, "--pdf", Path("events.pdf"))
    training = ("train", "--out", model, "--preset", "paper", "--no-search", "--events-per-class", 10, "--jobs", 1)
    data = ("dataset", "--out", Path("d.npz"), "--csv", Path("d.csv"), "--events-per-class", 1, "--snr", "inf,20")
    return {
        "study": Case(
            ("study", plan, "--out", Path("study"), "--jobs", 1),
            ("study",),
            outcome=lambda folder: study_outcome(folder / "study"),
            has_old=False,
        ),
        "dataset": Case((*data, "--jobs", 1, "--overwrite"), ("d.npz", "d.csv")),
        "train": Case((*training, "--overwrite"), ("model.npz",)),
        "report html": Case((*report, Path("report.html")), ("report.html",)),
        "report md": Case((*report, Path("report.md"), "--format", "md"), ("report.md",)),
        "report latex": Case((*report, Path("tables.tex"), "--format", "latex"), ("tables.tex",)),
        "report csv": Case((*report, Path("tables"), "--format", "csv"), ("tables",), has_old=False),
        "identify": Case((*identify, "--overwrite"), ("events.html", "events.csv", "events.pdf"), frozenset({1, 2})),
        "compare": Case(("compare", prepared["runs"], "--out", Path("c.txt"), "--overwrite"), ("c.txt",)),
        "watch": Case((), ("incoming",), frozenset({1, 2}), watch_outcome, has_old=False),
    }


class Disks:
    """Fills the disk of a command, write by write."""

    def __init__(self, name, case, folder, tally, recordings):
        self.name, self.case, self.folder, self.tally = name, case, folder, tally
        self.recordings = recordings if name == "watch" else ()
        self.expected, self.files = None, set()

    def prepare(self, place):
        """Prepare the folder of a command; return its arguments."""
        place.mkdir(parents=True)
        if self.case.has_old:
            for name in self.case.written:
                (place / name).write_bytes(OLD)
        if self.name != "watch":
            return self.case.at(place)
        copy_recordings(self.recordings, place / "incoming")
        return [*watch_arguments(place), "--once"]

    def shorten(self):
        """Skip slow steps that write nothing, in a separate process: training and waiting."""
        if self.name == "train":
            identify.train = lambda *_, **__: identify.default_model()
        time.sleep = lambda seconds, sleep=time.sleep: sleep(min(seconds, 0.06))

    def measure(self):
        """Run it undisturbed; return its number of writes."""
        place = self.folder / "undisturbed"
        _, writes = count_writes(place, *self.prepare(place), before=self.shorten)
        self.expected, self.files = self.case.result(place), names(place)
        return writes

    def try_all(self, points):
        """Fill the disk from certain writes on, and limit the size of files."""
        for point in points:
            place = self.folder / f"{self.name}-{point}"
            self.try_one(place, f"from write {point}", Faults(place, point).install)
        for limit in LIMITS:
            self.try_one(self.folder / f"limit-{limit}", f"files of {limit} bytes", partial(limit_files, limit))

    def try_one(self, place, what, fill):
        """Run the command on a full disk, check its message and files, free the disk and run it again."""
        arguments, what = self.prepare(place), f"{self.name}, {what}"
        before = file_outcome([place / name for name in self.case.written]) if self.case.has_old else {}

        command = fork_command(*arguments, prepare=lambda: (self.shorten(), fill()))
        code = command.wait(LONG)
        text = command.text()
        command.end()
        self.tally.add("full-disk points")
        if code != 0:
            self.tally.add("full-disk errors")
            last = (text.strip().splitlines() or [""])[-1]
            fine = code in self.case.codes and "Traceback" not in text and last.startswith("pqswarm: ")
            self.tally.check("wrong endings", fine, f"{what}: {code}: {text[-900:]}")
            self.look(place, what, before)
            again = fork_command(*arguments, prepare=self.shorten)
            code = again.wait(LONG)
            self.tally.check("wrong endings", code == 0, f"{what}, again: {code}: {again.text()[-900:]}")
            again.end()
        if code == 0:
            fine = self.case.result(place) == self.expected
            self.tally.check("differences", fine, f"{what}: the written files differ")
            left = names(place) ^ self.files
            self.tally.check("files left", not left, f"{what}: {sorted(left)}")
        with suppress(OSError):
            shutil.rmtree(place)

    def look(self, place, what, before):
        """Check that final names hold complete files and that no other file is left."""
        found = names(place)
        left = {name for name in found - self.files if not name.endswith(TEMPORARY)}
        self.tally.check("files left", not left, f"{what}: {sorted(left)}")
        if self.case.outcome is not None:
            data = place / "study" / "dataset.npz"
            fine = not data.exists() or file_outcome([data])["dataset.npz"] == self.expected["data"]
            self.tally.check("half-written files", fine, f"{what}: {data.name}")
            return
        now = file_outcome([place / name for name in self.case.written])
        for name, value in now.items():
            if isinstance(value, dict):  # a folder: each file is complete or absent
                half = {one for one in value.items() if one not in self.expected[name].items()}
            else:
                half = value not in (before.get(name), self.expected[name])
            self.tally.check("half-written files", not half, f"{what}: {name}")
