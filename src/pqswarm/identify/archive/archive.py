"""An archive: recordings with their analyses, and what people say about them.

Corrections, causes, notes, and the sites of stations are kept next to the analyses, and outlive them.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Self

from pqswarm._base.checks import is_finite
from pqswarm._base.text import count_text, file_text, is_encodable
from pqswarm._base.toml import to_toml, toml_key
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify.analysis import NOT_AN_EVENT, Analysis, EventResult
from pqswarm.identify.archive.analyzer import ArchiveAnalyzer
from pqswarm.identify.archive.database import ArchiveDatabase, insert, intact, reads_archive, seal_rows, update
from pqswarm.identify.archive.deliveries import Deliveries
from pqswarm.identify.archive.events import (
    ArchivedEvents,
    event_records,
    event_values,
    from_event_microseconds,
    has_same_event_numbers,
    head_record,
    incident_values,
    is_same_event,
    note_text,
    read_analysis,
    recording_id,
    to_event_microseconds,
)
from pqswarm.identify.archive.files import ArchiveFiles, SeenFile
from pqswarm.identify.archive.picture import RecordingFacts
from pqswarm.identify.folder.batch import Failure, check_site
from pqswarm.identify.training import Correction, merge_corrections
from pqswarm.measure import Event
from pqswarm.measure.incidents.stages import CAUSES, Incident, order_in_time
from pqswarm.recordings import Site

KNOWN_CAUSES = (*CAUSES, "lightning", "ripple control", "animal", "tree")
"""Causes to choose from; any other text is allowed, too."""
_LONGEST = {"author": 200, "note": 2000, "cause": 100, "site": 100_000}
"""Maximum number of characters."""
_RECORDING_ID = re.compile(r"[0-9a-f]+(-[0-9]{1,9})?")
_LIST_PLACE = re.compile(r"(-?[0-9]{1,18})?\.[0-9]{1,18}")
_IS_LISTED = "(recordings.reason NOT LIKE 'is not a recording%' OR owner != '')"
"""Condition of what is listed: a folder of recordings may hold other files, such as notes."""
_SELECT = f"""
SELECT {intact("recordings")} AND {intact("contents")} AS is_intact,
recordings.id AS number, content, position, source, recordings.name, owner, stations.name AS station,
recordings.start, seconds, n_channels, n_events, recordings.reason, contents.state, analyzer, contents.at AS analyzed_at
FROM recordings JOIN stations ON stations.id = station JOIN contents ON digest = content"""


class Archive:
    """Recordings, events, corrections and notes of many meters in one SQLite file.

    Any number of processes may use it at once. `files` are the files it knows and who analyzes them, `events` reads
    events by their numbers, and `deliveries` is what receivers have got.

    Parameters
    ----------
    folder : str or Path
        Its folder; a missing one is created.
    read_only : bool, default=False
        Whether nothing may be written; the archive must then exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Archive(folder) as archive:
    ...     archive.counts()
    {'files': 0, 'recordings': 0, 'events': 0, 'waiting': 0, 'failed': 0}
    """

    def __init__(self, folder: str | Path, *, read_only: bool = False) -> None:
        self.database = ArchiveDatabase(folder, read_only=read_only)
        self.folder = self.database.folder
        self.files = ArchiveFiles(self.database)
        self.events = ArchivedEvents(self.database)
        self.deliveries = Deliveries(self.database, self.events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @reads_archive
    def counts(self) -> dict[str, int]:
        """Return the numbers of files, recordings and events, and of contents that wait or failed."""
        return self.database.named_rows(
            "SELECT (SELECT count(*) FROM files) AS files, "
            f"(SELECT count(*) FROM recordings WHERE {_IS_LISTED}) AS recordings,"
            " (SELECT coalesce(sum(n_events), 0) FROM recordings) AS events,"
            " (SELECT count(*) FROM contents WHERE state = 'waiting') AS waiting,"
            " (SELECT count(*) FROM contents WHERE state = 'failed') AS failed"
        )[0]

    @reads_archive
    def revision(self) -> int:
        """Return a number that grows whenever a recording or correction is written."""
        return int(self.database.rows("SELECT last FROM revisions")[0][0])

    # Analyses

    def finish(
        self,
        file: SeenFile,
        results: Sequence[Analysis | Failure],
        *,
        analyzer: str = "",
        facts: Sequence[RecordingFacts] = (),
    ) -> int | None:
        """Write the analysis of a content in one transaction; return the number of events that are new or changed.

        None if another process has finished it meanwhile: then nothing is written.
        """
        failures = [result for result in results if isinstance(result, Failure)]
        reasons = " ".join(str(failure) if failure.place else failure.reason for failure in failures)
        with self.database.transaction() as database:
            held = database.execute("SELECT worker FROM claims WHERE digest = ?", (file.content,)).fetchone()
            if held is None or held[0] != self.files.worker:
                return None
            known = database.execute("SELECT reason, serial FROM contents WHERE digest = ?", (file.content,)).fetchone()
            grown_from, serial = known or ("", 0)
            if serial or database.execute("SELECT 1 FROM files WHERE content = ?", (grown_from,)).fetchone():
                grown_from = ""  # it is no continuation, or a copy of what it was is still there
            writer = _EventWriter(database, file.content, int(serial), self._events_before(grown_from or file.content))
            for old in filter(None, (file.content, grown_from)):
                self._remove_content(database, old)
            for table in ("corrections", "notes") if grown_from else ():
                database.execute(
                    f"UPDATE {table} SET content = ? WHERE content = ? AND {intact(table)}", (file.content, grown_from)
                )
                seal_rows(database, table, "content = ?", (file.content,))
            known_facts = [*facts, *[RecordingFacts()] * len(results)]
            for position, result in enumerate(results):
                self._write_recording(database, writer, file, position, result, known_facts[position])
            values = {
                "digest": file.content,
                "state": "failed" if results and len(failures) == len(results) else "done",
                "reason": file_text(reasons),
                "analyzer": analyzer,
                "at": _archive_time_now(),
                "serial": max(writer.serial, 1),
            }
            insert(database, "contents", values, "digest = :digest")
            database.execute("DELETE FROM claims WHERE digest = ?", (file.content,))
        return writer.n_new

    @reads_archive
    def _events_before(self, content: str) -> list[dict[str, Any]]:
        """Events of the earlier analysis of a content, or of what it has grown from."""
        query = (
            "SELECT events.number, key, refers, recordings.position AS place, event_records.record FROM recordings "
            "JOIN events ON recording = recordings.id JOIN event_records USING (number) WHERE content = ?"
        )
        return [row | {"record": json.loads(row["record"])} for row in self.database.named_rows(query, content)]

    def _write_recording(
        self,
        database: sqlite3.Connection,
        writer: "_EventWriter",
        file: SeenFile,
        position: int,
        result: Analysis | Failure,
        facts: RecordingFacts,
    ) -> None:
        """Write a recording with its incidents and events, and the corrections of an earlier analysis."""
        analysis = None
        if isinstance(result, Analysis):
            analysis = apply_corrections(result, self.events.corrections_of(file.content, position))
        values = {
            "content": file.content,
            "position": position,
            "source": file_text(result.source),
            "name": file_text(file.path),
            "owner": file.owner,
            "station": self._find_station(database, "" if analysis is None else analysis.station),
            "start": None if analysis is None else to_event_microseconds(analysis.start),
            "seconds": None if analysis is None else analysis.duration,
            "n_channels": facts.n_channels,
            "n_events": 0 if analysis is None else len(analysis.events),
            "reason": file_text(result.reason) if isinstance(result, Failure) else "",
            "revision": self.database.next_revision(),
        }
        recording = insert(database, "recordings", values)
        head = "" if analysis is None else head_record(analysis)
        insert(database, "recording_records", {"recording": recording, "record": head, "picture": facts.picture})
        if analysis is not None:
            self._write_incidents(database, recording, analysis)
            writer.write(recording, position, analysis)

    def _write_incidents(self, database: sqlite3.Connection, recording: int, analysis: Analysis) -> None:
        """Write the incidents of a recording in place of those that are there."""
        database.execute("DELETE FROM incidents WHERE recording = ?", (recording,))
        for number, incident in enumerate(analysis.incidents):
            values = {"recording": recording, "position": number} | incident_values(incident)
            insert(database, "incidents", values, "recording = :recording AND position = :position")

    def _write_corrections(self, database: sqlite3.Connection, recording: int) -> None:
        """Write the corrections in force into the records of a recording, and the columns by which it is searched."""
        query = "SELECT content, position FROM recordings WHERE id = ?"
        content, place = database.execute(query, (recording,)).fetchone()
        found = self.analysis(recording)
        if found is None:
            return
        analysis = apply_corrections(found, self.events.corrections_of(content, place))
        self._write_incidents(database, recording, analysis)
        for values, record in zip(event_values(analysis), event_records(analysis), strict=True):
            own = "recording = :recording AND position = :position"
            row = values | {"recording": recording, "record": record}
            columns = "label = :label, cause = :cause, hidden = :hidden, incident = :incident"
            update(database, "events", columns, own, row)
            number = f"number = (SELECT number FROM events WHERE {own})"
            update(database, "event_records", "record = :record", number, row)
        changed = {"revision": self.database.next_revision(), "id": recording}
        update(database, "recordings", "revision = :revision", "id = :id", changed)

    def _find_station(self, database: sqlite3.Connection, name: str) -> int:
        """Return the ID of a station, which may be new."""
        name = file_text(name)
        known = database.execute("SELECT id FROM stations WHERE name = ?", (name,)).fetchone()
        return (
            insert(database, "stations", {"name": name, "site": "", "author": "", "at": ""})
            if known is None
            else known[0]
        )

    def _remove_content(self, database: sqlite3.Connection, content: str) -> None:
        """Remove the analysis of a content."""
        ours = "SELECT id FROM recordings WHERE content = ?"
        numbers = f"SELECT number FROM events WHERE recording IN ({ours})"
        database.execute(f"DELETE FROM event_records WHERE number IN ({numbers})", (content,))
        for table in ("events", "incidents", "recording_records"):
            database.execute(f"DELETE FROM {table} WHERE recording IN ({ours})", (content,))
        database.execute("DELETE FROM recordings WHERE content = ?", (content,))
        database.execute("DELETE FROM contents WHERE digest = ?", (content,))

    def remove_owned(self, owner: str, content: str | None = None) -> None:
        """Remove the uploads of a visitor, or one of them, with their analyses, corrections and notes."""
        with self.database.transaction() as database:
            query = "SELECT DISTINCT content FROM files WHERE owner = ? AND owner != '' AND ? IN (content, '')"
            for (owned,) in database.execute(query, (owner, content or "")).fetchall():
                self._remove_content(database, owned)
                for table in ("files", "corrections", "notes"):
                    database.execute(f"DELETE FROM {table} WHERE content = ?", (owned,))
            self.database.next_revision()

    @reads_archive
    def analysis(self, recording: int) -> Analysis | None:
        """Return the analysis of a recording, with corrections and notes; None if it failed."""
        sealed = f"{intact('recordings')} AND {intact('recording_records')}"
        query = (
            f"SELECT record, name FROM recordings JOIN recording_records ON recording = id WHERE id = ? AND {sealed}"
        )
        ((head, name),) = self.database.rows(query, recording)
        if not head:
            return None
        sealed = f"{intact('events')} AND {intact('event_records')}"
        query = (
            "SELECT record FROM events JOIN event_records USING (number) "
            f"WHERE recording = ? AND {sealed} ORDER BY position"
        )
        events = [record for (record,) in self.database.rows(query, recording)]
        query = f"SELECT record FROM incidents WHERE recording = ? AND {intact('incidents')} ORDER BY position"
        incidents = [record for (record,) in self.database.rows(query, recording)]
        return read_analysis(head, events, incidents, name, map(note_text, self.notes(recording)))

    @reads_archive
    def corrected(self, analysis: Analysis, content: str) -> Analysis:
        """Return a new analysis of a recording of a content to pass on: with the corrections and notes of the archive.

        What a person called no event is left out.
        """
        query = "SELECT id, position FROM recordings WHERE content = ? AND source = ?"
        rows = self.database.rows(query, content, file_text(analysis.source))
        if not rows:
            return analysis
        recording, position = rows[0]
        corrections = self.events.corrections_of(content, position)
        return leave_out_hidden(apply_corrections(analysis, corrections, self.notes(recording)))

    @reads_archive
    def kept(self, recording: int) -> dict[str, Any]:
        """Return what is kept of a recording besides its analysis, see RecordingFacts; empty if there is nothing."""
        query = f"SELECT picture FROM recording_records WHERE recording = ? AND {intact('recording_records')}"
        ((text,),) = self.database.rows(query, recording)
        return dict(json.loads(text or "{}"))

    @reads_archive
    def results(self, content: str, path: str = "") -> list[Analysis | Failure]:
        """Return the stored results of a content to pass on: an analysis or failure per recording.

        What a person called no event is left out; `path` replaces that of the file.
        """
        query = "SELECT id, name, source, reason FROM recordings WHERE content = ? ORDER BY position"
        results: list[Analysis | Failure] = []
        for recording, name, source, reason in self.database.rows(query, content):
            analysis = self.analysis(recording)
            failure = Failure(path or name, source, reason)
            results.append(failure if analysis is None else leave_out_hidden(replace(analysis, path=path or name)))
        return results

    # Recordings

    @reads_archive
    def find(self, name: str, owner: str = "") -> dict[str, Any] | None:
        """Return a recording by its ID in URLs, if it is public or of an owner."""
        if not _RECORDING_ID.fullmatch(name):
            return None
        start, _, place = name.partition("-")
        query = f"{_SELECT} WHERE content >= ? AND content < ? AND position = ? AND owner IN ('', ?)"
        position = int(place) - 1 if place else 0
        rows = self.database.named_rows(query, start, f"{start}g", position, owner)
        return _archive_recording(rows[0]) if len(rows) == 1 else None

    @reads_archive
    def recordings(
        self, *, owner: str = "", after: str = "", limit: int = 100, state: str = "", station: int = 0, text: str = ""
    ) -> dict[str, Any]:
        """Return a page of recordings, the newest first, and the key of the next page."""
        where = ["owner IN ('', ?)", "1" if state == "failed" else _IS_LISTED]
        values: list[Any] = [owner]
        if state in ("failed", "done"):
            where.append("recordings.reason != ''" if state == "failed" else "recordings.reason = ''")
        if station:
            where.append("station = ?")
            values.append(station)
        for word in text.split():
            where.append("(recordings.name LIKE ? OR stations.name LIKE ?)")
            values += [f"%{word}%"] * 2
        chosen = "FROM recordings JOIN stations ON stations.id = station WHERE "
        total = self.database.rows(f"SELECT count(*) {chosen}{' AND '.join(where)}", *values)[0][0]
        if after:
            start, _, number = after.rpartition(".")
            if not _LIST_PLACE.fullmatch(after):
                raise PqswarmError("The list has changed: load it again.")
            below = "((recordings.start, recordings.id) < (?, ?) OR recordings.start IS NULL)"
            where.append(below if start else "recordings.start IS NULL AND recordings.id < ?")
            values += [int(start), int(number)] if start else [int(number)]
        order = "ORDER BY recordings.start DESC, recordings.id DESC"
        query = f"SELECT recordings.id {chosen}{' AND '.join(where)} {order} LIMIT ?"
        numbers = ",".join(str(number) for (number,) in self.database.rows(query, *values, limit + 1))
        rows = self.database.named_rows(f"{_SELECT} WHERE recordings.id IN ({numbers}) {order}")  # only these digests
        last = rows[limit - 1] if len(rows) > limit else None
        following = "" if last is None else f"{'' if last['start'] is None else last['start']}.{last['number']}"
        return {"total": int(total), "next": following, "recordings": [_archive_recording(row) for row in rows[:limit]]}

    # Corrections

    @reads_archive
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
        by : str
            Author.
        note : str, default=""
            Reason.
        what : {"class", "cause"}, default="class"
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
            stored = database.execute("SELECT content, position FROM recordings WHERE id = ?", (recording,)).fetchone()
            analysis = None if stored is None else self.analysis(recording)
            if analysis is None or not 0 <= position < len(analysis.events):
                raise PqswarmError("there is no such event.")
            found = apply_corrections(analysis, ())
            incident = found.incident_of(position)
            cause = "" if incident is None else incident.verdict
            values = {
                "content": stored[0],
                "position": stored[1],
                "what": what,
                "label": label,
                "author": by.strip(),
                "at": _archive_time_now(),
                "note": note.strip(),
                "record": event_records(found)[position],
                "found": found.events[position].class_in_words if what == "class" else cause,
            }
            insert(database, "corrections", values)
            self._write_corrections(database, recording)

    @reads_archive
    def correction_log(self, owner: str = "") -> list[dict[str, Any]]:
        """Return all corrections, the newest first: of what, by whom, when, and what was found."""
        query = (
            "SELECT number, content, position, what, found, label, author AS by, at, note, corrections.record, "
            "coalesce(recordings.name, '') AS path, coalesce(owner, '') AS owner FROM corrections "
            "LEFT JOIN recordings USING (content, position) "
            f"WHERE coalesce(recordings.owner, '') IN ('', ?) AND {intact('corrections')} "
            "ORDER BY number DESC LIMIT 10000"
        )
        log = []
        for row in self.database.named_rows(query, owner):
            event = json.loads(row["record"])
            log.append(
                {
                    **{key: row[key] for key in ("number", "path", "what", "found", "label", "by", "at", "note")},
                    "recording": recording_id(row["content"], row["position"]),
                    "upload": bool(row["owner"]),
                    **{key: event[key] for key in ("type", "start", "channels", "sentence")},
                }
            )
        return log

    @reads_archive
    def class_corrections(self) -> list[Correction]:
        """Return the corrected classes in force, to train with; uploads and what is no event are left out."""
        query = (
            "SELECT content, name, source, label, author AS by, at, note, corrections.record FROM corrections "
            "JOIN recordings USING (content, position) WHERE what = 'class' AND owner = '' "
            f"AND {intact('corrections')} ORDER BY number"
        )
        rows = self.database.named_rows(query)
        files = self.files.by_content(sorted({row["content"] for row in rows}))
        site_of = cache(ArchiveAnalyzer({}, self.sites()).site_of)
        corrections = []
        for row in rows:
            paths = [file.path for file in files.get(row["content"], ())] or [Path(row["name"])]
            path = next((path for path in paths if path.is_file()), paths[0])
            corrections.append(
                Correction(
                    path=str(path),
                    digest=row["content"],
                    source=row["source"],
                    found=EventResult.of(json.loads(row["record"])),
                    label="" if row["label"] == NOT_AN_EVENT else row["label"],
                    by=row["by"],
                    at=row["at"],
                    note=row["note"],
                    site=site_of(path),
                )
            )
        return list(merge_corrections(corrections))

    # Notes

    def add_note(self, recording: int, text: str, by: str, *stretch: float) -> None:
        """Add a note to a recording, or to a stretch of it: its start and end [s]."""
        self._check_author(by, text)
        if not text.strip():
            raise PqswarmError("a note needs a text.")
        is_stretch = len(stretch) == 2 and all(map(is_finite, stretch)) and 0 <= stretch[0] <= stretch[1]
        if stretch and not is_stretch:
            raise PqswarmError("a stretch has a start and a later end, in seconds from the first sample.")
        with self.database.transaction() as database:
            query = "SELECT content, position FROM recordings WHERE id = ?"
            place = database.execute(query, (recording,)).fetchone()
            if place is None:
                raise PqswarmError("there is no such recording.")
            values: dict[str, Any] = {"text": text.strip(), "author": by.strip(), "at": _archive_time_now()}
            values |= dict(zip(("content", "position", "start", "stop"), (*place, *stretch), strict=False))
            values["removed"] = ""
            insert(database, "notes", values)

    def remove_note(self, number: int, by: str) -> None:
        """Remove a note; the log keeps it."""
        self._check_author(by, "")
        with self.database.transaction() as database:
            values = {"removed": f"{_archive_time_now()} {by.strip()}", "number": number}
            update(database, "notes", "removed = :removed", "number = :number", values)

    def notes(self, recording: int) -> list[dict[str, Any]]:
        """Return the notes of a recording."""
        return self.events.notes(recording)

    def _check_author(self, by: str, note: str) -> None:
        if not by.strip() or len(by) > _LONGEST["author"] or not by.isprintable():
            raise PqswarmError(f"enter your name, at most {_LONGEST['author']} characters: corrections are signed.")
        if len(note) > _LONGEST["note"] or "\0" in note or not is_encodable(note):
            raise PqswarmError(f"a note has at most {_LONGEST['note']} characters of Unicode.")

    # Stations

    @reads_archive
    def stations(self) -> list[dict[str, Any]]:
        """Return the stations: ID, name, numbers of recordings and events, site as TOML, and who edited it when."""
        query = (
            "SELECT id, name, site, author AS by, at, coalesce(n, 0) AS n_recordings, "
            "coalesce(events, 0) AS n_events, first, last FROM stations LEFT JOIN (SELECT station, "
            "count(*) AS n, sum(n_events) AS events, min(start) AS first, max(start) AS last "
            "FROM recordings NOT INDEXED WHERE owner = '' GROUP BY station) "
            f"ON station = id WHERE (n > 0 OR site != '') AND {intact('stations')} "  # not those of uploads: private
            "ORDER BY name"
        )
        return [
            station
            | {"first": from_event_microseconds(station["first"]), "last": from_event_microseconds(station["last"])}
            for station in self.database.named_rows(query)
        ]

    @reads_archive
    def sites(self) -> dict[str, Site]:
        """Return the sites of the stations that have one, by the name of the station."""
        rows = self.database.rows(f"SELECT name, site FROM stations WHERE site != '' AND {intact('stations')}")
        return {
            name: check_site(Site.read(site, f"the site of {name or 'the unnamed station'}")) for name, site in rows
        }

    def set_site(self, name: str, site: str | Mapping[str, Any], by: str) -> None:
        """Set the site of a station, in TOML or as plain values; recordings are analyzed again only on demand.

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
        text = site if isinstance(site, str) else _archive_site_text(site)
        if len(text) > _LONGEST["site"] or not is_encodable(text):
            raise PqswarmError(f"a site has at most {_LONGEST['site']} characters of Unicode.")
        if text.strip():
            check_site(Site.read(text, f"the site of {file_text(name)}"))
        with self.database.transaction() as database:
            values = {
                "site": text.strip(),
                "author": by.strip(),
                "at": _archive_time_now(),
                "id": self._find_station(database, name),
            }
            update(database, "stations", "site = :site, author = :author, at = :at", "id = :id", values)

    def ask_again_for(self, station: int | None = None) -> list[str]:
        """Let the recordings of a station, or all, be analyzed again; return their contents."""
        query = (
            "SELECT DISTINCT content FROM recordings JOIN contents ON digest = content WHERE owner = '' "
            "AND ? IN (station, 0) AND state != 'waiting' AND content IN (SELECT content FROM files)"
        )
        contents = [content for (content,) in self.database.rows(query, station or 0)]
        self.files.ask_again(contents)
        return contents


def _archive_site_text(values: Mapping[str, Any]) -> str:
    """Plain values as TOML; anything else is refused when the text is read."""
    try:
        return "\n".join(
            f"{toml_key(str(key))} = {to_toml(value)}" for key, value in values.items() if value is not None
        )
    except RecursionError:
        raise PqswarmError("not the values of a site: they are nested too deeply.") from None
    except (TypeError, ValueError) as error:
        raise PqswarmError(f"not the values of a site: {error}") from None


def _archive_recording(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("number", "content", "position", "source", "name", "station", "seconds", "n_channels", "n_events")
    return {
        "id": recording_id(row["content"], row["position"]),
        **{name: row[name] for name in (*names, "reason", "analyzer", "analyzed_at")},
        "start": from_event_microseconds(row["start"]),
        "upload": bool(row["owner"]),
        "state": "failed" if row["reason"] else "analyzed",
        "again": row["state"] == "waiting",
    }


def _archive_time_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class _EventWriter:
    """Writes the events of a content; those that were found before keep their number and key.

    `before` are the events of the last analysis; `serial` counts the keys of the content, and `n_new` the events that
    are new or have other numbers.
    """

    def __init__(self, database: sqlite3.Connection, content: str, serial: int, before: list[dict[str, Any]]) -> None:
        self.database = database
        self.content = content
        self.serial = serial
        self.before = before
        self.n_new = 0

    def write(self, recording: int, place: int, analysis: Analysis) -> None:
        """Write the events of the recording at a place of the content."""
        before = [old for old in self.before if old["place"] == place]
        for values, text in zip(event_values(analysis), event_records(analysis), strict=True):
            record = json.loads(text)
            same = next((old for old in before if is_same_event(old["record"], record)), None)
            if same is not None:
                before.remove(same)
            number = insert(self.database, "events", values | self._identity(same, record) | {"recording": recording})
            insert(self.database, "event_records", {"number": number, "record": text})

    def _identity(self, same: Mapping[str, Any] | None, record: Mapping[str, Any]) -> dict[str, Any]:
        """Number, key, and the key of the event that it corrects."""
        if same is not None and has_same_event_numbers(same["record"], record):
            return {name: same[name] for name in ("number", "key", "refers")}
        self.serial += 1
        self.n_new += 1
        key = f"{self.content[:24]}-{self.serial}"
        return {"number": None, "key": key, "refers": "" if same is None else same["refers"] or same["key"]}


_HALF_CYCLE = 0.5
"""Cycles by which the start of a corrected event may differ."""


def apply_corrections(
    analysis: Analysis, corrections: Sequence[Mapping[str, Any]], notes: Iterable[Mapping[str, Any]] = ()
) -> Analysis:
    """Return an analysis with the corrections in force, whatever was in force before, and with notes as remarks.

    `corrections` are in order, each with the event as it was then (``record``); an empty ``label`` withdraws. The last
    one about an event, or for causes about any event of an incident, holds.
    """
    events = []
    for result in analysis.events:
        found = replace(result, by_hand="", correction="")
        said = _correction_in_force("class", [result.event], corrections)
        events.append(replace(found, **_signed(said, found.class_in_words)))
    incidents = []
    for incident in (*analysis.incidents, *_incidents_of_single_events(analysis)):
        found_incident = replace(incident, by_hand="", correction="")
        said = _correction_in_force("cause", [analysis.events[i].event for i in incident.events], corrections)
        if said or incident in analysis.incidents:
            incidents.append(replace(found_incident, **_signed(said, found_incident.verdict)))
    return replace(
        analysis,
        events=tuple(events),
        incidents=tuple(sorted(incidents, key=order_in_time)),
        remarks=tuple(map(note_text, notes)),
    )


def _incidents_of_single_events(analysis: Analysis) -> list[Incident]:
    """Incidents for the events that have none, as in analyses that were put together by hand."""
    return [
        Incident("unknown", 0.0, (), (), (i,), result.event.start, result.event.end)
        for i, result in enumerate(analysis.events)
        if analysis.incident_of(i) is None
    ]


def _correction_in_force(
    what: str, events: Sequence[Event], corrections: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The last correction of the class or cause of one of some events; empty if there is none, or it was withdrawn."""
    about = [
        one for one in corrections if one["what"] == what and any(_is_about(one["record"], event) for event in events)
    ]
    return about[-1] if about and about[-1]["label"] else {}


def _is_about(old: Mapping[str, Any], event: Event) -> bool:
    """Whether an event is the one that was corrected, perhaps with other numbers."""
    is_near = bool(abs(old["start"] - event.start) <= _HALF_CYCLE / event.nominal_frequency)
    return is_near and old["type"] == event.type and old["channels"] == list(map(file_text, event.channels))


def _signed(correction: Mapping[str, Any], found: str) -> dict[str, Any]:
    """A correction as the fields of a record: what a person said, and who, when, why, and what was found."""
    if not correction:
        return {}
    why = " ".join(correction["note"].split())
    text = f"corrected by {correction['by']} on {correction['at'][:10]}{f' ({why})' if why else ''}; found: {found}"
    return {"by_hand": correction["label"], "correction": text}


def leave_out_hidden(analysis: Analysis) -> Analysis:
    """Return an analysis to be passed on: without what a person called no event, but with a remark about it."""
    hidden = [one for one in analysis.events if one.is_hidden]
    if not hidden:
        return analysis
    shown = analysis.only([i for i, one in enumerate(analysis.events) if not one.is_hidden])
    remarks = [f"Not an event: {one.event.sentence} ({one.correction})" for one in hidden]
    reason = "" if shown.events else f"{count_text(len(hidden), 'event')} found, but called no event by hand"
    return replace(shown, remarks=(*analysis.remarks, *remarks), no_event_reason=reason)
