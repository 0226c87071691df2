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
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.waiting import PATIENCE, wait_until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "PQSWARM_BROWSER"
BROWSER = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
WHY = f"no browser is installed: none of {', '.join(NAMES)}, and {VARIABLE} is not set"
needs_browser = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason=WHY)]

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
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

MEASURE = Path(__file__).with_name("measure_page.js").read_text(encoding="utf-8").replace("MIN_TEXT", str(MIN_TEXT))


class Browser:
    """A headless browser, driven over the DevTools protocol."""

    def __init__(self):
        self._profile = TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"), ignore_cleanup_errors=True)
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        command = [sys.executable, "-c", LAUNCHER, str(reads), str(writes), BROWSER, *OPTIONS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={self._profile.name}"],
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
        self._profile.cleanup()

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

    def wait_for(self, method, session=None, **wanted):
        """Wait for an event, of a page or with some parameters, unless it has come since a page was loaded."""

        def fits(message):
            given = message.get("params", {})
            is_from = session in (None, message.get("sessionId"))
            return message.get("method") == method and is_from and wanted.items() <= given.items()

        if not any(fits(message) for message in self.events):
            self._until(fits, PATIENCE)
        self.events[:] = [message for message in self.events if not fits(message)]

    def context(self):
        """A new browser as far as pages can see, with its own cookies."""
        return self.call("Target.createBrowserContext")["browserContextId"]

    def tab(self, address, width=DESKTOP, scheme="light", media="", context=None, scripts=True):
        """Load a page, a file or an address, and keep it open."""
        where = {"browserContextId": context} if context else {}
        tab = Tab(self, self.call("Target.createTarget", url="about:blank", **where)["targetId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        if not scripts:
            tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.resize(width, 800)
        tab.emulate(media, scheme)
        tab.go(address)
        return tab

    def look(self, path, width=DESKTOP, scheme="light", media="", pdf=None):
        """Load a page; return its measurements, with every fault in `problems`; save a PDF."""
        tab = self.tab(path, width, scheme, media)
        found = tab.measure()
        if pdf:
            pdf.write_bytes(base64.b64decode(tab.call("Page.printToPDF")["data"]))
        found["problems"] += tab.problems(home=path.as_uri())
        tab.close()
        return found


def _problem(event):
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
    elif kind == "Network.requestWillBeSent" and not given["request"]["url"].startswith("data:"):
        yield f"loads {given['request']['url']}"


# Until the mouse is released, only the element aimed at gets what the mouse does; tells whether it got it.
AIM = """(() => {
  const wanted = document.querySelector(SELECTOR);
  const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  let hit = false;
  const look = (event) => {
    hit ||= event.type.endsWith("down") && wanted.contains(event.target);
    if (!hit) { event.stopImmediatePropagation(); event.preventDefault(); }
  };
  kinds.forEach((kind) => window.addEventListener(kind, look, {capture: true}));
  window.aimed = () => {
    kinds.forEach((kind) => window.removeEventListener(kind, look, {capture: true}));
    return hit;
  };
})()"""

KEYS = {"Backspace": 8, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
MODIFIERS = {"Alt": 1, "Shift": 8}


class Tab:
    """An open page, used as a person uses it."""

    def __init__(self, browser, target):
        self._browser, self._target = browser, target
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        return self._browser.call(method, session=self._session, **parameters)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

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
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def problems(self, home=None):
        """Faults since the page was loaded, including requests to other addresses than those under `home`."""
        home = home or f"{self.evaluate('location.origin')}/"
        events = [message for message in self._browser.events if message.get("sessionId") == self._session]
        found = [problem for event in events for problem in _problem(event)]
        return [problem for problem in found if not problem.startswith(f"loads {home}")]

    def measure(self):
        """Faults of the layout: see `Browser.look`."""
        return self.evaluate(MEASURE)

    def place(self, selector):
        """The center of an element, scrolled into view, once it stands still."""
        return self.evaluate(
            f"(async () => {{ const e = document.querySelector({json.dumps(selector)}); let x, y, same = 0; "
            "while (same < 2) { e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const b = e.getBoundingClientRect(), at = [b.x + b.width / 2, b.y + b.height / 2]; "
            "same = at[0] === x && at[1] === y ? same + 1 : 0; [x, y] = at; "
            "await new Promise(done => setTimeout(done, 20)); } return [x, y]; })()"
        )

    def _mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, x, y):
        self._mouse("mouseMoved", x, y)

    def click(self, selector, count=1):
        """Click where an element is; again, if it moved away meanwhile: what is there now ignores the mouse."""
        aim = AIM.replace("SELECTOR", json.dumps(selector))

        def click():
            x, y = self.place(selector)
            self.evaluate(aim)
            self.point(x, y)
            for number in range(1, count + 1):
                self._mouse("mousePressed", x, y, button="left", buttons=1, clickCount=number)
                self._mouse("mouseReleased", x, y, button="left", clickCount=number)
            return self.evaluate("window.aimed?.() ?? true")  # another page was loaded if there is none

        wait_until(click, f"{selector} is hit")

    def drag(self, start, end, steps=5, modifiers=()):
        """Press at a point, move to another, release."""
        held = sum(MODIFIERS[name] for name in modifiers)
        self._mouse("mouseMoved", *start, modifiers=held)
        self._mouse("mousePressed", *start, button="left", buttons=1, clickCount=1, modifiers=held)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
            self._mouse("mouseMoved", x, y, button="left", buttons=1, modifiers=held)
        self._mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=held)

    def wheel(self, x, y, delta):
        self._mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def press(self, *keys):
        """Press the last of some keys while the others, modifiers, are held."""
        *modifiers, key = keys
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

    def download(self, act):
        """Return the bytes of the file that a JavaScript statement saves."""
        with TemporaryDirectory() as folder:
            options = {"behavior": "allow", "downloadPath": folder, "eventsEnabled": True}
            self._browser.call("Browser.setDownloadBehavior", **options)
            self.evaluate(act)
            self._browser.wait_for("Browser.downloadProgress", state="completed")
            (path,) = Path(folder).iterdir()
            return path.read_bytes()

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def emulate(self, media="", scheme="light"):
        """Show the page as on a screen or in print, light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def go(self, address):
        """Load an address or a file, without the faults of what was there before."""
        self._load("Page.navigate", url=address if isinstance(address, str) else address.as_uri())

    def reload(self):
        self._load("Page.reload")

    def _load(self, method, **parameters):
        self._browser.events.clear()
        self.call(method, **parameters)
        self._browser.wait_for("Page.loadEventFired", self._session)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
