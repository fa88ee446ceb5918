"""A client of `openral mcp` beside a whole deployment: a drawer moves, a picture comes, a killed client stops it."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from mcp import Client, StdioServerParameters
from system_operator import ENDED, Operator
from system_stack import BIN, Stack, wait_for

SKILL = "execute_skill__openral__rskill-mini-metaworld"


def run(stack: Stack, scene: Callable[[Client], Any]) -> None:
    """Let a client over standard input play a scene."""

    async def play() -> None:
        words = {"args": ["mcp", "--approve", "none"], "env": stack.environment}
        async with Client(StdioServerParameters(command=str(BIN / "openral"), **words)) as client:
            await scene(client)

    asyncio.run(play())


async def state_of(client: Client) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((await client.call_tool("state")).content[0].text)
    return state


def test_a_client_moves_the_drawer_and_its_death_stops_the_arm(tmp_path):
    words = ("mission:=open the drawer", "exit_when_done:=false", f"run_dir:={tmp_path / 'run'}")
    launch = ("ros2", "launch", "openral", "deploy_sim.launch.py", "scene:=metaworld_drawer", *words)
    with Stack(tmp_path, *launch) as stack, Operator(stack) as operator:
        operator.until(
            lambda: operator.missions and operator.missions[-1].state in ENDED, "the scene's mission"
        )

        async def close_it(client: Client) -> None:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert {SKILL, "look", "stop"} <= offered
            assert not any("topic" in name or "publish" in name for name in offered)
            seen = await client.call_tool("look", {"camera": "corner2"})
            image = cv2.imdecode(
                np.frombuffer(base64.b64decode(seen.content[1].data), np.uint8), cv2.IMREAD_COLOR
            )
            assert image.std() > 1
            closed = await client.call_tool(SKILL, {"task": "drawer-close-v3", "why": "it is open"})
            assert not closed.is_error, closed.content[0].text
            assert "verified by the reward monitor" in closed.content[0].text
            state = await state_of(client)
            assert state["mission"]["tasks"][0]["state"] == "done"
            assert state["control"]["steps_executed"] > 0
            await client.call_tool("finish_mission", {"done": True, "words": "the drawer is closed"})

        run(stack, close_it)
        operator.until(lambda: operator.missions[-1].message == "the drawer is closed", "the mission's end")
        assert operator.missions[-1].state == "done"

        async def open_it_and_die(client: Client) -> None:
            call = asyncio.ensure_future(client.call_tool(SKILL, {"task": "drawer-open-v3", "why": "x"}))
            await asyncio.to_thread(operator.until_moving)
            [server] = [
                each for each in stack.processes() if each.cmdline()[1:3] == [str(BIN / "openral"), "mcp"]
            ]
            server.send_signal(signal.SIGKILL)
            await asyncio.wait({call}, timeout=10)
            call.cancel()

        run(stack, open_it_and_die)
        operator.until(lambda: operator.missions[-1].state == "stopped", "the mission's end")
        assert operator.missions[-1].message == "stopped: mcp 0.1.0 went away"
        operator.assert_holding(still=False)

        async def refused(client: Client) -> None:
            operator.press("/openral/estop")
            wait_for(lambda: operator.status[-1].estopped, "the latched stop")
            answer = await client.call_tool(SKILL, {"task": "drawer-open-v3", "why": "x"})
            assert answer.is_error
            assert "the E-stop is latched" in answer.content[0].text

        run(stack, refused)
        stack.interrupt()
        assert stack.wait() == 0, stack.output
    assert stack.errors == []
