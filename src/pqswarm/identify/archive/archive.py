"""An archive with what people say about it: corrections, causes, notes, and the sites of stations."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import inf
from typing import Any

from pqswarm._base.text import file_text
from pqswarm._base.toml import to_toml, toml_key
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.archive.analyzer import ArchiveAnalyzer
from pqswarm.identify.archive.database import reading
from pqswarm.identify.archive.reader import recording_id
from pqswarm.identify.archive.records import NOT_AN_EVENT, event_rows, from_microseconds
from pqswarm.identify.archive.store import ArchiveStore
from pqswarm.identify.folder.batch import check_site
from pqswarm.identify.training.corrections import Correction
from pqswarm.measure.incidents.record import CAUSES
from pqswarm.recordings import Site

KNOWN_CAUSES = (
    *(one for one in CAUSES if one != "unknown"),
    "lightning",
    "ripple control",
    "animal",
    "tree",
    "unknown",
)
"""Causes to choose from; any other text is allowed, too."""
_LONGEST = {"author": 200, "note": 2000, "cause": 100, "site": 100_000}
"""Maximum number of characters."""
_SELECT = """
SELECT recordings.id, content, position, source, recordings.name, owner, stations.name, recordings.start, seconds,
n_channels, n_events, recordings.reason, contents.state, analyser, contents.at
FROM recordings JOIN stations ON stations.id = station JOIN contents ON digest = content"""


class Archive(ArchiveStore):
    """Recordings, events, corrections and notes of many meters in one SQLite file.

    Any number of processes may use it at once.

    Parameters
    ----------
    folder : str or Path
        Its folder; a missing one is created.
    read_only : bool
        Whether nothing may be written; the archive must then exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Archive(folder) as archive:
    ...     archive.counts()
    {'files': 0, 'recordings': 0, 'events': 0, 'waiting': 0, 'failed': 0}
    """

    # Recordings

    @reading
    def find(self, name: str, owner: str = "") -> dict[str, Any] | None:
        """Return a recording by its ID in URLs, if it is public or of an owner."""
        start, _, place = name.partition("-")
        query = f"{_SELECT} WHERE content >= ? AND content < ? AND position = ? AND owner IN ('', ?)"
        position = int(place) - 1 if place.isdigit() else 0
        rows = self.database.rows(query, start, f"{start}g", position, owner)
        return _recording(rows[0]) if len(rows) == 1 else None

    @reading
    def recordings(
        self, *, owner: str = "", after: str = "", limit: int = 100, state: str = "", station: int = 0, text: str = ""
    ) -> dict[str, Any]:
        """Return a page of recordings, the newest first, and the key of the next page."""
        where, values = ["owner IN ('', ?)"], list[Any]([owner])
        if state in ("failed", "done"):
            where.append("recordings.reason != ''" if state == "failed" else "recordings.reason = ''")
        if station:
            where.append("station = ?")
            values.append(station)
        for word in text.split():
            where.append("(recordings.name LIKE ? OR stations.name LIKE ?)")
            values += [f"%{word}%"] * 2
        total = self.database.rows(
            "SELECT count(*) FROM recordings JOIN stations ON stations.id = station WHERE " + " AND ".join(where),
            *values,
        )[0][0]
        if after:
            start, _, number = after.rpartition(".")
            if not re.fullmatch(r"(-?[0-9]+)?\.[0-9]+", after):
                raise PqswarmError("The list has changed: load it again.")
            below = "((recordings.start, recordings.id) < (?, ?) OR recordings.start IS NULL)"
            where.append(below if start else "recordings.start IS NULL AND recordings.id < ?")
            values += [int(start), int(number)] if start else [int(number)]
        query = f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY recordings.start DESC, recordings.id DESC LIMIT ?"
        rows = self.database.rows(query, *values, limit + 1)
        last = rows[limit - 1] if len(rows) > limit else None
        following = "" if last is None else f"{'' if last[7] is None else last[7]}.{last[0]}"
        return {"total": int(total), "next": following, "recordings": [_recording(row) for row in rows[:limit]]}

    @reading
    def analysis(self, recording: int) -> Analysis | None:
        """Return the analysis on a recording; None if it failed."""
        return self.read_analysis(self.database.connection, recording)

    # Corrections

    @reading
    def correct(
        self, recording: int, position: int, label: str, by: str, note: str = "", *, what: str = "class"
    ) -> None:
        """Correct the class or the cause of an event.

        Parameters
        ----------
        recording : int
            ID of the recording.
        position : int
            Position of the event in it.
        label : str
            The class, ``"not an event"``, or the cause; empty to withdraw an earlier correction.
        by, note : str
            Author and reason.
        what : {"class", "cause"}
            What is corrected.
        """
        self._check_author(by, note)
        if what not in ("class", "cause"):
            raise unknown_name("correction", what, ("class", "cause"))
        if what == "class" and label not in ("", NOT_AN_EVENT, *TRAINING_CLASSES):
            raise unknown_name("class", label, (*TRAINING_CLASSES, NOT_AN_EVENT))
        if what == "cause" and (len(label) > _LONGEST["cause"] or not label.isprintable()):
            raise PqswarmError(f"a cause is a line of at most {_LONGEST['cause']} characters.")
        with self.database.transaction() as database:
            found = database.execute(
                "SELECT event_records.record, content, recordings.position FROM events "
                "JOIN event_records USING (number) JOIN recordings ON recordings.id = recording "
                "WHERE recording = ? AND events.position = ?",
                (recording, position),
            ).fetchone()
            if found is None:
                raise PqswarmError("there is no such event.")
            record, content, place = found
            database.execute(
                "INSERT INTO corrections VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                (content, place, what, label, by.strip(), _now(), note.strip(), record),
            )
            analysis = self.read_analysis(database, recording)
            rows = [] if analysis is None else event_rows(analysis, self.read_corrections(database, content, place))
            database.executemany(
                "UPDATE events SET class = ?, cause = ?, hidden = ? WHERE recording = ? AND position = ?",
                [(row.label, row.cause, int(row.hidden), recording, i) for i, row in enumerate(rows)],
            )
            self.pack(database, recording, rows)

    @reading
    def correction_log(self, owner: str = "") -> list[dict[str, Any]]:
        """Return all corrections, the newest first: of what, by whom, when, and what the analysis was."""
        query = (
            "SELECT number, content, position, what, label, author, at, note, "
            "corrections.record, coalesce(recordings.name, ''), coalesce(owner, '') FROM corrections "
            "LEFT JOIN recordings USING (content, position) "
            "WHERE coalesce(recordings.owner, '') IN ('', ?) ORDER BY number DESC LIMIT 10000"
        )
        rows = self.database.rows(query, owner)
        return [
            {
                "number": number,
                "recording": recording_id(content, position),
                "path": name,
                "upload": bool(owned),
                "what": what,
                "label": label,
                "by": by,
                "at": at,
                "note": note,
                **{key: event.get(key) for key in ("type", "start", "channels", "class", "rule_class", "sentence")},
            }
            for number, content, position, what, label, by, at, note, record, name, owned in rows
            for event in [json.loads(record)]
        ]

    @reading
    def class_corrections(self) -> list[Correction]:
        """Return the corrected classes in force, to train with; uploads and what is no event are left out."""
        query = (
            "SELECT content, name, source, label, author, at, note, corrections.record FROM corrections "
            "JOIN recordings USING (content, position) WHERE what = 'class' AND owner = '' ORDER BY number"
        )
        rows = self.database.rows(query)
        files = self.files_of(sorted({row[0] for row in rows}))
        site_of = cache(ArchiveAnalyzer.of(self, {}).site_of)
        found: dict[tuple[Any, ...], Correction] = {}
        for content, name, source, label, by, at, note, record in rows:
            paths = [one.path for one in files.get(content, ())]
            path = next((one for one in paths if one.is_file()), paths[0] if paths else name)
            event, label = EventResult.of(json.loads(record)), "" if label == NOT_AN_EVENT else label
            one = Correction(str(path), content, source, event, label, by, at, note, site_of(path))
            found[one.key] = one
        return [one for _, one in sorted(found.items()) if one.label]

    # Notes

    def add_note(self, recording: int, text: str, by: str, *stretch: float) -> None:
        """Add a note to a recording, or to a stretch of it: its start and end [s]."""
        self._check_author(by, text)
        if not text.strip():
            raise PqswarmError("a note needs a text.")
        if stretch and not (len(stretch) == 2 and 0 <= stretch[0] <= stretch[1] < inf):
            raise PqswarmError("a stretch has a start and a later end, in seconds from the first sample.")
        with self.database.transaction() as database:
            made = database.execute(
                "INSERT INTO notes SELECT NULL, content, position, ?, ?, ?, '', ?, ? FROM recordings WHERE id = ?",
                (text.strip(), by.strip(), _now(), *(stretch or (None, None)), recording),
            )
            if not made.rowcount:
                raise PqswarmError("there is no such recording.")

    def remove_note(self, number: int, by: str) -> None:
        """Remove a note; the log keeps it."""
        self._check_author(by, "")
        with self.database.transaction() as database:
            database.execute("UPDATE notes SET removed = ? WHERE number = ?", (f"{_now()} {by.strip()}", number))

    @reading
    def notes(self, recording: int) -> list[dict[str, Any]]:
        """Return the notes of a recording."""
        query = (
            "SELECT number, text, author, notes.at, notes.start, stop FROM notes "
            "JOIN recordings USING (content, position) WHERE recordings.id = ? AND removed = '' ORDER BY number"
        )
        return [
            dict(zip(("number", "text", "by", "at", "start", "end"), row, strict=True))
            for row in self.database.rows(query, recording)
        ]

    def _check_author(self, by: str, note: str) -> None:
        if not by.strip() or len(by) > _LONGEST["author"] or not by.isprintable():
            raise PqswarmError(f"enter your name, at most {_LONGEST['author']} characters: corrections are signed.")
        if len(note) > _LONGEST["note"] or "\0" in note:
            raise PqswarmError(f"a note has at most {_LONGEST['note']} characters.")

    # Stations

    @reading
    def stations(self) -> list[dict[str, Any]]:
        """Return the stations: ID, name, numbers of recordings and events, site as TOML, and who edited it when."""
        query = (
            "SELECT id, name, site, author, at, coalesce(n, 0), coalesce(events, 0), first, last FROM stations "
            "LEFT JOIN (SELECT station, count(*) AS n, sum(n_events) AS events, min(start) AS first, "
            "max(start) AS last FROM recordings NOT INDEXED WHERE owner = '' GROUP BY station) "
            "ON station = id WHERE n > 0 OR site != '' ORDER BY name"  # not those of uploads, which are private
        )
        names = ("id", "name", "site", "by", "at", "n_recordings", "n_events", "first", "last")
        found = [dict(zip(names, row, strict=True)) for row in self.database.rows(query)]
        return [one | {key: from_microseconds(one[key]) for key in ("first", "last")} for one in found]

    @reading
    def sites(self) -> dict[str, Site]:
        """Return the sites of the stations that have one, by the name of the station."""
        rows = self.database.rows("SELECT name, site FROM stations WHERE site != ''")
        return {
            name: check_site(Site.read(site, f"the site of {name or 'the unnamed station'}")) for name, site in rows
        }

    def set_site(self, name: str, site: str | Mapping[str, Any], by: str) -> None:
        """Set the site of a station, in TOML or as plain values; recordings are analysed again only on demand.

        Parameters
        ----------
        name : str
            The station, as the recordings name it.
        site : str or mapping
            Text of a site file, or its keys; empty to remove it.
        by : str
            Author.
        """
        self._check_author(by, "")
        text = site if isinstance(site, str) else _site_text(site)
        if len(text) > _LONGEST["site"]:
            raise PqswarmError(f"a site has at most {_LONGEST['site']} characters.")
        if text.strip():
            check_site(Site.read(text, f"the site of {file_text(name)}"))
        with self.database.transaction() as database:
            station = self.find_station(database, name)
            values = (text.strip(), by.strip(), _now(), station)
            database.execute("UPDATE stations SET site = ?, author = ?, at = ? WHERE id = ?", values)

    def ask_again_for(self, station: int | None = None) -> list[str]:
        """Let the recordings of a station, or all, be analysed again; return their contents."""
        query = (
            "SELECT DISTINCT content FROM recordings JOIN contents ON digest = content WHERE owner = '' "
            "AND ? IN (station, 0) AND state != 'waiting' AND content IN (SELECT content FROM files)"
        )
        found = [content for (content,) in self.database.rows(query, station or 0)]
        self.ask_again(found)
        return found


def _site_text(values: Mapping[str, Any]) -> str:
    """Plain values as TOML; anything else is refused when the text is read."""
    try:
        return "\n".join(
            f"{toml_key(str(key))} = {to_toml(value)}" for key, value in values.items() if value is not None
        )
    except (TypeError, ValueError, PqswarmError) as error:
        raise PqswarmError(f"not the values of a site: {error}") from None


def _recording(row: Sequence[Any]) -> dict[str, Any]:
    number, content, position, source, name, owner, station, start, seconds, n_channels, n_events, reason = row[:12]
    state, analyzer, at = row[12:]
    return {
        "id": recording_id(content, position),
        "number": number,
        "content": content,
        "position": position,
        "source": source,
        "name": name,
        "station": station,
        "start": from_microseconds(start),
        "seconds": seconds,
        "n_channels": n_channels,
        "n_events": n_events,
        "upload": bool(owner),
        "state": "failed" if reason else "analysed",
        "reason": reason,
        "again": state == "waiting",
        "analyser": analyzer,
        "analysed": at,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
