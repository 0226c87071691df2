"""A page that stays open while the server is started again, and the file that it shows is replaced."""

import socket

from tests.app.made import write_pair
from tests.app.serving import running_app
from tests.browser import needs_browser

pytestmark = needs_browser

STATE = "document.getElementById('state').textContent"


def sag_of(percent):
    return f"document.querySelector('.own-events [data-column=magnitude]:not(th)')?.innerText === '{percent} %'"


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
        tab.until(sag_of("50.0"), timeout=30)
    tab.until(f"{STATE}.includes('does not answer')")
    write_pair(folder / "sag.cfg", seconds=1.2, residual=0.7)
    with running_app(folder, "--port", port, state=state) as app:
        tab.until(f"{STATE}.includes('open the address that pqswarm printed')")
        other = browser.tab(app.address)
        tab.evaluate("void window.dispatchEvent(new Event('focus'))")  # somebody comes back to the page
        tab.until(f"{STATE} === ''")
        tab.until(sag_of("70.0"), timeout=30)
        assert "1.200 s" in tab.text(".facts")
        assert tab.evaluate("[...document.querySelectorAll('.error:not([hidden])')].map(one => one.innerText)") == []
        other.close()
        tab.close()
