"""Clients that keep a console's server waiting lose their connection; those that wait for it do not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import InvalidMessage
from websockets.sync.client import ClientConnection, connect

from openral_console.http_listener import listen
from openral_console.listen_options import ListenOptions
from openral_core.http.slow_clients import MOST_CONNECTIONS

SERVER = """
import asyncio, sys
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from openral_core.http import slow_clients
from openral_console.http_listener import listen, serve_on
from openral_console.listen_options import ListenOptions

slow_clients.REQUEST_S = 0.5

async def page(request):
    body = await request.body()
    await asyncio.sleep(float(request.query_params.get("s", 0)))
    return PlainTextResponse(f"heard {len(body)}")

async def large(request):
    return PlainTextResponse("x" * 50_000_000)

async def live(websocket):
    await websocket.accept()
    while True:
        await websocket.send_text(await websocket.receive_text())

paths = [Path(word) for word in sys.argv[1:]] or [None, None]
options = ListenOptions(port=0, certificate=paths[0], key=paths[1])
listening = listen(options, 0, "--port")
print(listening.getsockname()[1], flush=True)
routes = [Route("/", page, methods=["GET", "POST"]), Route("/large", large), WebSocketRoute("/live", live)]
serve_on(Starlette(routes=routes), listening, options)
"""
HEAD = b"Host: robot\r\nCookie: a=b\r\n"


@pytest.fixture(scope="module", params=[pytest.param("http", marks=pytest.mark.slow), "https"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, bool]]:
    """The port of a server with a short limit, and whether it speaks TLS."""
    files: list[Path] = []
    if request.param == "https":
        folder = tmp_path_factory.mktemp("tls")
        files = [folder / "cert.pem", folder / "key.pem"]
        words = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=robot",
        ]
        subprocess.run([*words, "-out", *files[:1], "-keyout", *files[1:]], check=True, capture_output=True)
    command = [sys.executable, "-c", SERVER, *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline()), bool(files)
        process.terminate()


def connected(server: tuple[int, bool]) -> socket.socket:
    port, encrypted = server
    made = socket.create_connection(("127.0.0.1", port), timeout=60.0)
    return _trusting().wrap_socket(made) if encrypted else made


def _trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def answered(client: socket.socket, request: bytes) -> bytes:
    client.sendall(request)
    heard = b""
    while b"heard" not in heard:
        part = client.recv(4096)
        assert part, "the server closed the connection"
        heard += part
    return heard


def is_ended(client: socket.socket, drip: bytes) -> bool:
    """Send bytes one at a time, as slowly as one would, until the server ends the connection."""
    client.settimeout(0.1)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        try:
            client.sendall(drip)
            with contextlib.suppress(TimeoutError):
                if not client.recv(4096):
                    return True
        except OSError:
            return True
    return False


@pytest.mark.parametrize(
    ("before", "drip"),
    [
        (b"", b""),
        pytest.param(b"", b"\r\n", marks=pytest.mark.slow),
        (b"GET / HTTP/1.1\r\n" + HEAD + b"X-Slow: ", b"a"),
        pytest.param(
            b"POST / HTTP/1.1\r\n" + HEAD + b"Content-Length: 100000\r\n\r\n", b"a", marks=pytest.mark.slow
        ),
    ],
    ids=["nothing", "empty lines", "header", "body"],
)
def test_a_request_that_does_not_come_to_its_end_ends_the_connection(
    server: tuple[int, bool], before: bytes, drip: bytes
) -> None:
    with connected(server) as client:
        client.sendall(before)
        assert is_ended(client, drip)
    with connected(server) as client:
        assert b"heard 0" in answered(client, b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n")
        client.sendall(before)
        assert is_ended(client, drip), "a later request of the same connection"


def until_given_up(client: socket.socket) -> None:
    """Wait until the server has closed its side of a connection, of which the client hears only when it reads."""
    ours, theirs, due = client.getsockname(), client.getpeername(), time.monotonic() + 60.0
    while any(
        (end.laddr, end.raddr, end.status) == (theirs, ours, psutil.CONN_ESTABLISHED)
        for end in psutil.net_connections("tcp4")
    ):
        assert time.monotonic() < due
        time.sleep(0.1)


def test_an_answer_that_is_not_read_ends_the_connection(server: tuple[int, bool]) -> None:
    with connected(server) as client:
        client.sendall(b"GET /large HTTP/1.1\r\n" + HEAD + b"\r\n")
        until_given_up(client)
        heard = 0
        with contextlib.suppress(OSError):
            while part := client.recv(1 << 20):
                heard += len(part)
                if heard > 50_000_000:
                    break
    assert 0 < heard < 50_000_000


def test_a_client_that_agrees_on_no_encryption_loses_its_connection(server: tuple[int, bool]) -> None:
    with socket.create_connection(("127.0.0.1", server[0]), timeout=30.0) as client:
        assert client.recv(1) == b""


def test_a_client_more_than_there_may_be_ends_the_one_that_has_not_gone_on_for_longest() -> None:
    async def accept_all() -> None:
        with listen(ListenOptions(), 0, "--port") as listening, contextlib.ExitStack() as stack:
            made = []
            for _ in range(MOST_CONNECTIONS + 2):
                made.append(stack.enter_context(socket.create_connection(listening.getsockname())))
                stack.enter_context(listening.accept()[0])
            for client in made:
                client.setblocking(False)
            assert [client.recv(1) for client in made[:2]] == [b"", b""]
            with pytest.raises(BlockingIOError):
                made[2].recv(1)

    asyncio.run(accept_all())


def test_a_client_that_waits_for_the_server_keeps_its_connection(server: tuple[int, bool]) -> None:
    with connected(server) as client:
        for _ in range(2):
            assert b"heard 0" in answered(client, b"GET /?s=1 HTTP/1.1\r\n" + HEAD + b"\r\n")


def opened_websocket(server: tuple[int, bool], attempts: int = 10) -> ClientConnection:
    """Open a WebSocket; on a busy machine this client may be too slow to ask for it, too, and tries again."""
    port, encrypted = server
    url = f"{'wss' if encrypted else 'ws'}://127.0.0.1:{port}/live"
    for _ in range(attempts - 1):
        with contextlib.suppress(InvalidMessage, OSError):
            return connect(url, ssl=_trusting() if encrypted else None, proxy=None)
    return connect(url, ssl=_trusting() if encrypted else None, proxy=None)


def test_a_websocket_may_be_silent(server: tuple[int, bool]) -> None:
    with opened_websocket(server) as live:
        time.sleep(1.0)
        live.send("words")
        assert live.recv(timeout=60.0) == "words"
