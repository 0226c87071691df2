"""Who is let in: requests without the token, of other pages, or that lead outside are refused."""

import asyncio
import http.client
import json
import os
import stat
import subprocess
import sys

import pytest
from tests.app.serving import running_app

from pqswarm.app.access import Door, PasswordQueue
from pqswarm.app.browser import redirect_file
from pqswarm.app.handlers import Base
from pqswarm.app.jobs import Cancelled


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "inside").mkdir()
    (folder.parent / "secret.csv").write_text("t,u\n0,1\n")
    state = tmp_path_factory.mktemp("state")
    with running_app(folder / "inside", state=state) as process:
        process.state = state
        yield process


def ask(app, path, method="GET", headers=None, body=None, token=True):
    """Status, headers and text of an answer; the path is sent as it is."""
    connection = http.client.HTTPConnection(app.home.removeprefix("http://"), timeout=20)
    known = {"Cookie": f"pqswarm-{app.home.rpartition(':')[2]}={app.token}"} if token else {}
    connection.request(method, path, body=body, headers=known | (headers or {}))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def test_the_token_opens_the_door_and_does_not_stay_in_the_address(app):
    status, headers, _ = ask(app, f"/?token={app.token}", token=False)
    assert (status, headers["Location"]) == (302, "/")
    cookies = headers.get_all("Set-Cookie")
    assert all("HttpOnly" in cookie and "SameSite=Strict" in cookie for cookie in cookies)
    status, headers, text = ask(app, "/")
    assert status == 200
    assert "<main" in text
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe-eval" not in headers["Content-Security-Policy"]


def test_what_another_page_began_goes_on_with_the_cookie(app):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    status, headers, text = ask(app, f"/?token={app.token}", headers=headers, token=False)
    assert (status, headers["Location"]) == (200, None)
    assert 'content="0; url=/"' in text
    assert app.token not in text


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=x", "/assets/app.js", "/api/recordings", "/api/studies"])
def test_without_token(app, path):
    status, _, text = ask(app, path, token=False)
    assert status == 403
    assert "token" in json.loads(text)["error"]


@pytest.mark.parametrize("path", ["/api/recordings", "/api/studies", "/", "/assets/app.js"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    ],
    ids=str,
)
def test_of_another_page(app, path, headers):
    assert ask(app, path, headers=headers)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_form_of_another_page_changes_nothing(app, method):
    assert ask(app, "/api/corrections", method, body="{}")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.csv",
        "/assets/../../server.py",
        "/assets/..%2f..%2fserver.py",
        "/assets/%2e%2e/server.py",
        "/assets/%252e%252e%252fserver.py",
        "/api/recordings/../../secret.csv",
        "/api/recordings/..%5c..%5csecret.csv",
        "/api/studies/%2e%2e%2f%2e%2e/report",
        "/api/uploads/..%2fsecret.csv",
        "/assets/x%3f/../server.py",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_steps_up_lead_nowhere(app, path, method):
    assert ask(app, path, method, headers={"X-Page": "0" * 32})[0] == 403


def test_a_query_may_have_any_text(app):
    assert ask(app, "/api/curves?station=A/../B%2f..")[0] == 200


@pytest.mark.parametrize("path", ["/nothing", "/assets/server.py", "/api/recordings/0123456789abcdef", "/api/nothing"])
def test_what_is_not_there(app, path):
    status, _, text = ask(app, path)
    assert status == 404
    assert json.loads(text)["error"].endswith(".")


def run(*words):
    command = [sys.executable, "-m", "pqswarm", "app", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets other machines in: it needs a --password too."),
        (["--port", "99999"], "--port must be 0 to 65535, not 99999."),
        (["--max-mb", "0"], "--max-mb must be above 0"),
        (["nowhere"], "nowhere is not a folder."),
        (["/"], "there is nothing beside /: give the file of corrected verdicts by --corrections."),
    ],
)
def test_wrong_commands(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words, "--no-open")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use(app, tmp_path):
    done = run(str(tmp_path), "--no-open", "--port", app.home.rpartition(":")[2])
    assert done.returncode == 2
    assert "is in use" in done.stderr


def test_a_password_lets_other_machines_in(tmp_path):
    options = ["--host", "0.0.0.0", "--password", "open sesame"]
    with running_app(tmp_path, *options, state=tmp_path / "state") as served:
        assert "token" not in served.address
        served.home = served.home.replace("0.0.0.0", "127.0.0.1")
        status, _, text = ask(served, "/", token=False)
        assert status == 200
        assert 'type="password"' in text
        assert ask(served, "/assets/base.css", token=False)[0] == 200
        assert ask(served, "/assets/app.js", token=False)[0] == 403
        assert ask(served, "/api/recordings", token=False)[0] == 403
        form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": served.home}
        assert ask(served, "/", "POST", form, "password=wrong", token=False)[0] == 403
        status, headers, _ = ask(served, "/", "POST", form, "password=open+sesame", token=False)
        assert status == 302
        cookies = "; ".join(cookie.partition(";")[0] for cookie in headers.get_all("Set-Cookie"))
        status, _, text = ask(served, "/", headers={"Cookie": cookies}, token=False)
        assert status == 200
        assert "<main" in text
        evil = form | {"Origin": "http://evil.example"}
        assert ask(served, "/", "POST", evil, "password=open+sesame", token=False)[0] == 403


def test_no_work_is_begun_for_who_went_away():
    handler = Base.__new__(Base)
    handler.initialize()
    handler.on_connection_close()
    with pytest.raises(Cancelled):
        asyncio.run(handler.work(lambda job: None))


def test_passwords_are_tried_one_after_the_other():
    async def guess():
        passwords = PasswordQueue(Door("0.0.0.0", 1, "right"), pause=0.05, most_waiting=3)
        begin = asyncio.get_running_loop().time()
        found = await asyncio.gather(*(passwords.opens(given) for given in ("a", "b", "right", "right")))
        return found, asyncio.get_running_loop().time() - begin

    found, seconds = asyncio.run(guess())
    assert found == [False, False, True, None]
    assert seconds > 0.09


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_only_the_user_reads_state_and_token(app, tmp_path, monkeypatch):
    (state,) = (app.state / "pqswarm" / "app").iterdir()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address))
    with redirect_file(tmp_path) as redirect:
        redirect.open("http://127.0.0.1:1/?token=secret")
        assert stat.S_IMODE(redirect.path.stat().st_mode) == 0o600
        assert "?token=secret" in redirect.path.read_text()
        assert opened == [redirect.path.as_uri()]
    assert not redirect.path.exists()
