"""What a client of the MCP server is offered, and what comes of its calls."""

from __future__ import annotations

import base64
import json

import cv2
import numpy as np
import pytest
from mcp import Client
from mcp_desk import MOVE, OPEN, PALETTE, McpDesk, text
from openral.msg import ControlStatus

from openral_core.goal_params import check_params_schema
from openral_core.stop_conditions import stop_when_text
from openral_reasoner.llm.tools import make_tools
from openral_reasoner.mission.agent_gate import SteeringLimits
from openral_reasoner.mission.agent_requests import RequestQueue
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.ros.messages import control_of
from openral_reasoner.tools.table import inside_table, outside_table

ONLY_OUTSIDE = {"stop", "state", "list_skills", "mission_log", "finish_mission"}


def test_a_language_model_and_a_client_get_one_table() -> None:
    inside = inside_table(PALETTE, cameras=["corner2"], locates=True)
    outside = outside_table(PALETTE, cameras=["corner2"], locates=True)
    of_model = make_tools(PALETTE, RequestQueue(), None, ["corner2"], sees=True, locates=True, max_calls=9)
    assert [tool.name for tool in of_model] == [tool.name for tool in inside]
    assert {tool.name for tool in outside} - {tool.name for tool in inside} == ONLY_OUTSIDE
    shared = {tool.name: (tool.description, tool.schema) for tool in outside}
    assert all(shared[tool.name] == (tool.description, tool.schema) for tool in inside)
    for tool in outside:
        check_params_schema(tool.name, tool.schema)


def test_hints_tell_what_moves_and_what_only_reads() -> None:
    desk = McpDesk()

    async def scene(client: Client) -> None:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert {name for name, hint in hints.items() if hint.destructive_hint} == {OPEN, MOVE}
        reads = {name for name, hint in hints.items() if hint.read_only_hint}
        assert reads == {
            "state",
            "list_skills",
            "mission_log",
            "look",
            "locate",
            "query_task_progress",
        }

    desk.run(scene)


def test_a_mission_of_a_client_is_a_mission_in_the_log() -> None:
    desk = McpDesk()
    heard: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        assert progress == len(heard) + 1
        heard.append(message or "")

    async def scene(client: Client) -> None:
        opened = await client.call_tool(
            OPEN, {"task": "drawer-open-v3", "why": "it was ordered"}, progress_callback=told
        )
        assert not opened.is_error
        assert "verified by the reward monitor" in text(opened)
        assert "(tasks left: 19, questions left: 3)" in text(opened)
        log = await client.call_tool("mission_log", {"steps": 2})
        assert "done: " in text(log)
        assert not (await client.call_tool("finish_mission", {"done": True, "words": "it is open"})).is_error

    desk.run(scene)
    assert heard
    assert desk.desk.mission.state is MissionState.DONE
    assert [goal.task for goal in desk.desk.sent] == ["drawer-open-v3"]
    calls, replies = desk.words("call"), desk.words("reply")
    assert len(calls) == len(replies) == 3
    assert json.loads(calls[0].split(OPEN)[1])["task"] == "drawer-open-v3"
    assert {entry.mission for entry in desk.desk.log if entry.kind == "call"} == {desk.desk.mission.id}


def test_done_counts_only_if_the_monitor_saw_it() -> None:
    desk = McpDesk(progress=(0.2,))

    async def scene(client: Client) -> None:
        failed = await client.call_tool(OPEN, {"task": "drawer-open-v3", "why": "x"})
        assert failed.is_error
        assert "not verified as done" in text(failed)
        ended = await client.call_tool("finish_mission", {"done": True, "words": "it is open"})
        assert "called done" in text(ended)

    desk.run(scene)
    assert desk.desk.mission.state is MissionState.FAILED


def test_a_picture_is_sent_where_one_is_asked_for() -> None:
    desk = McpDesk()

    async def scene(client: Client) -> None:
        seen = await client.call_tool("look", {"camera": "corner2"})
        data = np.frombuffer(base64.b64decode(seen.content[1].data), np.uint8)
        assert seen.content[1].mime_type == "image/png"
        assert cv2.imdecode(data, cv2.IMREAD_COLOR).shape[2] == 3
        for name in ("state", "list_skills", "query_task_progress"):
            arguments = {"task": "open the drawer"} if name == "query_task_progress" else {}
            assert len((await client.call_tool(name, arguments)).content) == 1

    desk.run(scene)
    assert desk.desk.mission.state is MissionState.IDLE, "to look begins no mission"


def test_motions_take_parameters_of_their_schema() -> None:
    desk = McpDesk()
    position = [0.1, 0.6, 0.3]

    async def scene(client: Client) -> None:
        skills = json.loads(text(await client.call_tool("list_skills")))["skills"]
        assert {skill["tool"]: bool(skill["params"]) for skill in skills} == {OPEN: False, MOVE: True}
        moved = await client.call_tool(MOVE, {"params": {"position": position}, "why": "over the drawer"})
        assert "done, as the motion measured, after 1 attempt" in text(moved)

    desk.run(scene)
    assert json.loads(desk.desk.driven[0].params_json) == {"position": position}
    assert "motion move to" in desk.desk.driven[0].instruction


def test_a_goal_that_ends_by_its_condition_is_not_tried_again() -> None:
    desk = McpDesk(progress=(0.2,))
    conditions = [{"name": "lifted", "height_m": 0.05}]
    desk.on_step = lambda: (
        desk.desk.sent and desk.desk.end("STOPPED", "stop_when", "it rose", stopped_by="lifted")
    )

    async def scene(client: Client) -> None:
        ended = await client.call_tool(
            OPEN, {"task": "drawer-open-v3", "why": "x", "stop_when": conditions, "max_steps": 400}
        )
        assert not ended.is_error
        assert "ended as asked" in text(ended)
        assert "stopped by lifted" in text(ended)

    desk.run(scene)
    [goal] = desk.desk.sent
    assert (json.loads(stop_when_text(goal.stop_when)), goal.max_steps) == (conditions, 400)


def test_budgets_are_told_and_kept() -> None:
    desk = McpDesk(limits=SteeringLimits(max_tasks=1, max_questions=1))

    async def scene(client: Client) -> None:
        desk.answer("the upper one")
        asked = await client.call_tool("ask_operator", {"question": "which drawer?"})
        assert text(asked).endswith('"the upper one" (tasks left: 1, questions left: 0)')
        assert "at most 1 questions" in text(await client.call_tool("ask_operator", {"question": "and why?"}))
        await client.call_tool(OPEN, {"task": "drawer-open-v3", "why": "x"})
        refused = await client.call_tool(OPEN, {"task": "drawer-close-v3", "why": "x"})
        assert text(refused) == "refused: a mission has at most 1 tasks"

    desk.run(scene)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_handshakes_are_spoken(mode: str) -> None:
    import asyncio

    from openral_reasoner.mcp.server import ToolsServer

    async def play() -> None:
        async with Client(ToolsServer(McpDesk()).mcp, mode=mode) as client:
            assert OPEN in {tool.name for tool in (await client.list_tools()).tools}
            assert not (await client.call_tool("state")).is_error

    asyncio.run(play())


def test_what_keeps_a_real_arm_from_moving_is_told() -> None:
    assert control_of(ControlStatus(stopped_by="hold to run\n"))["stopped_by"] == "hold to run"
    assert control_of(ControlStatus())["stopped_by"] == ""
