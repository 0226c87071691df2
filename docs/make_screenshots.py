"""Take the screenshots of the workbench and the report in a real browser.

    python docs/make_screenshots.py [--work FOLDER] [--out FOLDER]
    python docs/make_screenshots.py --report [--out FOLDER]

The first writes ``recordings.png``, ``statistics.png``, ``recording.png``, ``recording-dark.png``,
``recordings-phone.png`` and ``study.png`` to ``docs/_static/workbench``. It generates the recordings of 24 stations
over two years and the study ``quick``; FOLDER keeps both for another run. The second writes ``report.png`` and
``report-dark.png``, the start of ``docs/results/replication-paper.html``, to ``docs/_static``. All contents are
generated from seeds, so the pictures are reproducible. ``make_pictures.py`` draws the others and crops some of these.
"""

import argparse
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.make_pictures import shrink  # noqa: E402
from tests.app.requests import running_app  # noqa: E402
from tests.browser import Browser, Tab  # noqa: E402

from pqswarm.recordings import write_comtrade  # noqa: E402
from pqswarm.recordings.samples import Disturbance, SampleRecording  # noqa: E402

STATIONS = (
    "Alder Bridge",
    "Ashford",
    "Birch Hill",
    "Brook Lane",
    "Castle Road",
    "Cedar Park",
    "Dale End",
    "East Quay",
    "Elm Grove",
    "Fern Valley",
    "Ford Street",
    "Glen View",
    "Harbor",
    "Hazel Wood",
    "Iron Works",
    "Kiln Farm",
    "Lake Side",
    "Mill Pond",
    "North Gate",
    "Oak Ridge",
    "Paper Mill",
    "Quarry",
    "River Bend",
    "South Field",
)
"""Stations along a feeder: a fault at one is seen by its neighbors."""

FIRST_DAY = datetime(2024, 1, 1)
N_DAYS = 731
N_INCIDENTS = 330
STORMS = (1, 1, 1, 2, 3, 5, 6, 5, 2, 2, 1, 1)
"""Relative frequency of faults in each month."""

PICTURES = {
    "recordings": ("recordings", 1280, 852, "light"),
    "recordings-phone": ("recordings", 390, 844, "light"),
    "statistics": ("statistics", 1280, 1112, "light"),
    "recording": ("recording", 1280, 1056, "light"),
    "recording-dark": ("recording", 1280, 1056, "dark"),
    "study": ("study", 1280, 1160, "light"),
}
"""Page, width and height [pixels] and color scheme of each picture."""

REPORT_WIDTH = 1100
"""Width of the report pictures [pixels]."""

READY = {
    "recordings": "document.querySelectorAll('#section tr.link').length > 3",
    "statistics": "document.querySelectorAll('.statistics .point').length > 0",
    "recording": "document.querySelector('.waves')?.dataset.state === 'ready'",
    "study": "document.querySelector('.study iframe:not(.coming)') !== null",
}
"""JavaScript condition to wait for before each screenshot."""

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    static = ROOT / "docs" / "_static"
    if given.report:
        picture_report(given.out or static)
        return
    out = given.out or static / "workbench"
    out.mkdir(parents=True, exist_ok=True)
    if given.work is not None:
        picture_workbench(given.work, out)
        return
    with TemporaryDirectory() as name:
        picture_workbench(Path(name), out)


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


def picture_workbench(work: Path, out: Path) -> None:
    """Picture the workbench on the recordings and the study in a folder, which are generated if they are not there."""
    served = work / "measurements"
    if not served.exists():
        write_network(served)
    if not (served / "study-quick").exists():
        pqswarm(served, "study", "quick")
    pqswarm(work, "identify", "measurements", "--archive", "archive", "--jobs", "-1")
    with running_app(served, "--archive", str(work / "archive"), state=work / "state") as app:
        browser = Browser()
        try:
            links = find_links(browser, app.address)
            for name, (page, width, height, scheme) in PICTURES.items():
                tab = browser.tab(f"{app.address}{links[page]}", width=width, scheme=scheme)
                tab.resize(width, height)
                settle(tab, page)
                tab.picture(out / f"{name}.png")
                tab.close()
        finally:
            browser.close()


def write_network(folder: Path) -> None:
    """Write two years of recordings: faults that several stations see, switching, load changes and distortion."""
    random = np.random.default_rng(7)
    days = [FIRST_DAY + timedelta(days=day) for day in range(N_DAYS)]
    stormy = np.array([STORMS[day.month - 1] for day in days], dtype=float)
    working = np.array([1.0 if day.weekday() < 5 else 0.15 for day in days])
    incidents = {
        "fault": (0.5, stormy, (13, 20)),
        "reclosing": (0.08, stormy, (13, 20)),
        "capacitor": (0.14, working, (6, 8)),
        "load": (0.14, working, (7, 17)),
        "swell": (0.07, stormy, (0, 23)),
        "harmonics": (0.07, working, (18, 22)),
    }
    names = list(incidents)
    folder.mkdir(parents=True)
    for number in range(N_INCIDENTS):
        name = names[random.choice(len(names), p=[incidents[one][0] for one in names])]
        _, frequency, hours = incidents[name]
        moment = days[random.choice(N_DAYS, p=frequency / frequency.sum())]
        moment += timedelta(hours=int(random.integers(*hours, endpoint=True)), seconds=float(random.uniform(0, 3600)))
        place = int(random.integers(len(STATIONS)))
        for distance, disturbances in enumerate(seen_at_stations(name, random)):
            station = STATIONS[(place + distance) % len(STATIONS)]
            path = folder / f"W{number:04d}-{distance}.cfg"
            start = moment + timedelta(milliseconds=float(random.uniform(-4, 4)))
            recording = SampleRecording(
                disturbances,
                seconds=1.2,
                sampling_rate=6400.0,
                seed=number,
                currents=distance == 0,
                start=start,
                source=path.name,
                station=station,
            )
            write_comtrade(recording, path, "BINARY")


def seen_at_stations(name: str, random: np.random.Generator) -> list[list[Disturbance]]:
    """Return the disturbances of an incident at its station and at those farther away that see it."""
    if name == "capacitor":
        decay = random.uniform(0.002, 0.006)
        return [[Disturbance("transient", "ABC", 0.3057, decay, random.uniform(0.4, 0.8), random.uniform(450, 900))]]
    if name == "load":
        return [[Disturbance("rapid voltage change", "ABC", 0.3, 0.5, random.uniform(0.93, 0.97))]]
    if name == "swell":
        return [[Disturbance("swell", "BC", 0.3, random.uniform(0.05, 0.6), random.uniform(1.12, 1.35))]]
    if name == "harmonics":
        return [[Disturbance("harmonics", "ABC", -1.0, 3.0, random.uniform(0.06, 0.1))]]
    phases = ("A", "B", "C", "AB", "BC", "CA", "ABC")[random.choice(7, p=[0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])]
    duration = float(np.clip(random.lognormal(np.log(0.11), 0.6), 0.05, 0.5))
    residual = random.uniform(0.1, 0.8)
    after = [Disturbance("interruption", "ABC", 0.3 + duration, 0.4, 0.02)] if name == "reclosing" else []
    levels = [1 - (1 - residual) * nearness for nearness in (1.0, 0.6, 0.35)]
    seen = [[Disturbance("sag", phases, 0.3, duration, level)] for level in levels if level < 0.88]
    return [[*seen[0], *after], *seen[1:]]


def pqswarm(folder: Path, *words: str) -> None:
    """Run a command in a folder."""
    command = [sys.executable, "-m", "pqswarm", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 (fixed words)


def find_links(browser: Browser, address: str) -> dict[str, str]:
    """Return the link of each page; click a row to find a recording and the study."""
    links = {"recordings": "#/recordings", "statistics": "#/recordings/statistics"}
    for page, row in (("recording", "sag[^]*fault [ABC]G on"), ("study", ".")):
        section = "studies" if page == "study" else "recordings"
        tab = browser.tab(f"{address}#/{section}")
        tab.until("document.querySelectorAll('#section tr.link').length > 0", timeout=300, pause=0.5)
        tab.evaluate(QUIET)
        tab.evaluate(
            f"[...document.querySelectorAll('#section tr.link')].find((row) => /{row}/.test(row.innerText))"
            ".classList.add('chosen')"
        )
        tab.click("#section tr.chosen")
        tab.until(f"location.hash !== '#/{section}'", timeout=30)
        settle(tab, page)
        links[page] = tab.evaluate("location.hash")
        tab.close()
    return links


def settle(tab: Tab, page: str) -> None:
    """Wait until a page is complete."""
    tab.until(READY[page], timeout=300, pause=0.5)
    tab.evaluate(QUIET)


if __name__ == "__main__":
    main()
