"""The door in a real browser: the password of the form, and words for who has no token."""

import time

import pytest
from tests.app.serving import running_app
from tests.browser import needs_browser

pytestmark = needs_browser


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    options = ["--host", "0.0.0.0", "--password", "open sesame"]
    with running_app(tmp_path_factory.mktemp("served"), *options, state=tmp_path_factory.mktemp("state")) as process:
        process.home = process.home.replace("0.0.0.0", "127.0.0.1")
        yield process


def enter(tab, password):
    """Type it, again if need be: a page that has not been painted yet takes no input."""
    tab.until("document.readyState === 'complete'")
    field = "document.querySelector('input[type=password]')"
    end = time.monotonic() + 15
    while tab.evaluate(f"{field}.value") != password:
        assert time.monotonic() < end, "nothing can be typed"
        tab.click("input[type=password]", count=3)  # selects what is there
        tab.type(password)
    tab.press("Enter")


def test_the_password_opens_the_page(app, browser):
    tab = browser.tab(f"{app.home}/")
    enter(tab, "guess")
    tab.until("document.querySelector('[role=alert]')?.innerText === 'That is not the password.'")
    enter(tab, "open sesame")
    tab.until("document.querySelector('#rooms a') !== null")
    tab.until("document.querySelector('.recordings') !== null")
    tab.close()


def test_who_has_no_token_reads_what_to_do(browser, tmp_path):
    with running_app(tmp_path, state=tmp_path / "state") as served:
        tab = browser.tab(f"{served.home}/", context=browser.context())
        assert "Open the address that pqswarm printed" in tab.text()
        assert "{" not in tab.text()
        tab.close()
