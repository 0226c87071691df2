"""The recordings section in a real browser: drop files, click events, drag cursors, correct verdicts."""

import json
from datetime import datetime
from math import log10

import pytest
from tests.app.conftest import HOSTILE
from tests.browser import DESKTOP, PHONE, needs_browser

from pqswarm.identify import Archive
from pqswarm.measure import measure_at
from pqswarm.recordings import open_recordings

pytestmark = needs_browser

ROWS = ".events tbody tr[data-key]"
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


def open_event(tab, station, kind):
    key = tab.evaluate(
        f"(row => row.recording + ':' + row.event)"
        f"(pq.recordings.store.rows.find(row => row.station === '{station}' && row.kind === '{kind}'))"
    )
    tab.click(f'.events tr[data-key="{key}"]')
    tab.until(ANALYSED)
    return tab.evaluate(f"pq.recordings.store.rows.find(row => row.recording + ':' + row.event === '{key}')")


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
    assert set(rows(start, "kind")) >= {"sag", "swell"} or any("sag" in one for one in rows(start, "kind"))
    assert "East" in rows(start, "station")
    assert start.text(".uploads") == ""
    listed = start.text(".sources")
    assert all(word in listed for word in ("quiet.cfg", "no events", "broken.csv", "Remove"))


def test_a_file_that_is_too_large_is_not_sent(start, tmp_path):
    (tmp_path / "large.csv").write_bytes(b"0" * 1_500_000)
    start.drop(".drop", tmp_path / "large.csv")
    said = start.until("document.querySelector('.uploads [role=alert]')?.innerText")
    assert all(words in said for words in ("1.50 MB", "1.00 MB", "--max-mb"))
    start.click(".uploads button")
    assert start.evaluate("document.querySelectorAll('.uploads li').length") == 0


def test_filters_and_order(start):
    start.click('.chip[data-kind="swell"]')
    start.until("location.hash.includes('kind=swell')")
    stations = rows(start, "station")
    assert sorted(stations) == ["East", "North"]
    events = start.evaluate("pq.recordings.store.rows.filter(row => row.kind !== 'none').length")
    assert start.text(".filters .count") == f"2 of {events} events"
    start.until("document.querySelectorAll('[data-chart=itic] .point').length === 2")
    start.evaluate("document.querySelector('.filters input').focus()")
    start.type("north")
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    start.until("document.querySelectorAll('[data-chart=itic] .point:not(.off)').length === 1")
    start.reload()
    start.until(f"document.querySelectorAll('{ROWS}').length === 1")
    assert rows(start, "station") == ["North"]
    start.evaluate("location.hash = '#/recordings'")
    start.until(f"document.querySelectorAll('{ROWS}').length >= 5")
    start.click("th[data-column=magnitude] button")
    sizes = [float(text.split()[0]) for text in rows(start, "magnitude")]
    assert sizes == sorted(sizes)
    start.click("th[data-column=magnitude] button")
    assert [float(text.split()[0]) for text in rows(start, "magnitude")] == sizes[::-1]
    start.click("th[data-column=magnitude] button")
    start.evaluate("document.querySelector('.filters select').value = 'South'")
    start.evaluate("document.querySelector('.filters select').dispatchEvent(new Event('change'))")
    assert set(rows(start, "station")) == {"South"}


def test_the_point_of_an_event_is_where_it_belongs(start):
    row = start.evaluate("pq.recordings.store.rows.find(row => row.station === 'East' && row.kind === 'sag')")
    key = f"{row['recording']}:{row['event']}"
    point = f'[data-chart=itic] .point[data-row="{key}"]'
    start.until(f"!!document.querySelector('{point}')")
    seconds, percent, x, y = start.evaluate(
        f"(point => [...[point.dataset.seconds, point.dataset.percent].map(Number), "
        "...['cx', 'cy'].map(name => Number(point.querySelector('circle').getAttribute(name)))])"
        f"(document.querySelector('{point}'))"
    )
    assert seconds == pytest.approx(row["duration_s"], abs=6e-4)
    assert percent == pytest.approx(100 * row["magnitude"], abs=0.06)
    grid = start.evaluate("document.querySelector('[data-chart=itic] .grid').getAttribute('d')")
    uprights = [float(part.split()[0]) for part in grid.split("M")[1:] if "V" in part]  # 0.1 ms, 1 ms, ...
    levels = [float(part.split()[1].partition("H")[0]) for part in grid.split("M")[1:] if "H" in part]  # 0, 50, ... %
    assert x == pytest.approx(uprights[0] + (uprights[1] - uprights[0]) * (log10(seconds) + 4), abs=0.3)
    assert y == pytest.approx(levels[0] + (levels[1] - levels[0]) * percent / 50, abs=0.3)
    start.evaluate(f"document.querySelector('{point}').focus()")
    assert "sag" in start.text(".tip")
    start.click(f"{point} circle")
    start.until(f"location.hash.startsWith('#/recordings/{row['recording']}?') && !!document.querySelector('.waves')")


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


def test_a_verdict_is_corrected_and_the_correction_withdrawn(start, app):
    row = open_event(start, "North", "swell")
    start.click(".correct summary")
    labels = start.evaluate("[...document.querySelector('.correct select').options].map(one => one.value)")
    assert {"", "swell"} < set(labels)
    label = next(one for one in labels if one not in ("", row["class"]))
    start.evaluate(f"document.querySelector('.correct select').value = '{label}'")
    start.evaluate("document.querySelector('.correct [name=by]').focus()")
    start.type("Eve <b>")
    start.evaluate("document.querySelector('.correct [name=note]').focus()")
    start.type("seen at the meter")
    start.click(".correct [type=submit]")
    start.until("!!document.querySelector('[data-read=correction]')")
    said = start.text("[data-read=correction]")
    assert all(word in said for word in ("Eve <b>", "seen at the meter", label.replace("_", " ")))
    with Archive(app.archive, read_only=True) as archive:
        (stored,) = [one for one in archive.correction_log() if one["by"] == "Eve <b>"]
    assert stored["label"] == label
    assert datetime.fromisoformat(stored["at"]).year >= 2024
    assert "✎" in start.text(".own-events tr[aria-selected=true]")
    start.click('[data-act="withdraw"]')
    start.until("!document.querySelector('[data-read=correction]')")
    assert "✎" not in start.text(".own-events")
    assert start.evaluate("localStorage.getItem('pqswarm-name')") == "Eve <b>"


def test_exports(start):
    start.evaluate("window.saved = {}; pq.saveText = (name, text) => { window.saved[name] = text; }")
    start.click(".filters > button")
    lines = start.evaluate("saved['events.csv']").splitlines()
    assert len(lines) == 1 + len(rows(start, "kind"))
    served = start.evaluate("fetch('/api/table.csv').then(answer => answer.text())").splitlines()
    assert set(lines[0].split(",")) <= set(served[0].split(","))
    assert {line.partition(",")[0] for line in lines} <= {line.partition(",")[0] for line in served}
    open_event(start, "South", "interruption")
    start.click(".title .tools button")
    drawing = start.evaluate("saved['interruption.cfg.svg']")
    assert drawing.startswith("<svg")
    assert drawing.count("<path") > 10
    assert "parsererror" not in start.evaluate(
        "new DOMParser().parseFromString(saved['interruption.cfg.svg'], 'text/xml').documentElement.innerHTML"
    )
    links = start.evaluate("[...document.querySelectorAll('.title .tools a')].map(link => link.href)")
    answers = start.evaluate(
        f"Promise.all({json.dumps(links)}.map(link => fetch(link).then("
        "answer => [answer.status, answer.headers.get('Content-Disposition').split(';')[0]])))"
    )
    assert answers == [[200, "attachment"]] * 3


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
    row = tab.evaluate("pq.recordings.store.rows.find(row => row.station === 'East' && row.kind === 'sag')")
    link = f"#/recordings/{row['recording']}?event={row['event']}"
    other = browser.tab(app.home, width=width, scheme=scheme)
    try:
        other.until("document.querySelectorAll('.tolerance').length === 2")
        found = other.measure()
        assert (found["problems"], found["width"]) == ([], width)
        other.evaluate(f"location.hash = '{link}'")
        other.until(f"{READY} && !!document.querySelector('.spectrum')")
        found = other.measure()
        assert (found["problems"], found["width"]) == ([], width)
        assert found["background"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]
    finally:
        other.close()
