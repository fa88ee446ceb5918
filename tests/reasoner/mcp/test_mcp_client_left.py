"""A client on standard input and output that ends while it waits for answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

SERVER = """
import asyncio, contextlib
from openral_reasoner.mcp.server import ToolsServer

class Source:
    async def tools(self):
        return []

asyncio.run(ToolsServer(Source()).serve_stdio(contextlib.AsyncExitStack()))
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}


def line(number: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}).encode()
        + b"\n"
    )


@pytest.mark.slow
def test_a_client_that_reads_no_more_ends_the_server_without_a_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(line(1, "initialize", HELLO))
        server.stdin.flush()
        assert b"openral" in server.stdout.readline()
        server.stdout.close()
        server.stdin.write(line(2, "tools/list"))
        server.stdin.close()
        said = server.stderr.read().decode()  # until the server has ended
    assert server.returncode == 0
    assert said == ""
