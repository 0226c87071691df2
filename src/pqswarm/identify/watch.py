"""A folder that is watched: each new recording is judged once, whatever happens to the process."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pqswarm.errors import PqswarmError
from pqswarm.identify.batch import Failure, is_ours
from pqswarm.recordings import READERS

if TYPE_CHECKING:
    from pqswarm.identify.journal import Journal
    from pqswarm.identify.receivers import Receiver
    from pqswarm.identify.verdict import Verdict

__all__ = ["JOURNAL", "Candidate", "Watcher", "scan"]

JOURNAL = ".pqswarm-watch.sqlite"
"""Name of the journal in the folder that is watched."""

_LONGEST_WAIT = 60.0
"""Between two tries of a receiver that fails [s]."""
_TRIES = 5
"""Of a receiver, where the folder is looked at once."""


@dataclass(frozen=True)
class Candidate:
    """A recording in the folder.

    Attributes
    ----------
    name : str
        Path from the folder, with ``/``.
    parts : tuple of Path
        Its files: the ``.cfg`` and the ``.dat``, or one.
    stamp : str
        Sizes [byte] and times of change [ns] of them; empty as long as a part is missing or empty.
    """

    name: str
    parts: tuple[Path, ...]
    stamp: str

    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        total = hashlib.sha256()
        for part in self.parts:
            with part.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()


def scan(folder: Path) -> Iterator[Candidate]:
    """Yield the recordings of a folder and all below it, complete or not, by name; hidden ones are left out."""
    suffixes = {suffix for reader in READERS.values() for suffix in reader.suffixes}
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError:  # it was removed, or may not be read
            continue
        by_name = {entry.name.casefold(): entry for entry in found}
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif Path(entry.name).suffix.casefold() in suffixes:
                parts = [entry]
                if entry.name.casefold().endswith(".cfg"):
                    data = by_name.get(entry.name.casefold().removesuffix(".cfg") + ".dat")
                    parts = [entry] if data is None else [entry, data]
                    stamp = "" if data is None else _stamp(parts)
                else:
                    stamp = _stamp(parts)
                paths = tuple(Path(part.path) for part in parts)
                yield Candidate(paths[0].relative_to(folder).as_posix(), paths, stamp)


def _stamp(parts: "Sequence[os.DirEntry[str] | Path]") -> str:
    """Sizes and times of change; empty if a part is gone or empty."""
    try:
        found = [part.stat() for part in parts]
    except OSError:
        return ""
    return " ".join(f"{one.st_size}:{one.st_mtime_ns}" for one in found) if all(one.st_size for one in found) else ""


class Watcher:
    """Judges each new recording of a folder once, and tells receivers of its events.

    Which files were judged stands in the journal, by path, size and time of change; one whose time changed, or that
    was renamed or copied, is known by its content, and is not judged again. One that fails is tried again when it
    changes. The events of a file and the mark that it is done are written together, so that no end of the process
    loses one or doubles it.

    Parameters
    ----------
    folder : Path
        To watch, with all below it.
    journal : Journal
        Of this folder.
    judge : callable
        Takes a path, returns verdicts and failures, such as :func:`pqswarm.identify.identify_file`.
    receivers : sequence of Receiver
        Who is told of events, each independently of the others.
    settle : float
        How long a file must not have changed before it is judged [s].
    say : callable
        Takes a sentence about what happens.
    """

    def __init__(
        self,
        folder: Path,
        journal: "Journal",
        judge: "Callable[[Path], Iterable[Verdict | Failure]]",
        receivers: "Sequence[Receiver]" = (),
        *,
        settle: float = 2.0,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not folder.is_dir():
            raise PqswarmError(f"{folder} is not a folder that can be watched.")
        self.folder, self.journal, self.judge, self.receivers = folder, journal, judge, tuple(receivers)
        self.settle, self.say = settle, say
        self.n_judged = 0
        self._seen: dict[str, tuple[str, float]] = {}
        self._known = {name: record.stamp for name, record in journal.files().items()}
        self._failing: dict[str, tuple[int, float]] = {}

    def run(self, interval: float = 5.0) -> NoReturn:
        """Watch until the process is interrupted, looking every so many seconds."""
        while True:
            self.look()
            time.sleep(interval)

    def run_once(self) -> bool:
        """Judge what is there, once it has settled, deliver it, and return whether everything was delivered."""
        if self.look():
            time.sleep(self.settle)
            self.look()
        for attempt in range(_TRIES):
            if not self._failing:
                break
            time.sleep(0.5 * 2**attempt)
            self.deliver(now=True)
        return not self._failing

    def look(self) -> int:
        """Judge the new files that have settled, deliver events, and return how many files are waited for."""
        ready, waiting = [], 0
        moment = time.monotonic()
        present = {}
        for candidate in scan(self.folder):
            name, stamp = candidate.name, candidate.stamp
            if stamp and self._known.get(name) == stamp:
                continue
            before, since = self._seen.get(name, ("", moment))
            since = since if before == stamp else moment
            present[name] = (stamp, since)
            if stamp and moment - since >= self.settle:
                ready.append(candidate)
            else:
                waiting += 1
        self._seen = present
        self.deliver()
        begun = self.journal.begun()
        for candidate in sorted(ready, key=lambda one: begun.get(one.name, 0)):  # what ended the process comes last
            self._take(candidate)
            self.deliver()
        return waiting

    def _take(self, candidate: Candidate) -> None:
        """Judge a file, unless its content was judged before, and write what came of it."""
        name = candidate.name
        try:
            digest = candidate.digest()
        except OSError as error:
            self._note(candidate, "", [], "failed", f"cannot be read: {error.strerror or error}.")
            return
        twin = self.journal.judged_as(digest)
        if twin is not None:
            same = twin == name
            self._note(candidate, digest, [], "done" if same else "copy", "" if same else f"same content as {twin}.")
        elif is_ours(candidate.parts[0]):
            self._note(candidate, digest, [], "ours", "a table that pqswarm wrote.")
        else:
            self.journal.begin(name)
            rows: list[Mapping[str, Any]] = []
            reasons = []
            done = False
            for found in self.judge(candidate.parts[0]):
                if isinstance(found, Failure):
                    reasons.append(str(found) if found.source else found.reason)
                else:
                    done = True
                    rows += found.rows()
            self._note(candidate, digest, rows, "done" if done else "failed", " ".join(reasons))

    def _note(
        self, candidate: Candidate, digest: str, rows: Sequence[Mapping[str, Any]], state: str, reason: str
    ) -> None:
        """Write what came of a file, unless it changed meanwhile: then it is looked at again."""
        if _stamp(candidate.parts) != candidate.stamp:
            return
        self.journal.finish(candidate.name, candidate.stamp, digest, rows, state, reason)
        self._known[candidate.name] = candidate.stamp
        self.n_judged += state in ("done", "failed")
        events = sum(row["kind"] != "none" for row in rows)
        said = {"done": f"{events} event{'s' * (events != 1)}", "failed": "failed", "copy": "copy", "ours": "left out"}
        self.say(f"{candidate.name}: {said[state]}" + (f"; {reason}" if reason else ""))

    def deliver(self, *, now: bool = False) -> None:
        """Tell receivers of the events that they do not have; one that fails is tried again later, or at once."""
        for receiver in self.receivers:
            tries, again = self._failing.get(receiver.name, (0, 0.0))
            if tries and not now and time.monotonic() < again:
                continue
            try:
                while entries := self.journal.pending(receiver.name):
                    for last, length in receiver.send(entries, self.journal.progress(receiver.name)[1]):
                        self.journal.delivered(receiver.name, last, length)
                self._failing.pop(receiver.name, None)
                if tries:
                    self.say(f"{receiver.name}: delivered again.")
            except OSError as error:
                wait = min(2.0**tries, _LONGEST_WAIT)
                self._failing[receiver.name] = (tries + 1, time.monotonic() + wait)
                self.say(f"{receiver.name}: not delivered, tried again: {error}.")
