"""Corrections of verdicts, to train with; an archive holds them."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pqswarm._base.text import file_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.folder.scan import find_candidate
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.training.correction_checks import find_correction_problem
from pqswarm.identify.verdict import EventVerdict, Verdict


@dataclass(frozen=True)
class Correction:
    """The class of an event according to a person; :meth:`of` makes one.

    Attributes
    ----------
    path : str
        The file of the recording.
    digest : str
        SHA-256 of its content.
    source : str
        Which recording of the file.
    found : EventVerdict
        The event that was corrected, with the verdict on it.
    label : str
        Its class; empty to withdraw an earlier correction.
    by : str
        Author.
    at : str
        Time of the correction (UTC, ISO 8601).
    note : str
        Reason.
    """

    path: str
    digest: str
    source: str
    found: EventVerdict
    label: str
    by: str
    at: str
    note: str = ""

    def __post_init__(self) -> None:
        problem = find_correction_problem(vars(self))
        if problem:
            raise PqswarmError(f"a correction's {problem}.")

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        event: EventVerdict,
        label: str,
        by: str,
        note: str = "",
        *,
        path: str | Path | None = None,
        digest: str | None = None,
    ) -> "Correction":
        """Correct the class of an event.

        Parameters
        ----------
        verdict : Verdict
            On the recording, by :func:`pqswarm.identify.identify_file`.
        event : EventVerdict
            One of its events.
        label : str
            The class of the event; empty to withdraw an earlier correction.
        by, note : str
            Author and reason.
        path : str or Path, optional
            The file, if it differs from that of the verdict, which holds names that are not UTF-8 as text only.
        digest : str, optional
            SHA-256 of the file, if known; by default the file is read.

        Returns
        -------
        Correction
            For :func:`pqswarm.identify.train`.
        """
        own = verdict.path if path is None else path
        if digest is None:
            try:
                digest = find_candidate(own).digest()
            except OSError as error:
                raise PqswarmError(f"cannot read {file_text(own)}: {error.strerror or error}.") from error
        return cls(
            path=os.path.abspath(own),  # noqa: PTH100 (links stay what they are)
            digest=digest,
            source=file_text(verdict.source),
            found=EventVerdict.of(json.loads(json_text(event.as_dict()))),  # as it is read back
            label=label,
            by=by,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            note=note,
        )

    @property
    def place(self) -> str:
        """Which recording of its file, whatever the name of the file."""
        return self.source.removeprefix(file_text(Path(self.path).name))

    @property
    def key(self) -> tuple[str, str, str, float, tuple[str, ...]]:
        """Identifies the event, whatever the path; see :func:`event_key`."""
        return event_key(self.digest, self.place, self.found)

    def __str__(self) -> str:
        """The event as text."""
        event = self.found.event
        where = f"{file_text(self.path)}{self.place}"
        return f"{where}, {event.kind} at {event.start:.3f} s on {', '.join(map(file_text, event.channels))}"


def event_key(digest: str, place: str, found: EventVerdict) -> tuple[str, str, str, float, tuple[str, ...]]:
    """Return what identifies an event: SHA-256 of its file, place in the file, kind, start [s] and channels."""
    event = found.event
    return digest, place, event.kind, round(event.start, 6), tuple(map(file_text, event.channels))


def merge_corrections(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Return the last correction of each event, without withdrawn ones, in order of the events."""
    last = {one.key: one for one in corrections}
    return tuple(last[key] for key in sorted(last) if last[key].label)
