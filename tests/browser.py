"""A real browser for tests, driven over the DevTools protocol: pages, mouse, keyboard, dropped files."""

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

from tests.waiting import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "PQSWARM_BROWSER"
BROWSER = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
WHY = f"no browser is installed: none of {', '.join(NAMES)}, and {VARIABLE} is not set"
needs_browser = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason=WHY)]

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    "--remote-debugging-pipe",
)
DESKTOP, PHONE = 1280, 390
MIN_TEXT = 9  # pixels

# With --remote-debugging-pipe a browser reads from file descriptor 3 and writes to 4.
LAUNCHER = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 50) for n in sys.argv[1:3])
os.dup2(reads, 3), os.dup2(writes, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""

MEASURE = """
(async () => {
  const painted = new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.race([painted, new Promise(done => setTimeout(done, 1000))]);  // charts have been fitted to their place
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
    if (size < MIN_TEXT) small.add(`text of ${size.toFixed(1)} px: ${node.data.trim().slice(0, 40)}`);
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
    """A headless browser, driven over the DevTools protocol."""

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
            self.call("Browser.close")
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, method, *, session=None, timeout=PATIENCE, **parameters):
        """Call a method and return its result; messages that arrive meanwhile are added to `events`."""
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

    def wait_for(self, method, timeout=PATIENCE, **wanted):
        """Wait for an event, unless it has come since a page was opened or the last wait."""

        def fits(message):
            given = message.get("params", {})
            return message.get("method") == method and all(given.get(key) == value for key, value in wanted.items())

        if not any(fits(message) for message in self.events):
            self._until(fits, timeout)
        self.events[:] = [message for message in self.events if not fits(message)]

    def wait_loaded(self, session):
        """Wait until a page that was asked for is loaded."""
        is_loaded = {"method": "Page.loadEventFired", "sessionId": session}.items()
        self._until(lambda message: all(message.get(key) == value for key, value in is_loaded), PATIENCE)

    def open(self, path, width=DESKTOP, scheme="light", media="", context=None):
        """Load a page, a file or an address; return its target and its session."""
        self.events.clear()
        where = {"browserContextId": context} if context else {}
        target = self.call("Target.createTarget", url="about:blank", **where)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session=session)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session=session, **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", session=session, media=media, features=features)
        self.call("Page.navigate", session=session, url=path if isinstance(path, str) else path.as_uri())
        self.wait_loaded(session)
        return target, session

    def evaluate(self, session, expression):
        """Return the value of a JavaScript expression."""
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", session=session, **parameters)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def context(self):
        """A new browser as far as pages can see, with its own cookies."""
        return self.call("Target.createBrowserContext")["browserContextId"]

    def save_downloads(self, folder):
        """Save downloads in a folder, and report them as ``Browser.downloadProgress``."""
        options = {"behavior": "allow", "downloadPath": str(folder), "eventsEnabled": True}
        self.call("Browser.setDownloadBehavior", **options)

    def tab(self, address, **options):
        """Load a page and keep it open."""
        return Tab(self, *self.open(address, **options))

    def look(self, path, width=DESKTOP, scheme="light", media="", picture=None, pdf=None):
        """Load a page; return its measurements, with every fault in `problems`; save a picture or a PDF."""
        target, session = self.open(path, width, scheme, media)
        found = self.evaluate(session, MEASURE.replace("MIN_TEXT", str(MIN_TEXT)))
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
    """The faults that an event of the browser reports."""
    kind, given = event.get("method"), event.get("params", {})
    if kind == "Runtime.exceptionThrown":
        details = given["exceptionDetails"]
        yield f"exception: {details['text']} {details.get('exception', {}).get('description', '')}"
    elif kind == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
        yield f"console: {[argument.get('value') for argument in given['args']]}"
    elif kind == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
        yield f"log: {given['entry']['text']}"
    elif kind == "Network.loadingFailed" and not given.get("canceled"):  # a page may change its mind
        yield f"loading failed: {given['errorText']}"
    elif kind == "Network.requestWillBeSent":
        address = given["request"]["url"]
        if not address.startswith("data:") and address != path.as_uri():
            yield f"loads {address}"


KEYS = {"Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37} | {
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
MODIFIERS = {"alt": 1, "control": 2, "meta": 4, "shift": 8}


class Tab:
    """An open page, used as a person uses it."""

    def __init__(self, browser, target, session):
        self._browser, self._target, self.session = browser, target, session

    def call(self, method, **parameters):
        return self._browser.call(method, session=self.session, **parameters)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression."""
        return self._browser.evaluate(self.session, expression)

    def until(self, expression, timeout=PATIENCE, pause=0.03):
        """Wait until a JavaScript expression is true, and return its value."""
        end = time.monotonic() + timeout
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            assert time.monotonic() < end, f"still {value!r} after {timeout} s: {expression}\n{self.text()[:600]}"
            time.sleep(pause)
            pause = min(1.2 * pause, 0.3)

    def text(self, selector="body"):
        """The visible text."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def problems(self):
        """Faults that the browser has reported since the page was opened, including requests to other servers."""
        home = self.evaluate("location.origin")
        events = [message for message in self._browser.events if message.get("sessionId") == self.session]
        found = [problem for event in events for problem in _problem(event, _Address(home))]
        return [one for one in found if not one.startswith(f"loads {home}/")]

    def measure(self):
        """Faults of the layout: see `Browser.look`."""
        return self.evaluate(MEASURE.replace("MIN_TEXT", str(MIN_TEXT)))

    def place(self, selector):
        """The centre of an element, scrolled into view."""
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, count=1):
        x, y = self.place(selector)
        self.mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)

    def drag(self, start, end, steps=5, modifiers=()):
        """Press at a point, move to another, release."""
        held = sum(MODIFIERS[name] for name in modifiers)
        self.mouse("mouseMoved", *start, modifiers=held)
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1, modifiers=held)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, button="left", buttons=1, modifiers=held)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=held)

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def press(self, key, *modifiers):
        held = sum(MODIFIERS[name] for name in modifiers)
        event = {"key": key, "modifiers": held, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
        if len(key) == 1 or key == "Enter":
            event["text"] = "\r" if key == "Enter" else key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def drop(self, selector, *paths):
        """Drag files from outside onto an element and drop them."""
        x, y = self.place(selector)
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def go(self, address):
        """Load another address in the same tab."""
        self._browser.events.clear()
        self.call("Page.navigate", url=address)
        self._browser.wait_loaded(self.session)

    def reload(self):
        self._browser.events.clear()
        self.call("Page.reload")
        self._browser.wait_loaded(self.session)

    def picture(self, path, whole=False):
        """Save a picture of the visible part, or of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


class _Address:
    def __init__(self, text):
        self._text = text

    def as_uri(self):
        return self._text
