"""Take the screenshots of the workbench and the report in a real browser.

    python docs/make_screenshots.py [FOLDER]
    python docs/make_screenshots.py --report [FOLDER]

The first writes ``recordings.png``, ``statistics.png``, ``recording.png``, ``studies.png`` and ``study.png``, each also
as ``-phone`` and ``-dark``, to FOLDER (default ``docs/_static/workbench``), from generated recordings and a small
study. The second writes ``report.png`` and ``report-dark.png``, the start of ``docs/results/replication-paper.html``,
to FOLDER (default ``docs/_static``). All contents are generated from seeds, so the pictures are reproducible.
``make_pictures.py`` draws the others and crops some of these.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.make_pictures import shrink  # noqa: E402
from tests.app.requests import running_app, wait_analysed  # noqa: E402
from tests.browser import Browser, Tab  # noqa: E402

LOOKS = {"": (1280, "light"), "-phone": (390, "light"), "-dark": (1280, "dark")}
"""Width [pixels] and colour scheme of each variant."""

HEIGHTS = {"recordings": 1160, "statistics": 1240, "recording": 1480, "studies": 420, "study": 1240}
"""Heights of the pictures [pixels]."""

REPORT_WIDTH = 1100
"""Width of the report pictures [pixels]."""

READY = {
    "recordings": "document.querySelectorAll('#section tr.link').length > 3",
    "statistics": "document.querySelectorAll('.statistics .point').length > 0",
    "studies": "document.querySelectorAll('#section tr.link').length > 0",
    "recording": "document.querySelector('.waves')?.dataset.state === 'ready'",
    "study": "document.querySelector('.study iframe:not(.coming)') !== null",
}
"""JavaScript condition to wait for before each screenshot."""

CHOOSE = """
(() => {
  const rows = [...document.querySelectorAll("#section tr.link")];
  (rows.find((row) => row.innerText.includes("sag")) ?? rows[0]).classList.add("chosen");
})()
"""
"""Mark the row to click."""

QUIET = """
(async () => {
  let before = "";
  for (let calm = 0; calm < 8;) {
    await new Promise((done) => setTimeout(done, 250));
    const now = document.getElementById("section").innerHTML;
    calm = now === before ? calm + 1 : 0;
    before = now;
  }
  return true;
})()
"""
"""Wait until the page stops changing."""


def main() -> None:
    """Take the screenshots of the workbench or of the report."""
    names = [word for word in sys.argv[1:] if word != "--report"]
    static, report = ROOT / "docs" / "_static", "--report" in sys.argv
    out = Path(names[0]) if names else static if report else static / "workbench"
    out.mkdir(parents=True, exist_ok=True)
    (picture_report if report else picture_workbench)(out)


def picture_report(out: Path) -> None:
    """Picture the start of a published report, down to the end of its first table."""
    page = ROOT / "docs" / "results" / "replication-paper.html"
    browser = Browser()
    try:
        for look, scheme in (("", "light"), ("-dark", "dark")):
            tab = browser.tab(page.as_uri(), width=REPORT_WIDTH, scheme=scheme)
            bottom = tab.evaluate("document.querySelector('table').getBoundingClientRect().bottom + scrollY")
            tab.resize(REPORT_WIDTH, round(bottom) + 4)
            tab.picture(out / f"report{look}.png")
            shrink(out / f"report{look}.png", 256)
            tab.close()
    finally:
        browser.close()


def picture_workbench(out: Path) -> None:
    """Picture all sections of the workbench."""
    with TemporaryDirectory() as name:
        here = Path(name)
        served = here / "measurements"
        served.mkdir()
        pqswarm(served, "sample", "samples")
        pqswarm(served, "study", "smoke")
        with running_app(served, state=here / "state") as app:
            wait_analysed(app)
            browser = Browser()
            try:
                links = find_links(browser, app.address)
                for page, link in links.items():
                    for look, (width, scheme) in LOOKS.items():
                        tab = browser.tab(f"{app.address}{link}", width=width, scheme=scheme)
                        tab.resize(width, HEIGHTS[page])
                        settle(tab, page)
                        tab.picture(out / f"{page}{look}.png")
                        tab.close()
            finally:
                browser.close()


def pqswarm(folder: Path, *words: str) -> None:
    """Run a command in a folder."""
    command = [sys.executable, "-m", "pqswarm", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 (fixed words)


def find_links(browser: Browser, address: str) -> dict[str, str]:
    """Return the deep link of each page; click a row to find a recording and a study."""
    links = {}
    for section, inside in (("recordings", "recording"), ("studies", "study")):
        tab = browser.tab(f"{address}#/{section}")
        settle(tab, section)
        links[section] = f"#/{section}"
        tab.evaluate(CHOOSE)
        tab.click("#section tr.chosen")
        tab.until(f"location.hash !== '#/{section}'", timeout=30)
        settle(tab, inside)
        links[inside] = tab.evaluate("location.hash")
        tab.close()
    return {**links, "statistics": "#/recordings/statistics"}


def settle(tab: Tab, page: str) -> None:
    """Wait until a page is complete."""
    tab.until(READY[page], timeout=300, pause=0.5)
    tab.evaluate(QUIET)


if __name__ == "__main__":
    main()
