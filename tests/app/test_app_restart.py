"""A server that is killed and started again: stored analyses are there at once, and an open page recovers."""

import socket

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import OTHER, get, wait_analysed
from tests.app.serving import running_app
from tests.browser import needs_browser

STATE = "document.getElementById('state').textContent"


def sag_of(percent):
    return f"document.querySelector('.own-events [data-column=magnitude]:not(th)')?.innerText.startsWith('{percent} %')"


def test_after_a_kill_all_rows_are_there_at_once(tmp_path):
    (tmp_path / "grid").mkdir()
    write_pair(tmp_path / "grid" / "sag.cfg")
    with running_app(tmp_path / "grid", state=tmp_path) as process:
        before = wait_analysed(process)
        (row,) = get(process, "/api/events")["rows"]
        process.kill()
    for part in ("cfg", "dat"):  # its link outlives a new name
        (tmp_path / "grid" / f"sag.{part}").rename(tmp_path / "grid" / f"moved.{part}")
    write_pair(tmp_path / "grid" / "new.cfg", residual=0.3)
    with running_app(tmp_path / "grid", state=tmp_path) as process:  # no page is open: nothing is analysed
        found = get(process, "/api/recordings", OTHER)
        (old,) = before["recordings"]
        rows = get(process, "/api/events", OTHER)["rows"]
        assert get(process, f"/api/recordings/{old['id']}")["name"] == "moved.cfg"
    assert {one["name"]: one["state"] for one in found["recordings"]} == {"moved.cfg": "analysed", "new.cfg": "waiting"}
    assert not found["analysing"]
    assert [one | {"path": ""} for one in rows] == [row | {"path": ""}]


@pytest.mark.slow
@needs_browser[1]
def test_a_page_outlives_the_server(browser, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    folder, state = tmp_path / "served", tmp_path / "state"
    folder.mkdir()
    write_pair(folder / "sag.cfg")
    with running_app(folder, "--port", port, state=state) as app:
        tab = browser.tab(app.address)
        name = tab.until("pq.recordings.store.recordings[0]?.id")
        tab.evaluate(f"void (location.hash = '#/recordings/{name}')")
        tab.until(sag_of("50.0"))
    tab.until(f"{STATE}.includes('does not respond')")
    for part in ("cfg", "dat"):
        (folder / f"sag.{part}").rename(folder / f"moved.{part}")
    with running_app(folder, "--port", port, state=state) as app:
        tab.until(f"{STATE}.includes('open the new address')")
        other = browser.tab(app.address)
        tab.evaluate("void window.dispatchEvent(new Event('focus'))")  # as if the user came back to the page
        tab.until(f"{STATE} === ''")
        tab.until("document.querySelector('h1').innerText.includes('moved.cfg')")
        tab.until(sag_of("50.0"))
        assert tab.evaluate("[...document.querySelectorAll('.error:not([hidden])')].map(one => one.innerText)") == []
        other.close()
        tab.close()
