"""The page of a recording in a real browser: above the fold, on paper, corrected, and after its file was deleted."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.app.recordings import RATE, three_phases, write_pair
from tests.app.recordings_page import events, fill, show
from tests.app.requests import running_app
from tests.browser import needs_browser

from pqswarm.recordings import Channel, write_comtrade

pytestmark = needs_browser


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    root = tmp_path_factory.mktemp("forwarded")
    (root / "home").mkdir()
    write_pair(root / "home" / "dip.cfg", seconds=0.6, sag=(0.2, 0.3), residual=0.4, station="North")
    write_pair(root / "home" / "gone.cfg", seconds=0.6, sag=(0.2, 0.3), residual=0.4, station="South")
    write_pair(root / "home" / "cut.cfg", seconds=0.6, sag=(0.2, 0.7), residual=0.5, station="North")
    write_pair(root / "home" / "mistaken.cfg", seconds=0.6, sag=(0.2, 0.3), residual=0.5, station="East")
    summed = three_phases(seconds=0.6, sag=(0.2, 0.3), residual=0.4, station="West")
    turn = 2 * np.pi * 50 * np.arange(summed.n_samples) / RATE
    rest = Channel("UN", "V", "N", 0.5 * np.cos(turn) + 3 * np.cos(5 * turn))
    write_comtrade(replace(summed, channels=(*summed.channels, rest)), root / "home" / "sum.cfg", "BINARY")
    (root / "home" / "notes.txt").write_text("a note of the crew\n")
    with running_app(root / "home", state=root / "state") as process:
        process.folder = root / "home"
        yield process


@pytest.fixture
def tab(app, browser):
    tab = browser.tab(app.address, 1440)
    tab.resize(1440, 900)
    tab.until("document.querySelectorAll('.events tbody tr[data-key]').length >= 2")
    yield tab
    assert tab.problems() == []
    tab.close()


def open_recording(tab, name):
    return show(tab, next(row for row in events(tab) if row["path"] == name))


def test_the_waveform_is_above_the_fold_and_few_tabs_away(tab):
    open_recording(tab, "dip.cfg")
    assert tab.evaluate("document.querySelector('.waves-stage').getBoundingClientRect().top") < 400
    tab.evaluate("document.querySelector('h1').focus()")
    for _ in range(5):
        tab.press("Tab")
        if tab.evaluate("document.activeElement.classList.contains('waves')"):
            break
    else:
        pytest.fail("the waveform is more than five tabs away")


def test_cursor_b_is_at_the_end_of_a_cycle_of_the_dip(tab):
    row = open_recording(tab, "dip.cfg")
    b = "Number(document.querySelector('[data-cursor=B].cursor').dataset.time)"
    tab.until(f"{row['start'] + 0.02} <= {b} && {b} <= {row['end'] + 0.001}")  # placed once the event is known
    tab.until("!!document.querySelector('.instruments')?.dataset.asked")
    cell = "document.querySelector('.at[data-cursor=X] [data-read=rms][data-channel=UA]').dataset.value"
    healthy, low = (cell.replace("X", name) for name in "AB")
    tab.until(f"Math.abs(Number({low}) / Number({healthy}) - 0.4) < 0.02")  # the answer for both cursors


def test_the_rest_of_a_sum_of_phases_does_not_flatten_the_spectrum(tab):
    open_recording(tab, "sum.cfg")
    names = "[...new Set([...document.querySelectorAll('.spectrum .bar')].map(bar => bar.dataset.series))].join()"
    tab.until(f"{names} !== ''")
    assert tab.evaluate(names) == "UA,UB,UC"


def test_what_the_record_cuts_is_marked(tab):
    durations = "[...document.querySelectorAll('.events td[data-column=duration]')].map(one => one.innerText).join()"
    assert tab.evaluate(durations).count("≥") == 1
    assert "notes.txt" not in tab.text()
    open_recording(tab, "cut.cfg")
    assert "at least" in tab.text(".brief .sentence")


def test_paper_has_harmonics_stages_and_no_form(tab):
    open_recording(tab, "dip.cfg")
    tab.until("!!document.querySelector('.spectrum .bar')")
    tab.emulate("print")
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("getComputedStyle(document.querySelector('.spectrum .bar')).display") != "none"
    assert tab.evaluate("document.querySelector('[data-read=stages]').closest('details').open")
    assert tab.evaluate("getComputedStyle(document.querySelector('.correct')).display") == "none"
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not tab.evaluate("document.querySelector('[data-read=stages]').closest('details').open")
    tab.emulate()
    assert base64.b64decode(tab.call("Page.printToPDF")["data"]).startswith(b"%PDF")


def test_no_sheet_of_what_is_no_event_and_no_empty_place_beside_the_verdict(tab):
    row = open_recording(tab, "mistaken.cfg")
    width = "document.querySelector('SELECTOR').getBoundingClientRect().width"
    assert tab.evaluate(width.replace("SELECTOR", ".verdict")) == tab.evaluate(width.replace("SELECTOR", ".recording"))
    body = {"recording": row["recording"], "event": row["event"], "label": "not an event", "by": "Eve", "what": "class"}
    tab.evaluate(f"pq.app.api('/api/corrections', {{method: 'POST', json: {json.dumps(body)}}})")
    tab.until("document.querySelector('.tools a[href*=sheet]').hidden")
    tab.evaluate("location.hash = '#/recordings?hidden=1'")
    tab.until("/^[0-9]+ events$/.test(document.querySelector('.filters .count')?.innerText)")


def test_a_corrected_cause_and_a_deleted_file(tab, app):
    row = open_recording(tab, "gone.cfg")
    tab.until("!!document.querySelector('.instruments')?.dataset.asked")  # the page is complete: nothing moves
    tab.evaluate("document.querySelector('.correct').open = true")
    fill(tab, ".correct", cause="animal", by="Eve")
    tab.evaluate("document.querySelector('.correct [type=submit]').click()")
    tab.until("document.querySelector('[data-read=cause]')?.innerText === 'animal'")
    assert "found: " in tab.text(".brief")
    listed = tab.evaluate("pq.app.api('/api/corrections').then(answer => answer.corrections[0])")
    assert listed["found"].startswith(row["cause"])
    page = tab.download("document.querySelector('.tools a[href$=\"page.html\"]').click()").decode()
    assert "animal (corrected by Eve on " in page
    for suffix in (".cfg", ".dat"):
        (app.folder / f"gone{suffix}").unlink()
    address = f"/api/recordings/{row['recording']}"
    tab.until(f"pq.app.api('{address}').then(answer => answer.is_kept, () => false)")
    tab.reload()
    tab.until("document.querySelector('.waves')?.dataset.state === 'ready' && !!document.querySelector('.series path')")
    tab.until("document.querySelector('.brief')?.innerText.includes('animal')")
