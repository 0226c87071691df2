"""A server that is killed and started again: stored analyses are there at once, and an open page recovers."""

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import OTHER, get, running_app, wait_analyzed
from tests.browser import needs_browser

LOST = "!document.getElementById('lost').hidden"


def sag_of(percent):
    return f"document.querySelector('.own-events [data-column=magnitude]:not(th)')?.innerText.startsWith('{percent} %')"


def test_after_a_kill_all_rows_are_there_at_once(tmp_path):
    (tmp_path / "grid").mkdir()
    write_pair(tmp_path / "grid" / "sag.cfg")
    with running_app(tmp_path / "grid", state=tmp_path) as process:
        before = wait_analyzed(process)
        (row,) = get(process, "/api/events")["rows"]
        process.kill()
    for part in ("cfg", "dat"):  # its link outlives a new name
        (tmp_path / "grid" / f"sag.{part}").rename(tmp_path / "grid" / f"moved.{part}")
    write_pair(tmp_path / "grid" / "new.cfg", residual=0.3)
    with running_app(tmp_path / "grid", state=tmp_path) as process:  # no page is open: nothing is analyzed
        found = get(process, "/api/recordings", OTHER)
        (old,) = before["recordings"]
        rows = get(process, "/api/events", OTHER)["rows"]
        assert get(process, f"/api/recordings/{old['id']}")["name"] == "moved.cfg"
    assert {one["name"]: one["state"] for one in found["recordings"]} == {"moved.cfg": "analyzed", "new.cfg": "waiting"}
    assert not found["analyzing"]
    assert [one | {"path": ""} for one in rows] == [row | {"path": ""}]


@pytest.mark.slow
@needs_browser[1]
def test_a_page_outlives_the_server(browser, tmp_path):
    folder, state = tmp_path / "served", tmp_path / "state"
    folder.mkdir()
    write_pair(folder / "sag.cfg")
    with running_app(folder, state=state) as app:
        tab = browser.tab(app.address)
        name = tab.until("pq.recordings.store.recordings[0]?.id")
        tab.evaluate(f"void (location.hash = '#/recordings/{name}')")
        tab.until(sag_of("50.0"))
        first = app.address
    tab.until(f"{LOST} && document.getElementById('section').inert")
    for part in ("cfg", "dat"):
        (folder / f"sag.{part}").rename(folder / f"moved.{part}")
    with running_app(folder, state=state) as app:
        assert app.address == first
        tab.until(f"!{LOST}".replace("!!", ""))
        tab.until("document.querySelector('h1').innerText.includes('moved.cfg')")
        tab.until(sag_of("50.0"))
        assert tab.evaluate("[...document.querySelectorAll('.error:not([hidden])')].map(one => one.innerText)") == []
    port = first.rpartition(":")[2].partition("/")[0]
    with running_app(folder, "--new-token", "--port", port, state=state) as app:
        assert app.token not in first
        tab.until("/address that pqswarm printed/.test(document.getElementById('gate').innerText)")
        other = browser.tab(app.address)  # which hands the new token to the first
        tab.until(f"document.getElementById('gate').hidden && {sag_of('50.0')}")
        other.close()
        tab.close()
