"""The recordings section in a real browser: drops, filters, statistics, cursors, corrections, notes, sites."""

import json
import shutil
from datetime import datetime
from math import log10

import pytest
from tests.app.conftest import HOSTILE
from tests.browser import DESKTOP, PHONE, needs_browser

from pqswarm.measure import measure_at
from pqswarm.recordings import open_recordings

pytestmark = needs_browser

ROWS = ".events tbody tr[data-key]:not([hidden])"
READY = "document.querySelector('.waves')?.dataset.state === 'ready'"
ANALYSED = f"{READY} && !!document.querySelector('.verdict [data-read=rule]')"


@pytest.fixture(scope="module")
def tab(app, browser, recordings, fault):
    opened = browser.tab(app.address, width=DESKTOP)
    opened.until("!!document.querySelector('.drop')")
    opened.drop(".drop", fault, fault.with_suffix(".dat"))
    known, done = "pq.recordings.store.recordings", "['analysed', 'failed'].includes(one.state)"
    for name in ("fault.cfg", "evil.cfg"):
        opened.until(f"{known}.some(one => one.name === '{name}' && {done})")
    opened.until(f"{known}.every(one => {done} || one.reason)")
    opened.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    yield opened
    assert opened.problems() == []
    opened.close()


@pytest.fixture
def start(tab, app):
    """The first page, without filters."""
    tab.evaluate("location.hash = '#/recordings?text='")
    tab.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    return tab


def rows(tab, column):
    cell = f"row.querySelector('[data-column={column}]').innerText"
    return tab.evaluate(f"[...document.querySelectorAll('{ROWS}')].map(row => {cell})")


def events(tab, query=""):
    """The rows that the server gives."""
    return tab.evaluate(f"pq.app.api('/api/events?limit=500&{query}').then(answer => answer.rows)")


def find(tab, station, kind):
    return next(row for row in events(tab) if row["station"] == station and row["kind"] == kind)


def open_event(tab, station, kind):
    row = find(tab, station, kind)
    tab.evaluate(f"location.hash = '#/recordings/{row['recording']}?event={row['event']}'")
    tab.until(ANALYSED)
    return row


def choose(tab, selector, value):
    tab.evaluate(
        f"(box => {{ box.value = {json.dumps(value)}; box.dispatchEvent(new Event('change', {{bubbles: true}})); }})"
        f"(document.querySelector({json.dumps(selector)}))"
    )


def cursors(tab):
    found = "[...document.querySelectorAll('g.cursor')].map(one => [one.dataset.cursor, Number(one.dataset.time)])"
    return dict(tab.evaluate(found))


def seen(tab):
    """Start and end of the view, by the address [s]."""
    query = tab.evaluate("Object.fromEntries(pq.app.parse().query)")
    t, span = float(query["t"]), float(query["span"])
    return t - span / 2, t + span / 2


def settle(tab):
    """Wait until the instruments show the cursors where they are."""
    tab.until(
        "(() => { const q = new URLSearchParams(document.querySelector('.instruments').dataset.asked), "
        "t = name => Number(document.querySelector(`g.cursor[data-cursor=${name}]`).dataset.time); "
        "return Number(q.get('t')) === t('A') && Number(q.get('t2')) === t('B'); })()"
    )


def test_dropped_files_are_listed_with_their_events(start):
    assert "East" in rows(start, "station")
    assert "fault.cfg" in start.text(".uploads")
    link = start.evaluate("document.querySelector('.uploads a').hash")
    assert link == f"#/recordings/{find(start, 'East', 'sag')['recording']}"
    listed = start.text(".sources")
    assert all(word in listed for word in ("quiet.cfg", "no events", "broken.csv", "Remove"))
    start.click(".uploads button")
    assert start.text(".uploads") == ""


def test_a_dropped_folder_with_two_files_of_one_name(start, fault, recordings, tmp_path):
    for name, source in (("day 1", fault), ("day 2", recordings / "swell.cfg")):
        (tmp_path / "meter" / name).mkdir(parents=True)
        for suffix in (".cfg", ".dat"):
            shutil.copy(source.with_suffix(suffix), tmp_path / "meter" / name / f"WAVE0001{suffix}")
    (tmp_path / "meter" / "notes.pdf").write_text("not a recording")
    start.drop(".drop", tmp_path / "meter")
    start.until("document.querySelectorAll('.uploads li[data-state=analysed]').length === 2")
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
    start.click('.chip[data-kind="swell"]')
    start.until("location.hash.includes('kind=swell')")
    start.until(f"document.querySelector('.filters .count').innerText === '2 of {total} events'")
    assert sorted(rows(start, "station")) == ["East", "North"]
    start.evaluate("document.querySelector('.filters [name=text]').focus()")
    start.type("north")
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    start.reload()
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    assert rows(start, "station") == ["North"]
    start.click("[data-act=clear]")
    start.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    assert "?" not in start.evaluate("location.hash")
    shown = rows(start, "time")
    dated = [text for text in shown if text.startswith("20")]
    assert dated == sorted(dated, reverse=True)
    start.click("th[data-column=severity] button")
    start.until("location.hash.includes('order=worst')")
    start.until("document.querySelector('th[data-column=severity]').getAttribute('aria-sort') === 'descending'")
    sizes = [float(text) for text in rows(start, "severity") if text]
    assert len(sizes) >= 4
    assert sizes == sorted(sizes, reverse=True)
    south = start.evaluate("pq.recordings.store.facets.stations.find(one => one.name === 'South').id")
    choose(start, ".filters [name=station]", str(south))
    start.until(
        f"[...document.querySelectorAll('{ROWS} [data-column=station]')].every(one => one.innerText === 'South')"
    )
    choose(start, ".filters [name=to]", "2026-03-01")
    start.until("document.querySelector('.events .empty')?.innerText.includes('No event matches')")
    assert "to=2026-03-02" in start.evaluate("location.hash")


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
    start.click(f"{point} circle")
    start.until(f"location.hash.startsWith('#/recordings/{sag['recording']}?') && !!document.querySelector('.waves')")


def test_an_event_is_shown_in_the_middle_and_measured(start, fault):
    row = open_event(start, "East", "sag")
    start.until("location.hash.includes('span=')")
    first, last = seen(start)
    assert first < row["start"] < row["end"] < last
    assert (first + last) / 2 == pytest.approx((row["start"] + row["end"]) / 2, abs=1e-6)
    assert cursors(start)["A"] == pytest.approx(row["start"], abs=1e-6)
    assert "sag" in start.text(".verdict .sentence")
    assert start.text('.verdict [data-read="rule"]')

    # cursor B goes five cycles beyond A
    places = "['A', 'B'].map(n => document.querySelector(`g.cursor[data-cursor=${n}] .flag`).getBoundingClientRect())"
    start.evaluate("document.querySelector('.waves').scrollIntoView({block: 'start'})")
    (ax, _), (bx, by) = start.evaluate(f"{places}.map(box => [box.x + box.width / 2, box.y + box.height / 2])")
    scale = (bx - ax) / (cursors(start)["B"] - cursors(start)["A"])
    start.drag((bx, by), (ax + 0.1 * scale, by), steps=8)
    start.until("document.querySelector('[data-read=cycles]').innerText === '5.0 cycles'")
    at = cursors(start)
    assert at["B"] - at["A"] == pytest.approx(0.1, abs=1.5 / scale)
    assert start.text("[data-read=delta]") == f"{1000 * (at['B'] - at['A']):.1f} ms"

    settle(start)
    source = open_recordings(fault)[0]
    for cursor, moment in at.items():
        truth = measure_at(source, moment, side="before")
        for channel in truth.channels:
            cell = f'[data-cursor="{cursor}"] td[data-channel="{channel.name}"][data-read='
            angle = start.evaluate(f"Number(document.querySelector('{cell}angle]').dataset.value)")
            assert abs((angle - channel.fundamental.relative + 180) % 360 - 180) < 0.1
            arrow = f'.at[data-cursor="{cursor}"] .phasor[data-channel="{channel.name}"] .reach'
            turned = start.evaluate(
                f"(line => Math.atan2(-line.getAttribute('y2'), line.getAttribute('x2')) * 180 / Math.PI || 0)"
                f"(document.querySelector('{arrow}'))"
            )
            assert abs((turned - channel.fundamental.relative + 180) % 360 - 180) < 0.1
            rms = start.evaluate(f"Number(document.querySelector('{cell}rms]').dataset.value)")
            assert rms == pytest.approx(channel.rms, rel=1e-3)
        shown = f'.at[data-cursor="{cursor}"] [data-read="unbalance"]'
        value = start.evaluate(f"Number(document.querySelector('{shown}').dataset.value)")
        assert value == pytest.approx(truth.systems[0].unbalance, abs=1e-4)
    bars = start.evaluate("[...document.querySelectorAll('.spectrum .bar')].map(bar => Number(bar.dataset.order))")
    assert max(bars) >= 25
    assert 1 not in bars


def test_a_reload_and_a_step_back_show_the_same(start):
    row = open_event(start, "South", "interruption")
    start.until("location.hash.includes('span=')")
    start.evaluate("document.querySelector('.waves').focus()")
    start.press("+")
    start.press("ArrowRight", "shift")
    start.until(f"{row['start']} + 0.019 < Number(pq.app.parse().query.get('a'))")
    before = seen(start), cursors(start), start.evaluate("location.hash")
    start.reload()
    start.until(ANALYSED)
    start.until("document.querySelectorAll('.own-events tr[aria-selected=true]').length === 1")
    assert (seen(start), cursors(start)) == (pytest.approx(before[0]), pytest.approx(before[1]))
    assert start.evaluate("location.hash") == before[2]
    start.click(".back")
    start.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    start.evaluate("history.back()")
    start.until(READY)
    assert start.evaluate("location.hash") == before[2]


def test_wavelet_bands(start):
    open_event(start, "South", "interruption")
    start.evaluate("document.querySelector('.bands button').click()")
    names = start.until("[...document.querySelectorAll('svg.band')].map(one => one.dataset.band).join(' ')")
    assert len(names.split()) >= 3
    assert "L" in start.evaluate("document.querySelector('svg.band .wave').getAttribute('d')")


def test_a_verdict_is_corrected_and_the_correction_withdrawn(start):
    row = open_event(start, "North", "swell")
    start.click(".correct summary")
    labels = start.evaluate("[...document.querySelector('.correct select').options].map(one => one.value)")
    assert {"", "swell", "not an event"} < set(labels)
    start.evaluate("document.querySelector('.correct select').value = 'not an event'")
    for name, text in (("cause", "ripple control"), ("by", "Eve <b>"), ("note", "seen at the meter")):
        start.evaluate(f"document.querySelector('.correct [name={name}]').focus()")
        start.type(text)
    start.click(".correct [type=submit]")
    start.until("!!document.querySelector('[data-read=cause-by-hand]')")
    said = start.text("[data-read=correction]")
    assert all(word in said for word in ("Eve <b>", "seen at the meter", "not an event"))
    assert "ripple control" in start.text("[data-read=cause-by-hand]")
    assert "✎" in start.text(".own-events tr[aria-selected=true]")
    assert (row["recording"], row["event"]) not in [(one["recording"], one["event"]) for one in events(start)]
    hidden = [one for one in events(start, "hidden=1") if one["hidden"]]
    assert [(one["recording"], one["event"]) for one in hidden] == [(row["recording"], row["event"])]

    start.evaluate("location.hash = '#/recordings/log'")
    start.until("document.querySelectorAll('.log tr[data-key]').length >= 2")
    log = start.text(".log")
    assert all(word in log for word in ("Eve <b>", "not an event", "ripple control", "swell.cfg"))
    stored = start.evaluate("pq.app.api('/api/corrections').then(answer => answer.corrections[0].at)")
    assert datetime.fromisoformat(stored).year >= 2024

    open_event_again(start, row)
    start.click('[data-act="withdraw"]')
    start.until("!document.querySelector('[data-read=correction]')")
    start.click('[data-act="withdraw-cause"]')
    start.until("!document.querySelector('[data-read=cause-by-hand]')")
    assert "✎" not in start.text(".own-events tr[aria-selected=true]")
    assert start.evaluate("localStorage.getItem('pqswarm-name')") == "Eve <b>"


def open_event_again(tab, row):
    tab.evaluate(f"location.hash = '#/recordings/{row['recording']}?event={row['event']}'")
    tab.until(ANALYSED)


def test_other_meters_and_notes(start):
    open_event(start, "North", "swell")
    start.until("document.querySelector('.around')?.innerText.includes('Nothing')")
    choose(start, ".around select", "3600")
    start.until("document.querySelector('.around').innerText.includes('South')")
    assert "with=" in start.evaluate("document.querySelector('.around td a').hash")
    start.click(".notes summary")
    for name, text in (("text", "a storm <b>"), ("by", "Eve")):
        start.evaluate(f"document.querySelector('.notes [name={name}]').value = ''")
        start.evaluate(f"document.querySelector('.notes [name={name}]').focus()")
        start.type(text)
    start.click(".notes [type=submit]")
    start.until("document.querySelector('.notes li')?.innerText.includes('a storm <b>')")
    start.click(".notes li button")
    start.until("!document.querySelector('.notes li')")


def test_exports(start):
    start.click('.chip[data-kind="swell"]')
    start.until("document.querySelector('.events .tools a').href.includes('kind=swell')")
    plain, german = start.evaluate(
        "Promise.all([...document.querySelectorAll('.events .tools a')].map("
        "one => pq.app.api(one.getAttribute('href'), {text: true})))"
    )
    assert len(plain.splitlines()) == len(german.splitlines()) == 3
    assert german.splitlines()[0] == plain.splitlines()[0].replace(",", ";")
    assert "1,2" in german
    start.evaluate("window.saved = {}; pq.saveText = (name, text) => { window.saved[name] = text; }")
    open_event(start, "South", "interruption")
    start.click(".title .tools button")
    drawing = start.evaluate("saved['interruption.cfg.svg']")
    assert drawing.startswith("<svg")
    assert drawing.count("<path") > 10
    assert "var(--" not in drawing  # colours of the page are resolved
    assert "parsererror" not in start.evaluate(
        "new DOMParser().parseFromString(saved['interruption.cfg.svg'], 'text/xml').documentElement.innerHTML"
    )
    links = start.evaluate("[...document.querySelectorAll('.title .tools a')].map(link => link.href)")
    answers = start.evaluate(
        f"Promise.all({json.dumps(links)}.map(link => pq.app.withTicket(link).then(fetch).then("
        "answer => [answer.status, answer.headers.get('Content-Disposition').split(';')[0]])))"
    )
    assert answers == [[200, "attachment"]] * 4


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
def test_looks(tab, app, browser, width, scheme):
    row = find(tab, "East", "sag")
    link = f"#/recordings/{row['recording']}?event={row['event']}"
    other = browser.tab(app.address, width=width, scheme=scheme)
    try:
        other.until(f"document.querySelectorAll('{ROWS}').length >= 5")
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


def test_what_1_pu_is_and_both_durations(start):
    open_event(start, "South", "interruption")
    assert start.text("[data-read=references]").startswith("1 pu: 11.55 kV (")
    assert start.text(".verdict [data-read=reference]").startswith("11.55 kV (")
    durations = start.text(".verdict [data-read=durations]")
    assert "by Urms(1/2)" in durations
    assert "on the waveform" in durations
    assert start.text(".own-events td[data-column=magnitude]").endswith("V)")


def test_back_goes_to_the_zoom_before(start):
    open_event(start, "South", "interruption")
    start.until("pq.app.parse().query.has('a')")
    before = seen(start)
    start.evaluate("document.querySelector('.waves').focus()")
    start.press("+")
    start.until(f"pq.app.parse().query.get('span') < {0.6 * (before[1] - before[0])}")
    start.evaluate("history.back()")
    start.until(f"pq.app.parse().query.get('span') > {0.9 * (before[1] - before[0])}")
    start.until(READY)
    assert seen(start) == pytest.approx(before)


def test_two_recordings_on_one_axis(start):
    known = "pq.recordings.store.recordings.filter(one => one.n_channels > 3 && one.start < '2000').map(one => one.id)"
    one, other = start.evaluate(known)[:2]
    start.evaluate(f"location.hash = '#/recordings/{one}?with={other}'")
    start.until(f"{READY} && document.querySelectorAll('.instruments[data-asked]').length === 2")
    panels = start.evaluate(
        "[...document.querySelectorAll('.waves-panel:not([hidden]) > svg')].map(p => p.dataset.panel)"
    )
    assert panels[:4] == ["voltage", "urms"] * 2
    assert (
        start.evaluate(
            "document.querySelectorAll('.waves-panel:not([hidden]) path.line, path.swing, path.band').length"
        )
        > 8
    )
    at = "[...document.querySelectorAll('.waves-panel:not([hidden]) svg[data-panel=voltage]')].length"
    assert start.evaluate(at) == 2
    start.evaluate(
        "(box => { box.value = 100; box.dispatchEvent(new Event('change')); })"
        "(document.querySelector('input[aria-label^=\"Shift of\"]'))"
    )
    start.until("pq.app.parse().query.get('shift') === '0.1'")
    start.until(f"{READY} && document.querySelectorAll('.instruments[data-asked]').length === 2")


def test_recordings_leave_nothing_behind(start):
    ids = start.evaluate("pq.recordings.store.recordings.filter(one => one.n_events).map(one => one.id)")
    for name in ids[:4] * 2:
        start.evaluate(f"location.hash = '#/recordings/{name}'")
        start.until(READY)
    start.evaluate("location.hash = '#/recordings'")
    start.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    start.call("HeapProfiler.collectGarbage")
    prototype = start.call("Runtime.evaluate", expression="pq.Waves.prototype")["result"]["objectId"]
    found = start.call("Runtime.queryObjects", prototypeObjectId=prototype)["objects"]["objectId"]
    count = {"objectId": found, "functionDeclaration": "function() { return this.length; }", "returnByValue": True}
    assert start.call("Runtime.callFunctionOn", **count)["result"]["value"] <= 1
    start.call("Runtime.releaseObject", objectId=found)


def test_a_picture_as_png(start):
    open_event(start, "South", "interruption")
    start.evaluate(
        "window.links = {}; window.kept = pq.saveLink; pq.saveLink = (name, link) => { links[name] = link; }"
    )
    start.click(".title .tools button[data-save=png]")
    link = start.until("links['interruption.cfg.png']")
    assert link.startswith("data:image/png;base64,iVBOR")
    assert len(link) > 20_000
    start.evaluate("pq.saveLink = kept")


def test_a_phone_shows_magnitude_and_duration(app, browser, tab):
    phone = browser.tab(app.home, width=PHONE)
    try:
        phone.until(f"document.querySelectorAll('{ROWS}').length >= 5")
        seen = "(box => box.width > 20 && box.left >= 0 && box.right <= innerWidth)"
        for column in ("kind", "magnitude", "duration", "time", "station"):
            cell = f"document.querySelector('{ROWS} [data-column={column}]').getBoundingClientRect()"
            assert phone.evaluate(f"{seen}({cell})"), column
    finally:
        phone.close()


def test_the_site_of_a_station(start):
    start.evaluate("location.hash = '#/recordings/stations'")
    start.until("document.querySelectorAll('.stations tr[data-key]').length >= 3")
    start.evaluate(
        "[...document.querySelectorAll('.stations tr[data-key]')].find(row => row.innerText.includes('South')).click()"
    )
    for name, text in (("voltage", "20 apples"), ("by", "Eve")):
        start.evaluate(f"document.querySelector('.site [name={name}]').value = ''")
        start.evaluate(f"document.querySelector('.site [name={name}]').focus()")
        start.type(text)
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
    start.until(
        "pq.app.api('/api/events?text=south').then(answer => answer.rows.some(row => row.reference === 'nominal'))"
    )
    start.reload()  # forgets the refusal, which the browser reports
