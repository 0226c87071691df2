"""The page of a recording in a real browser: cursors, zoom, corrections, notes, exports, two on one axis."""

import json
from datetime import datetime

import pytest
from tests.app.recordings_page import ANALYSED, LISTED, READY, choose, events, fill, open_event, show
from tests.browser import needs_browser
from tests.waiting import wait_until

from pqswarm.measure import measure_at
from pqswarm.recordings import open_recordings

pytestmark = needs_browser


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


def test_an_event_is_shown_in_the_middle_and_measured(start, fault):
    row = open_event(start, "East", "sag")
    start.until("location.hash.includes('span=')")
    first, last = seen(start)
    assert first < row["start"] < row["end"] < last
    assert (first + last) / 2 == pytest.approx((row["start"] + row["end"]) / 2, abs=1e-6)
    assert cursors(start)["A"] == pytest.approx(row["start"], abs=1e-6)
    assert "sag" in start.text(".brief .sentence")
    assert start.text('.verdict [data-read="class"]')

    settle(start)  # what comes later moves what is below it

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
    start.press("Shift", "ArrowRight")
    start.until(f"{row['start']} + 0.019 < Number(pq.app.parse().query.get('a'))")
    before = seen(start), cursors(start), start.evaluate("location.hash")
    start.reload()
    start.until(ANALYSED)
    start.until("document.querySelectorAll('.own-events tr[aria-selected=true]').length === 1")
    assert (seen(start), cursors(start)) == (pytest.approx(before[0]), pytest.approx(before[1]))
    assert start.evaluate("location.hash") == before[2]
    start.click(".back")
    start.until(LISTED)
    start.evaluate("history.back()")
    start.until(READY)
    assert start.evaluate("location.hash") == before[2]


def test_a_verdict_is_corrected_and_the_correction_withdrawn(start):
    row = open_event(start, "North", "swell")
    start.click(".correct summary")
    labels = start.evaluate("[...document.querySelector('.correct select').options].map(one => one.value)")
    assert {"", "swell", "not an event"} < set(labels)
    start.evaluate("document.querySelector('.correct select').value = 'not an event'")
    fill(start, ".correct", cause="ripple control", by="Eve <b>", note="seen at the meter")
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

    show(start, row)
    start.click('[data-act="withdraw"]')
    start.until("!document.querySelector('[data-read=correction]')")
    start.click('[data-act="withdraw-cause"]')
    start.until("!document.querySelector('[data-read=cause-by-hand]')")
    assert "✎" not in start.text(".own-events tr[aria-selected=true]")
    assert start.evaluate("localStorage.getItem('pqswarm-name')") == "Eve <b>"


def test_other_meters_and_notes(start):
    open_event(start, "North", "swell")
    start.until("document.querySelector('.around')?.innerText.includes('Nothing')")
    choose(start, ".around select", "3600")
    start.until("document.querySelector('.around').innerText.includes('South')")
    assert "with=" in start.evaluate("document.querySelector('.around td a').hash")
    start.click(".notes summary")
    fill(start, ".notes", text="a storm <b>", by="Eve")
    start.click(".notes [type=submit]")
    start.until("document.querySelector('.notes li')?.innerText.includes('a storm <b>')")
    start.click(".notes li button")
    start.until("!document.querySelector('.notes li')")


def test_exports(start):
    start.click('.chip[data-type="swell"]')
    start.until("document.querySelector('.events .tools a').href.includes('type=swell')")
    plain, german = start.evaluate(
        "Promise.all([...document.querySelectorAll('.events .tools a')].map("
        "one => pq.app.api(one.getAttribute('href'), {text: true})))"
    )
    assert len(plain.splitlines()) == len(german.splitlines()) == 3
    assert german.splitlines()[0] == plain.splitlines()[0].replace(",", ";")
    assert "1,2" in german
    start.evaluate("window.saved = {}; pq.saveText = (name, text) => { window.saved[name] = text; }")
    open_event(start, "South", "interruption")
    start.click(".recording > .tools button")
    drawing = start.until("saved['interruption.cfg.svg']")
    assert drawing.startswith("<svg")
    assert drawing.count("<path") > 10
    assert "var(--" not in drawing  # colors of the page are resolved
    assert "parsererror" not in start.evaluate(
        "new DOMParser().parseFromString(saved['interruption.cfg.svg'], 'text/xml').documentElement.innerHTML"
    )
    start.evaluate("window.kept = pq.saveLink; pq.saveLink = (name, link) => { saved[name] = link; }")
    start.click(".recording > .tools button[data-save=png]")
    picture = start.until("saved['interruption.cfg.png']")
    assert picture.startswith("data:image/png;base64,iVBOR")
    assert len(picture) > 20_000
    start.evaluate("pq.saveLink = kept")
    links = start.evaluate("[...document.querySelectorAll('.recording > .tools a')].map(link => link.href)")
    answers = start.evaluate(
        f"Promise.all({json.dumps(links)}.map(link => pq.app.withTicket(link).then(fetch).then("
        "answer => [answer.status, answer.headers.get('Content-Disposition').split(';')[0]])))"
    )
    assert answers == [[200, "attachment"]] * 4


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
    both = f"{READY} && document.querySelectorAll('.instruments[data-asked]').length === 2"
    start.until(both)
    panels = start.evaluate(
        "[...document.querySelectorAll('.waves-panel:not([hidden]) > svg')].map(p => p.dataset.panel)"
    )
    assert panels[:4] == ["voltage", "urms"] * 2
    start.until("document.querySelectorAll('.waves-panel:not([hidden]) path.line, path.swing, path.band').length > 8")
    at = "[...document.querySelectorAll('.waves-panel:not([hidden]) svg[data-panel=voltage]')].length"
    assert start.evaluate(at) == 2
    choose(start, 'input[aria-label^="Shift of"]', 100)
    start.until("pq.app.parse().query.get('shift') === '0.1'")
    start.until(both)
    start.evaluate("location.hash = '#/recordings'")
    start.until("/events in .* recordings/.test(document.querySelector('.summary')?.textContent)")


def test_recordings_leave_nothing_behind(start):
    ids = start.evaluate("pq.recordings.store.recordings.filter(one => one.n_events).map(one => one.id)")
    for name in ids[:4] * 2:
        start.evaluate(f"location.hash = '#/recordings/{name}'")
        start.until(READY)
    start.evaluate("location.hash = '#/recordings'")
    start.until(LISTED)

    def left():
        start.call("HeapProfiler.collectGarbage")
        prototype = start.call("Runtime.evaluate", expression="pq.Waves.prototype")["result"]["objectId"]
        found = start.call("Runtime.queryObjects", prototypeObjectId=prototype)["objects"]["objectId"]
        count = {"objectId": found, "functionDeclaration": "function() { return this.length; }", "returnByValue": True}
        number = start.call("Runtime.callFunctionOn", **count)["result"]["value"]
        start.call("Runtime.releaseObject", objectId=found)
        return number

    wait_until(lambda: left() <= 1, "requests under way have ended and hold no viewer")
