"""Access in a real browser: the password form, and the message without a token."""

import time

from tests.browser import needs_browser
from tests.waiting import PATIENCE

pytestmark = needs_browser


def enter(tab, password):
    """Type the password, again if need be: a page that has not been painted yet takes no input."""
    tab.until("document.readyState === 'complete'")
    field = "document.querySelector('input[type=password]')"
    end = time.monotonic() + PATIENCE
    while tab.evaluate(f"{field}.value") != password:
        assert time.monotonic() < end, "nothing can be typed"
        tab.click("input[type=password]", count=3)  # selects what is there
        tab.type(password)
    tab.press("Enter")


def test_the_password_opens_the_page(locked, browser):
    tab = browser.tab(f"{locked.home}/", context=browser.context())
    enter(tab, "guess")
    tab.until("/password/.test(document.querySelector('[role=alert]')?.innerText)")
    enter(tab, "open sesame ")
    tab.until("document.querySelector('#sections a') !== null")
    tab.until("document.querySelector('.recordings') !== null")
    tab.close()


def test_without_a_token_the_page_says_what_to_do(app, browser):
    tab = browser.tab(f"{app.home}/", context=browser.context())
    assert "Open the address that pqswarm printed" in tab.text()
    assert "{" not in tab.text()
    tab.close()
