"""What must be identical to the last byte after any disturbance, and what must not be left behind."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pqswarm.identify import Archive
from pqswarm.report import write_report
from tests.study.studies import contents

TABLES = "tables"


@dataclass
class Tally:
    """Counts of disturbances and faults."""

    counts: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)

    def add(self, what, number=1):
        self.counts[what] += number

    def check(self, kind, fine, detail):
        """Record a fault unless a condition holds."""
        if not fine:
            self.counts[kind] += 1
            self.wrong.append(f"{kind}: {detail}")
        return fine

    def merge(self, other):
        self.counts.update(other.counts)
        self.wrong += other.wrong


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


def names(folder):
    folder = Path(folder)
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"
    }


def study_outcome(folder):
    """Runs, findings, data and tables of a finished study; the tables are written to another folder."""
    folder = Path(folder)
    aside = folder.with_name(f"{folder.name}-{TABLES}")
    write_report(folder, "csv", aside)
    tables = {name: digest(aside / name) for name in sorted(names(aside))}
    for name in tables:
        (aside / name).unlink()
    aside.rmdir()
    return {"found": contents(folder), "data": digest(folder / "dataset.npz"), "tables": tables}


def watch_outcome(folder):
    """The delivered lines, sorted, and the state of each file."""
    lines = sorted((folder / "events.jsonl").read_text().replace(f"{folder}/", "").splitlines())
    with Archive(folder / "incoming.archive", read_only=True) as archive:
        files = sorted((path.name, one.content, one.state, one.reason) for path, one in archive.files.all().items())
        return {"lines": lines, "files": files, "begun": archive.files.begun(), "counts": archive.counts()}


def file_outcome(paths):
    """Digests of files and of whole folders; None if missing."""
    found = {}
    for path in map(Path, paths):
        inside = {name: digest(path / name) for name in sorted(names(path))} if path.is_dir() else None
        found[path.name] = inside if path.is_dir() else digest(path) if path.exists() else None
    return found


def take_semaphores(pid):
    """Remove the semaphores that joblib created for a process that has ended; return their number."""
    found = [*Path("/dev/shm").glob(f"sem.loky-{pid}-*")]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)
