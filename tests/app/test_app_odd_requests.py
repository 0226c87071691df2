"""Odd requests with the token: a sentence about the request, never a failure or an alarm about the archive."""

import json
from urllib.parse import quote

import pytest
from tests.app.recordings import write_pair
from tests.app.requests import analyzed_before, ask, get

from pqswarm.app import studies
from pqswarm.app.recordings import routes as recordings
from pqswarm.app.recordings.section import ID
from pqswarm.identify import Archive
from pqswarm.identify.archive.export import check_archive

WORDS = "' % \0 ² ٣ \ud7ff -1 1.5 1e400 1_0 0x10 nan inf true"
ODD = ["", " ", "9" * 5000, *WORDS.split()]
PLACES = [
    "/api/events?after={}",
    "/api/events?station={}",
    "/api/events?from={}",
    "/api/events?severity={}",
    "/api/events?recording={}",
    "/api/events?limit={}",
    "/api/archive?after={}",
    "/api/archive?station={}",
    "/api/archive?text={}",
    "/api/table.csv?recording={}-{}",
    "/api/scatter?to={}",
    "/api/recordings/ID-{}",
    "/api/recordings/ID/view?from={}&to={}",
    "/api/recordings/ID/view?from=0.1&to=0.1&points=1&channels={}",
    "/api/recordings/ID/cursor?t={}&cycles={}",
    "/api/recordings/ID/raw.csv?from={}&to={}",
    "/api/recordings/ID/others?seconds={}",
    "/api/recordings/ID/sheet.pdf?event={}",
    "/api/studies/{}",
]
DEEP = "[" * 900 + "]" * 900
HALF = '"\\ud800"'
BODIES = [
    ("POST", "/api/recordings/ID/notes", '{"text": "a", "by": "b", "start": 0, "end": %s}'),
    ("POST", "/api/recordings/ID/notes", '{"by": "b", "text": %s}'),
    ("POST", "/api/recordings/ID/notes", '{"text": "a", "by": %s}'),
    ("POST", "/api/again", '{"station": %s}'),
    ("POST", "/api/again", '{"recording": %s}'),
    ("POST", "/api/again", '{"station": 1, "recording": %s}'),
    ("POST", "/api/corrections", '{"recording": "ID", "event": 0, "what": "cause", "by": "b", "label": %s}'),
    ("POST", "/api/corrections", '{"recording": "ID", "by": "b", "label": "sag", "event": %s}'),
    ("POST", "/api/corrections", '{"event": 0, "by": "b", "label": "sag", "recording": %s}'),
    ("PUT", "/api/stations/1", '{"by": "b", "site": %s}'),
    ("PUT", "/api/stations/1", '{"by": "b", "site": {"x": %s}}'),
    ("POST", "/api/tickets", '{"address": %s}'),
    ("POST", "/api/login", '{"password": %s}'),
]
VALUES = [DEEP, HALF, "9" * 400, "-1", "1e400", "NaN", "null", "true", f'"{"x" * 20_000}"', '"\\u001b[2J"', '"²"', '""']

EXAMPLES = {ID: "ID", "[0-9a-f]{16}": "0" * 16, "[0-9]{1,9}": "1", "months|hours|sarfi|scatter": "sarfi", ".+": "a.cfg"}
"""What stands for the variable parts of routes."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("odd")
    write_pair(root / "grid" / "r.cfg", seconds=0.6, sag=(0.2, 0.3), residual=0.3, station="North")
    with analyzed_before(root, root / "grid") as process:
        process.id = get(process, "/api/recordings")["recordings"][0]["id"]
        yield process


def check_answer(served, method, path, body=None):
    status, content = ask(served, path.replace("ID", served.id), method, body)
    assert status < 500, (method, path[:80], content)
    assert "damaged" not in content.decode("utf-8", "replace"), (method, path[:80])
    if status >= 400 and method != "HEAD":
        error = json.loads(content)["error"]
        assert all(len(line) <= 500 and line.isprintable() for line in error.split("\n")), (method, path[:80])


@pytest.mark.parametrize("place", PLACES)
def test_odd_values_in_addresses(served, place):
    for value in ODD:
        check_answer(served, "GET", place.replace("{}", quote(value, safe="")))


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
def test_odd_values_in_bodies(served, method, path, body):
    for value in VALUES:
        check_answer(served, method, path, body.replace("ID", served.id) % value)


@pytest.mark.parametrize("route", [path for path, _ in (*recordings.ROUTES, *studies.ROUTES)])
def test_every_address_with_every_method(served, route):
    address = route
    for pattern, example in EXAMPLES.items():
        address = address.replace(f"({pattern})", example)
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"):
        check_answer(served, method, address, None if method in ("GET", "HEAD") else "{}")


def test_a_ticket_is_for_a_short_address(served):
    assert ask(served, "/api/tickets", "POST", json.dumps({"address": "/" + "x" * 1999}))[0] == 200
    assert ask(served, "/api/tickets", "POST", json.dumps({"address": "/" + "x" * 2000}))[0] == 400


def test_nothing_of_this_harms_the_archive(served):
    with Archive(served.archive, read_only=True) as archive:
        assert [text for is_damage, text in check_archive(archive) if is_damage] == []
