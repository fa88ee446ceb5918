"""What a client of the MCP server cannot do: what is refused, who goes before it, and what a lost client leaves."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp_desk import MOVE, OPEN, SESSION, McpDesk, text
from openral.action import CallTool

from openral_core.errors import ContractError
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.ros.tool_server import MAX_OPEN, call_of, may_open
from openral_reasoner.tools.outside_calls import IDLE_S, Call
from openral_reasoner.tools.tool import MAX_ARGUMENTS

TASK = {"task": "drawer-open-v3", "why": "x"}
POSITION = [0.1, 0.6, 0.3]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "publish",
        {"topic": "/openral/action_chunk", "data": "1 1 1 1"},
        "there is no tool 'publish'; there is stop",
    ),
    ("execute_skill__openral__rskill-other", TASK, "there is no tool"),
    ("estop_reset", {}, "there is no tool"),
    ("remember", {"note": "all is allowed"}, "there is no tool"),
    (f"{OPEN}\u0000", TASK, "there is no tool"),
    (OPEN, {"task": "throw-the-cup-v3", "why": "root said so"}, "has no task 'throw-the-cup-v3'"),
    (OPEN, {"task": "drawer-open-v3\u0000", "why": "x"}, "has no task"),
    (OPEN, {**TASK, "instruction": "open\nthe drawer"}, "one line of 1 to 200 characters"),
    (OPEN, {**TASK, "instruction": "faster " * 40}, "one line of 1 to 200 characters"),
    (OPEN, {**TASK, "skill": "openral/rskill-other"}, "unknown 'skill'"),
    (OPEN, {**TASK, "deadline_s": 1e9}, "unknown 'deadline_s'"),
    (OPEN, {"task": ["drawer-open-v3"], "why": "x"}, "of type string"),
    (OPEN, {**TASK, "params": {"speed": 9}}, "unknown 'params'"),
    (OPEN, {**TASK, "stop_when": [{"name": "never"}]}, "never is no condition"),
    (OPEN, {**TASK, "stop_when": [{"name": "lifted", "height_m": 1e9}]}, "height_m"),
    (OPEN, {**TASK, "max_steps": -1}, "max_steps is -1"),
    (OPEN, {**TASK, "max_steps": 0.5}, "of type integer"),
    (MOVE, {"why": "x"}, "rskill-motion-move-to: params: position is missing"),
    (
        MOVE,
        {"why": "x", "params": {"position": [0.1, 0.6, 9.0]}},
        "position[2] is 9.0; send at most 1",
    ),
    (MOVE, {"why": "x", "params": {"position": [0.1, 0.6]}}, "at least 3"),
    (MOVE, {"why": "x", "params": {"position": POSITION, "speed": 0}}, "more than 0"),
    (MOVE, {"why": "x", "params": {"position": POSITION, "gripper": "x"}}, "unknown 'gripper'"),
    (MOVE, {"why": "x", "params": {"position": [True, 0, 0]}}, "of type number"),
    ("say", {"text": "\u001b[2J mission done"}, "control character U+001B"),
    ("say", {"text": " "}, "refused: the text is empty; send one sentence"),
    ("decompose_mission", {"steps": []}, "refused: there are no steps; send at least one"),
    ("say", {"text": "x" * 501}, "send at most 500 characters"),
    ("ask_operator", {"question": 7}, "of type string"),
    ("decompose_mission", {"steps": ["unlock the door\u0007"]}, "control character U+0007"),
    ("look", {"camera": "../../etc/passwd"}, "send one of corner2"),
    ("locate", {"u": -1}, "at least 0"),
    ("mission_log", {"steps": 10**9}, "at most 256"),
    ("finish_mission", {"done": "yes", "words": "x"}, "of type boolean"),
    ("finish_mission", {"done": True, "words": "all is well, no need to look"}, "you have no mission"),
    ("say", {"text": "x" * 20_000}, "the arguments have"),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_offered_is_refused_in_words(tool: str, arguments: dict[str, Any], words: str) -> None:
    desk = McpDesk()

    async def scene(client: Client) -> None:
        refused = await client.call_tool(tool, arguments)
        assert refused.is_error
        assert words in text(refused)
        assert text(refused).isprintable()

    desk.run(scene)
    assert desk.desk.sent == []
    assert len(desk.words("call")) == len(desk.words("reply")) == 1
    assert all(entry.reason.isprintable() for entry in desk.desk.log)


def test_arguments_that_are_no_json_object_are_refused() -> None:
    desk = McpDesk()
    for arguments in ("{", "[1]", "[" * 10_000, "NaN"):
        told: list[Any] = []
        desk.do(desk.calls.call(Call(SESSION, "x", False, "state", arguments), told.append, desk.now))
        assert told[0].text.startswith("refused: the arguments are no JSON")


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ('{"now": true}', "stop: unknown 'now'; its parameters: why"),
        ('{"reason": "an obstacle", "why": "x"}', "stop: unknown 'reason'; its parameters: why"),
        ('{"why": 7}', "stop: why is 7; send a value of type string"),
        ('{"why": "' + "x" * 501 + '"}', "send at most 500 characters"),
        (r'{"why": "\u001b[2J"}', "control character U+001B"),
        ('{"why": "' + "x" * 20_000 + '"}', "the arguments have 20011 characters"),
        ("[1]", "the arguments are no JSON object"),
        ("{", "the arguments are no JSON"),
    ],
)
def test_a_stop_stops_whatever_its_arguments_are(arguments: str, wrong: str) -> None:
    desk = McpDesk(progress=(0.3,))
    desk.desk.say("open the drawer")
    assert len(desk.desk.sent) == 1
    told: list[Any] = []
    desk.do(desk.calls.call(Call(SESSION, "an agent", True, "stop", arguments), told.append, desk.now))
    assert desk.desk.mission.state is MissionState.STOPPED
    assert desk.desk.cancelled == [1]
    assert told[0].ok
    assert told[0].text.startswith("every motion was told to stop; ")
    assert wrong in told[0].text
    assert told[0].text.isprintable()


def test_a_stop_is_taken_where_other_calls_are_too_many_or_too_long() -> None:
    long = "x" * (MAX_ARGUMENTS + 1)
    assert call_of(CallTool.Goal(tool="stop", arguments_json=long)).arguments == long
    with pytest.raises(ContractError, match="arguments_json has 16385 characters"):
        call_of(CallTool.Goal(tool="say", arguments_json=long))
    assert may_open("stop", MAX_OPEN)
    assert may_open("say", MAX_OPEN - 1)
    assert not may_open("say", MAX_OPEN)


def test_a_latched_estop_refuses_motion_and_nothing_else() -> None:
    desk = McpDesk()
    desk.do(desk.desk.director.estop(True, desk.now))

    async def scene(client: Client) -> None:
        refused = await client.call_tool(OPEN, TASK)
        assert text(refused) == "refused: the E-stop is latched; reset it with the service estop_reset"
        assert not (await client.call_tool("state")).is_error
        assert not (await client.call_tool("stop")).is_error

    desk.run(scene)
    assert desk.desk.sent == []


def test_a_mission_of_the_operator_is_not_disturbed_and_can_be_stopped() -> None:
    desk = McpDesk(progress=(0.3,))
    desk.desk.say("open the drawer")

    async def scene(client: Client) -> None:
        refused = await client.call_tool(OPEN, {"task": "drawer-close-v3", "why": "x"})
        assert 'a mission is in work: "open the drawer"' in text(refused)
        assert not (await client.call_tool("query_task_progress", {"task": "open the drawer"})).is_error
        await client.call_tool("stop", {"why": "a hand is in the way"})

    desk.run(scene)
    assert [goal.task for goal in desk.desk.sent] == ["drawer-open-v3"]
    assert desk.desk.cancelled == [1]
    assert desk.desk.stops == 1
    assert desk.desk.mission.message == "stopped by mcp 0.1.0: a hand is in the way"


@pytest.mark.parametrize(
    ("said", "words"), [("stop", 'the operator said "stop"'), ("close the drawer", "replaced by")]
)
def test_the_operator_goes_before_a_client_and_is_asked_before_it_goes_on(said: str, words: str) -> None:
    desk = McpDesk(progress=(0.3,))
    desk.on_step = lambda: desk.desk.sent and not desk.desk.mission.state.ended and interrupt()

    def interrupt() -> None:
        desk.on_step = lambda: None
        desk.desk.say(said, "an order")

    async def scene(client: Client) -> None:
        ended = await client.call_tool(OPEN, TASK)
        assert ended.is_error
        assert words in text(ended)
        desk.desk.run(1)
        desk.desk.say("stop", "an end")
        sent = len(desk.desk.sent)
        desk.answer("no")
        refused = await client.call_tool(OPEN, TASK)
        assert text(refused).startswith("refused: the operator said no")
        assert len(desk.desk.sent) == sent
        desk.progress = (0.95,)
        desk.answer("yes")
        assert not (await client.call_tool(OPEN, TASK)).is_error
        assert not (await client.call_tool(OPEN, {"task": "drawer-close-v3", "why": "x"})).is_error, (
            "asked once"
        )

    desk.run(scene)


def test_each_motion_needs_a_yes_and_silence_is_none() -> None:
    desk = McpDesk(approve_each=True)

    async def scene(client: Client) -> None:
        refused = await client.call_tool(OPEN, TASK)
        assert text(refused).startswith("refused: nobody allowed it in time")
        assert desk.desk.sent == []
        for params in ({"position": POSITION}, {"position": [0.0, 0.5, 0.2]}):
            desk.answer("yes")
            assert not (await client.call_tool(MOVE, {"params": params, "why": "x"})).is_error
        assert not (await client.call_tool("say", {"text": "no leave is needed for words"})).is_error

    desk.run(scene)
    asked = desk.words("question")
    assert len(asked) == 3
    assert 'wants to run openral/rskill-mini drawer-open-v3: "open the drawer"' in asked[0]
    assert all("[0.1, 0.6, 0.3]" in question for question in asked[1:2]), "the operator reads the numbers"


def test_a_client_is_told_that_the_operator_is_waited_for() -> None:
    desk = McpDesk(approve_each=True)
    heard: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def scene(client: Client) -> None:
        await client.call_tool(OPEN, TASK, progress_callback=told)

    desk.run(scene)
    assert any(words.startswith("waiting for the operator's answer: mcp") for words in heard), heard


@pytest.mark.parametrize(("said", "answer"), [("it is", 'answered: "it is"'), ("", "did not answer in time")])
def test_a_question_is_answered_while_a_skill_runs(said: str, answer: str) -> None:
    desk = McpDesk(progress=(0.3,))
    told: list[Any] = []
    desk.do(desk.calls.call(Call(SESSION, "x", False, OPEN, json.dumps(TASK)), lambda reply: None, desk.now))
    question = json.dumps({"question": "is it empty?"})
    desk.do(desk.calls.call(Call(SESSION, "x", False, "ask_operator", question), told.append, desk.now))
    assert desk.desk.director.question == "is it empty?"
    if said:
        desk.desk.say(said, "p2")
    else:
        desk.desk.now += 61.0
        desk.do(desk.desk.director.tick(desk.now))
    assert answer in told[0].text
    assert not desk.desk.director.question
    assert desk.desk.mission.state is MissionState.ACTIVE


def test_a_call_that_is_broken_off_stops_what_it_asked_for() -> None:
    desk = McpDesk(progress=(0.3,))

    async def scene(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool(OPEN, TASK))
        while not desk.desk.sent:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while not desk.desk.mission.state.ended:
            await asyncio.sleep(0)

    desk.run(scene)
    assert desk.desk.cancelled == [1]
    assert desk.desk.mission.message == "stopped: mcp 0.1.0 broke off its call"


def test_a_session_that_goes_away_or_asks_for_nothing_ends_its_mission() -> None:
    for leave, words in (
        (lambda desk: desk.do(desk.calls.gone(SESSION, desk.now)), "went away"),
        (lambda desk: wait(desk), "asked for nothing for 600 s"),
    ):
        desk = McpDesk()

        async def scene(client: Client) -> None:
            await client.call_tool("say", {"text": "I begin"})

        desk.run(scene)
        assert desk.desk.mission.state is MissionState.ACTIVE
        leave(desk)
        assert desk.desk.mission.state is MissionState.STOPPED
        assert desk.desk.mission.message == f"stopped: mcp 0.1.0 {words}"


def wait(desk: McpDesk) -> None:
    desk.desk.now += IDLE_S + 1
    desk.step()


def test_two_sessions_do_not_share_a_mission() -> None:
    desk = McpDesk()
    told: list[Any] = []
    for session in (SESSION, "/openral/agent_2"):
        desk.do(desk.calls.call(Call(session, session, False, "say", '{"text": "x"}'), told.append, desk.now))
    assert [reply.ok for reply in told] == [True, False]
    assert "a mission is in work" in told[1].text


def test_a_second_motion_waits_for_the_first() -> None:
    desk = McpDesk(progress=(0.3,))
    told: list[Any] = []
    for _ in range(2):
        arguments = '{"task": "drawer-open-v3", "why": "x"}'
        desk.do(desk.calls.call(Call(SESSION, "x", False, OPEN, arguments), told.append, desk.now))
    desk.step()
    assert [reply.text for reply in told] == ["refused: a skill is running; wait for its end"]
    assert len(desk.desk.sent) == 1
