"""Access: requests without the token, from other sites, or out of the root are refused."""

import asyncio
import errno
import json
import os
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from tests.app.requests import connect
from tests.waiting import PATIENCE
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from pqswarm.app import server
from pqswarm.app.access import AccessControl, PasswordQueue, Tickets, read_access, store_access
from pqswarm.app.handlers import BaseHandler, HTTPRefusal
from pqswarm.app.jobs import JobCancelled
from pqswarm.app.server import make_application
from pqswarm.app.workbench import Workbench
from pqswarm.cli.app import browser_opener, choose_password
from pqswarm.errors import PqswarmError


def ask(app, path, method="GET", headers=None, body=None, token=True):
    """Status, headers and text of an answer; the path is sent as it is."""
    connection = connect(app)
    known = {"X-Token": app.token} if token else {}
    connection.request(method, path, body=body, headers=known | (headers or {}))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def test_the_page_has_no_data_and_sets_no_cookie(app):
    """Browsers send cookies to every port of a host, so the token must not be one."""
    for path in ("/", f"/?token={app.token}", "/assets/app.js", "/api/recordings"):
        status, headers, text = ask(app, path)
        assert status == 200
        assert headers["Set-Cookie"] is None
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        assert app.token not in text


PATHS = ["/api/recordings", "/api/studies", "/api/updates/" + "0" * 32, "/api/tickets", "/api/corrections", "/x"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("given", ["none", "wrong", "cookie", "address", "ticket"])
def test_without_token(app, path, given, method):
    headers = {"wrong": {"X-Token": "x"}, "cookie": {"Cookie": f"token={app.token}; X-Token={app.token}"}}
    query = {"address": f"?token={app.token}", "ticket": f"?ticket={app.token}"}.get(given, "")
    status, _, text = ask(app, path + query, method, headers.get(given), "{}", token=False)
    assert status == 403
    assert ("works once" if given == "ticket" else "token") in json.loads(text)["error"]


def ticket_for(app, address, visitor="a" * 32):
    status, _, text = ask(app, "/api/tickets", "POST", {"X-Visitor": visitor}, json.dumps({"address": address}))
    assert status == 200
    return json.loads(text)["ticket"]


def test_a_ticket_opens_one_address_once(app):
    file = "/api/table.csv?text=1"
    ticket = ticket_for(app, file)
    assert ask(app, f"{file}1&ticket={ticket}", token=False)[0] == 403  # another address; the ticket is spent
    assert ask(app, f"{file}&ticket={ticket}", token=False)[0] == 403
    ticket = ticket_for(app, file)
    assert ask(app, f"{file}&ticket={ticket}", "POST", token=False)[0] == 403
    status, headers, _ = ask(app, f"{file}&ticket={ticket}", token=False)
    assert (status, headers["Content-Disposition"]) == (200, "attachment; filename*=UTF-8''events.csv")
    assert ask(app, f"{file}&ticket={ticket}", token=False)[0] == 403
    assert ask(app, f"/api/studies?ticket={ticket_for(app, '/api/studies')}", token=False)[0] == 200


def test_tickets_expire_and_are_few(monkeypatch):
    tickets = Tickets()
    first = tickets.issue("/a", "eve")
    later = time.monotonic() + 61
    monkeypatch.setattr("pqswarm.app.access.time", SimpleNamespace(monotonic=lambda: later))
    assert tickets.redeem(f"/a?ticket={first}") is None
    issued = [tickets.issue("/a", "eve") for _ in range(1100)]
    assert tickets.redeem(f"/a?ticket={issued[0]}") is None
    assert tickets.redeem(f"/a?ticket={issued[-1]}") == "eve"


def test_token_and_port_outlive_a_restart(tmp_path):
    path = tmp_path / "state" / "access.json"
    store_access(path, "x" * 32, 8750)
    assert read_access(path) == ("x" * 32, 8750)
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for damaged in ("", "[]", '{"token": "x", "port": 1}', '{"token": 5, "port": 1}', "[" * 900, '{"port": 1}'):
        path.write_text(damaged)
        assert read_access(path) == ("", 0)
    (tmp_path / "file").write_text("")
    store_access(tmp_path / "file" / "access.json", "x" * 32, 8750)  # cannot be written: the token lasts for now


def test_with_a_password_the_token_depends_on_both():
    tokens = [AccessControl("::", 1, word, secret).token for word in ("a", "b") for secret in ("x", "y")]
    assert len({*tokens, "x", "y"}) == 6
    assert AccessControl("::", 1, "a", "x").token == tokens[0]


@pytest.mark.parametrize("path", ["/api/recordings", "/api/studies", "/", "/assets/app.js", "/api/login"])
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


@pytest.mark.parametrize(
    ("port", "own", "others"),
    [
        (8080, "localhost:8080 LocalHost:8080 127.0.0.1:8080 [::1]:8080", "localhost localhost:80 127.0.0.1:08080"),
        (80, "localhost localhost:80 127.0.0.1 [::1]", "localhost:080 localhost:8080 ::1 [::1 a"),
    ],
)
def test_the_host_is_spelled_as_browsers_do(port, own, others):
    access = AccessControl("127.0.0.1", port)
    assert {one for one in f"{own} {others}".split() if access._is_own_host(one)} == set(own.split())


def test_an_origin_is_of_the_web(app):
    host = app.home.removeprefix("http://")
    assert ask(app, "/", headers={"Origin": f"http://{host}"})[0] == 200
    assert ask(app, "/", headers={"Origin": f"x://{host}"})[0] == 403


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


def test_the_password_comes_from_file_variable_or_person(tmp_path, monkeypatch):
    (tmp_path / "word").write_text("of the file \r\nmore\n")
    assert choose_password(tmp_path / "word", needed=True) == "of the file "
    with pytest.raises(PqswarmError, match=r"--password-file .*missing cannot be read: .*No such file"):
        choose_password(tmp_path / "missing", needed=True)
    (tmp_path / "empty").write_text("\nword\n")
    with pytest.raises(PqswarmError, match="no password in its first line"):
        choose_password(tmp_path / "empty", needed=True)
    monkeypatch.setenv("PQSWARM_APP_PASSWORD", "of the variable")
    assert choose_password(None, needed=True) == "of the variable"
    monkeypatch.delenv("PQSWARM_APP_PASSWORD")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("typer.prompt", lambda _, hide_input: f"hidden: {hide_input}")
    assert choose_password(None, needed=True) == "hidden: True"
    assert choose_password(None, needed=False) == ""


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
    assert 'data-password="yes"' in text
    assert ask(locked, "/api/recordings", token=False)[0] == 403

    def log_in(password, **headers):
        return ask(locked, "/api/login", "POST", headers, json.dumps({"password": password}), token=False)

    for wrong in ("wrong", "open sesame", None, ["open sesame "]):
        assert log_in(wrong)[0] == 403
    assert log_in("open sesame ", Origin="http://evil.example")[0] == 403
    status, headers, text = log_in("open sesame ", Origin=locked.home)
    assert (status, headers["Set-Cookie"]) == (200, None)
    assert ask(locked, "/api/recordings", headers={"X-Token": json.loads(text)["token"]}, token=False)[0] == 200


def make_handler(folder, address="/"):
    workbench = Workbench(folder, folder / "state", folder / "corrections.jsonl", 1)
    connection = SimpleNamespace(set_close_callback=lambda _: None, context=None)
    line, headers = RequestStartLine("GET", address, "HTTP/1.1"), HTTPHeaders({"Host": "a"})
    request = HTTPServerRequest(connection=connection, start_line=line, headers=headers)
    return BaseHandler(make_application(workbench, AccessControl("127.0.0.1", 1)), request)


def test_no_work_starts_after_a_disconnect(tmp_path):
    async def work():
        handler = make_handler(tmp_path)
        handler.on_connection_close()
        await handler.work(pytest.fail, "it started")

    with pytest.raises(JobCancelled):
        asyncio.run(work())


def test_too_many_requests_of_one_visitor_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.app.jobs._MAX_WAITING", 0)

    async def work():
        handler = make_handler(tmp_path)
        handler.visitor = "eve"
        await handler.work(pytest.fail, "it started")

    with pytest.raises(HTTPRefusal) as refused:
        asyncio.run(work())
    assert refused.value.status == 429


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
        serving = asyncio.create_task(server._serve(workbench, "127.0.0.1", 0, "", False, ready.set_result))
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
        start = loop.time()  # first: between two lines, too, a machine may rest
        loop.call_exception_handler({"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"403" in await reader.readline()
        writer.close()
        return loop.time() - start

    assert serve_and(ask_meanwhile, tmp_path) > 0.25
    assert [record.message for record in caplog.records] == ["too many open files: new connections have to wait."]
    assert "Traceback" not in caplog.text


def test_passwords_of_a_sender_are_checked_one_at_a_time_and_do_not_delay_others():
    async def guess():
        passwords = PasswordQueue(AccessControl("0.0.0.0", 1, "right"), pause=0.05)
        loop = asyncio.get_running_loop()
        start, answered = loop.time(), []

        async def check(word, address):
            found = await passwords.check(word, address)
            answered.append(address)
            return found

        flood = (check(word, "10.0.0.1") for word in ("a", "b", "right", "right"))
        found = await asyncio.gather(*flood, check("right", "10.0.0.2"), check("right", "2001:db8::1"))
        assert not passwords._turns
        return found, loop.time() - start, answered

    found, seconds, answered = asyncio.run(guess())
    assert found == [False, False, True, None, True, True]
    assert seconds > 0.09
    assert answered == ["10.0.0.1", "10.0.0.2", "2001:db8::1", "10.0.0.1", "10.0.0.1", "10.0.0.1"]  # first: refused


def test_one_network_is_one_sender_of_passwords():
    async def guess():
        passwords = PasswordQueue(AccessControl("::", 1, "right"), pause=0.01, max_all=5)
        one_network = await asyncio.gather(*(passwords.check("x", f"2001:db8::{i}") for i in range(5)))
        many = await asyncio.gather(*(passwords.check("x", f"10.0.0.{i}") for i in range(7)))
        return one_network.count(None), many.count(None)

    assert asyncio.run(guess()) == (2, 2)


def test_connections_of_one_address_are_few(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_MAX_CONNECTIONS", 2)

    async def connect(port):
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        await asyncio.sleep(0)
        assert await opened[2][0].read() == b""  # closed at once
        opened[0][1].write(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"403" in await opened[0][0].readline()
        for _, writer in opened:
            writer.close()

    serve_and(connect, tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_few_handles_allow_few_connections_of_one_address(monkeypatch):
    import resource

    for handles, expected in ((128, 42), (1024, 250), (resource.RLIM_INFINITY, 250)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, handles=handles: (handles, handles))
        assert server._Server(lambda _: None).max_connections == expected


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
