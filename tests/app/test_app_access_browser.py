"""Access in a real browser: the password form, and the message without a token."""

import time

from tests.browser import needs_browser
from tests.waiting import PATIENCE

pytestmark = needs_browser


def enter(tab, password):
    """Type the password, again if need be: a page that has not been painted yet takes no input."""
    field = "document.querySelector('input[type=password]')"
    tab.until(f"{field} !== null")
    end = time.monotonic() + PATIENCE
    while tab.evaluate(f"{field}.value") != password:
        assert time.monotonic() < end, "nothing can be typed"
        tab.click("input[type=password]", count=3)  # selects what is there
        tab.type(password)
    tab.press("Enter")


def test_the_password_opens_the_page(locked, browser):
    tab = browser.tab(f"{locked.home}/", context=browser.context())
    enter(tab, "guess")
    tab.until("/password/.test(document.querySelector('#gate [role=alert]')?.innerText)")
    enter(tab, "open sesame ")
    tab.until("document.querySelector('#sections a') !== null")
    tab.until("document.querySelector('.recordings') !== null")
    tab.close()


def test_without_a_token_the_page_says_what_to_do_until_another_tab_has_one(app, browser):
    tab = browser.tab(f"{app.home}/", context=browser.context())
    tab.until("/Open the address that pqswarm printed/.test(document.body.innerText)")
    tab.close()
    first = browser.tab(app.address)
    first.until("document.querySelector('.recordings') !== null")
    assert first.evaluate("location.search + document.cookie") == ""
    second = browser.tab(f"{app.home}/#/studies")
    second.until("document.title.startsWith('Studies') && document.getElementById('gate').hidden")
    first.close()
    second.close()


def test_downloads_and_reports_open_with_tickets(app, studies, browser):
    tab = browser.tab(app.address)
    link = "document.querySelector('a[href^=\"/api/table.csv\"]')"
    tab.until(f"{link} !== null")
    tab.evaluate(
        "(window.saved = [], pq.saveLink = async (name, address) => window.saved.push((await fetch(address)).status))"
    )
    tab.evaluate(f"{link}.click()")  # rows that arrive move it
    tab.until("window.saved.length === 1")
    assert tab.evaluate("window.saved") == [200]
    tab.close()
