"""A running server, and requests to it without a browser."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import quote

from tests.waiting import PATIENCE, wait_until
from typer.testing import CliRunner

from pqswarm.cli.main import app as command

ONE, OTHER = "a" * 32, "b" * 32
"""Two visitors."""


WAITS = ("recordings.queue._SCAN_WAIT", "recordings.routes._ENVELOPE_WAIT", "studies._FIRST_ANSWER")
"""How long an answer is waited for, before one that lacks something is sent: in tests, however slow the machine is."""

SERVER = f"""
from importlib import import_module
from pqswarm.cli.main import main

for module, _, name in (wait.rpartition(".") for wait in {WAITS}):
    setattr(import_module(f"pqswarm.app.{{module}}"), name, {PATIENCE})
main()
"""


def connect(app):
    return http.client.HTTPConnection(app.home.removeprefix("http://"), timeout=PATIENCE)


def access(app, visitor=ONE):
    return {"X-Token": app.token, "X-Visitor": visitor, "X-Page": "0" * 32}


def ask(app, path, method="GET", body=None, visitor=ONE, headers=None):
    """Status and bytes of an answer."""
    connection = connect(app)
    connection.request(method, path, body, access(app, visitor) | (headers or {}))
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def get(app, path, visitor=ONE):
    """The JSON of an answer that must be fine."""
    status, content = ask(app, path, visitor=visitor)
    assert status == 200, content
    return json.loads(content)


def send(app, path, value, method="POST", visitor=ONE):
    status, content = ask(app, path, method, json.dumps(value), visitor)
    return status, json.loads(content)


def upload(app, name, content, visitor=ONE):
    status, answer = ask(app, f"/api/uploads/{quote(name, safe='')}", "PUT", content, visitor)
    return status, json.loads(answer)


def recording(app, name, visitor=ONE):
    return next((one for one in get(app, "/api/recordings", visitor)["recordings"] if one["name"] == name), None)


class OpenPage:
    """An open page, which receives messages."""

    def __init__(self, app, name="c" * 32, visitor=ONE):
        self.connection = connect(app)
        self.connection.request("GET", f"/api/updates/{name}", headers=access(app, visitor))
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        self.answer.fp.readline()

    def wait(self, is_wanted, seconds=PATIENCE):
        """The first message that is wanted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            line = self.answer.fp.readline()
            if line.startswith(b"data:"):
                message = json.loads(line[5:])
                if message and is_wanted(message):
                    return message
        raise AssertionError("no such message came")

    def close(self):
        self.answer.close()
        self.connection.close()


@contextmanager
def open_page(app, **options):
    page = OpenPage(app, **options)
    try:
        yield page
    finally:
        page.close()


def wait_analyzed(app, visitor=ONE, page="d" * 32):
    """The list once everything is analyzed."""

    def complete():
        found = get(app, "/api/recordings", visitor)
        rest = [one for one in found["recordings"] if not one["reason"].startswith("waiting")]
        return found if all(one["state"] in ("analyzed", "failed") for one in rest) and not found["analyzing"] else None

    with open_page(app, name=page, visitor=visitor):
        return wait_until(complete)


@contextmanager
def analyzed_before(root, *folders, moved=None):
    """The app on the first of the folders, with the archive of all of them; a folder may be moved in between."""
    archive = root / "archive"
    arguments = ["identify", *map(str, folders), "--archive", str(archive)]
    assert CliRunner().invoke(command, arguments).exit_code == 0
    if moved is not None:
        moved[0].rename(moved[1])
    with running_app(folders[0], "--archive", str(archive), state=root / "state") as process:
        process.archive, process.folder = archive, folders[0]
        yield process


@contextmanager
def running_app(folder, *options, state):
    """``pqswarm app`` on a folder: gives the process, with its `address`, which has the token."""
    command = [sys.executable, "-c", SERVER, "app", str(folder), "--no-open", *options]
    environment = os.environ | {"XDG_STATE_HOME": str(state), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        said = ""
        for line in process.stdout:
            said += line
            found = re.search(r"http://\S+", line)
            if found:
                process.address = found.group()
                process.home = process.address.partition("?")[0].rstrip("/")
                process.token = process.address.partition("token=")[2]
                break
        else:
            raise AssertionError(f"the server did not start: {said}")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
