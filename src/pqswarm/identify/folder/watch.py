"""Watch a folder and analyse each new recording once, whatever happens to the process."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pqswarm._base.text import count_text, file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis
from pqswarm.identify.archive.analyzer import analyze_into
from pqswarm.identify.archive.files import look_at
from pqswarm.identify.folder.batch import Failure
from pqswarm.identify.folder.receivers import RefusedError
from pqswarm.identify.folder.scan import Candidate, is_ours, scan, scanned_file_stamp

if TYPE_CHECKING:
    from pqswarm.identify.archive.analyzer import Analyzed
    from pqswarm.identify.archive.archive import Archive
    from pqswarm.identify.archive.files import SeenFile
    from pqswarm.identify.folder.receivers import Receiver

_MAX_WAIT = 60.0
"""Maximum time between two attempts, and of deliveries to a receiver between two looks at the folder [s]."""
_TRIES = 5
"""Attempts with a receiver or a file in a single pass; refusals after which an event is set aside."""
_FILE_TRIES = 12
"""Attempts with a file that cannot be reached or needs too much memory, until the watcher is restarted."""
_PATIENCE = 300.0
"""Time after which an incomplete file is reported [s]."""


class Watcher:
    """Analyses each new recording of a folder, and of those below it, once, and delivers its events to all receivers.

    The archive knows the analysed files by path, size and modification time. A file that was touched, renamed or copied
    is recognised by its content and not analysed again, whoever analysed it. One that fails is retried when it changes;
    one that cannot be reached is retried several times, and when the watcher is restarted. The events of a file and its
    state are written in one transaction: a crash neither loses nor duplicates an event. An event whose numbers have
    changed, as when its file has grown, is delivered again with the key of the first.

    `analyse` takes a path; `settle` is the time without changes after which a file is analysed [s]; `say` is called
    with messages.
    """

    def __init__(
        self,
        folder: Path,
        archive: "Archive",
        analyze: "Callable[[Path], Analyzed]",
        receivers: "Sequence[Receiver]" = (),
        *,
        settle: float = 2.0,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not folder.is_dir():
            raise PqswarmError(f"{folder} is not a folder that can be watched.")
        self.folder = Path(os.path.abspath(folder))  # noqa: PTH100 (without .., as the archive knows its files)
        self.archive = archive
        self.analyze = analyze
        self.receivers = tuple(receivers)
        self.settle = settle
        self.say = say
        self.n_analyzed = 0
        self._seen: dict[str, tuple[Candidate, float]] = {}
        known = archive.files.all(self.folder)
        self._known = {path: one.stamp for path, one in known.items() if one.state in ("done", "failed", "ours")}
        self._failing: dict[str, tuple[int, float]] = {}
        self._retried: dict[str, _WatchRetry] = {}
        self._busy: set[str] = set()
        self._named: set[str] = set()
        self._turn = _MAX_WAIT

    def run(self, interval: float = 5.0) -> NoReturn:
        """Watch until the process is interrupted, at this interval [s]."""
        while True:
            self.look()
            time.sleep(interval)

    def run_once(self) -> bool:
        """Analyse the existing files and deliver their events; return whether nothing remains to be done."""
        self._turn = inf
        if self.look():
            time.sleep(self.settle)
            self.look()
        for attempt in range(_TRIES):
            if not self._failing and not self._retried and not self._busy:
                break
            time.sleep(0.5 * 2**attempt)
            self.look(now=True)
        self._name_waiting(0.0)
        return not self._failing and not self._retried and not self._busy

    def look(self, *, now: bool = False) -> int:
        """Analyse new files that have settled, deliver events, and return the number of files still pending.

        Retryable failures are retried when due, or at once if `now`.
        """
        ready = []
        moment = time.monotonic()
        present = {}
        for candidate in scan(self.folder):
            name = candidate.name
            stamp = candidate.stamp
            if stamp and self._known.get(candidate.parts[0]) == stamp:
                continue
            before, since = self._seen.get(name, (None, moment))
            since = since if before is not None and before.stamp == stamp else moment
            present[name] = (candidate, since)
            if stamp and moment - since >= self.settle and not candidate.is_incomplete:
                ready.append(candidate)
        self._seen = present
        self._forget_vanished()
        self._retried = {name: retry for name, retry in self._retried.items() if name in present}
        waiting = len(present) - len(ready)
        self._name_waiting(_PATIENCE)
        self.deliver(now=now)
        begun = self.archive.files.begun()
        waiting_files = {one.path: one.content for one in self.archive.files.waiting()} if begun and ready else {}
        times = {path: begun.get(content, 0) for path, content in waiting_files.items()}
        for candidate in sorted(ready, key=lambda one: times.get(one.parts[0], 0)):  # crashing files come last
            retry = self._retried.get(candidate.name)
            if retry is None or retry.stamp != candidate.stamp or retry.is_due(now):
                self._take(candidate)
                self.deliver()
        return waiting

    def _forget_vanished(self) -> None:
        """Drop files that vanished before they were analysed."""
        mine = (one.path for one in self.archive.files.waiting() if one.path.is_relative_to(self.folder))
        if gone := [path for path in mine if not path.exists()]:
            self.archive.files.forget(gone)

    def _name_waiting(self, patience: float) -> None:
        """Report each incomplete file once, after some time [s]."""
        moment = time.monotonic()
        for name, (candidate, since) in self._seen.items():
            settled = candidate.stamp and moment - since >= self.settle
            if not settled and moment - since >= patience and name not in self._named:
                self._named.add(name)
                self.say(f"{name}: waiting: {candidate.lack}.")

    def _take(self, candidate: Candidate) -> None:
        """Analyse a file, unless its content was analysed before, and write the result."""
        path = candidate.parts[0]
        before = self.archive.files.get(path)
        self._busy.discard(candidate.name)
        try:
            file = look_at(candidate, before)
        except OSError as error:
            self._retry(candidate, f"cannot be read: {error.strerror or error}.")
            return
        if is_ours(path):
            self.archive.files.set_aside(path, candidate.stamp, "ours", "a table written by pqswarm.")
            self._note(candidate, "ignored", "a table written by pqswarm.")
            return
        self.archive.files.register([file])
        claim = self.archive.files.claim(file.content)
        if claim == "busy":
            self._busy.add(candidate.name)
        elif claim == "done":
            others = [one for one in self.archive.files.by_content([file.content])[file.content] if one.path != path]
            is_touched = before is not None and before.content == file.content
            said = f"same content as {others[0].name}." if others else ""
            self._note(candidate, "" if is_touched else "copy" if others else "analysed before", said)
        else:
            self._analyze(candidate, file)

    def _analyze(self, candidate: Candidate, file: "SeenFile") -> None:
        found, told = analyze_into(
            self.archive, file, self.analyze, lambda: scanned_file_stamp(candidate.parts) == candidate.stamp
        )
        failures = [one for one in found.results if isinstance(one, Failure)]
        reasons = " ".join(str(one) if one.place else one.reason for one in failures)
        if found.is_retryable:
            self._retry(candidate, reasons)
        elif told is not None:
            self.n_analyzed += 1
            is_read = any(isinstance(one, Analysis) for one in found.results)
            self._note(candidate, count_text(told, "event") if is_read else "failed", reasons)

    def _retry(self, candidate: Candidate, reason: str) -> None:
        """Schedule another attempt with a file."""
        before = self._retried.get(candidate.name)
        times = 1 + (before.times if before is not None and before.stamp == candidate.stamp else 0)
        wait = min(2.0**times, _MAX_WAIT)
        self._retried[candidate.name] = _WatchRetry(candidate.stamp, times, time.monotonic() + wait)
        if times in (1, _FILE_TRIES):
            when = "" if times == 1 else " when the watcher is restarted"
            self.say(f"{candidate.name}: not analysed, will be retried{when}; {reason}")

    def _note(self, candidate: Candidate, what: str, reason: str) -> None:
        """Remember that a file is done, and say `what` it was, unless that is empty."""
        self._known[candidate.parts[0]] = candidate.stamp
        self._seen.pop(candidate.name, None)
        self._retried.pop(candidate.name, None)
        if what:
            self.say(f"{candidate.name}: {what}" + (f"; {file_text(reason)}" if reason else ""))

    def deliver(self, *, now: bool = False) -> None:
        """Deliver pending events; a receiver that fails is retried later, or at once if `now`."""
        for receiver in self.receivers:
            tries, again = self._failing.get(receiver.name, (0, 0.0))
            if tries and not now and time.monotonic() < again:
                continue
            try:
                sent = self._deliver_to(receiver)
                self._failing.pop(receiver.name, None)
                if tries and sent:
                    self.say(f"{receiver.name}: delivery resumed.")
            except OSError as error:
                wait = min(2.0**tries, _MAX_WAIT)
                self._failing[receiver.name] = (tries + 1, time.monotonic() + wait)
                self.say(f"{receiver.name}: not delivered, will be retried: {error}.")

    def _deliver_to(self, receiver: "Receiver") -> bool:
        """Send pending events to a receiver, set aside those it refuses, and return whether it accepted any."""
        name = f"{receiver.name} of {file_text(self.folder)}"
        sent = False
        began = time.monotonic()
        while entries := self.archive.deliveries.pending(name, self.folder):
            try:
                for last, length in receiver.send(entries, self.archive.deliveries.progress(name)[1]):
                    self.archive.deliveries.delivered(name, last, length)
                    sent = True
                    if time.monotonic() - began > self._turn:  # a slow one: new files are analysed meanwhile
                        return sent
            except RefusedError as error:
                if not self.archive.deliveries.refuse(name, error.number, str(error), _TRIES):
                    raise
                key = next(entry.key for entry in entries if entry.number == error.number)
                self.say(f"{receiver.name}: event {key} is set aside after {_TRIES} refusals: {error}.")
        return sent


@dataclass(frozen=True)
class _WatchRetry:
    """Attempts with one version of a file, and when the next is due."""

    stamp: str
    times: int
    again: float

    def is_due(self, now: bool) -> bool:
        return self.times < _FILE_TRIES and (now or time.monotonic() >= self.again)
