"""The list of recordings in a real browser: drops, filters, incidents, statistics, stations, hostile names."""

import shutil
from math import log10

import pytest
from tests.app.conftest import HOSTILE
from tests.app.recordings import write_pair
from tests.app.recordings_page import LISTED, READY, ROWS, choose, events, fill, find, rows
from tests.browser import DESKTOP, PHONE, needs_browser
from tests.waiting import wait_until

pytestmark = needs_browser


def test_dropped_files_are_listed_with_their_events(start, fault, tmp_path):
    for suffix in (".cfg", ".dat"):
        shutil.copy(fault.with_suffix(suffix), tmp_path / f"again{suffix}")
    start.drop(".drop", tmp_path / "again.cfg", tmp_path / "again.dat")
    start.until("[...document.querySelectorAll('.uploads li')].map(one => one.dataset.state).join() === 'analyzed'")
    start.evaluate("document.querySelector('.sources').scrollIntoView()")  # it is loaded when it is seen
    start.until("document.querySelectorAll('.sources [aria-label^=Remove]').length === 2")
    start.until(LISTED.replace(">= 5", ">= 7"))
    assert rows(start, "station").count("East") == 2
    assert "again.cfg" in start.text(".uploads")
    link = start.evaluate("document.querySelector('.uploads a').hash")
    assert link in {f"#/recordings/{row['recording']}" for row in events(start) if row["path"] == "uploads/again.cfg"}
    listed = start.text(".sources")
    assert all(word in listed for word in ("quiet.cfg", "no events", "broken.csv", "Remove"))
    start.click(".uploads button")
    assert start.text(".uploads") == ""


def test_a_dropped_folder_with_two_files_of_one_name(start, fault, tmp_path):
    other = tmp_path / "other.cfg"
    write_pair(other, residual=0.35)
    for name, source in (("day 1", fault), ("day 2", other)):
        (tmp_path / "meter" / name).mkdir(parents=True)
        for suffix in (".cfg", ".dat"):
            shutil.copy(source.with_suffix(suffix), tmp_path / "meter" / name / f"WAVE0001{suffix}")
    (tmp_path / "meter" / "notes.pdf").write_text("not a recording")
    start.drop(".drop", tmp_path / "meter")
    start.until("document.querySelectorAll('.uploads li[data-state=analyzed]').length === 2")
    said = start.text(".uploads")
    assert "day 1/WAVE0001.cfg" in said
    assert "day 2/WAVE0001.cfg" in said
    assert start.text(".uploads").count("event") == 2
    for _ in range(2):
        start.click(".uploads button")
        start.until("document.querySelector('.sources [aria-label*=WAVE0001]') !== null")
        start.evaluate("document.querySelector('.sources [aria-label*=WAVE0001]').click()")
        start.until(
            "document.querySelectorAll('.sources [aria-label*=WAVE0001]').length === "
            "document.querySelectorAll('.uploads li').length"
        )


def test_a_file_that_is_too_large_is_not_sent(start, tmp_path):
    (tmp_path / "large.csv").write_bytes(b"0" * 1_500_000)
    start.drop(".drop", tmp_path / "large.csv")
    said = start.until("document.querySelector('.uploads [role=alert]')?.innerText")
    assert all(words in said for words in ("1.50 MB", "1.00 MB", "--max-mb"))
    start.click(".uploads button")
    assert start.evaluate("document.querySelectorAll('.uploads li').length") == 0


def test_filters_and_order(start):
    total = len(events(start))
    start.click('.chip[data-type="swell"]')
    start.until("location.hash.includes('type=swell')")
    start.until(f"document.querySelector('.filters .count').innerText === '2 of {total} events'")
    assert sorted(rows(start, "station")) == ["East", "North"]
    start.evaluate("document.querySelector('.filters [name=text]').focus()")
    start.type("north")
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    start.reload()
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    assert rows(start, "station") == ["North"]
    start.click("[data-act=clear]")
    start.until(LISTED)
    assert "?" not in start.evaluate("location.hash")
    shown = rows(start, "time")
    dated = [text for text in shown if text.startswith("20")]
    assert dated == sorted(dated, reverse=True)
    start.click("th[data-column=severity] button")
    start.until("location.hash.includes('order=worst')")
    start.until("document.querySelector('th[data-column=severity]').getAttribute('aria-sort') === 'descending'")

    def is_sorted():
        sizes = [float(text) for text in rows(start, "severity") if text]
        return len(sizes) >= 4 and sizes == sorted(sizes, reverse=True)

    wait_until(is_sorted, "rows are in the order of their severity")
    south = start.evaluate("pq.recordings.store.facets.stations.find(one => one.name === 'South').id")
    choose(start, ".filters [name=station]", str(south))
    start.until(
        f"[...document.querySelectorAll('{ROWS} [data-column=station]')].every(one => one.innerText === 'South')"
    )
    choose(start, ".filters [name=to]", "2026-03-01")
    start.until("document.querySelector('.events .empty')?.innerText.includes('No event matches')")
    assert "to=2026-03-02" in start.evaluate("location.hash")


CHANGE_DURING_A_REQUEST = """
(async () => {
  const real = pq.app.api, asked = [];
  let release;
  const held = new Promise((done) => { release = done; });
  pq.app.api = async (path, options) => {
    if (path.startsWith("/api/events")) asked.push(path);
    if (asked.length === 1) await held;
    return real(path, options);
  };
  const list = new pq.EventList(document.createElement("div"), pq.app.parse(), null);
  list.refresh();
  release();
  while (list.loading) await new Promise((done) => setTimeout(done, 10));
  list.destroy();
  pq.app.api = real;
  return [asked.length, list.rows.length];
})()
"""


def test_a_change_during_a_request_is_loaded_after_it(start):
    assert start.evaluate(CHANGE_DURING_A_REQUEST) == [2, len(events(start))]


def test_an_incident_is_folded(start):
    main = next(row for row in events(start) if row["station"] == "East" and row["cause"])
    key = f"{main['recording']}:{main['event']}"
    others = f"document.querySelectorAll('.events tr.under[data-under=\"{key}\"]')"
    n = len([row for row in events(start) if row["recording"] == main["recording"]]) - 1
    assert start.evaluate(f"[{others}.length, [...{others}].filter(row => row.hidden).length].join()") == f"{n},{n}"
    start.click(f'.events tr[data-key="{key}"] .others')
    assert start.evaluate(f"[...{others}].every(row => !row.hidden)")


def test_statistics(start):
    known = [row for row in events(start) if row["when"]]
    start.evaluate("location.hash = '#/recordings/statistics'")
    start.until("document.querySelectorAll('.month').length && document.querySelectorAll('.hours td').length === 168")
    assert start.evaluate("document.querySelector('.month').dataset.name") == min(row["when"][:4] for row in known)
    hours = start.evaluate(
        "[...document.querySelectorAll('.hours td')].reduce((sum, one) => sum + Number(one.innerText), 0)"
    )
    assert hours == len(known)
    sag = find(start, "East", "sag")
    point = f'.point[data-name="{sag["recording"]}:{sag["event"]}"]'
    start.until(f"!!document.querySelector('{point}')")
    seconds, percent, x, y = start.evaluate(
        "(point => [...[point.dataset.seconds, point.dataset.percent].map(Number), "
        "...['cx', 'cy'].map(name => Number(point.querySelector('circle').getAttribute(name)))])"
        f"(document.querySelector('{point}'))"
    )
    assert seconds == pytest.approx(sag["duration_s"], abs=6e-4)
    assert percent == pytest.approx(100 * sag["magnitude"], abs=0.06)
    lines = "[...document.querySelectorAll('[data-chart=tolerance] .grid')]"
    grid = start.evaluate(f"{lines}.map(one => ['x1', 'y1', 'x2'].map(name => Number(one.getAttribute(name))))")
    uprights = [x1 for x1, _, x2 in grid if x1 == x2]  # 0.1 ms, 1 ms, ...
    levels = [y1 for x1, y1, x2 in grid if x1 != x2]  # 0, 50, ... %
    assert x == pytest.approx(uprights[0] + (uprights[1] - uprights[0]) * (log10(seconds) + 4), abs=0.3)
    assert y == pytest.approx(levels[0] + (levels[1] - levels[0]) * percent / 50, abs=0.3)
    years = start.evaluate("[...document.querySelectorAll('.sarfi tbody tr')].map(row => row.innerText.split('\\t'))")
    assert ["South", "2026", "1"] in [row[:3] for row in years]

    start.click('.month[data-name="2026"]')  # one recorder has no clock, so years are shown
    start.until("location.hash.includes('from=2026&to=2027')")
    start.until("document.querySelector('.month').dataset.name > '2026-'")
    start.click('.month[data-name="2026-03"]')
    start.until("location.hash.includes('from=2026-03&to=2026-04')")
    here = sum(row["when"].startswith("2026-03") for row in known)
    start.until(f"document.querySelector('.filters .count').innerText.startsWith('{here} of ')")
    start.until(f"!!document.querySelector('{point} circle')")
    start.click(f"{point} circle")
    start.until(f"location.hash.startsWith('#/recordings/{sag['recording']}?')")
    start.until("!!document.querySelector('.waves')")


def test_hostile_names_do_nothing(start):
    assert HOSTILE in rows(start, "station")
    start.evaluate(f"[...document.querySelectorAll('{ROWS}')].find(row => row.innerText.includes('onerror')).click()")
    start.until(f"{READY} && document.querySelectorAll('.at td').length")
    assert HOSTILE in start.text("h1")
    assert start.evaluate("document.images.length") == 0
    assert start.evaluate("typeof window.hacked") == "undefined"


def test_by_keyboard(start):
    start.evaluate(f"document.querySelector('{ROWS}').focus()")
    start.press("ArrowDown")
    start.press("Enter")
    start.until(READY)
    assert start.evaluate("document.activeElement.tagName") == "H1"
    start.evaluate("document.querySelector('.own-events tbody tr').focus()")
    start.press("Enter")
    start.until("location.hash.includes('span=') && !!document.querySelector('.verdict [data-read=rule]')")
    start.click(".back")
    start.until("!!document.activeElement.closest('.events tr')")


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "dark")])
def test_looks(list_tab, app, browser, width, scheme):
    row = find(list_tab, "East", "sag")
    link = f"#/recordings/{row['recording']}?event={row['event']}"
    other = browser.tab(app.address, width=width, scheme=scheme)
    try:
        other.until(LISTED)
        seen = "(box => box.width > 20 && box.left >= 0 && box.right <= innerWidth)"
        for column in ("type", "magnitude", "duration", "time", "station"):
            cell = f"document.querySelector('{ROWS} [data-column={column}]').getBoundingClientRect()"
            assert other.evaluate(f"{seen}({cell})"), column
        for room in ("", "/statistics", "/stations", "/log"):
            other.evaluate(f"location.hash = '#/recordings{room}'")
            other.until("document.querySelectorAll('.recordings .table tbody tr').length > 0")
            found = other.measure()
            assert (found["problems"], found["width"]) == ([], width), room
        other.evaluate(f"location.hash = '{link}'")
        other.until(f"{READY} && !!document.querySelector('.spectrum')")
        found = other.measure()
        assert (found["problems"], found["width"]) == ([], width)
        assert found["background"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]
    finally:
        other.close()


def test_the_site_of_a_station(start):
    start.evaluate("location.hash = '#/recordings/stations'")
    start.until("document.querySelectorAll('.stations tr[data-key]').length >= 3")
    start.evaluate(
        "[...document.querySelectorAll('.stations tr[data-key]')].find(row => row.innerText.includes('South')).click()"
    )
    fill(start, ".site", voltage="20 apples", by="Eve")
    start.click(".site [type=submit]")
    start.until("document.querySelector('.site .error:not([hidden])')?.innerText.includes('20 apples')")
    start.evaluate("document.querySelector('.site [name=voltage]').select()")
    start.type("20 kV")
    site = start.evaluate("document.querySelector('.site textarea').value")
    assert site.strip() == 'nominal_voltage = { line_to_line = "20 kV" }'
    start.click(".site [type=submit]")
    start.until("document.querySelector('.site [role=status]').innerText.startsWith('Saved')")
    start.until("document.querySelector('.stations .table').innerText.includes('20 kV')")
    start.click(".site [data-act=again]")
    start.until("document.querySelector('.site [role=status]').innerText.startsWith('1 file')")
    sources = "pq.app.api('/api/events?text=south').then(answer => answer.rows.map(row => row.reference_source))"
    start.until(f"{sources}.then(found => found.includes('nominal'))")
    start.evaluate(  # as it was, for other tests
        "pq.app.api('/api/stations').then(answer => answer.stations.find(one => one.name === 'South').id).then("
        "id => pq.app.api(`/api/stations/${id}`, {method: 'PUT', json: {site: '', by: 'Eve'}}).then("
        "() => pq.app.api('/api/again', {method: 'POST', json: {station: id}})))"
    )
    start.until(f"{sources}.then(found => found.some(one => one !== 'nominal'))")
    start.reload()  # forgets the refusal, which the browser reports
