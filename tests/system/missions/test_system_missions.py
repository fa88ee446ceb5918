"""Missions from a sentence to the simulator's own verdict: real processes, policy, reward monitor and world.

Beside the same deployment a client of `openral mcp`: a drawer moves, a picture comes, a killed client stops it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np
import pytest
from mcp import Client, StdioServerParameters
from system_operator import ENDED, Operator
from system_stack import BIN, Stack, wait_for

SKILL = "execute_skill__openral__rskill-mini-metaworld"


@pytest.mark.parametrize(
    ("scene", "tasks"),
    [
        pytest.param("metaworld_window", ["window-open-v3", "window-close-v3"], marks=pytest.mark.long),
        pytest.param("metaworld_button", ["button-press-topdown-v3"], marks=pytest.mark.long),
    ],
)
def test_other_scenes_do_their_own_mission(tmp_path, scene, tasks):
    words = ("--config", scene, "--run-dir", "run", "--no-video", "--lockstep")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        assert stack.wait() == 0, stack.output
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert [task["skill_task"] for task in summary["tasks"]] == tasks
    assert summary["passed"]


def end_of_mission(operator: Operator, text: str) -> object:
    """Wait for the end of the mission with this text, and return it."""

    def found() -> list[object]:
        return [mission for mission in operator.missions if mission.text == text and mission.state in ENDED]

    operator.until(found, f"the end of {text!r}")
    return found()[-1]


def test_launched_without_a_command_line_of_ours_the_scene_s_mission_is_done(drawer):
    _, operator = drawer
    mission = end_of_mission(operator, "open the drawer, then close it")
    assert (mission.state, [task.state for task in mission.tasks]) == ("done", ["done", "done"])


@pytest.mark.long
def test_words_that_no_training_saw_and_conditions_are_taken_on_the_running_deployment(drawer):
    """A condition is looked up in the world before anything moves."""
    stack, operator = drawer
    end_of_mission(operator, "open the drawer, then close it")

    def check(text: str, tasks: list[str]) -> None:
        mission = end_of_mission(operator, text)
        assert mission.state == "done", mission.message
        assert [task.skill_task for task in mission.tasks if task.state == "done"] == tasks, mission.message

    operator.say("if the drawer is open, close it")
    check("if the drawer is open, close it", [])
    said = stack.beside("openral", "prompt", "pull the drawer open", "--patience", "30")
    assert said.returncode == 0, said.stdout
    check("pull the drawer open", ["drawer-open-v3"])
    operator.say("if the drawer is open then push it shut")
    check("if the drawer is open then push it shut", ["drawer-close-v3"])


def test_an_unknown_task_is_refused_in_one_clear_sentence_and_nothing_moves(drawer):
    stack, operator = drawer
    end_of_mission(operator, "open the drawer, then close it")
    operator.assert_holding(still=False)
    executed = operator.status[-1].executed
    said = stack.beside("openral", "prompt", "make me a coffee", "--patience", "30")
    assert said.returncode == 1
    mission = end_of_mission(operator, "make me a coffee")
    assert (mission.state, len(mission.tasks)) == ("failed", 0)
    assert "nothing that is deployed here does it" in mission.message
    assert "drawer" in mission.message, "it says what can be asked for instead"
    assert said.stdout.count(mission.message) == 1
    operator.assert_holding(still=False)
    assert operator.status[-1].executed == executed


def run_client(stack: Stack, scene: Callable[[Client], Any]) -> None:
    """Let a client over standard input play a scene."""

    async def play() -> None:
        words = {"args": ["mcp", "--approve", "none"], "env": stack.environment}
        async with Client(StdioServerParameters(command=str(BIN / "openral"), **words)) as client:
            await scene(client)

    asyncio.run(play())


async def state_of(client: Client) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((await client.call_tool("state")).content[0].text)
    return state


def test_a_client_moves_the_drawer_and_its_death_stops_the_arm(drawer):
    stack, operator = drawer
    end_of_mission(operator, "open the drawer, then close it")
    before = stack.errors

    async def open_it(client: Client) -> None:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert {SKILL, "look", "stop"} <= offered
        assert not any("topic" in name or "publish" in name for name in offered)
        seen = await client.call_tool("look", {"camera": "corner2"})
        image = cv2.imdecode(
            np.frombuffer(base64.b64decode(seen.content[1].data), np.uint8), cv2.IMREAD_COLOR
        )
        assert image.std() > 1
        opened = await client.call_tool(SKILL, {"task": "drawer-open-v3", "why": "it is closed"})
        assert not opened.is_error, opened.content[0].text
        assert "verified by the reward monitor" in opened.content[0].text
        state = await state_of(client)
        assert state["mission"]["tasks"][0]["state"] == "done"
        assert state["control"]["steps_executed"] > 0
        await client.call_tool("finish_mission", {"done": True, "words": "the drawer is open"})
        operator.until(lambda: operator.missions[-1].message == "the drawer is open", "the mission's end")
        assert operator.missions[-1].state == "done"

    async def is_refused(client: Client) -> None:
        operator.press("/openral/estop")
        wait_for(lambda: operator.status[-1].estopped, "the latched stop")
        refused = await client.call_tool(SKILL, {"task": "drawer-close-v3", "why": "x"})
        assert refused.is_error
        assert "the E-stop is latched" in refused.content[0].text
        operator.press("/openral/estop_reset")
        wait_for(lambda: not operator.status[-1].estopped, "the release")

    async def close_it_and_die(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool(SKILL, {"task": "drawer-close-v3", "why": "x"}))
        await asyncio.to_thread(operator.until_moving)
        [server] = [
            each for each in stack.processes() if each.cmdline()[1:3] == [str(BIN / "openral"), "mcp"]
        ]
        server.send_signal(signal.SIGKILL)
        stopped = partial(
            operator.until, lambda: operator.missions[-1].state == "stopped", "the mission's end"
        )
        await asyncio.to_thread(stopped)
        call.cancel()

    async def do_all(client: Client) -> None:
        await open_it(client)
        await is_refused(client)
        await close_it_and_die(client)

    run_client(stack, do_all)
    assert operator.missions[-1].message == "stopped: mcp 0.1.0 went away"
    operator.assert_holding(still=False)
    assert stack.errors == before
