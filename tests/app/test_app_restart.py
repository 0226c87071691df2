"""A server that is killed and started again: stored analyses are there at once, and an open page recovers."""

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import OTHER, get, wait_analysed
from tests.app.serving import running_app
from tests.browser import needs_browser

LOST = "!document.getElementById('lost').hidden"


def sag_of(percent):
    return f"document.querySelector('.own-events [data-column=magnitude]:not(th)')?.innerText.startsWith('{percent} %')"


def test_after_a_kill_all_rows_are_there_at_once(tmp_path):
    (tmp_path / "grid").mkdir()
    for name in ("sag", "damaged", "old"):
        write_pair(tmp_path / "grid" / f"{name}.cfg")
    with running_app(tmp_path / "grid", state=tmp_path) as process:
        before = wait_analysed(process)
        process.kill()
    ids = {one["name"]: one["id"] for one in before["recordings"]}
    (kept,) = tmp_path.rglob(f"verdicts/{ids['damaged.cfg']}.json")
    kept.write_text(kept.read_text().replace('"start":', '"strat":'))
    (kept,) = tmp_path.rglob(f"verdicts/{ids['old.cfg']}.json")
    kept.write_text(kept.read_text().replace("verdicts 2", "verdicts 1"))  # as an older version wrote it
    with running_app(tmp_path / "grid", state=tmp_path) as process:  # no page is open: nothing is analysed
        found = get(process, "/api/recordings", OTHER)
    assert {one["name"]: one["state"] for one in found["recordings"]} == {
        "sag.cfg": "analysed",
        "damaged.cfg": "waiting",
        "old.cfg": "waiting",
    }
    assert not found["analysing"]
    assert found["rows"] == [row for row in before["rows"] if row["recording"] == ids["sag.cfg"]]


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
    write_pair(folder / "sag.cfg", seconds=1.2, residual=0.7)
    with running_app(folder, state=state) as app:
        assert app.address == first
        tab.until(f"!{LOST}".replace("!!", ""))
        tab.until(sag_of("70.0"))
        assert "1.200 s" in tab.text(".facts")
        assert tab.evaluate("[...document.querySelectorAll('.error:not([hidden])')].map(one => one.innerText)") == []
    port = first.rpartition(":")[2].partition("/")[0]
    with running_app(folder, "--new-token", "--port", port, state=state) as app:
        assert app.token not in first
        tab.until("/address that pqswarm printed/.test(document.getElementById('gate').innerText)")
        other = browser.tab(app.address)  # which hands the new token to the first
        tab.until(f"document.getElementById('gate').hidden && {sag_of('70.0')}")
        other.close()
        tab.close()
