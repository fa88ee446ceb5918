"""A client of `openral mcp` that needs no language model: it looks, opens the drawer, and ends its mission.

python docs/examples/mcp_client.py
python docs/examples/mcp_client.py --url http://127.0.0.1:8765/mcp --token-file runs/mcp.token
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

SKILL = "execute_skill__openral__rskill-mini-metaworld"


async def told(progress: float, total: float | None, message: str | None) -> None:
    """Print what happens during a call."""
    print(f"    {message}")


async def call(client: Client, tool: str, **arguments: Any) -> bool:
    """Call a tool, print its answer, and return whether it was done."""
    answer = await client.call_tool(tool, arguments, progress_callback=told)
    for part in answer.content:
        print(f"{tool}: {part.text[:200] if part.type == 'text' else part.mime_type}")
    return not answer.is_error


async def play(client: Client) -> bool:
    """Open the drawer; return whether the reward monitor saw it."""
    print(", ".join(tool.name for tool in (await client.list_tools()).tools))
    await call(client, "look", camera="corner2")
    done = await call(client, SKILL, task="drawer-open-v3", why="the example wants it")
    return (
        await call(client, "finish_mission", done=done, words="the drawer is open" if done else "it is not")
        and done
    )


async def main() -> int:
    """Connect over standard input, or over HTTP where a URL is given."""
    parser = argparse.ArgumentParser(description="Open the drawer through openral mcp.")
    parser.add_argument("--url", help="of a server that runs; without one it is started here")
    parser.add_argument("--token-file", type=Path, help="that the server wrote")
    options = parser.parse_args()
    if options.url:
        headers = {"Authorization": f"Bearer {options.token_file.read_text()}"}
        http = httpx2.AsyncClient(headers=headers, timeout=None)
        async with http, Client(streamable_http_client(options.url, http_client=http)) as client:
            return 0 if await play(client) else 1
    openral = str(Path(sys.executable).parent / "openral")
    server = StdioServerParameters(command=openral, args=["mcp", "--approve", "none"], env=dict(os.environ))
    async with Client(server) as client:
        return 0 if await play(client) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
