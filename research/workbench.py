"""The workbench with a long recording: time to the first picture, zoom time, and memory of the server.

python research/workbench.py
python research/workbench.py --minutes 10 --browser
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.app.recordings import write_pair
from tests.app.requests import ask, get, open_page, running_app

LINE = "document.querySelector('svg[data-panel=voltage] path[data-channel]')?.getAttribute('d')"


class Results:
    """Figures and their limits."""

    def __init__(self) -> None:
        self.is_fine = True

    def add(self, what: str, value: float, limit: float | None = None, unit: str = "s") -> None:
        """Print a figure."""
        fine = limit is None or value < limit
        self.is_fine &= fine
        bound = "" if limit is None else f"  (below {limit:g} {unit}: {'yes' if fine else 'NO'})"
        print(f"{what:<44} {value:8.{0 if unit == 'MB' else 3}f} {unit}{bound}", flush=True)


def peak_memory(process: int) -> float:
    """Return the peak resident memory in MB; 0 if unknown."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))


def ask_everything(app: "subprocess.Popen[str]", results: Results) -> None:
    """Measure through HTTP."""
    start = time.perf_counter()
    ask(app, "/")
    with open_page(app) as page:
        listed = get(app, "/api/recordings")["recordings"]
        results.add("page and list of recordings", time.perf_counter() - start, 2.0)
        names = {one["name"]: one["id"] for one in listed}
        start = time.perf_counter()
        header = get(app, f"/api/recordings/{names['long.cfg']}")
        view = get(app, f"/api/recordings/{names['long.cfg']}/view?points=1200")
        results.add(f"first picture ({view['fraction']:.0%} of it)", time.perf_counter() - start, 3.0)
        while view["fraction"] < 1:
            view = get(app, f"/api/recordings/{names['long.cfg']}/view?points=1200")
        results.add(f"whole picture of {header['seconds'] / 60:g} min", time.perf_counter() - start, 3.0)
        slowest = 0.0
        for k in range(20):
            at = (k + 0.5) / 20 * header["seconds"]
            zoomed = time.perf_counter()
            get(app, f"/api/recordings/{names['long.cfg']}/view?from={at}&to={at + 0.02}&points=1200")
            slowest = max(slowest, time.perf_counter() - zoomed)
        results.add("zoom to one cycle, slowest of 20", slowest, 0.5)
        moment = time.perf_counter()
        get(app, f"/api/recordings/{names['long.cfg']}/cursor?t=100&t2=200")
        results.add("phasors and spectra at two cursors", time.perf_counter() - moment)
        page.wait(lambda message: message["id"] == names["long.cfg"] and message["state"] == "analyzed", 300)
        results.add("analyzed, with Urms(1/2)", time.perf_counter() - start)
        short = time.perf_counter()
        get(app, f"/api/recordings/{names['short.cfg']}")
        view = get(app, f"/api/recordings/{names['short.cfg']}/view?points=1200")
        results.add(f"recording of 10 s ({view['fraction']:.0%} of it)", time.perf_counter() - short, 1.0)


def look_at_everything(app: "subprocess.Popen[str]", results: Results, names: dict[str, str]) -> None:
    """Measure in a browser."""
    from tests.browser import Browser

    browser = Browser()
    try:
        start = time.perf_counter()
        tab = browser.tab(app.address)
        tab.until("document.querySelectorAll('#sections a').length > 0")
        results.add("browser: page loaded", time.perf_counter() - start, 2.0)
        for name, limit in (("long.cfg", 3.0), ("short.cfg", 1.0)):
            start = time.perf_counter()
            tab.evaluate(f"void (location.hash = '#/recordings/{names[name]}')")
            tab.until(f"{LINE}?.length > 100")
            results.add(f"browser: {name} shown", time.perf_counter() - start, limit)
            start = time.perf_counter()
            tab.evaluate(f"window.before = {LINE}; location.hash = '#/recordings/{names[name]}?t=5&span=0.02'; 0")
            tab.until(f"{LINE} !== window.before")
            results.add("browser: zoom to one cycle", time.perf_counter() - start, 0.5)
            tab.evaluate("void (location.hash = '#/recordings')")
            tab.until("!document.querySelector('svg[data-panel=voltage]')")
    finally:
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--browser", action="store_true", help="also measure in Chromium")
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as home:
        samples = Path(home, "samples")
        command = [sys.executable, "-m", "pqswarm", "sample", str(samples), "--minutes", str(options.minutes)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for path in samples.iterdir():
            if path.stem != "long":
                path.unlink()
        write_pair(samples / "short.cfg", seconds=10)
        start = time.perf_counter()
        with running_app(samples, state=Path(home, "state")) as app:
            results.add("server listening", time.perf_counter() - start)
            ask_everything(app, results)
            results.add("peak memory of the server", peak_memory(app.pid), 500.0, "MB")
        start = time.perf_counter()
        with running_app(samples, state=Path(home, "state")) as app:
            again = get(app, "/api/recordings")["recordings"]
            results.add("all rows after a restart, including the server", time.perf_counter() - start)
            results.is_fine &= all(one["state"] == "analyzed" for one in again)
            if options.browser:
                look_at_everything(app, results, {one["name"]: one["id"] for one in again})
                results.add("peak memory of the server", peak_memory(app.pid), 500.0, "MB")
    sys.exit(not results.is_fine)


if __name__ == "__main__":
    main()
