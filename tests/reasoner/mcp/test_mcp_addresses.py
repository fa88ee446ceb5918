"""The address of the server of tools over HTTP, and the file of its token."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import httpx2
import pytest
from mcp_desk import McpDesk

from openral_reasoner.mcp.http import HttpServer
from openral_reasoner.mcp.server import ToolsServer

START = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "near", "version": "1"},
    },
}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_each_address_of_loopback_is_served(address: str, tmp_path: Path) -> None:
    async def post(url: str, **more: str) -> int:
        headers = {
            "Authorization": f"Bearer {(tmp_path / 'token').read_text()}",
            "Accept": "application/json, text/event-stream",
        }
        async with httpx2.AsyncClient(timeout=60.0) as http:
            return (await http.post(url, json=START, headers={**headers, **more})).status_code

    async def play(listening: HttpServer) -> None:
        serving = asyncio.ensure_future(listening.serve(ToolsServer(McpDesk()).mcp))
        try:
            assert await post(listening.url) == 200
            assert await post(listening.url, Host="evil.example") == 421
            assert await post(listening.url, Origin="http://evil.example") == 403
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving

    with HttpServer(address, 0, tmp_path / "token") as listening:
        asyncio.run(play(listening))


def test_a_server_that_ends_leaves_the_token_of_another_one(tmp_path: Path) -> None:
    """As where one is started anew while the old one still ends."""
    file = tmp_path / "token"
    with HttpServer("127.0.0.1", 0, file):
        newer = HttpServer("127.0.0.1", 0, file)
        token = file.read_text()
    with newer:
        assert file.read_text() == token
    assert not file.exists()
