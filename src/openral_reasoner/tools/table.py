"""The table of tools: everything that an agent can ask for, however it is connected.

An agent outside the reasoner gets more tools than a language model inside, which is told the mission and the skills in
its first message: the state, the log, the skills with their parameters, a stop, and the end of the mission.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from openral_core.message_field_checks import MAX_WORDS
from openral_reasoner.memory.notes_file import MAX_NOTE, Memory, NotesError
from openral_reasoner.mission.agent_requests import (
    AskOperator,
    Decompose,
    Finish,
    Locate,
    Look,
    QueryProgress,
    ReadLog,
    ReadState,
    Reply,
    Say,
    Stop,
)
from openral_reasoner.palette import Palette
from openral_reasoner.tools.skill_tools import describe, skill_tool, skill_tool_name
from openral_reasoner.tools.tool import Arguments, Tool

STOP = "stop"
"""Name of the tool that ends all motion."""
MAX_LOG = 256
"""Steps of the mission log that are kept for the tool `mission_log`, and that one call reads at most."""


class MissionEnd(BaseModel):
    """How the mission ended, in the agent's own words."""

    done: bool = Field(
        description="everything that was ordered is done and verified, or nothing had to be done"
    )
    nothing_to_do: bool = Field(
        default=False,
        description="no skill had to run, as a look or a progress query showed; say in words what it showed",
    )
    words: str = Field(description="one sentence for the operator", max_length=MAX_WORDS)


def inside_table(
    palette: Palette,
    *,
    cameras: Sequence[str] = (),
    sees: bool = True,
    memory: Memory | None = None,
    locates: bool = False,
    writer: str = "language model",
) -> tuple[Tool, ...]:
    """Return the tools of a language model in the reasoner, without the one that ends its mission.

    Args:
        palette: the usable skills.
        cameras: their names.
        sees: whether the agent takes images.
        memory: notes; None: the agent keeps none.
        locates: whether the service that locates things is there.
        writer: the source that the agent's notes are given.
    """
    tools = [*map(skill_tool, palette.skills), *_mission_tools()]
    tools += _notes(memory, writer) if memory is not None else []
    tools += [_playbook(palette)] if palette.playbooks else []
    tools += [_look(cameras)] if cameras and sees else []
    return (*tools, *([_locate(cameras)] if locates else []))


def outside_table(
    palette: Palette, *, cameras: Sequence[str] = (), memory: Memory | None = None, locates: bool = False
) -> tuple[Tool, ...]:
    """Return the tools of an agent outside the reasoner; arguments as of `inside_table`."""
    inside = inside_table(palette, cameras=cameras, memory=memory, locates=locates, writer="outside agent")
    return (_stop(), _state(), _skills(palette), _log(), *inside, _finish())


def _object(required: Sequence[str] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str, longest: int = MAX_WORDS) -> dict[str, Any]:
    return {"type": "string", "description": description, "maxLength": longest}


def _mission_tools() -> list[Tool]:
    steps = {"type": "array", "items": _text("one step in plain words"), "maxItems": 20}
    return [
        Tool(
            "query_task_progress",
            "Ask the reward monitor how far a task is, from 0 to 1, as the cameras see it now.",
            _object(["task"], task=_text('the task in plain words, for example "open the drawer"')),
            lambda given: QueryProgress(given["task"]),
            reads=True,
        ),
        Tool(
            "ask_operator",
            "Ask the operator one short question and wait for the answer.",
            _object(["question"], question=_text("one sentence")),
            lambda given: AskOperator(given["question"]),
        ),
        Tool(
            "say",
            "Tell the operator something in one sentence.",
            _object(["text"], text=_text("one sentence")),
            lambda given: Say(given["text"]),
        ),
        Tool(
            "decompose_mission",
            "Write down the steps you mean to take, in plain words; it runs nothing.",
            _object(["steps"], steps=steps),
            lambda given: Decompose(tuple(given["steps"])),
        ),
    ]


def _notes(memory: Memory, source: str) -> list[Tool]:
    def recall(given: Arguments) -> Reply:
        try:
            found = memory.recall(given["about"])
        except NotesError as error:
            return Reply(False, str(error))
        return Reply(True, "\n".join(found) if found else "there is no note about that")

    def remember(given: Arguments) -> Reply:
        try:
            return Reply(True, memory.remember(given["note"], source=source))
        except NotesError as error:
            return Reply(False, str(error))

    return [
        Tool(
            "remember",
            "Keep one short fact about this place or operator for later missions.",
            _object(["note"], note=_text("one line", MAX_NOTE)),
            remember,
        ),
        Tool(
            "recall",
            "Look up notes of earlier missions.",
            _object(["about"], about=_text("a few words")),
            recall,
            reads=True,
        ),
    ]


def _playbook(palette: Palette) -> Tool:
    books = {book.name: book for book in palette.playbooks}

    def read(given: Arguments) -> Reply:
        book = books[given["name"]]
        return Reply(True, f"{book.body}\nIt is finished when: {book.done}")

    return Tool(
        "read_playbook",
        "Read a written procedure. It tells how people do something here; it orders nothing.",
        _object(["name"], name={"type": "string", "enum": list(books)}),
        read,
        reads=True,
    )


def _look(cameras: Sequence[str]) -> Tool:
    return Tool(
        "look",
        "See the newest image of a camera.",
        _object(["camera"], camera={"type": "string", "enum": list(cameras)}),
        lambda given: Look(given["camera"]),
        reads=True,
    )


def _locate(cameras: Sequence[str]) -> Tool:
    pixel = {"type": "number", "minimum": 0, "maximum": 10_000}
    return Tool(
        "locate",
        "Ask where a thing is, by words or by a pixel of a camera's image: a point in metres in the world frame of the"
        " scene, with its uncertainty and age.",
        _object(
            words=_text('such as "the red cube"; empty: the pixel'),
            camera={"type": "string", **({"enum": list(cameras)} if cameras else {})},
            u={**pixel, "description": "column of the pixel, from the left edge"},
            v={**pixel, "description": "row of the pixel, from the upper edge"},
        ),
        lambda given: Locate(
            given.get("words", ""),
            given.get("camera", ""),
            float(given.get("u", 0.0)),
            float(given.get("v", 0.0)),
        ),
        reads=True,
    )


def _state() -> Tool:
    about = "Read the mission with its tasks, the open question, the skills, what the bridge does, and the E-stop."
    return Tool("state", about, _object(), lambda given: ReadState(), reads=True)


def _log() -> Tool:
    count = {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_LOG,
        "description": "newest steps; 30 by default",
    }
    return Tool(
        "mission_log",
        "Read the newest steps of the mission log, each with its reason.",
        _object(steps=count),
        lambda given: ReadLog(int(given.get("steps", 30))),
        reads=True,
    )


def _stop() -> Tool:
    return Tool(
        STOP,
        "Stop every motion now, whoever began it, and end the mission. It works at any time.",
        _object(why=_text("one sentence, for the mission log")),
        lambda given: Stop(given.get("why", "")),
        stops=True,
    )


def _skills(palette: Palette) -> Tool:
    """Return the tool that lists the skills; MCP clients that show no schemas learn their parameters here."""

    def listed(given: Arguments) -> Reply:
        usable = [
            {
                "tool": skill_tool_name(skill),
                "about": describe(skill),
                "tasks": [task.id for task in skill.tasks],
                "params": skill.goal_params_schema,
                "max_execution_s": skill.max_execution_s or None,
            }
            for skill in palette.skills
        ]
        return Reply(True, json.dumps({"skills": usable, "not_usable": palette.excluded}))

    about = "List the skills and motions that can run now, with their tasks and parameters, and why others cannot."
    return Tool("list_skills", about, _object(), listed, reads=True)


def _finish() -> Tool:
    schema = MissionEnd.model_json_schema()
    return Tool(
        "finish_mission",
        "End your mission. It counts as done only if every task was verified as done.",
        {**_object(), "properties": schema["properties"], "required": schema["required"]},
        lambda given: Finish(given["done"], given["words"], given.get("nothing_to_do", False)),
    )
