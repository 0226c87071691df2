"""The report in a real browser: no errors, no missing pictures, no sideways scrolling, no tiny text."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "PQSWARM_BROWSER"
BROWSER = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
WHY = f"no browser is installed: none of {', '.join(NAMES)}, and {VARIABLE} is not set"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason=WHY)]

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    "--remote-debugging-pipe",
)
DESKTOP, PHONE = 1280, 390
LEAST_TEXT = 9  # pixels

# A browser that is told --remote-debugging-pipe listens at file 3 and answers at file 4.
LAUNCHER = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 50) for n in sys.argv[1:3])
os.dup2(reads, 3), os.dup2(writes, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""

MEASURE = """
(async () => {
  const root = document.documentElement, problems = [];
  for (const image of document.images) {
    try { await image.decode(); } catch (error) { problems.push(`image is missing: ${image.src.slice(0, 80)}`); }
    if (!image.naturalWidth) problems.push(`image is empty: ${image.src.slice(0, 80)}`);
  }
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.body.querySelectorAll('*')].filter(
      e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll, .frame, pre'));
    const names = wide.slice(0, 3).map(e => `${e.tagName}.${e.className}`).join(', ');
    problems.push(`page scrolls sideways: ${root.scrollWidth} > ${root.clientWidth} (${names})`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest('script, style, title') || !holder.getClientRects().length) continue;
    const frame = holder.closest('.frame');
    if (frame && frame.scrollWidth > frame.clientWidth) continue;
    const scale = holder.getScreenCTM ? Math.hypot(holder.getScreenCTM().a, holder.getScreenCTM().b) : 1;
    const size = parseFloat(getComputedStyle(holder).fontSize) * scale;
    if (size < LEAST) small.add(`text of ${size.toFixed(1)} px: ${node.data.trim().slice(0, 40)}`);
  }
  problems.push(...[...small].slice(0, 3));
  return {
    problems, width: root.clientWidth, height: root.scrollHeight,
    background: getComputedStyle(document.body).backgroundColor,
    figures: document.querySelectorAll('figure').length,
  };
})()
"""


class Browser:
    """A headless browser, spoken to in the DevTools protocol."""

    def __init__(self, profile):
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        command = [sys.executable, "-c", LAUNCHER, str(reads), str(writes), BROWSER, *OPTIONS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._rest, self._number, self.events = b"", 0, []

    def close(self):
        with contextlib.suppress(OSError, TimeoutError):
            self.call("Browser.close", timeout=5)
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, method, *, session=None, timeout=60, **parameters):
        """Ask for something and wait for the answer; what happens meanwhile is kept in `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(self._out, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        answer = self._until(lambda given: given.get("id") == self._number, timeout)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _until(self, wanted, timeout):
        end = time.monotonic() + timeout
        while True:
            while b"\0" in self._rest:
                text, self._rest = self._rest.split(b"\0", 1)
                message = json.loads(text)
                self.events.append(message)
                if wanted(message):
                    return message
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"{BROWSER} did not answer in {timeout} s")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise OSError(f"{BROWSER} has ended")
            self._rest += data

    def wait_for(self, method, timeout=10, **wanted):
        """Wait for an event, if it has not come since a page was opened or the last one was waited for."""

        def fits(message):
            told = message.get("params", {})
            return message.get("method") == method and all(told.get(key) == value for key, value in wanted.items())

        if not any(fits(message) for message in self.events):
            self._until(fits, timeout)
        self.events[:] = [message for message in self.events if not fits(message)]

    def open(self, path, width=DESKTOP, scheme="light", media=""):
        """Load a page; return its target and its session."""
        self.events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session=session)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session=session, **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", session=session, media=media, features=features)
        self.call("Page.navigate", session=session, url=path.as_uri())
        self._until(lambda message: message.get("method") == "Page.loadEventFired", 60)
        return target, session

    def evaluate(self, session, expression):
        """Return the value of an expression of JavaScript."""
        told = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", session=session, **told)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, path, width=DESKTOP, scheme="light", media="", picture=None, pdf=None):
        """Load a page; return what was measured, with all that went wrong in `problems`; keep a picture or a print."""
        target, session = self.open(path, width, scheme, media)
        found = self.evaluate(session, MEASURE.replace("LEAST", str(LEAST_TEXT)))
        if picture:
            clip = {"x": 0, "y": 0, "width": width, "height": min(found["height"], 16_000), "scale": 1}
            shot = self.call("Page.captureScreenshot", session=session, clip=clip, captureBeyondViewport=True)
            picture.write_bytes(base64.b64decode(shot["data"]))
        if pdf:
            pdf.write_bytes(base64.b64decode(self.call("Page.printToPDF", session=session)["data"]))
        self.call("Target.closeTarget", targetId=target)
        found["problems"] += [problem for event in self.events for problem in _problem(event, path)]
        return found


def _problem(event, path):
    """What an event of the browser complains about."""
    kind, told = event.get("method"), event.get("params", {})
    if kind == "Runtime.exceptionThrown":
        yield f"exception: {told['exceptionDetails']['text']}"
    elif kind == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
        yield f"console: {[argument.get('value') for argument in told['args']]}"
    elif kind == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
        yield f"log: {told['entry']['text']}"
    elif kind == "Network.loadingFailed":
        yield f"loading failed: {told['errorText']}"
    elif kind == "Network.requestWillBeSent":
        address = told["request"]["url"]
        if not address.startswith("data:") and address != path.as_uri():
            yield f"loads {address}"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


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
