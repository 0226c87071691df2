"""A folder that is watched: each new recording is judged once, whatever happens to the process."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.folder.batch import Failure, explain
from pqswarm.identify.folder.receivers import RefusedError
from pqswarm.identify.folder.scan import Candidate, is_ours, scan, stamp_of
from pqswarm.identify.show.rows import event_row
from pqswarm.identify.show.words import count_text

if TYPE_CHECKING:
    from pqswarm.identify.folder.journal import Journal
    from pqswarm.identify.folder.receivers import Receiver
    from pqswarm.identify.verdict import EventVerdict, Verdict

__all__ = ["JOURNAL", "Watcher"]

JOURNAL = ".pqswarm-watch.sqlite"
"""Name of the journal in the folder that is watched."""

_LONGEST_WAIT = 60.0
"""Between two tries of a receiver, or of a file that cannot be reached [s]."""
_TRIES = 5
"""Of a receiver, or of a file, where the folder is looked at once; refusals after which an event is set aside."""
_FILE_TRIES = 12
"""Of a file that cannot be reached, or takes more memory than there is, until the watcher is started again."""
_PATIENCE = 300.0
"""After which a file that is not complete is named [s]."""


class Watcher:
    """Judges each new recording of a folder once, and tells receivers of its events.

    Which files were judged stands in the journal, by path, size and time of change; one whose time changed, or that
    was renamed or copied, is known by its content, and is not judged again. One that fails is tried again when it
    changes; one that cannot be reached, several times, and when the watcher is started again. The events of a file and
    the mark that it is done are written together, so that no end of the process loses one or doubles it.

    Parameters
    ----------
    folder : Path
        To watch, with all below it.
    journal : Journal
        Of this folder.
    analyse : callable
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
        self._retried: dict[str, _Retry] = {}
        self._named: set[str] = set()

    def run(self, interval: float = 5.0) -> NoReturn:
        """Watch until the process is interrupted, looking every so many seconds."""
        while True:
            self.look()
            time.sleep(interval)

    def run_once(self) -> bool:
        """Judge what is there, once it has settled, deliver it, and return whether nothing is left for another run."""
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
        """Judge the new files that have settled, deliver events, and return how many files are waited for.

        What failed for a reason that passes is tried again when its time has come, or at once.
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
        begun = self.journal.begun()
        for candidate in sorted(ready, key=lambda one: begun.get(one.name, 0)):  # what ended the process comes last
            retry = self._retried.get(candidate.name)
            if retry is None or retry.stamp != candidate.stamp or retry.is_due(now):
                self._take(candidate)
                self.deliver()
        return waiting

    def _name_waiting(self, patience: float) -> None:
        """Say once which files are not complete, after some time [s]."""
        moment = time.monotonic()
        for name, (candidate, since) in self._seen.items():
            settled = candidate.stamp and moment - since >= self.settle
            if not settled and moment - since >= patience and name not in self._named:
                self._named.add(name)
                self.say(f"{name}: waited for: {candidate.lack}.")

    def _take(self, candidate: Candidate) -> None:
        """Judge a file, unless its content was judged before, and write what came of it."""
        name = candidate.name
        try:
            digest = candidate.digest()
        except OSError as error:
            self._retry(candidate, f"cannot be read: {error.strerror or error}.")
            return
        twin = self.journal.judged_as(digest)
        if twin is not None:
            if twin.path == name:  # only its time has changed
                self._note(candidate, digest, [], "done", twin.reason, quiet=True)
            else:
                self._note(candidate, digest, [], "copy", f"same content as {twin.path}.")
        elif is_ours(candidate.parts[0]):
            self._note(candidate, digest, [], "ours", "a table that pqswarm wrote.")
        else:
            self.journal.begin(name)
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
        known = {_identity(one.verdict, one.verdict.events[0]) for one in self.journal.events_of(candidate.name)}
        return [
            replace(verdict, events=tuple(one for one in verdict.events if _identity(verdict, one) not in known))
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
            failures.append(explain(error, candidate.parts[0], ""))
        return verdicts, failures

    def _retry(self, candidate: Candidate, reason: str) -> None:
        """Leave a file for another time: the journal does not hold it for done."""
        before = self._retried.get(candidate.name)
        times = 1 + (before.times if before is not None and before.stamp == candidate.stamp else 0)
        wait = min(2.0**times, _LONGEST_WAIT)
        self._retried[candidate.name] = _Retry(candidate.stamp, times, time.monotonic() + wait)
        if times in (1, _FILE_TRIES):
            when = "again" if times == 1 else "again when the watcher is started the next time"
            self.say(f"{candidate.name}: not judged, tried {when}; {reason}")

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
        """Write what came of a file, unless it changed meanwhile: then it is looked at again."""
        if stamp_of(candidate.parts) != candidate.stamp:
            return
        self.journal.finish(candidate.name, candidate.stamp, digest, verdicts, state, reason)
        self._known[candidate.name] = candidate.stamp
        self._seen.pop(candidate.name, None)
        self._retried.pop(candidate.name, None)
        if quiet:
            return
        self.n_analysed += state in ("done", "failed")
        events = sum(one.event.kind != "none" for verdict in verdicts for one in verdict.events)
        said = {"done": count_text(events, "event"), "failed": "failed", "copy": "copy", "ours": "left out"}
        self.say(f"{candidate.name}: {said[state]}" + (f"; {reason}" if reason else ""))

    def deliver(self, *, now: bool = False) -> None:
        """Tell receivers of the events that they do not have; one that fails is tried again later, or at once."""
        for receiver in self.receivers:
            tries, again = self._failing.get(receiver.name, (0, 0.0))
            if tries and not now and time.monotonic() < again:
                continue
            try:
                sent = self._deliver_to(receiver)
                self._failing.pop(receiver.name, None)
                if tries and sent:
                    self.say(f"{receiver.name}: delivered again.")
            except OSError as error:
                wait = min(2.0**tries, _LONGEST_WAIT)
                self._failing[receiver.name] = (tries + 1, time.monotonic() + wait)
                self.say(f"{receiver.name}: not delivered, tried again: {error}.")

    def _deliver_to(self, receiver: "Receiver") -> bool:
        """Send all that a receiver does not have, and return whether it took any; what it refuses is set aside."""
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
class _Retry:
    """How often a file was tried in a state, and when its time comes again."""

    stamp: str
    times: int
    again: float

    def is_due(self, now: bool) -> bool:
        return self.times < _FILE_TRIES and (now or time.monotonic() >= self.again)


def _identity(verdict: "Verdict", found: "EventVerdict") -> tuple[Any, ...]:
    """What identifies an event of a file when it is analysed again."""
    row = event_row(verdict, found)
    return (*(file_text(row[key]) for key in ("source", "kind", "phases", "system")), round(found.event.start, 1))
