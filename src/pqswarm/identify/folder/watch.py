"""Watch a folder and analyse each new recording once, whatever happens to the process."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pqswarm._base.text import count_text, file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.folder.batch import Failure, failure_of
from pqswarm.identify.folder.receivers import RefusedError
from pqswarm.identify.folder.scan import Candidate, is_ours, scan, scanned_file_stamp

if TYPE_CHECKING:
    from pqswarm.identify.folder.journal import Journal
    from pqswarm.identify.folder.receivers import Receiver
    from pqswarm.identify.verdict import EventVerdict, Verdict

JOURNAL = ".pqswarm-watch.sqlite"
"""Name of the journal in the watched folder."""

_MAX_WAIT = 60.0
"""Maximum time between two attempts [s]."""
_TRIES = 5
"""Attempts with a receiver or a file in a single pass; refusals after which an event is set aside."""
_FILE_TRIES = 12
"""Attempts with a file that cannot be reached or needs too much memory, until the watcher is restarted."""
_PATIENCE = 300.0
"""Time after which an incomplete file is reported [s]."""


class Watcher:
    """Analyses each new recording of a folder, and of those below it, once, and delivers its events to all receivers.

    The journal lists the analysed files by path, size and modification time. A file that was touched, renamed or copied
    is recognised by its content and not analysed again. One that fails is retried when it changes; one that cannot be
    reached is retried several times, and when the watcher is restarted. The events of a file and its state are written
    in one transaction: a crash neither loses nor duplicates an event.

    `analyse` takes a path and returns verdicts and failures, as :func:`pqswarm.identify.identify_file` does; `settle`
    is the time without changes after which a file is analysed [s]; `say` is called with messages.
    """

    def __init__(
        self,
        folder: Path,
        journal: "Journal",
        analyse: "Callable[[Path], Iterable[Verdict | Failure]]",
        receivers: "Sequence[Receiver]" = (),
        *,
        settle: float = 2.0,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not folder.is_dir():
            raise PqswarmError(f"{folder} is not a folder that can be watched.")
        self.folder, self.journal, self.analyse, self.receivers = folder, journal, analyse, tuple(receivers)
        self.settle, self.say = settle, say
        self.n_analysed = 0
        self._seen: dict[str, tuple[Candidate, float]] = {}
        self._known = {name: record.stamp for name, record in journal.files().items()}
        self._failing: dict[str, tuple[int, float]] = {}
        self._retried: dict[str, _WatchRetry] = {}
        self._named: set[str] = set()

    def run(self, interval: float = 5.0) -> NoReturn:
        """Watch until the process is interrupted, at this interval [s]."""
        while True:
            self.look()
            time.sleep(interval)

    def run_once(self) -> bool:
        """Analyse the existing files and deliver their events; return whether nothing remains to be done."""
        if self.look():
            time.sleep(self.settle)
            self.look()
        for attempt in range(_TRIES):
            if not self._failing and not self._retried:
                break
            time.sleep(0.5 * 2**attempt)
            self.look(now=True)
        self._name_waiting(0.0)
        return not self._failing and not self._retried

    def look(self, *, now: bool = False) -> int:
        """Analyse new files that have settled, deliver events, and return the number of files still pending.

        Retryable failures are retried when due, or at once if `now`.
        """
        ready = []
        moment = time.monotonic()
        present = {}
        for candidate in scan(self.folder):
            name, stamp = candidate.name, candidate.stamp
            if stamp and self._known.get(name) == stamp:
                continue
            before, since = self._seen.get(name, (None, moment))
            since = since if before is not None and before.stamp == stamp else moment
            present[name] = (candidate, since)
            if stamp and moment - since >= self.settle:
                ready.append(candidate)
        self._seen = present
        self._retried = {name: retry for name, retry in self._retried.items() if name in present}
        waiting = len(present) - len(ready)
        self._name_waiting(_PATIENCE)
        self.deliver(now=now)
        unfinished = self.journal.unfinished()
        for candidate in sorted(ready, key=lambda one: unfinished.get(one.name, 0)):  # crashing files come last
            retry = self._retried.get(candidate.name)
            if retry is None or retry.stamp != candidate.stamp or retry.is_due(now):
                self._take(candidate)
                self.deliver()
        return waiting

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
        name = candidate.name
        try:
            digest = candidate.digest()
        except OSError as error:
            self._retry(candidate, f"cannot be read: {error.strerror or error}.")
            return
        twin = self.journal.analysed_as(digest)
        if twin is not None:
            if twin.path == name:  # only touched
                self._note(candidate, digest, [], "done", twin.reason, quiet=True)
            else:
                self._note(candidate, digest, [], "copy", f"same content as {twin.path}.")
        elif is_ours(candidate.parts[0]):
            self._note(candidate, digest, [], "ours", "a table written by pqswarm.")
        else:
            self.journal.start(name)
            verdicts, failures = self._analyse(candidate)
            reasons = " ".join(str(one) if one.place else one.reason for one in failures)
            if any(failure.retryable for failure in failures):
                self._retry(candidate, reasons)
            else:
                new = self._without_known(candidate, verdicts)
                self._note(candidate, digest, new, "done" if verdicts else "failed", reasons)

    def _without_known(self, candidate: Candidate, verdicts: "list[Verdict]") -> "list[Verdict]":
        """Verdicts on a file that has grown since it was analysed, without the events that were delivered already."""
        before = self.journal.files().get(candidate.name)
        if before is None or not candidate.has_grown(before.stamp, before.digest):
            return verdicts
        known = {
            _watched_event_identity(one.verdict, one.verdict.events[0])
            for one in self.journal.events_of(candidate.name)
        }
        return [
            verdict.only(
                [i for i, one in enumerate(verdict.events) if _watched_event_identity(verdict, one) not in known]
            )
            for verdict in verdicts
        ]

    def _analyse(self, candidate: Candidate) -> "tuple[list[Verdict], list[Failure]]":
        """Verdicts and failures of a file; no file stops the watcher."""
        verdicts: list[Verdict] = []
        failures: list[Failure] = []
        try:
            for found in self.analyse(candidate.parts[0]):
                if isinstance(found, Failure):
                    failures.append(found)
                else:
                    verdicts.append(replace(found, characterisation=None))
        except Exception as error:  # noqa: BLE001
            failures.append(failure_of(error, candidate.parts[0], ""))
        return verdicts, failures

    def _retry(self, candidate: Candidate, reason: str) -> None:
        """Schedule another attempt with a file."""
        before = self._retried.get(candidate.name)
        times = 1 + (before.times if before is not None and before.stamp == candidate.stamp else 0)
        wait = min(2.0**times, _MAX_WAIT)
        self._retried[candidate.name] = _WatchRetry(candidate.stamp, times, time.monotonic() + wait)
        if times in (1, _FILE_TRIES):
            when = "" if times == 1 else " when the watcher is restarted"
            self.say(f"{candidate.name}: not analysed, will be retried{when}; {reason}")

    def _note(
        self,
        candidate: Candidate,
        digest: str,
        verdicts: "Sequence[Verdict]",
        state: str,
        reason: str,
        *,
        quiet: bool = False,
    ) -> None:
        """Write the result of a file, unless it has changed since: then it is analysed again."""
        if scanned_file_stamp(candidate.parts) != candidate.stamp:
            return
        self.journal.finish(candidate.name, candidate.stamp, digest, verdicts, state, reason)
        self._known[candidate.name] = candidate.stamp
        self._seen.pop(candidate.name, None)
        self._retried.pop(candidate.name, None)
        if quiet:
            return
        self.n_analysed += state in ("done", "failed")
        events = sum(one.event.kind != "none" for verdict in verdicts for one in verdict.events)
        said = {"done": count_text(events, "event"), "failed": "failed", "copy": "copy", "ours": "ignored"}
        self.say(f"{candidate.name}: {said[state]}" + (f"; {reason}" if reason else ""))

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
        name, sent = receiver.name, False
        while entries := self.journal.pending(name):
            try:
                for last, length in receiver.send(entries, self.journal.progress(name)[1]):
                    self.journal.delivered(name, last, length)
                    sent = True
            except RefusedError as error:
                if not self.journal.refuse(name, error.number, str(error), _TRIES):
                    raise
                key = next(entry.key for entry in entries if entry.number == error.number)
                self.say(f"{name}: event {key} is set aside after {_TRIES} refusals: {error}.")
        return sent


@dataclass(frozen=True)
class _WatchRetry:
    """Attempts with one version of a file, and when the next is due."""

    stamp: str
    times: int
    again: float

    def is_due(self, now: bool) -> bool:
        return self.times < _FILE_TRIES and (now or time.monotonic() >= self.again)


def _watched_event_identity(verdict: "Verdict", found: "EventVerdict") -> tuple[Any, ...]:
    """What identifies an event of a file when it is analysed again."""
    event = found.event
    names = (verdict.source, event.kind, " ".join(dict.fromkeys(event.phases)), "; ".join((event.system, *event.also)))
    return (*map(file_text, names), round(event.start, 1))
