"""Who is let in: tokens, cookies, origins, passwords, and what an address off loopback demands."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from openral_console.audit_log import ActionLog
from openral_console.listen_options import ListenOptions, is_password, read_passwords
from openral_console.sessions import PAGE, STOP, Sessions
from openral_core.errors import InstallationError, OpenralError, UsageError

pytest.importorskip("nicegui", reason="pip install 'openral[console]'")

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from openral_console import server
from openral_console.access import OPERATOR, Access
from openral_console.live.deployment import LiveDeployment
from openral_console.ros.stop_server import application
from openral_console.sign_in_queue import MAX_OF_PLACE
from openral_core.http.slow_clients import MOST_CONNECTIONS

HOME = "http://127.0.0.1:8420"
SOCKET = "ws://127.0.0.1:8420/socket"
PASSWORD = "correct horse battery"
Enter = Callable[..., TestClient]


async def who(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.scope[OPERATOR])


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(websocket.scope[OPERATOR])
    await websocket.close()


async def listens(websocket: WebSocket) -> None:
    """Tell the operator's name, then how the connection has ended, as nothing is ever sent here."""
    await websocket.accept()
    await websocket.send_text(websocket.scope[OPERATOR])
    try:
        await websocket.receive_text()
    except WebSocketDisconnect as ended:
        await websocket.send_text(f"ended with {ended.code}")


@pytest.fixture
def sessions() -> Sessions:
    return Sessions.create()


@pytest.fixture
def enter(sessions: Sessions) -> Enter:
    """Return a function that makes a browser before a console with the given options."""

    def made(base: str = HOME, **given: Any) -> TestClient:
        passwords = given.pop("passwords", {})
        routes = [
            Route("/", who, methods=["GET", "POST"]),
            WebSocketRoute("/socket", echo),
            WebSocketRoute("/listens", listens),
        ]
        options = ListenOptions(**given)
        app = Access(Starlette(routes=routes), sessions, options, passwords, "me", lambda who, what: None)
        return TestClient(app, base_url=base, client=("127.0.0.1", 1))

    return made


def test_the_token_becomes_a_cookie_and_leaves_the_address(enter: Enter, sessions: Sessions) -> None:
    browser = enter()
    answer = browser.get(f"/?token={sessions.token}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    again = browser.get(f"/?token={sessions.token}", follow_redirects=False)
    assert (again.status_code, again.headers["location"]) == (303, "/")
    assert browser.get("/").text == "me"
    assert "frame-ancestors 'none'" in browser.get("/").headers["content-security-policy"]


def test_a_page_answers_head_as_probes_ask(sessions: Sessions) -> None:
    pages = FastAPI()
    pages.get("/")(lambda: "a page")
    app = Access(pages, sessions, ListenOptions(), {}, "me", lambda who, what: None)
    browser = TestClient(app, base_url=HOME, client=("127.0.0.1", 1))
    browser.get(f"/?token={sessions.token}", follow_redirects=False)
    assert browser.head("/").status_code == browser.get("/").status_code == 200


@pytest.mark.parametrize(
    ("query", "words"),
    [("", "lacks the token"), ("?token=", "lacks the token"), ("?token=wrong", "another console's")],
)
def test_without_the_token_there_is_no_page(enter: Enter, query: str, words: str) -> None:
    answer = enter().get(f"/{query}")
    assert (answer.status_code, words in answer.text) == (401, True)


@pytest.mark.parametrize(
    "other", ['theme={"dark": true}', "a/b=1", "words=two words", "name=\u00e5sa", "plain"]
)
def test_cookies_of_other_servers_of_this_host_keep_nobody_out(
    enter: Enter, sessions: Sessions, other: str
) -> None:
    own = f"openral_console_8420={sessions.sign('me')}"
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        assert enter().get("/", headers={"cookie": cookies.encode()}).text == "me"


def test_a_cookie_of_another_console_or_an_altered_one_is_none(enter: Enter, sessions: Sessions) -> None:
    for cookie in (
        Sessions.create().sign("me"),
        sessions.sign("me")[:-1],
        sessions.sign("me", STOP),
        "a.b",
        "é",
    ):
        assert (
            enter().get("/", headers={"cookie": f"openral_console_8420={cookie}".encode()}).status_code == 401
        )


def test_a_cookie_ends_after_a_working_day_and_the_stop_does_not(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, stop = sessions.sign("anna"), sessions.sign("anna", STOP)
    monkeypatch.setattr("time.time", lambda: 4e9)  # the clock was set, as by a network that came late
    assert sessions.name_in(page, PAGE) == "anna"
    monkeypatch.setattr("time.clock_gettime", lambda clock: 4e9)
    assert sessions.name_in(page, PAGE) is None
    assert sessions.name_in(stop, STOP) == "anna"


def test_a_page_does_not_outlive_its_cookie(
    enter: Enter, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its websocket would serve whoever sits before it for as long as it is open."""
    monkeypatch.setattr("openral_console.sessions.LIFETIME_S", 2.0)
    browser = enter()
    browser.get(f"/?token={sessions.token}")
    with browser.websocket_connect("ws://127.0.0.1:8420/listens", headers={"origin": HOME}) as socket:
        assert socket.receive_text() == "me"
        assert socket.receive_text() == "ended with 1008"
    assert browser.get("/").status_code == 401


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9999", "null", ""])
def test_pages_of_others_can_neither_post_nor_open_a_socket(
    enter: Enter, sessions: Sessions, origin: str
) -> None:
    browser = enter()
    browser.get(f"/?token={sessions.token}")
    headers = {"origin": origin} if origin else {}
    assert browser.post("/", headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(SOCKET, headers=headers):
        pass


def test_the_own_page_can(enter: Enter, sessions: Sessions) -> None:
    browser = enter()
    browser.get(f"/?token={sessions.token}")
    assert browser.post("/", headers={"origin": HOME}).text == "me"
    with browser.websocket_connect(SOCKET, headers={"origin": HOME}) as socket:
        assert socket.receive_text() == "me"


def test_names_and_words_of_anybody_forge_no_line_of_the_log(tmp_path: Path) -> None:
    said: list[str] = []
    log = ActionLog(tmp_path / "console" / "actions.jsonl", said.append)
    log("eve\n[INFO] anna: \x1b[2Jreleased", "was refused \x9b2J\u2028at the door")
    assert said == ["eve [INFO] anna: [2Jreleased: was refused 2J at the door"]
    assert json.loads(log.path.read_text())["who"] == "eve [INFO] anna: [2Jreleased"
    assert log.path.read_text().strip().isprintable()


@pytest.mark.parametrize("malformed", ["[", "[::1", "[abc]:8420"])
def test_a_malformed_host_or_origin_is_refused_and_no_error(
    enter: Enter, sessions: Sessions, malformed: str
) -> None:
    assert enter().get(f"/?token={sessions.token}", headers={"host": malformed}).status_code == 403
    stop = TestClient(
        application({"/stop": lambda: ""}, sessions, lambda who, what, fault: None), base_url=HOME
    )
    key = sessions.sign("anna", STOP)
    for headers in ({"host": malformed, "origin": HOME}, {"origin": f"http://{malformed}"}):
        assert stop.post("/stop", content=key, headers=headers).status_code == 403


def test_a_name_of_somebody_else_for_this_machine_is_refused(enter: Enter, sessions: Sessions) -> None:
    assert enter("http://rebound.example:8420").get(f"/?token={sessions.token}").status_code == 403
    assert enter("http://localhost:9000").get(f"/?token={sessions.token}").status_code == 200  # an ssh -L


def test_off_loopback_name_and_password_are_asked_for(
    enter: Enter, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openral_console.access.REFUSED_DELAY_S", 0.0)
    base = "https://robot.example:8420"
    browser = enter(
        base,
        address="0.0.0.0",
        certificate=Path("cert.pem"),
        key=Path("key.pem"),
        passwords={"anna": PASSWORD},
    )
    assert browser.get(f"/?token={sessions.token}").status_code == 401
    form = {"name": "anna", "password": PASSWORD}
    assert browser.post("/login", data=form, headers={"origin": "https://evil.example"}).status_code == 403
    wrong = browser.post("/login", data={**form, "password": "wrong"}, headers={"origin": base})
    assert (wrong.status_code, "wrong" in wrong.text) == (401, True)
    assert browser.post("/login", data={"name": "x" * 9000}, headers={"origin": base}).status_code == 413
    right = browser.post("/login", data=form, headers={"origin": base})
    assert right.text == "anna"
    assert "Secure" in right.history[0].headers["set-cookie"]


def test_who_guesses_passwords_keeps_nobody_else_out(sessions: Sessions) -> None:
    ended: list[str] = []
    options = ListenOptions(address="0.0.0.0", certificate=Path("cert.pem"), key=Path("key.pem"))
    app = Access(Starlette(), sessions, options, {"anna": PASSWORD}, "me", lambda who, what: None)

    async def all_of_them() -> None:
        guesses = [asyncio.create_task(log_in(app, ended, "10.0.0.66", "anna", "guess")) for _ in range(2)]
        await asyncio.sleep(0.05)
        await log_in(app, ended, "10.0.0.1", "anna", PASSWORD)
        await asyncio.gather(*guesses)

    asyncio.run(all_of_them())
    assert ended == ["anna 303", "anna 401", "anna 401"]


def test_who_guesses_at_length_waits_alone(sessions: Sessions) -> None:
    """Beside the guesser sits an operator behind the same address, and one in another line's network."""
    ended: list[str] = []
    options = ListenOptions(address="0.0.0.0", certificate=Path("cert.pem"), key=Path("key.pem"))
    known = {"anna": PASSWORD, "bob": PASSWORD}
    app = Access(Starlette(), sessions, options, known, "me", lambda who, what: None)

    async def all_of_them() -> None:
        guesses = [
            asyncio.create_task(log_in(app, ended, f"2001:db8::{number:x}", "bob", "guess"))
            for number in range(40)
        ]
        await asyncio.sleep(0.05)
        assert ended == ["bob 429"] * (40 - MAX_OF_PLACE)  # unread, at once
        ended.clear()
        await log_in(app, ended, "2001:db8::9", "anna", PASSWORD)
        await log_in(app, ended, "2001:db8:0:1::9", "bob", PASSWORD)
        assert ended == ["anna 303", "bob 303"]
        for guess in guesses:
            guess.cancel()

    asyncio.run(all_of_them())


def test_guesses_from_everywhere_leave_connections_to_others(sessions: Sessions) -> None:
    options = ListenOptions(address="0.0.0.0", certificate=Path("cert.pem"), key=Path("key.pem"))
    app = Access(Starlette(), sessions, options, {"anna": PASSWORD}, "me", lambda who, what: None)

    async def all_of_them() -> None:
        guesses = [
            asyncio.create_task(log_in(app, [], f"10.0.{number}.1", "eve", "guess"))
            for number in range(MOST_CONNECTIONS)
        ]
        await asyncio.sleep(0.05)
        assert sum(not guess.done() for guess in guesses) <= MOST_CONNECTIONS // 2
        for guess in guesses:
            guess.cancel()

    asyncio.run(all_of_them())


async def log_in(app: Access, ended: list[str], host: str, name: str, password: str) -> None:
    """Post the form from an address, and note how it ended."""
    form = f"name={name}&password={password.replace(' ', '+')}".encode()
    headers = [(b"host", b"robot.example:8420"), (b"origin", b"https://robot.example:8420")]
    scope = {"type": "http", "method": "POST", "path": "/login", "query_string": b"", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": form, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            ended.append(f"{name} {message['status']}")

    await app({**scope, "client": (host, 1)}, receive, send)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"address": "0.0.0.0"}, "--certificate, --key and --passwords"),
        ({"address": "robot.example"}, "--certificate, --key and --passwords"),
        ({"certificate": Path("cert.pem")}, "belong together"),
        (
            {"certificate": Path("/no/cert.pem"), "key": Path("/no/key.pem")},
            "--certificate /no/cert.pem: no such",
        ),
    ],
)
def test_what_an_address_lacks_is_said(given: dict[str, Any], words: str) -> None:
    with pytest.raises((InstallationError, UsageError), match=words):
        ListenOptions(**given).check()


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., dict[str, Path]]:
    """Return a function that makes a certificate and its key, valid for some days."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificates")

    def made(name: str, days: int = 365) -> dict[str, Path]:
        files = {"certificate": tmp_path / f"{name}.pem", "key": tmp_path / f"{name}.key"}
        words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days), "-subj", "/CN=robot"]
        places = ["-out", str(files["certificate"]), "-keyout", str(files["key"])]
        subprocess.run([openssl, *words, *places], check=True, capture_output=True)
        return files

    return made


def test_what_is_wrong_with_certificate_and_key_is_said_before_anything_is_served(
    pair: Callable[..., dict[str, Path]],
) -> None:
    one, other = pair("one"), pair("other")
    ListenOptions(**one).check()
    encrypted = one["key"].with_suffix(".encrypted")
    words = ["openssl", "pkey", "-aes128", "-passout", "pass:secret", "-in", str(one["key"])]
    subprocess.run([*words, "-out", str(encrypted)], check=True, capture_output=True)
    for certificate, key, fault in (
        (one["certificate"], other["key"], "other.key: it is not the key of --certificate"),
        (one["key"], one["certificate"], "write a certificate, with its chain, and its private key in PEM"),
        (one["certificate"], encrypted, "it is encrypted"),
    ):
        key.chmod(0o600)
        done = CliRunner().invoke(
            console_app(), ["console", "--certificate", str(certificate), "--key", str(key)]
        )
        assert isinstance(done.exception, InstallationError)
        assert fault in str(done.exception)
    one["key"].chmod(0o604)
    with pytest.raises(InstallationError, match="every user of this machine can read it"):
        ListenOptions(**one).check()


def test_a_certificate_that_ends_soon_is_named(pair: Callable[..., dict[str, Path]]) -> None:
    pytest.importorskip("ros2_embedded")
    assert ListenOptions(**pair("year")).warning() == ""
    assert "week.pem ends on 20" in ListenOptions(**pair("week", days=7)).warning()


def console_app() -> Any:
    from openral_cli.app import app

    return app


def test_the_file_of_passwords_is_private_and_its_faults_are_named(tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"anna:{PASSWORD}\n\nbob:{PASSWORD}:2\n")
    file.chmod(0o600)
    found = read_passwords(file)
    assert found == {"anna": PASSWORD, "bob": f"{PASSWORD}:2"}
    assert is_password(found, "anna", PASSWORD)
    assert not is_password(found, "carl", "")
    file.chmod(0o640)
    with pytest.raises(InstallationError, match="others can read it"):
        read_passwords(file)
    for text, words in (
        ("anna:short\n", ":1: write name:password"),
        ("", "nobody is in it"),
        (f"anna:{PASSWORD}\nbob:{PASSWORD}\nanna:{PASSWORD}2\n", ":3: anna has a password above"),
    ):
        file.write_text(text)
        file.chmod(0o600)
        with pytest.raises(InstallationError, match=words):
            read_passwords(file)


def test_the_process_behind_stop_hears_pages_of_this_machine_that_have_its_key(sessions: Sessions) -> None:
    pressed: list[str] = []
    browser = TestClient(
        application({"/stop": lambda: ""}, sessions, lambda who, what, fault: pressed.append(who)),
        base_url="http://127.0.0.1:9",
    )
    key = sessions.sign("anna", STOP)
    answer = browser.post("/stop", content=key, headers={"origin": HOME})
    assert (answer.text, answer.headers["access-control-allow-origin"]) == ("stopped", HOME)
    for body, origin in ((key, "http://evil.example"), (sessions.sign("anna"), HOME), ("", HOME), (key, "")):
        assert browser.post("/stop", content=body, headers={"origin": origin}).status_code == 403
    assert pressed == ["anna"]


def test_an_endless_call_is_not_kept_in_memory(sessions: Sessions) -> None:
    taken, answered = [], []

    async def receive() -> dict[str, Any]:
        taken.append(1)
        assert len(taken) < 100
        return {"type": "http.request", "body": b"x" * 512, "more_body": True}

    async def send(message: Any) -> None:
        answered.append(message)

    app = application({"/stop": lambda: ""}, sessions, lambda who, what, fault: None)
    scope = {"type": "http", "method": "POST", "path": "/stop", "query_string": b"", "headers": []}
    asyncio.run(app(scope, receive, send))
    assert answered[0]["status"] == 413
    assert len(taken) == 3


def test_who_leaves_in_the_middle_of_a_form_or_a_stop_raises_nothing(sessions: Sessions) -> None:
    async def send(message: Any) -> None:
        pass

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    stop = application({"/stop": lambda: ""}, sessions, lambda who, what, fault: None)
    door = Access(stop, sessions, ListenOptions(), {"anna": PASSWORD}, "me", lambda who, what: None)
    headers = [(b"host", b"127.0.0.1:8420"), (b"origin", HOME.encode())]
    for app in (stop, door):
        parts: list[dict[str, Any]] = [
            {"type": "http.request", "body": b"name=an", "more_body": True},
            {"type": "http.disconnect"},
        ]
        scope = {"type": "http", "method": "POST", "path": "/stop", "query_string": b"", "headers": headers}
        asyncio.run(app(scope, receive, send))
        assert not parts


def test_a_stop_in_vain_says_so(sessions: Sessions) -> None:
    browser = TestClient(
        application({"/stop": lambda: "no bridge"}, sessions, lambda who, what, fault: None),
        base_url="http://127.0.0.1:9",
    )
    answer = browser.post("/stop", content=sessions.sign("anna", STOP), headers={"origin": HOME})
    assert (answer.status_code, answer.text) == (503, "no bridge")


def test_the_command_refuses_what_is_not_protected_or_not_there() -> None:
    from openral_cli.app import app

    done = CliRunner().invoke(app, ["console", "--address", "0.0.0.0"])
    assert isinstance(done.exception, OpenralError)
    done = CliRunner().invoke(app, ["console", "--scene", "metaworld_drawr", "--port", "0"])
    assert "metaworld_drawer" in str(done.exception)


@pytest.mark.parametrize("other", ["", "http://192.168.0.5:8420/?token=other\n"])
def test_the_file_with_the_url_is_removed_by_the_console_that_wrote_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """A console at another address may have the same port, and so the same file."""
    nothing: Any = SimpleNamespace(stop=None, stop_all=None)
    monkeypatch.setattr(server, "run_folder", lambda: tmp_path)
    monkeypatch.setattr(server, "StopProcess", lambda *_: SimpleNamespace(close=lambda: None))
    console = server.ConsoleServer(
        LiveDeployment(),
        nothing,
        nothing,
        ListenOptions(port=0),
        tmp_path / "actions.jsonl",
        print,
        "/openral",
    )

    def serve(*_: object) -> None:
        assert console.url_file.read_text() == f"{console.url}\n"
        if other:
            console.url_file.write_text(other)

    monkeypatch.setattr(server, "serve_on", serve)
    console.run(lambda: True)
    assert console.url_file.is_file() is bool(other)
