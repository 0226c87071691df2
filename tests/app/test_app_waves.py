"""The waveform viewer in a real browser: keys, wheel, cursors, zoom that refines, names that mean harm, all screens."""

import pytest
from tests.app.waves_page import write_page
from tests.browser import DESKTOP, PHONE, needs_browser

pytestmark = needs_browser

HOSTILE = ("<img src=x onerror=hurt()>", "</script><script>hurt()</script>", '"><svg onload=hurt()>', "<!--")
READY = "document.querySelector('.waves').dataset.state === 'ready'"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("waves") / "waves.html")


@pytest.fixture
def tab(browser, path):
    opened = browser.tab(path)
    opened.until(READY)
    yield opened
    opened.close()


def read(tab, name):
    return tab.evaluate(f"document.querySelector('.readout [data-read=\"{name}\"]').textContent")


def span(tab):
    return tab.evaluate("viewer.range[1] - viewer.range[0]")


def settle(tab):
    """Wait until what was asked for is drawn."""
    tab.evaluate("new Promise(done => setTimeout(done, 90))")
    tab.until(READY)
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_it_shows_all(tab):
    shown = "[...document.querySelectorAll('.waves-panel:not([hidden]) > svg')].map(one => one.dataset.panel).join(' ')"
    assert tab.evaluate(shown) == "voltage urms current status"
    assert tab.evaluate("document.querySelectorAll('svg[data-panel=voltage] path[data-channel]').length") == 3
    levels = "[...document.querySelectorAll('.threshold')].map(one => one.dataset.level).join(' ')"
    assert tab.evaluate(levels) == "0.1 0.9 1.1"
    assert tab.evaluate("document.querySelectorAll('.event').length") == 2
    paths = "[...document.querySelectorAll('path[data-channel]')].map(path => path.getAttribute('d'))"
    assert tab.evaluate(f"Math.max(...{paths}.map(d => d.split(' ').length / 2))") <= 2100
    assert tab.problems() == []


def test_a_cursor_is_dragged_by_five_cycles(tab):
    tab.evaluate("viewer.center(2.2, 0.4); viewer.setCursor('A', 2.1); viewer.setCursor('B', 2.1)")
    settle(tab)
    x, y = tab.place(".cursor[data-cursor=B] .flag")
    tab.drag((x, y), (x + 0.1 / 0.4 * tab.evaluate("viewer.width"), y + 60))
    settle(tab)
    assert read(tab, "delta") == "100.0 ms"
    assert read(tab, "cycles") == "5.0 cycles"
    assert read(tab, "frequency") == "10.00 Hz"
    assert tab.evaluate("+document.querySelector('.cursor[data-cursor=B]').dataset.time") == pytest.approx(
        2.2, abs=1e-3
    )
    assert tab.evaluate("state.cursors.B") == pytest.approx(2.2, abs=1e-3)
    found = tab.evaluate("+document.querySelector('[data-read=value][data-channel=UB][data-cursor=A]').dataset.value")
    assert found == pytest.approx(tab.evaluate("data[1][2.1 * rate]"), rel=1e-5)


def test_keys(tab):
    tab.evaluate("viewer.root.focus()")
    tab.press("b")
    tab.evaluate("viewer.setCursor('A', 4); viewer.setCursor('B', 4.001)")
    for _ in range(5):
        tab.press("Shift", "ArrowRight")
    assert tab.evaluate("viewer.cursors.B") == pytest.approx(4.101)
    tab.press("Alt", "ArrowLeft")
    assert tab.evaluate("viewer.cursors.B") == pytest.approx(4.101 - 1 / 6400, abs=0.6 / 6400)
    before = tab.evaluate("viewer.cursors.B")
    tab.press("ArrowLeft")
    assert before - tab.evaluate("viewer.cursors.B") == pytest.approx(10 / tab.evaluate("viewer.width"), rel=0.05)
    tab.press("+")
    assert span(tab) == pytest.approx(5)
    tab.press("-")
    assert span(tab) == pytest.approx(10)
    tab.press("n")
    assert tab.evaluate("chosen") == 7
    assert sum(tab.evaluate("viewer.range")) / 2 == pytest.approx(2.25)
    first = tab.evaluate("viewer.range[0]")
    tab.press("]")
    assert tab.evaluate("viewer.range[0]") == pytest.approx(first + span(tab) / 2)
    tab.press("n")
    assert (tab.evaluate("chosen"), sum(tab.evaluate("viewer.range")) / 2) == (9, pytest.approx(6))
    tab.press("a")
    tab.press("0")
    assert span(tab) == 10
    tab.press("?")
    assert "by a cycle" in tab.text(".waves-keys")
    tab.press("c")
    assert tab.problems() == []


def test_wheel_and_drags(tab):
    x, y = tab.place("svg[data-panel=voltage]")
    at = tab.evaluate(f"viewer.timeAt({x})")
    tab.wheel(x, y, -500)
    tab.until("viewer.range[1] - viewer.range[0] < 7")
    assert tab.evaluate(f"viewer.timeAt({x})") == pytest.approx(at, abs=0.02)
    first = tab.evaluate("viewer.range[0]")
    tab.drag((x, y), (x + 100, y))
    assert tab.evaluate("viewer.range[0]") == pytest.approx(first - 100 * span(tab) / tab.evaluate("viewer.width"))
    wanted = [tab.evaluate(f"viewer.timeAt({x + shift})") for shift in (-40, 80)]
    tab.drag((x - 40, y), (x + 80, y), modifiers=("Shift",))
    assert tab.evaluate("viewer.range") == pytest.approx(wanted)
    tab.click("svg[data-panel=voltage]", count=2)
    assert span(tab) == 10
    settle(tab)
    tab.click(".event[data-event='7'] rect")
    assert tab.evaluate("chosen") == 7


def test_zoom_refines_and_late_answers_are_dropped(tab):
    settle(tab)
    coarse = tab.evaluate("+viewer.root.dataset.step")
    frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    tab.evaluate("wait = Infinity; viewer.center(2.25, 0.5)")
    tab.until("viewer.panels[0].series.getAttribute('transform')?.startsWith('matrix(20 ')")  # before the answer
    tab.evaluate("wait = 0; viewer.load()")
    settle(tab)
    assert tab.evaluate("+viewer.root.dataset.step") < coarse / 10
    tab.evaluate("viewer.center(3, 0.02)")
    settle(tab)
    assert tab.evaluate("viewer.root.dataset.exact") == "true"
    assert tab.evaluate("document.querySelectorAll('.dots').length") >= 3
    gap = tab.evaluate("document.querySelector('path[data-channel=UB]').getAttribute('d').match(/M/g).length")
    assert gap == 2
    tab.evaluate("release = null; wait = Infinity; viewer.center(8, 0.5)")
    tab.until("release !== null")
    before = tab.evaluate("window.aborted ?? 0")
    tab.evaluate("wait = 0; viewer.center(5, 0.5)")
    settle(tab)
    tab.evaluate(f"release(); {frame}")
    assert tab.evaluate("aborted") > before
    assert tab.evaluate("viewer.shown.from <= 4.75 && viewer.shown.to >= 5.25")


def test_channels_hide_and_values_show(tab):
    tab.click(".waves-channel[data-channel=UA]")
    tab.until("!document.querySelector('path[data-channel=UA]')")
    assert tab.evaluate("document.querySelector('.waves-channel[data-channel=UA]').ariaPressed") == "false"
    tab.click(".waves-channel[data-channel=UA]")
    tab.until("document.querySelectorAll('path[data-channel=UA]').length === 2")  # the wave and its Urms(1/2)
    x, y = tab.place("svg[data-panel=voltage]")
    tab.point(x, y)
    tab.until("document.querySelector('.waves-hover').innerText.includes('UB')")
    tab.click(".waves-rest")
    tab.until("document.querySelector('path[data-channel=spare]') !== null")
    said = tab.until("document.querySelector('.waves .spoken').textContent")
    assert said.startswith("Cursor A at ")


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
def test_names_that_mean_harm_on_all_screens(browser, tmp_path, width, scheme):
    harmful = write_page(tmp_path / "harm.html", HOSTILE, HOSTILE[0] + HOSTILE[1])
    tab = browser.tab(harmful, width=width, scheme=scheme)
    tab.until(READY)
    x, y = tab.place("svg[data-panel=voltage]")
    tab.point(x, y)
    assert tab.evaluate("document.images.length + document.querySelectorAll('.waves script').length") == 0
    assert tab.evaluate("document.querySelector('.waves-channel').textContent") == HOSTILE[0]
    assert tab.measure()["problems"] == []
    assert tab.problems() == []
    tab.close()


def test_status_channels_that_never_change_do_not_stop_the_viewer(tab):
    still = "[{ name: '52a', changes: [[0, 0]] }, { name: '52b', changes: [[0, 1]] }]"
    made = f"new pq.Waves(document.body, {{ ...header, status: {still} }}, view, {{}})"
    tab.evaluate(f"window.other = {made}; 0")
    tab.until("other.root.dataset.state === 'ready'")
    assert "show 2 constant" in tab.evaluate("other.root.innerText")
    tab.evaluate("other.destroy()")


def test_half_a_cycle_per_column_makes_no_beat(tab):
    tab.evaluate("viewer.show(3.5, 9.5)")  # about half a cycle of a steady voltage in each column
    settle(tab)
    assert 0.25 < tab.evaluate("+viewer.root.dataset.step * 50") < 1
    path = "document.querySelector('svg[data-panel=voltage] path.band[data-channel=UC]').getAttribute('d')"
    heights = "[...PATH.matchAll(/[ M](-?[\\d.]+) (-?[\\d.]+)/g)].map(pair => +pair[2])".replace("PATH", path)
    high, low = (f"{heights}.slice({part})" for part in ("5, -1).slice(0, 200", "-200, -5"))
    for edge in (high, low):
        assert tab.evaluate(f"(values => Math.max(...values) - Math.min(...values))({edge})") < 4  # of 190 pixels


def test_the_zoom_before(tab):
    tab.evaluate("viewer.root.focus(); viewer.movedAt = -1e9; viewer.center(2.2, 1)")
    tab.evaluate("viewer.movedAt = -1e9; viewer.center(2.2, 0.2)")
    tab.press("Backspace")
    assert span(tab) == pytest.approx(1)
    tab.click("button[aria-label^='Previous zoom']")
    assert span(tab) == pytest.approx(10)
    assert tab.evaluate("viewer.undo.disabled")


def test_groups_of_channels_are_shown_on_demand(tab):
    more = "[1, 2, 3, 4].flatMap(k => header.channels.slice(0, 3).map(one => ({ ...one, name: `F${k} ${one.name}` })))"
    note = "(...args) => (window.args = args, view(...args))"
    tab.evaluate(f"window.other = new pq.Waves(document.body, {{ ...header, channels: {more} }}, {note}, {{}}); 0")
    tab.until("other.root.dataset.state === 'ready'")
    assert tab.evaluate("other.shownGroups()") == [0, 1, 2]
    assert tab.evaluate("args[4]") == list(range(9))  # what is hidden is not requested
    assert "Channels: 9 of 12" in tab.evaluate("other.chooser.textContent")
    tab.evaluate("other.reveal(['F4 UB'])")
    assert tab.evaluate("other.groups[3].title") == "Voltage F4"
    assert tab.evaluate("other.groups[3].panels[0].box.hidden") is False
    tab.evaluate("other.setGroups([1])")
    assert tab.evaluate("other.wantedChannels()") == [3, 4, 5]
    tab.evaluate("other.destroy()")


def test_colors_of_phases_by_convention(tab):
    # There is no path while the waves are drawn.
    stroke = "(path => path && getComputedStyle(path).stroke)(document.querySelector('path[data-channel=UA]'))"
    choose = "(name => { const one = document.querySelector('select.phases'); one.value = name; "
    choose += "one.dispatchEvent(new Event('change')); })"
    usual = tab.until(stroke)
    tab.evaluate(f"{choose}('iec')")
    tab.until(f"{stroke} === 'rgb(123, 74, 18)'")  # brown
    assert tab.evaluate("localStorage.getItem('pqswarm-phases')") == "iec"
    tab.evaluate(f"{choose}('')")
    tab.until(f"{stroke} === '{usual}'")


def test_a_frequency_is_shown_where_it_was_measured(tab):
    track = (
        "{from: 0, step: 0.5, low: Float32Array.from([50, 49.2, NaN, 50, 50, 50, 50, 50, 50, 50, 50, 50]), high: null}"
    )
    tab.evaluate(f"viewer.views = []; viewer.accept({{...viewer.shown, channels: [], urms: null, frequency: {track}}})")
    tab.until("!document.querySelector('[data-kind=frequency]').hidden")
    assert "L" in tab.until(
        "document.querySelector('[data-panel=frequency] .line')?.getAttribute('d').replace(' ', 'L')"
    )
    assert "Hz" in tab.text("[data-kind=frequency] .waves-fold")


def test_paper_is_narrower_than_the_screen(tab):
    width = "Number(document.querySelector('svg[data-panel=voltage]').getAttribute('viewBox')?.split(' ')[2] ?? 0)"
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert 600 < tab.evaluate(width) < 900  # scaled to the page, with all of the interval
    tab.until("viewer.width < 850")  # as soon as the layout is measured
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(width) == 0


def test_angles_stay_within_half_a_turn(tab):
    tab.evaluate("viewer.setCursor('A', 2.0); viewer.setCursor('B', 2.0395)")
    settle(tab)
    assert read(tab, "angle") == "\N{MINUS SIGN}9.0°"
