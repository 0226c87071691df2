"""What people say about an analysis reaches everything that is passed on: rows, sheets, pages, tables."""

from dataclasses import replace

import pytest
from tests.identify.invented import add, analysis, event, recording

from pqswarm.identify import ArchiveQueries, EventFilter
from pqswarm.identify.archive.export import export_csv_table, export_query
from pqswarm.identify.show.figures import draw_sheet
from pqswarm.identify.show.page import page_html
from pqswarm.measure.incidents.stages import Incident, IncidentStage

FAULT = Incident("fault", 0.96, ("A dips",), (IncidentStage(0.4, 0.48, "low on A"),), (0, 1), 0.4, 0.75, phases="A")


def fault():
    return replace(analysis(event(cut_end=True), event("swell", 1.2, start=0.7)), incidents=(FAULT,), source="a.cfg")


@pytest.fixture
def archive(empty):
    """A fault with two events, of which the second is called none, the cause corrected at the second, and a note."""
    add(empty, fault(), "a.cfg")
    empty.correct(1, 1, "capacitor switching", "Ann", "by the\nlog", what="cause")
    empty.correct(1, 1, "not an event", "Eve")
    empty.add_note(1, "a tree", "Eve", 0.25, 0.5)
    return empty


def content(archive):
    return archive.database.rows("SELECT content FROM recordings")[0][0]


def corrected(archive):
    return archive.corrected(fault(), content(archive))


def test_the_sheet_has_the_corrected_cause_and_the_notes(archive):
    found = corrected(archive)
    sheet = "\n".join(text.get_text() for text in draw_sheet(recording(), found, found.incidents[0]).texts)
    assert sheet.startswith("Capacitor switching\n")
    assert "Corrected by Ann on 20" in sheet
    assert "(by the log); found: fault A, 96 %" in sheet
    assert "a tree (Eve, 20" in sheet
    assert "Not an event: swell as the rules say it" in sheet
    assert "Cause: fault" not in sheet


def test_the_page_has_the_corrected_cause_and_the_notes(archive):
    page = page_html([corrected(archive)], find=lambda _: None)
    assert "capacitor switching (corrected by Ann on 20" in page
    assert "a.cfg: 0.25 to 0.5 s: a tree (Eve, 20" in page
    assert "1 event in 1 recording" in page
    assert "at least 80" in page


def test_stored_and_new_analyses_say_the_same(archive):
    (stored,) = archive.results(content(archive))
    assert stored.rows() == [row | {"path": stored.path} for row in corrected(archive).rows()]
    assert stored.remarks == corrected(archive).remarks


def test_tables_have_the_corrected_cause(archive):
    (row,) = ArchiveQueries(archive).page(EventFilter())["rows"]
    assert (row["cause"], row["cause_probability"], row["cut"]) == ("capacitor switching", "", "end")
    assert row["correction"].endswith("found: fault A, 96 %")
    assert row["remarks"].startswith("0.25 to 0.5 s: a tree (Eve, 20")
    assert ",end," in export_csv_table([row])
    names, line = export_query(archive, "SELECT station, date, time, cause, cut FROM rows", 60)
    assert (names, line[1:]) == (
        ("station", "date", "time", "cause", "cut"),
        ("2026-03-04", "05:06:07.489", "capacitor switching", "end"),
    )


def test_an_exported_table_says_what_is_no_event(archive):
    assert [(row["hidden"], row["label"]) for row in archive.events.all()] == [(False, "sag"), (True, "not an event")]


def test_a_cause_is_withdrawn_at_any_event_of_its_incident(archive):
    archive.correct(1, 0, "", "Eve", what="cause")
    assert archive.analysis(1).incidents == (FAULT,)
    assert [(one["what"], one["found"], one["label"]) for one in archive.correction_log()] == [
        ("cause", "fault A, 96 %", ""),
        ("class", "sag", "not an event"),
        ("cause", "fault A, 96 %", "capacitor switching"),
    ]


def test_where_nothing_is_left_the_reason_says_so(empty):
    add(empty, analysis(event()), "a.cfg")
    empty.correct(1, 0, "not an event", "Eve")
    (found,) = empty.results(content(empty))
    assert (found.events, found.no_event_reason) == ((), "1 event found, but called no event by hand")
