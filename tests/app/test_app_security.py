"""Access: requests without the token, from other sites, or out of the root are refused."""

import asyncio
import errno
import http.client
import json
import os
import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tests.waiting import PATIENCE
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from typer.testing import CliRunner

from pqswarm.app import server
from pqswarm.app.access import AccessControl, PasswordQueue
from pqswarm.app.handlers import Base
from pqswarm.app.jobs import Cancelled
from pqswarm.app.server import make_application
from pqswarm.app.workbench import Workbench
from pqswarm.cli.app import browser_opener, choose_password
from pqswarm.cli.main import app as cli
from pqswarm.errors import PqswarmError


def ask(app, path, method="GET", headers=None, body=None, token=True):
    """Status, headers and text of an answer; the path is sent as it is."""
    connection = http.client.HTTPConnection(app.home.removeprefix("http://"), timeout=PATIENCE)
    known = {"Cookie": f"pqswarm-{app.home.rpartition(':')[2]}={app.token}"} if token else {}
    connection.request(method, path, body=body, headers=known | (headers or {}))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def test_the_token_gives_access_and_does_not_stay_in_the_address(app):
    status, headers, _ = ask(app, f"/?token={app.token}", token=False)
    assert (status, headers["Location"]) == (302, "/")
    cookies = headers.get_all("Set-Cookie")
    assert all("HttpOnly" in cookie and "SameSite=Strict" in cookie for cookie in cookies)
    status, headers, text = ask(app, "/")
    assert status == 200
    assert "<main" in text
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe-eval" not in headers["Content-Security-Policy"]


def test_a_navigation_from_another_site_keeps_the_cookie(app):
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
def test_cross_site_requests(app, path, headers):
    assert ask(app, path, headers=headers)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_form_of_another_site_changes_nothing(app, method):
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
    assert ask(app, "/api/events?text=A/../B%2f..")[0] == 200


@pytest.mark.parametrize("path", ["/nothing", "/assets/server.py", "/api/recordings/0123456789abcdef", "/api/nothing"])
def test_what_is_not_there(app, path):
    status, _, text = ask(app, path)
    assert status == 404
    assert json.loads(text)["error"].endswith(".")


def message_of(*words):
    """The error message of the command, run in this process."""
    done = CliRunner().invoke(cli, ["app", *words, "--no-open"])
    assert isinstance(done.exception, PqswarmError), done.output
    return str(done.exception)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--host", "0.0.0.0"], ["--host 0.0.0.0", "--password"]),
        (["--password-file", "missing"], ["--password-file missing cannot be read", "No such file"]),
        (["--port", "99999"], ["--port", "65535", "99999"]),
        (["--max-mb", "0"], ["--max-mb", "above 0"]),
        (["nowhere"], ["nowhere is not a folder."]),
    ],
)
def test_wrong_commands(words, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    message = message_of(*words)
    assert all(part in message for part in parts)


def test_a_password_on_the_command_line_is_warned_of(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PQSWARM_APP_PASSWORD", "from the variable")
    assert choose_password("from the variable", None, needed=True) == "from the variable"
    assert capsys.readouterr().err == ""
    assert choose_password("seen by all", None, needed=True) == "seen by all"
    assert "other users of this machine can see --password: use --password-file" in capsys.readouterr().err
    (tmp_path / "empty").write_text("\nword\n")
    with pytest.raises(PqswarmError, match="no password in its first line"):
        choose_password("", tmp_path / "empty", needed=True)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("typer.prompt", lambda _, hide_input: f"hidden: {hide_input}")
    assert choose_password("", None, needed=True) == "hidden: True"
    assert choose_password("", None, needed=False) == ""


def test_a_port_in_use(app, tmp_path):
    """In a separate process: Tornado leaves a socket open that it cannot bind."""
    port = app.home.rpartition(":")[2]
    command = [sys.executable, "-m", "pqswarm", "app", str(tmp_path), "--no-open", "--port", port]
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
    assert done.returncode == 2
    assert f"port {port} is in use" in done.stderr


def test_a_password_lets_other_machines_in(locked):
    assert "token" not in locked.address
    assert "0.0.0.0" not in locked.address
    status, _, text = ask(locked, "/", token=False)
    assert status == 200
    assert 'type="password"' in text
    assert ask(locked, "/assets/base.css", token=False)[0] == 200
    assert ask(locked, "/assets/app.js", token=False)[0] == 403
    assert ask(locked, "/api/recordings", token=False)[0] == 403
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": locked.home}
    assert ask(locked, "/", "POST", form, "password=wrong", token=False)[0] == 403
    assert ask(locked, "/", "POST", form, "password=open+sesame", token=False)[0] == 403
    status, headers, _ = ask(locked, "/", "POST", form, "password=open+sesame+", token=False)
    assert status == 302
    cookies = "; ".join(cookie.partition(";")[0] for cookie in headers.get_all("Set-Cookie"))
    status, _, text = ask(locked, "/", headers={"Cookie": cookies}, token=False)
    assert status == 200
    assert "<main" in text
    evil = form | {"Origin": "http://evil.example"}
    assert ask(locked, "/", "POST", evil, "password=open+sesame+", token=False)[0] == 403


def make_handler(folder, address="/"):
    workbench = Workbench(folder, folder / "state", folder / "corrections.jsonl", 1)
    connection = SimpleNamespace(set_close_callback=lambda _: None, context=None)
    line, headers = RequestStartLine("GET", address, "HTTP/1.1"), HTTPHeaders({"Host": "a"})
    request = HTTPServerRequest(connection=connection, start_line=line, headers=headers)
    return Base(make_application(workbench, AccessControl("127.0.0.1", 1)), request)


def test_no_work_starts_after_a_disconnect(tmp_path):
    async def work():
        handler = make_handler(tmp_path)
        handler.on_connection_close()
        await handler.work(pytest.fail, "it started")

    with pytest.raises(Cancelled):
        asyncio.run(work())


def test_the_log_does_not_hold_the_token(tmp_path, caplog):
    async def fail():
        make_handler(tmp_path, "/api/recordings?token=secret").log_exception(ValueError, ValueError("odd"), None)

    asyncio.run(fail())
    assert "/api/recordings" in caplog.text
    assert "secret" not in caplog.text


def serve_and(act, folder):
    """Run ``act(port)`` beside a server in this process."""

    async def run():
        ready = asyncio.get_running_loop().create_future()
        workbench = Workbench(folder, folder / "state", folder / "corrections.jsonl", 1)
        serving = asyncio.create_task(server._serve(workbench, "127.0.0.1", 0, "", ready.set_result))
        port = int((await ready).rpartition(":")[2].partition("/")[0])
        try:
            return await asyncio.wait_for(act(port), PATIENCE)
        finally:
            serving.cancel()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "sent", ["", "GET / HT", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"]
)
def test_half_a_request_is_not_waited_for(sent, tmp_path, monkeypatch):
    for name in ("idle_connection_timeout", "body_timeout"):
        monkeypatch.setitem(server._LIMITS, name, 0.1)

    async def send(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent.encode())
        found = await reader.read()
        writer.close()
        return found

    assert b"200" not in serve_and(send, tmp_path)


def test_without_handles_the_server_pauses_and_says_so_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(server, "_PAUSE", 0.3)

    async def ask_meanwhile(port):
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
        start = loop.time()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"403" in await reader.readline()
        writer.close()
        return loop.time() - start

    assert serve_and(ask_meanwhile, tmp_path) > 0.25
    assert [record.message for record in caplog.records] == ["too many open files: new connections have to wait."]
    assert "Traceback" not in caplog.text


def test_passwords_are_checked_one_at_a_time():
    async def guess():
        passwords = PasswordQueue(AccessControl("0.0.0.0", 1, "right"), pause=0.05, max_waiting=3)
        start = asyncio.get_running_loop().time()
        found = await asyncio.gather(*(passwords.check(given) for given in ("a", "b", "right", "right")))
        return found, asyncio.get_running_loop().time() - start

    found, seconds = asyncio.run(guess())
    assert found == [False, False, True, None]
    assert seconds > 0.09


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_only_the_user_reads_state_and_token(app, tmp_path, monkeypatch):
    (state,) = (app.state / "pqswarm" / "app").iterdir()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address))
    with browser_opener(tmp_path) as open_address:
        open_address("http://127.0.0.1:1/?token=secret&more")
        (path,) = tmp_path.iterdir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "?token=secret&amp;more" in path.read_text()
        assert opened == [path.as_uri()]
    assert not path.exists()
