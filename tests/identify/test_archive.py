"""An archive: each content analyzed once, corrections that last, hostile files."""

import contextlib
import gc
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.identify.invented import add, analysis, event

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.identify import Archive, ArchiveQueries, EventFilter, Failure
from pqswarm.identify.archive.export import check_archive
from pqswarm.identify.archive.files import SeenFile


def test_a_content_is_analysed_by_one(tmp_path, monkeypatch):
    file = SeenFile(tmp_path / "a.csv", "1:1", "a" * 64)
    with Archive(tmp_path / "x") as one, Archive(tmp_path / "x") as other:
        one.files.register([file])
        assert [one.files.claim(file.content), other.files.claim(file.content)] == ["mine", "busy"]
        monkeypatch.setattr("pqswarm.identify.archive.files.LEASE", -1.0)
        one.files.renew([file.content])  # as if it gave no sign of life
        assert other.files.claim(file.content) == "mine"
        assert one.finish(file, [analysis(event())]) is None  # too late: nothing is doubled
        assert other.finish(file, [analysis(event())]) == 1
        assert one.files.claim(file.content) == "done"
        assert one.counts()["events"] == 1
        child = os.fork()
        if not child:
            with Archive(tmp_path / "x") as third:
                third.files.register([replace(file, path=tmp_path / "b.csv", content="b" * 64)])
                third.files.claim("b" * 64)
            os._exit(0)
        monkeypatch.undo()
        os.waitpid(child, 0)
        assert one.files.claim("b" * 64) == "mine"  # its process has ended


def test_a_second_analysis_replaces_the_first(empty):
    file = add(empty, analysis(event("sag", 0.5, 0.1, 0.1), event("swell", 1.2, 0.1, 0.5)), "a.cfg")
    empty.files.ask_again([file.content])
    assert empty.files.claim(file.content) == "mine"
    assert empty.finish(file, [analysis(event("sag", 0.5, 0.1, 0.1), event("swell", 1.3, 0.1, 0.5))]) == 1
    rows = ArchiveQueries(empty).page(EventFilter(), "oldest")["rows"]
    assert [(row["number"], row["magnitude"], bool(row["refers_to"])) for row in rows] == [
        (1, 0.5, False),
        (3, 1.3, True),
    ]


def test_corrections_last(empty):
    file = add(empty, analysis(event("sag", 0.5, 0.1, 0.1), event("swell", 1.2, 0.1, 0.5)), "a.cfg")
    queries = ArchiveQueries(empty)
    empty.correct(1, 0, "sag_with_harmonics", "Eve", "seen")
    empty.correct(1, 1, "not an event", "Ann")
    empty.correct(1, 0, "lightning", "Ann", what="cause")
    (row,) = queries.page(EventFilter())["rows"]
    assert (row["label"], row["cause"], row["cause_probability"]) == ("sag_with_harmonics", "lightning", "")
    assert [one["hidden"] for one in queries.page(EventFilter(hidden=True), "oldest")["rows"]] == [False, True]
    assert queries.page(EventFilter(causes=("lightning",)))["total"] == 1
    (kept,) = empty.class_corrections()
    assert (kept.label, kept.by, kept.path) == ("sag_with_harmonics", "Eve", "/data/a.cfg")
    empty.files.ask_again([file.content])
    empty.files.claim(file.content)
    empty.finish(file, [analysis(event("sag", 0.51, 0.1, 0.105), event("swell", 1.2, 0.1, 0.5))])
    (row,) = queries.page(EventFilter())["rows"]
    assert (row["label"], row["cause"]) == ("sag_with_harmonics", "lightning")
    (number,) = empty.database.rows("SELECT id FROM recordings")[0]
    empty.correct(number, 1, "", "Ann")
    assert queries.page(EventFilter())["total"] == 2
    assert [one["label"] for one in empty.correction_log()] == ["", "lightning", "not an event", "sag_with_harmonics"]
    for label, by in (("nothing", "Eve"), ("sag", " "), ("sag", "x" * 300)):
        with pytest.raises(PqswarmError):
            empty.correct(number, 0, label, by)
    with pytest.raises(PqswarmError, match="unknown correction 'clas'"):
        empty.correct(number, 0, "sag", "Eve", what="clas")


def test_notes_and_sites(empty):
    add(empty, replace(analysis(event()), station="North"), "a.cfg")
    empty.add_note(1, "a tree", "Eve", 0.25, 0.5)
    (note,) = empty.notes(1)
    assert (note["text"], note["by"], note["start"], note["end"]) == ("a tree", "Eve", 0.25, 0.5)
    with pytest.raises(PqswarmError, match="stretch"):
        empty.add_note(1, "a tree", "Eve", 0.5, float("nan"))
    empty.remove_note(note["number"], "Ann")
    assert empty.notes(1) == []
    empty.set_site("North", {"nominal_voltage": {"line_to_line": "20 kV"}, "reference": "nominal"}, "Eve")
    assert empty.sites()["North"].line_to_line == 20_000
    for wrong in ("nominal_voltage = 1", {"nominal": object()}, "thresholds = {sag = 2.0}", {"x": 1}):
        with pytest.raises(PqswarmError):
            empty.set_site("North", wrong, "Eve")
    assert empty.ask_again_for(empty.stations()[0]["id"]) != []


def test_a_moved_file_is_found_by_its_content(empty, tmp_path):
    file = add(empty, analysis(event()), "a.cfg", folder=tmp_path / "old")
    moved = replace(file, path=tmp_path / "new" / "b.cfg")
    moved.path.parent.mkdir()
    moved.path.write_text("")
    empty.files.register([moved])
    assert empty.files.claim(file.content) == "done"
    (row,) = ArchiveQueries(empty).page(EventFilter())["rows"]
    assert row["path"] == str(moved.path)


def test_a_replaced_file_leaves_its_name_to_the_copy(empty, tmp_path):
    file = add(empty, analysis(event()), "a.cfg", folder=tmp_path)
    copy = replace(file, path=tmp_path / "copy.cfg")
    for one in (file, copy):
        one.path.write_text("")
    empty.files.register([copy])
    before = ArchiveQueries(empty).page(EventFilter())["rows"]
    empty.files.register([replace(file, content="another")])
    after = ArchiveQueries(empty).page(EventFilter())["rows"]
    assert [row["path"] for row in (*before, *after)] == [str(file.path), str(copy.path)]


def test_failures_are_kept(empty):
    file = add(empty, Failure("a.cfg", "", "is broken."), "a.cfg")
    assert empty.counts()["failed"] == 1
    assert empty.files.all()[file.path].state == "failed"
    assert [one.reason for one in empty.results(file.content)] == ["is broken."]
    assert any("is broken" in text for _, text in check_archive(empty))


HOSTILE = [
    "CREATE VIEW more AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "DROP TABLE event_records; CREATE VIEW event_records AS WITH RECURSIVE r AS (SELECT 1 AS number, '' AS record "
    "UNION ALL SELECT number + 1, '' FROM r) SELECT * FROM r",
    "CREATE INDEX slow ON events (hex(zeroblob(number)))",
    "PRAGMA user_version = 99",
    "PRAGMA user_version = 0",
    "PRAGMA application_id = 7",
]


@pytest.mark.parametrize("statement", HOSTILE)
@pytest.mark.parametrize("read_only", [True, False])
def test_what_is_not_of_pqswarm_is_refused(tmp_path, statement, read_only):
    with Archive(tmp_path) as archive:
        add(archive, analysis(event()), "a.cfg")
    with sqlite3.connect(tmp_path / "archive.sqlite") as database:
        database.executescript(statement)
    database.close()
    before = (tmp_path / "archive.sqlite").read_bytes()
    with pytest.raises(FileFormatError):
        Archive(tmp_path, read_only=read_only)
    assert (tmp_path / "archive.sqlite").read_bytes() == before


def test_links_and_other_files_are_refused(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "archive.sqlite").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "b").write_text("a file")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "archive.sqlite").write_text("no database, but a long text " * 100)
    for name in "abc":
        with pytest.raises(PqswarmError):
            Archive(tmp_path / name)
    with pytest.raises(PqswarmError, match="there is no archive"):
        Archive(tmp_path / "none", read_only=True)
    assert not (tmp_path / "elsewhere").exists()


def test_closing_an_archive_leaves_the_connections_of_other_threads(tmp_path):
    """One that is closed in the middle of a query ends the process."""
    archive = Archive(tmp_path)
    with ThreadPoolExecutor(1) as thread:
        connection = thread.submit(getattr, archive.database, "connection").result()
        own = archive.database.connection
        archive.close()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            own.execute("SELECT 1")
        assert connection.execute("SELECT 1").fetchone() == (1,)
    del archive
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_an_archive_of_the_last_version_is_converted(tmp_path):
    """Its rows get digests; corrections and notes are kept."""
    path = tmp_path / "archive.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(Path(__file__).with_name("archive_of_schema_3.sql").read_text())
    with pytest.raises(FileFormatError, match=r"schema 3.*convert it"):
        Archive(tmp_path, read_only=True)
    with Archive(tmp_path) as archive:
        assert [text for is_damage, text in check_archive(archive) if is_damage] == []
        (row,) = ArchiveQueries(archive).page(EventFilter())["rows"]
        assert (row["label"], row["cause"], row["cut"]) == ("sag_with_harmonics", "capacitor switching", "end")
        found = archive.analysis(1)
        assert found.incidents[0].correction == "corrected by Ann on 2026-06-30; found: fault A, 96 %"
        assert found.remarks == ("A note. (Eve, 2026-06-30)",)
        (correction,) = archive.class_corrections()
        assert (correction.label, correction.found.event.type) == ("sag_with_harmonics", "sag")
    with Archive(tmp_path, read_only=True) as archive:
        assert archive.counts()["events"] == 2


def test_a_disk_that_fills_up_within_a_commit_costs_no_row_of_before(empty):
    add(empty, analysis(event()), "a.cfg")
    connection = empty.database.connection
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0] + 3}")
    texts = [f"{number} " + "x" * 1900 for number in range(20)]

    def write():
        for text in texts:
            empty.add_note(1, text, "Eve")

    with pytest.raises(PqswarmError, match=r"the disk is full: .* Free some space and try again"):
        write()
    kept = [note["text"] for note in empty.notes(1)]
    assert 0 < len(kept) < 20
    assert kept == texts[: len(kept)]
    connection.execute("PRAGMA max_page_count = 1000000")
    empty.add_note(1, texts[len(kept)], "Eve")
    assert len(empty.notes(1)) == len(kept) + 1
    assert not [told for is_damage, told in check_archive(empty) if is_damage]
