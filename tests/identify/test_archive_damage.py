"""Damage inside an archive: whatever is hit, reading or checking it tells; Ctrl-C is none."""

import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.identify.invented import add, analysis, event

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.identify import Archive, ArchiveQueries, EventFilter
from pqswarm.identify.archive.database import _SEALED, row_seal
from pqswarm.identify.archive.export import check_archive, export_query
from pqswarm.identify.archive.files import SeenFile
from pqswarm.measure.incidents.stages import Incident, IncidentStage


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The folder of an archive with a row in each table."""
    folder = tmp_path_factory.mktemp("healthy")
    with Archive(folder) as archive:
        incident = Incident("fault", 0.8, ("because",), (IncidentStage(0, 1, "x"),), (0,), 0, 1)
        add(archive, replace(analysis(event(), event("swell", 1.2, 0.1, 0.6)), incidents=(incident,)), "a.cfg")
        archive.correct(1, 0, "swell", "Eve", "seen")
        archive.correct(1, 0, "lightning", "Ann", what="cause")
        archive.add_note(1, "A note.", "Eve", 0.1, 0.2)
        archive.set_site("North", "nominal_voltage = { line_to_line = 20000.0 }", "Eve")
        archive.deliveries.refuse("lines", 1, "it answered 400", 1)
        assert damages(archive) == []
    return folder


def damages(archive):
    return [text for is_damage, text in check_archive(archive) if is_damage]


def changed(healthy, folder, *statements, read_only=True):
    """A copy of the archive that another program has changed."""
    shutil.copytree(healthy, folder)
    with closing(sqlite3.connect(folder / "archive.sqlite")) as database, database:
        database.create_function("row_seal", -1, row_seal)
        for statement in statements:
            database.execute(statement)
    return Archive(folder, read_only=read_only)


CHANGES = [
    "UPDATE event_records SET record = replace(record, '0.62', '0.72')",
    "UPDATE events SET magnitude = magnitude + 0.1",
    "UPDATE recordings SET start = start + 1",
    "UPDATE recording_records SET record = replace(record, 'North', 'South')",
    "UPDATE incidents SET cause = 'motor start'",
    "UPDATE corrections SET label = 'sag' WHERE what = 'class'",
    "UPDATE corrections SET author = 'Mallory'",
    "UPDATE notes SET text = 'Another note.'",
    "UPDATE stations SET site = replace(site, '20000', '10000')",
    "UPDATE contents SET analyzer = 'other'",
    "UPDATE files SET stamp = '2:2'",
    "UPDATE receivers SET last = 0",
    "UPDATE refused SET reason = ''",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_a_changed_row_does_not_match_its_digest(healthy, tmp_path, statement):
    with changed(healthy, tmp_path / "copy", statement) as archive:
        assert re.search(rf"digests do not match \d+ rows? of {statement.split()[1]}", " ".join(damages(archive)))
        if statement in CHANGES[:9]:
            with pytest.raises(FileFormatError, match="its digest"):
                read_everything(archive)


def read_everything(archive):
    ArchiveQueries(archive).page(EventFilter(hidden=True))
    archive.analysis(1)
    archive.correction_log()
    archive.sites()


CONTRADICTIONS = {
    "UPDATE events SET magnitude = magnitude + 0.1": "another magnitude than its record",
    "UPDATE events SET label = 'sag'": "another label than its record",
    "UPDATE recordings SET seconds = 9.5": "its start, length, station",
    "UPDATE incidents SET title = 'quake'": "incidents have other columns",
    "UPDATE corrections SET label = 'sag' WHERE what = 'class'": "the corrections in force are not",
    "UPDATE notes SET content = 'b'": "notes have no recording",
    "UPDATE stations SET site = 'x = '": "sites: ",
    "UPDATE recordings SET n_events = 3": "another number of events",
    "UPDATE recordings SET revision = 99": "newer than the archive",
    "DELETE FROM event_records WHERE number = 1": "events have no record",
}


@pytest.mark.parametrize("statement", CONTRADICTIONS)
def test_rows_that_contradict_each_other_are_told_though_their_digests_match(healthy, tmp_path, statement):
    table = statement.split()[2 if statement.startswith("DELETE") else 1]
    seal = f"UPDATE {table} SET seal = row_seal({_SEALED[table]})"
    with changed(healthy, tmp_path / "copy", statement, seal) as archive:
        assert CONTRADICTIONS[statement] in " ".join(damages(archive))


def grow(archive):
    """The file of the recording grows, and is analyzed again."""
    (known,) = archive.files.all().values()
    file = replace(known, content="b" * 64, stamp="2:2", grown_from=known.content)
    archive.files.register([file])
    archive.files.claim(file.content)
    archive.finish(file, [analysis(event())], analyzer="test")


WRITERS = {
    "UPDATE corrections SET label = 'sag' WHERE what = 'class'": grow,
    "UPDATE notes SET text = 'Another note.'": grow,
    "UPDATE notes SET start = 0.15": lambda archive: archive.remove_note(1, "Eve"),
    "UPDATE contents SET analyzer = 'other'": lambda archive: archive.ask_again_for(),
    "UPDATE receivers SET last = 9": lambda archive: archive.deliveries.pending("lines", Path("/data")),
}


@pytest.mark.parametrize("statement", WRITERS)
def test_who_writes_into_a_changed_row_does_not_seal_it(healthy, tmp_path, statement):
    with changed(healthy, tmp_path / "copy", statement, read_only=False) as archive:
        with pytest.raises(FileFormatError, match="its digest"):
            WRITERS[statement](archive)
        assert "digests do not match 1 row" in " ".join(damages(archive))


def test_values_that_no_column_can_hold_are_no_damage(empty):
    add(empty, analysis(event()), "a.cfg")
    for wrong in (
        lambda: empty.add_note(1, "\ud800", "Eve"),
        lambda: empty.add_note(1, "a", "Eve", 0, 10**400),
        lambda: empty.add_note(10**30, "a", "Eve"),
        lambda: empty.ask_again_for(10**30),
        lambda: empty.correct(10**30, 0, "sag", "Eve"),
        lambda: empty.set_site("\ud800", "", "Eve") or empty.set_site("North", "\ud800 = 1", "Eve"),
        lambda: ArchiveQueries(empty).page(EventFilter(), after="²"),
        lambda: ArchiveQueries(empty).page(EventFilter(), after="9" * 5000),
        lambda: empty.recordings(after=f".{'9' * 5000}"),
    ):
        with pytest.raises(PqswarmError) as caught:
            wrong()
        assert "damaged" not in str(caught.value)
    assert empty.find("a" * 24 + "-²") is None
    assert empty.find("a-" + "9" * 5000) is None


def test_a_claim_of_before_the_clock_was_set_back_is_taken_over(tmp_path, monkeypatch):
    file = SeenFile(tmp_path / "a.csv", "1:1", "a" * 64)
    with Archive(tmp_path / "x") as one, Archive(tmp_path / "x") as other:
        one.files.register([file])
        monkeypatch.setattr("pqswarm.identify.archive.files.time.time", lambda: 2e9)
        assert one.files.claim(file.content) == "mine"
        monkeypatch.setattr("pqswarm.identify.archive.files.time.time", lambda: 2e9 - 30)
        assert other.files.claim(file.content) == "busy"
        monkeypatch.setattr("pqswarm.identify.archive.files.time.time", lambda: 1.7e9)
        assert other.files.claim(file.content) == "mine"


def test_a_query_tells_no_addresses_of_the_process(healthy):
    with Archive(healthy, read_only=True) as archive, pytest.raises(PqswarmError, match="cannot be run"):
        list(export_query(archive, "SELECT fts3_tokenizer('simple')", 1.0))


def test_texts_of_any_size_are_not_read(healthy, tmp_path, monkeypatch):
    """Somebody else's archive may say that a text has a gigabyte: SQLite is asked for no more than a limit."""
    monkeypatch.setattr("pqswarm.identify.archive.database.MAX_SQLITE_BYTES", 50_000)
    statement = "UPDATE notes SET text = hex(zeroblob(40000))"
    with changed(healthy, tmp_path / "copy", statement) as archive, pytest.raises(FileFormatError, match="too big"):
        archive.notes(1)


# A function of SQL, or the look at the clock, is where Python gets to know of the signal.
INTERRUPTED = """
import os, signal, sys, time
from pqswarm._base.interrupts import note_interrupts
from pqswarm.identify import Archive
from pqswarm.identify.archive import database
from pqswarm.identify.archive.export import export_query
from pqswarm.study import Store

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

def press():
    if not os.fork():
        time.sleep(0.3)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)

def sealing(*row):
    os.kill(os.getpid(), signal.SIGINT)
    return ""

note_interrupts()
folder, how = sys.argv[1:]
try:
    if how == "seal":
        database.row_seal = sealing
    if how == "study":
        with Store(folder, write=True):
            pass
        with Store(folder) as store:
            press()
            store.database.select(ENDLESS)
    with Archive(folder, read_only=True) as archive:
        if how == "query":
            press()
            list(export_query(archive, ENDLESS, 60.0))
        if how == "rows":
            press()
            archive.database.rows(ENDLESS)
        archive.analysis(1)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("how", ["seal", "query", "rows", "study"])
def test_ctrl_c_while_sqlite_works_is_told_as_such(empty, tmp_path, how):
    add(empty, analysis(event()), "a.cfg")
    command = [sys.executable, "-c", INTERRUPTED, tmp_path if how == "study" else empty.folder, how]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300)
    assert run.stdout == "stopped\n", run.stderr
