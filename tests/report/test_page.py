"""The report in a real browser: no errors, words near the pointer, hiding, sorting, downloads, a phone, dark, print."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.browser import DESKTOP, PHONE, needs_browser

from pqswarm.report import Content, Drawing, Table, write_report
from pqswarm.report.document import Document, number_contents
from pqswarm.report.html import html_report
from pqswarm.report.style import mark

pytestmark = needs_browser
SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<img src=x onerror='window.hacked=1'>\"');window.hacked=1;//"


@pytest.fixture(scope="module")
def used(browser, report):
    tab = browser.tab(report)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    yield tab
    tab.close()


def download(tab, name):
    """Click the button of a figure or table, and return the bytes that arrive."""
    stem, suffix = name.rsplit(".", 1)
    kind = "table" if suffix == "csv" else "drawing"
    return tab.download(f"document.querySelector('figure.{kind}[data-name=\"{stem}\"] .download').click()")


def test_words_appear_near_the_pointer(used):
    used.evaluate("document.querySelector('#figure-k-nn-algorithms-size').scrollIntoView({behavior: 'instant'})")
    used.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )  # scrolling hides the words
    tip, x, y = used.evaluate("""(() => {
      for (const one of document.querySelectorAll('#figure-k-nn-algorithms-size circle[data-tip]')) {
        const box = one.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
        if (document.elementFromPoint(x, y) === one) return [one.dataset.tip, x, y];
      }
    })()""")
    assert "error" in tip
    assert used.evaluate("document.querySelector('.tip:not([hidden])')") is None
    used.point(x, y)
    assert used.until("document.querySelector('.tip:not([hidden])')?.textContent") == tip
    assert used.evaluate("""(() => { const box = document.querySelector('.tip').getBoundingClientRect();
      return box.width > 20 && box.left >= 0 && box.right <= innerWidth && box.top >= 0 })()""")
    used.point(1, 1)
    used.until("document.querySelector('.tip').hidden")
    assert used.evaluate("document.querySelectorAll('svg > title').length") == 0  # or browsers show them everywhere


SHOWN = """[...document.querySelectorAll('.mark[data-series="GA"]:not(.label)')]
  .filter(mark => mark.closest('.wide')).map(mark => getComputedStyle(mark).display !== 'none')"""


def test_a_series_hides_in_all_figures_by_the_keyboard(used):
    before = used.evaluate(SHOWN)
    assert len(before) > 6
    assert all(before)
    pressed = "[...document.querySelectorAll('.series')].filter(b => b.textContent === 'GA')"
    assert used.evaluate(f"new Set({pressed}.map(b => b.closest('figure').id)).size") > 2
    used.evaluate(f"{pressed}[0].focus()")
    used.press("Enter")
    assert not any(used.evaluate(SHOWN))
    assert used.evaluate(f"{pressed}.every(b => b.getAttribute('aria-pressed') === 'false')")
    assert used.evaluate("document.querySelectorAll('.mark.off').length") < used.evaluate(
        "document.querySelectorAll('.mark').length"
    )
    used.emulate("print")
    assert all(used.evaluate(SHOWN))
    used.emulate()
    used.evaluate(f"{pressed}[1].focus()")
    used.press("Enter")
    assert all(used.evaluate(SHOWN))


COLUMN = """(() => {
  const table = document.querySelector('#table-k-nn-performance table');
  const head = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'GA');
  CLICK
  return [table.tHead.rows[0].cells[head].getAttribute('aria-sort'), [...table.tBodies[0].rows].map(row =>
    [row.cells[0].textContent, row.className, row.cells[head].textContent])];
})()"""


def test_tables_sort_by_value(used):
    order, first = used.evaluate(COLUMN.replace("CLICK", ""))
    assert order is None
    click = COLUMN.replace("CLICK", "table.tHead.rows[0].cells[head].querySelector('button').click();")
    for direction, sign in (("ascending", 1), ("descending", -1)):
        order, rows = used.evaluate(click)
        assert order == direction
        values = [sign * float(value) for _, kind, value in rows if kind != "paper"]
        assert values == sorted(values)
        assert len(set(values)) > 3
        pairs = zip(rows[::2], rows[1::2], strict=True)  # what the paper printed stays with its row
        assert all((a[0], a[1], b[1]) == (b[0], "", "paper") for a, b in pairs)
    assert used.evaluate(click) == [None, first]


def test_downloads_are_what_is_written_beside(used, smoke_study, tmp_path):
    files = write_report(smoke_study, "csv", tmp_path / "csv")
    for name in ("claims", "k-nn-performance", "nb-noise"):
        assert download(used, f"{name}.csv") == (files / f"{name}.csv").read_bytes()
    text = download(used, "overview.svg").decode()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == "Error rate on new data, best subset of each algorithm"
    words = [item.text for item in root.iter(f"{SVG}text")]
    assert {"k-NN", "NB", "error rate [%]"} <= set(words)
    assert any(item.text.startswith("2D-UPSO, on new data") for item in root.iter(f"{SVG}title"))
    assert float(root.get("width").removesuffix("pt")) > 300
    assert "data-tip" not in text


def test_a_phone_shows_the_labels(browser, report):
    page = browser.tab(report, width=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    found = page.evaluate("""[...document.querySelectorAll('.two svg .label, #figure-overview svg text')]
      .filter(text => text.getClientRects().length).map(text => text.getBoundingClientRect())
      .map(box => [box.left, box.right])""")
    assert len(found) > 40
    assert all(left >= 0 and right <= PHONE for left, right in found)
    lines = page.evaluate("[...document.querySelectorAll('p code')].map(command => command.getClientRects().length)")
    assert set(lines) == {1}  # no command breaks at the hyphens of an option
    assert page.evaluate("getComputedStyle(document.querySelector('#figure-overview .wide')).display") == "none"
    assert page.evaluate("(e => e.scrollWidth > e.clientWidth)(document.querySelector('#table-k-nn-noise .scroll'))")
    page.close()


def test_dark_and_print(browser, report):
    page = browser.tab(report, scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(228, 232, 238)"
    assert page.evaluate("getComputedStyle(document.querySelector('#figure-overview svg text')).fill") == ink
    assert (
        page.evaluate("""[...document.querySelectorAll('svg path, svg rect')].filter(shape =>
      getComputedStyle(shape).fill === 'rgb(255, 255, 255)' && shape.getBoundingClientRect().width > 200).length""")
        == 0
    )
    fonts = "[...document.querySelectorAll('svg text, p')].map(e => getComputedStyle(e).fontFamily)"
    assert page.evaluate(f"new Set({fonts}).size") == 1
    page.emulate("print")
    hidden = "[...document.querySelectorAll('.tools, nav, .tip')].every(e => getComputedStyle(e).display === 'none')"
    assert page.evaluate(hidden)
    assert page.evaluate("document.querySelectorAll('.tools').length") > 20
    page.close()


def test_hostile_names_do_nothing_and_no_other_script_runs(browser, tmp_path):
    def draw():
        figure = Figure(figsize=(3, 2))
        axis = figure.subplots()
        for i in range(2):
            mark(axis.plot([0, 1], [i, i + 1], marker="o")[0], f"{EVIL}{i}", [EVIL, EVIL])
            mark(axis.text(0.5, 0.5 + i, EVIL, parse_math=False), f"{EVIL}{i}")
        return figure

    table = Table("t", EVIL, [{EVIL: "=1+1", "n": -1.5}, {EVIL: EVIL, "n": np.nan}], note=EVIL)
    overview = Content(answer=[EVIL], drawings=[Drawing("d", EVIL, EVIL, draw)], tables=[table])
    document = Document(EVIL, overview, EVIL, EVIL, (), ())
    text = html_report(number_contents(document)).replace("</body>", "<script>window.hacked = 1</script></body>")
    path = tmp_path / "evil.html"
    path.write_text(text, encoding="utf-8")
    page = browser.tab(path)
    page.evaluate("document.querySelectorAll('button').forEach(button => button.click())")
    page.evaluate("document.querySelectorAll('.label').forEach(label => label.dispatchEvent(new Event('click')))")
    assert page.evaluate("document.querySelectorAll('.series').length") == 2
    assert page.evaluate("document.querySelector('.mark[data-series]').dataset.series") == f"{EVIL}0"
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert "'=1+1,-1.5" in page.evaluate("document.querySelector('figure.table').dataset.csv")
    page.close()


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
