"""The events section in a real browser: the parameters of an event are changed."""

import pytest
from tests.browser import PHONE, needs_browser

pytestmark = needs_browser

READY = "document.querySelector('.bench')?.dataset.state === 'ready'"
SAG = "/#/events?class=sag&preset=paper&seed=3&depth=0.5&start=0.2&duration=0.2"
SAID = "[...document.querySelectorAll('[data-said]')].map(one => one.dataset.level)"
DEPTH = "Number(document.querySelector('#field-depth').value)"


@pytest.fixture(scope="module")
def tab(app, browser):
    opened = browser.tab(app.address + SAG.removeprefix("/"))
    opened.until(READY)
    yield opened
    opened.close()


def test_the_depth_moved_from_one_end_to_the_other(tab):
    tab.evaluate("document.querySelector('#field-depth-slider').focus()")
    tab.press("Home")
    tab.until(f"{DEPTH} === 0 && {READY}")
    found = []
    for depth, key, times in ((0.05, "ArrowRight", 5), (0.45, "PageUp", 4), (0.95, "PageUp", 5)):
        for _ in range(times):
            tab.press(key)
        tab.until(f"Math.abs({DEPTH} - {depth}) < 1e-9 && {READY}")
        found.append(tab.evaluate(SAID))
    assert found == [["none", "none"], ["sag", "sag"], ["interruption", "interruption"]]
    assert "omentary interruption on phase A, 0.05 pu residual" in tab.text(".opinions")
    assert tab.evaluate("location.hash").endswith("depth=0.95&start=0.2&duration=0.2")
    assert tab.evaluate("document.querySelector('.code').textContent").endswith(
        'generate("sag", seed=3, depth=0.95, start=0.2, duration=0.2)'
    )
    assert tab.evaluate("document.querySelector('svg[data-panel=voltage] path[data-channel=U]') !== null")


def test_the_slider_is_dragged(tab):
    box = tab.evaluate(
        "(() => { const e = document.querySelector('#field-depth-slider'); e.scrollIntoView({block: 'center'}); "
        "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
    )
    x, y, width, height = box
    tab.drag((x + 0.95 * width, y + height / 2), (x + 0.4 * width, y + height / 2))
    tab.until(f"Math.abs({DEPTH} - 0.4) < 0.05 && {READY}")
    assert tab.evaluate(SAID) == ["sag", "sag"]


def test_an_invalid_value_is_reported_next_to_its_field(tab):
    before = tab.text(".opinions")
    tab.evaluate("(() => { const e = document.querySelector('#field-depth'); e.focus(); e.select(); })()")
    tab.type("7")
    sentence = "document.querySelector('[data-field=depth] .error').textContent"
    assert "must be a number from 0 to 1" in tab.until(sentence)
    assert tab.text(".opinions") == before
    tab.evaluate("document.querySelector('#field-depth').select()")
    tab.type("0.4")
    tab.until(f"{READY} && !{sentence}")
    assert tab.evaluate(SAID) == ["sag", "sag"]


def test_the_link_restores_everything(tab):
    tab.evaluate("document.querySelector('#bench-noisy').click()")
    tab.until(f"location.hash.includes('noise=40') && {READY}")
    address, said = tab.evaluate("location.hash"), tab.text(".opinions")
    tab.reload()
    tab.until(READY)
    assert tab.evaluate("location.hash") == address
    assert tab.text(".opinions") == said
    assert tab.evaluate(DEPTH) == 0.4
    assert tab.evaluate("document.querySelector('#bench-noisy').checked")
    tab.click("[data-act=another]")
    tab.until(f"location.hash.includes('seed=4') && {READY}")
    tab.click("[data-act=reset]")
    tab.until(f"!location.hash.includes('depth') && !location.hash.includes('noise') && {READY}")


def test_a_class_is_picked_and_a_parameter_swept(tab):
    tab.click(".strip [data-class=interruption]")
    tab.until(f"location.hash.includes('class=interruption') && {READY}")
    assert tab.evaluate(SAID) == ["interruption", "interruption"]
    tab.evaluate("document.querySelector('#sweep-steps').value = 5")
    tab.click("[data-act=sweep]")
    tab.until("document.querySelector('.bench').innerText.includes('5 steps; rules and model differ in')")
    runs = "[...document.querySelectorAll('.run[data-who=rules]')].map(one => one.dataset.class)"
    assert tab.evaluate(runs) == ["pure_sinusoid", "sag", "interruption"]
    tab.click(".changes button")
    tab.until(f"location.hash.includes('depth=0.25') && {READY}")
    tab.evaluate("document.querySelector('#sweep-steps').value = 101")
    tab.click("[data-act=sweep]")
    tab.until("document.querySelectorAll('.sweep .dot').length > 1")
    tab.click("[data-act=sweep]")
    tab.until("document.querySelector('[data-act=sweep]').textContent === 'Sweep'")
    assert tab.evaluate("document.querySelectorAll('.sweep .dot').length") < 101


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (1280, "dark")])
def test_phone_and_dark(app, tab, browser, width, scheme):
    tab = browser.tab(f"{app.address}#/events?class=sag_with_transient&preset=field&seed=5", width=width, scheme=scheme)
    tab.until(READY)
    measured = tab.measure()
    assert measured["problems"] == []
    assert tab.problems() == []
    assert (measured["background"] == "rgb(20, 24, 30)") == (scheme == "dark")
    assert tab.evaluate("document.querySelectorAll('.strip button').length") >= 16
    unnamed = (
        "[...document.querySelectorAll('.bench button, .bench input, .bench select')].filter(one => "
        "!(one.ariaLabel || one.getAttribute('aria-label') || one.labels?.length || one.textContent.trim())).length"
    )
    assert tab.evaluate(unnamed) == 0
    tab.close()


def test_a_link_with_an_invalid_value(app, tab, browser):
    tab = browser.tab(f"{app.address}#/events?class=sag&depth=7&note=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    tab.until("document.querySelector('.bench')?.dataset.state === 'failed'")
    assert tab.evaluate("document.querySelectorAll('.bench img').length") == 0
    assert "note" in tab.text(".bench > .error")
    tab.evaluate("location.hash = '#/events?class=sag&depth=7'")
    tab.until("document.querySelector('[data-field=depth] .error').textContent.startsWith('depth of sag must be')")
    assert tab.evaluate(DEPTH) == 7
    tab.click("[data-act=reset]")
    tab.until(READY)
    tab.close()
