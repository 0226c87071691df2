"""The report in a real browser: no errors, no missing pictures, no sideways scrolling, no tiny text."""

import pytest
from tests.browser import DESKTOP, PHONE, needs_browser

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(smoke_study):
    return smoke_study / "report.html"  # the command has written it


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report(browser, report, width, scheme):
    found = browser.look(report, width, scheme)
    assert found["problems"] == []
    assert found["width"] == width
    assert found["figures"] > 20
    assert found["background"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]


def test_in_print_a_dark_report_is_light(browser, report):
    assert browser.look(report, scheme="dark", media="print")["background"] == "rgb(255, 255, 255)"


def test_the_report_prints(browser, report, tmp_path):
    assert browser.look(report, pdf=tmp_path / "report.pdf")["problems"] == []
    data = (tmp_path / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert len(data) > 50_000


BROKEN = {
    "console error": ("<script>console.error('oh')</script>", "console: ['oh']"),
    "exception": ("<script>undefined_name()</script>", "exception"),
    "missing picture": ('<img src="missing.png">', "image is missing"),
    "damaged picture": ('<img src="data:image/png;base64,AAAA">', "image is missing"),
    "missing picture inside a drawing": ('<svg><image href="missing.png"/></svg>', "loads"),
    "style from elsewhere": ('<link rel="stylesheet" href="http://127.0.0.1:9/style.css">', "loads http://127"),
    "wide element": ('<div style="width: 2000px">wide</div>', "page scrolls sideways"),
    "tiny text": ('<p style="font-size: 6px">tiny</p>', "text of 6.0 px: tiny"),
    "drawing scaled down to tiny text": (
        '<svg viewBox="0 0 3600 100" width="300"><text y="50" font-size="10">tiny</text></svg>',
        "text of 0.8 px: tiny",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_the_checker_sees_faults(browser, tmp_path, fault):
    body, expected = BROKEN[fault]
    page = tmp_path / "page.html"
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><p>some text</p>{body}')
    assert any(expected in problem for problem in browser.look(page, PHONE)["problems"])


def test_the_checker_is_content_with_a_good_page(browser, tmp_path):
    page = tmp_path / "page.html"
    wide = '<div class="frame" style="overflow-x: auto"><p style="width: 2000px; font-size: 6px">scrolls</p></div>'
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><p>some text</p>{wide}')
    assert browser.look(page, PHONE)["problems"] == []
