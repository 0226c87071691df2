"""The page of events in a real browser: right on all screens, columns sort, kinds filter, points lead to rows."""

import pytest
from tests.browser import DESKTOP, PHONE, Browser, needs_browser
from tests.identify.invented import event, judged, recording, verdict

from pqswarm.identify.page import page_html

pytestmark = needs_browser

SHOWN = "[...document.querySelectorAll('.events tbody tr')].filter(r => r.offsetHeight).map(r => r.id).join(' ')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    long = "Подстанция 220 кВ, очень длинным именем, 220千伏变电站 " * 3
    events = [event("sag", 0.62, 0.08), event("interruption", 0.02, 0.3), event("swell", 1.25, 0.04, start=0.1)]
    found = [*events, judged(event("sag", 0.3, 1.5, start=0.5, phases="ABC"), "x" * 200, 0.5, "disagree: " + "y" * 200)]
    path = tmp_path_factory.mktemp("page") / "page.html"
    lost = ["/a/very/long/path/" + "z" * 300 + ".cfg cannot be read."]
    path.write_text(
        page_html([verdict(*found, station=long, source="w" * 120)], lost, find=lambda _: recording()), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(("width", "scheme"), [(DESKTOP, "light"), (PHONE, "light"), (DESKTOP, "dark")])
def test_nothing_goes_wrong(browser, page, width, scheme):
    found = browser.look(page, width, scheme)
    assert found["problems"] == []
    assert found["width"] == width
    assert found["background"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]


def test_columns_sort_and_kinds_filter(browser, page):
    target, session = browser.open(page)

    def click(selector, text):
        browser.evaluate(
            session,
            f"[...document.querySelectorAll('{selector}')].find(b => b.textContent.startsWith('{text}')).click()",
        )
        return browser.evaluate(session, SHOWN).replace("event-", "")

    assert browser.evaluate(session, SHOWN).replace("event-", "") == "1 2 3 4"
    assert click(".events th button", "magnitude") == "3 4 2 1"
    assert click(".events th button", "magnitude") == "1 2 4 3"
    assert click(".events th button", "magnitude") == "1 2 3 4"
    assert click(".events th button", "duration") == "1 2 3 4"  # 0.04, 0.08, 0.3 and 1.5 s
    assert click(".tools button", "swell") == "1"
    # The browser has no other way to press a link inside a drawing than an event.
    point = "document.querySelector('svg.chart .point[href=\"#event-2\"]')"
    browser.evaluate(session, f"{point}.dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true}}))")
    told = browser.evaluate(session, "new Promise(done => setTimeout(() => done(window.location.hash), 300))")
    assert told == "#event-2"
    assert browser.evaluate(session, SHOWN).replace("event-", "") == "1 2 3 4"
    browser.call("Target.closeTarget", targetId=target)
