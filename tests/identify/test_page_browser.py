"""The page of events in a real browser: right on all screens, columns sort, kinds filter, points lead to rows."""

from dataclasses import replace

import pytest
from tests.browser import DESKTOP, PHONE, needs_browser
from tests.identify.invented import analysis, event, recording, with_label

from pqswarm.identify.show.page import page_html

pytestmark = needs_browser

SHOWN = "[...document.querySelectorAll('.events tbody tr')].filter(r => r.offsetHeight).map(r => r.id).join(' ')"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    long = "Подстанция 220 кВ, очень длинным именем, 220千伏变电站 " * 3
    events = [event("sag", 0.62, 0.08), event("interruption", 0.02, 0.3), event("swell", 1.25, 0.04, start=0.1)]
    found = [
        *events,
        with_label(event("sag", 0.3, 1.5, start=0.5, phases="ABC"), "x" * 200, 0.5, "disagree: " + "y" * 200),
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    lost = ["/a/very/long/path/" + "z" * 300 + ".cfg cannot be read."]
    path.write_text(
        page_html([analysis(*found, station=long, source="w" * 120)], lost, find=lambda _: recording()),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(("width", "scheme"), [(DESKTOP, "light"), (PHONE, "light"), (DESKTOP, "dark")])
def test_nothing_goes_wrong(browser, page, width, scheme):
    found = browser.look(page, width, scheme)
    assert found["problems"] == []
    assert found["width"] == width
    assert found["background"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}[scheme]


def test_columns_sort_and_kinds_filter(browser, page):
    tab = browser.tab(page)

    def click(selector, text):
        tab.evaluate(
            f"[...document.querySelectorAll('{selector}')].find(b => b.textContent.startsWith('{text}')).click()"
        )
        return tab.evaluate(SHOWN).replace("event-", "")

    assert tab.evaluate(SHOWN).replace("event-", "") == "1 2 3 4"
    assert click(".events th button", "magnitude") == "3 4 2 1"
    assert click(".events th button", "magnitude") == "1 2 4 3"
    assert click(".events th button", "magnitude") == "1 2 3 4"
    assert click(".events th button", "duration") == "1 2 3 4"  # 0.04, 0.08, 0.3 and 1.5 s
    assert click(".tools button", "swell") == "1"
    # The browser has no other way to press a link inside a drawing than an event.
    point = "document.querySelector('svg.chart .point[href=\"#event-2\"]')"
    tab.evaluate(f"{point}.dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true}}))")
    tab.until("window.location.hash === '#event-2'")
    assert tab.evaluate(SHOWN).replace("event-", "") == "1 2 3 4"
    tab.close()


HOSTILE = "<img src=x onerror=hurt()></script><script>hurt()</script><!--"


def test_waveforms_zoom_and_cursors_read(browser, tmp_path):
    of = recording(seconds=4.0, rate=12_800)
    of = replace(of, channels=tuple(replace(one, name=f"{HOSTILE}{one.name}") for one in of.channels))
    found = analysis(event("sag", 0.62, 0.08), event("swell", 1.2, 0.04, start=2.0), of=of)
    path = tmp_path / "page.html"
    path.write_text(page_html([found], find=lambda _: of), encoding="utf-8")
    tab = browser.tab(path)
    tab.until("document.querySelectorAll('.waves[data-state=ready]').length === 2")
    assert tab.evaluate("document.images.length") == 0
    first = "document.querySelector('#figure-1 .waves')"
    assert tab.evaluate(f"{first}.querySelector('.waves-channel').textContent") == f"{HOSTILE}UA"[:120]
    tab.until(f"{first}.querySelector('[data-read=delta]').textContent === '80.0 ms'")
    assert tab.evaluate(f"{first}.querySelector('[data-read=cycles]').textContent") == "4.0 cycles"
    tab.until(f"{first}.querySelector('[data-read=value][data-cursor=A]')?.dataset.value")
    value = f"+{first}.querySelector('[data-read=value][data-cursor=A]').dataset.value"
    expected = of.channels[0].samples[round(0.4 * 12_800)]
    assert tab.evaluate(value) == pytest.approx(expected, abs=0.01 * 11_547)
    step = tab.evaluate(f"+{first}.dataset.step")
    x, y = tab.place("#figure-1 svg[data-panel=voltage]")
    tab.wheel(x, y, 200)  # the page scrolls as long as the viewer was not clicked into
    assert tab.evaluate(f"+{first}.dataset.step") == step
    tab.click("#figure-1 svg[data-panel=urms]")
    tab.press("0")
    tab.until(f"{first}.dataset.step > {2 * step}")
    tab.press("n")
    tab.until(f"{first}.dataset.step <= {step}")
    assert tab.problems() == []
    tab.close()


def test_without_script_the_page_still_reads(browser, page):
    tab = browser.tab(page, scripts=False)
    text = tab.evaluate("document.body.innerText")
    assert "need JavaScript" in text
    assert "interruption" in text
    tab.close()
