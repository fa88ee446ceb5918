"""Clients that connect to the server of tools over HTTP and keep it waiting lose their connection."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

SERVER = """
import asyncio, sys
from pathlib import Path
from mcp_desk import McpDesk
from openral_core.http import slow_clients
from openral_reasoner.mcp.http import HttpServer
from openral_reasoner.mcp.server import ToolsServer

slow_clients.REQUEST_S, slow_clients.MOST_CONNECTIONS = float(sys.argv[2]), 4

async def serve(listening):
    await listening.serve(ToolsServer(McpDesk()).mcp)

with HttpServer("127.0.0.1", 0, Path(sys.argv[1])) as listening:
    print(listening.port, flush=True)
    asyncio.run(serve(listening))
"""
PATIENCE_S = 60.0
GET = b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@dataclass
class Served:
    port: int

    def connect(self, sent: bytes = b"") -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        client.sendall(sent)
        return client


@contextlib.contextmanager
def server(token: Path, request_s: float) -> Iterator[Served]:
    command = [sys.executable, "-c", SERVER, str(token), str(request_s)]
    path = ":".join(entry for entry in sys.path if entry)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": path}) as process:
        assert process.stdout is not None
        try:
            yield Served(int(process.stdout.readline()))
        finally:
            process.kill()


def is_ended(client: socket.socket) -> bool:
    """Wait until the server ends a connection; return False if it does not within the socket's timeout."""
    try:
        while client.recv(4096):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", marks=pytest.mark.slow, id="nothing"),
        pytest.param(GET + b"X-Slow: ", id="header"),
        pytest.param(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
            marks=pytest.mark.slow,
            id="body",
        ),
    ],
)
def test_a_client_that_sends_no_whole_request_loses_its_connection(tmp_path: Path, sent: bytes) -> None:
    with server(tmp_path / "token", 0.5) as served, served.connect(sent) as client:
        assert is_ended(client)
        with served.connect(GET + b"\r\n") as another:
            assert another.recv(4096).startswith(b"HTTP/1.1 401 ")


@pytest.mark.slow
def test_a_stream_that_waits_for_the_server_keeps_its_connection(tmp_path: Path) -> None:
    """A session is told of changes there, perhaps after hours without a byte."""
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "patient", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}
    with server(tmp_path / "token", 0.5) as served, httpx2.Client(timeout=PATIENCE_S) as http:
        token = (tmp_path / "token").read_text()
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        begun = http.post(f"http://127.0.0.1:{served.port}/mcp", json=body, headers=headers)
        headers |= {
            "Host": f"127.0.0.1:{served.port}",
            "Mcp-Session-Id": begun.headers["mcp-session-id"],
            "Accept": "text/event-stream",
        }
        words = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
        with served.connect(b"GET /mcp HTTP/1.1\r\n" + words + b"\r\n") as stream:
            assert stream.recv(4096).startswith(b"HTTP/1.1 200 ")
            stream.settimeout(3.0)
            assert not is_ended(stream)


@pytest.mark.slow
def test_more_connections_than_are_served_end_the_one_that_has_been_silent_longest(tmp_path: Path) -> None:
    with server(tmp_path / "token", 1e3) as served, contextlib.ExitStack() as opened:
        first, *others = [opened.enter_context(served.connect()) for _ in range(4)]
        with served.connect(GET + b"\r\n") as client:
            assert client.recv(4096).startswith(b"HTTP/1.1 401 ")
        assert is_ended(first)
        for client in others:
            client.sendall(GET + b"\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 401 ")
