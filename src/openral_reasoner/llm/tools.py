"""The tools a language model gets: one for each skill of the palette, and a handful for looking and talking."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_ai import BinaryContent, Tool, ToolReturn

from openral_reasoner.memory.memory import Memory
from openral_reasoner.mission.request_queue import (
    AskOperator,
    Decompose,
    Desk,
    Execute,
    Look,
    QueryProgress,
    Reply,
    Request,
    Say,
)
from openral_reasoner.palette import Palette, Skill

MAX_NAME = 64
"""Characters of a tool's name that all providers take."""
MAX_DESCRIPTION = 600


def skill_tool_name(skill: Skill) -> str:
    """Return `execute_skill__<name>`, cut with a hash where it would be too long for a provider."""
    name = "execute_skill__" + re.sub(r"[^A-Za-z0-9_-]+", "__", skill.name)
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(skill.name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def make_tools(
    palette: Palette, desk: Desk, memory: Memory | None, cameras: Sequence[str], *, sees: bool
) -> list[Tool[None]]:
    """Return the tools of one mission. All go one at a time; all but the notes go over the desk."""
    tools = [_skill_tool(skill, desk) for skill in palette.skills]
    tools += _talking_tools(desk)
    if memory is not None:
        tools += _memory_tools(memory)
    if palette.playbooks:
        tools.append(_playbook_tool(palette))
    if sees and cameras:
        tools.append(_look_tool(desk, cameras))
    return tools


async def _ask(desk: Desk, request: Request) -> Reply:
    return await asyncio.wrap_future(desk.put(request))


def _skill_tool(skill: Skill, desk: Desk) -> Tool[None]:
    task: dict[str, Any] = {"type": "string", "description": "which of the skill's tasks"}
    if skill.tasks:
        task["enum"] = [known.id for known in skill.tasks]

    async def execute(task: str = "", instruction: str = "", why: str = "") -> str:
        reply = await _ask(desk, Execute(skill.name, task, instruction, why))
        return reply.text

    return _schema_tool(
        execute,
        skill_tool_name(skill),
        _describe(skill),
        {
            "type": "object",
            "properties": {
                "task": task,
                "instruction": {
                    "type": "string",
                    "description": "words for the policy; empty: the task's own words, which work best",
                },
                "why": {"type": "string", "description": "one sentence, for the mission log"},
            },
            "required": ["task", "why"] if skill.tasks else ["instruction", "why"],
            "additionalProperties": False,
        },
    )


def _describe(skill: Skill) -> str:
    """What a manifest says about a skill, as data: one paragraph, cut to size."""
    parts = [f"Run the skill {skill.name} until the reward monitor has judged it."]
    if skill.description:
        parts.append(f"Its maker says: {skill.description!r}.")
    if skill.tasks:
        parts.append("Tasks: " + "; ".join(f"{task.id} = {task.phrase!r}" for task in skill.tasks) + ".")
    for title, values in (("Actions", skill.actions), ("Objects", skill.objects), ("Scenes", skill.scenes)):
        if values:
            parts.append(f"{title}: {', '.join(values)}.")
    text = "".join(c for c in " ".join(parts) if c.isprintable())
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 2] + " …"


def _talking_tools(desk: Desk) -> list[Tool[None]]:
    async def query_task_progress(task: str) -> str:
        """Ask the reward monitor how far a task is, from 0 to 1, as the cameras see it now.

        Args:
            task: the task in plain words, for example "open the drawer".
        """
        return (await _ask(desk, QueryProgress(task))).text

    async def ask_operator(question: str) -> str:
        """Ask the operator one short question and wait for the answer."""
        return (await _ask(desk, AskOperator(question))).text

    async def say(text: str) -> str:
        """Tell the operator something in one sentence."""
        return (await _ask(desk, Say(text))).text

    async def decompose_mission(steps: list[str]) -> str:
        """Write down the steps you mean to take, in plain words; it runs nothing."""
        return (await _ask(desk, Decompose(tuple(steps)))).text

    functions = (query_task_progress, ask_operator, say, decompose_mission)
    return [Tool(function, sequential=True) for function in functions]


def _memory_tools(memory: Memory) -> list[Tool[None]]:
    def remember(note: str) -> str:
        """Keep one short fact about this place or operator for later missions."""
        return memory.remember(note, source="language model")

    def recall(about: str) -> str:
        """Look up notes of earlier missions."""
        found = memory.recall(about)
        return "\n".join(found) if found else "there is no note about that"

    return [Tool(remember, sequential=True), Tool(recall, sequential=True)]


def _schema_tool(
    function: Callable[..., Awaitable[Any]], name: str, description: str, json_schema: dict[str, Any]
) -> Tool[None]:
    """Return a tool whose arguments are strings of a schema; a model that gives others is told so in words."""
    known = json_schema["properties"]

    async def checked(**given: Any) -> Any:
        wrong = [argument for argument, value in given.items() if not isinstance(value, str)]
        if wrong or given.keys() - known:
            return f"refused: {name} takes {', '.join(known)}, each a string, and nothing else"
        return await function(**given)

    return Tool.from_schema(checked, name, description, json_schema, sequential=True)


def _one_of(argument: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a tool whose only argument is one of some names."""
    return {
        "type": "object",
        "properties": {argument: {"type": "string", "enum": list(known)}},
        "required": [argument],
        "additionalProperties": False,
    }


def _playbook_tool(palette: Palette) -> Tool[None]:
    books = {book.name: book for book in palette.playbooks}

    async def read_playbook(name: str = "") -> str:
        book = books.get(name)
        return f"{book.body}\nIt is finished when: {book.done}" if book else f"there is {', '.join(books)}"

    about = "Read a written procedure. It tells how people do something here; it orders nothing."
    return _schema_tool(read_playbook, "read_playbook", about, _one_of("name", list(books)))


def _look_tool(desk: Desk, cameras: Sequence[str]) -> Tool[None]:
    async def look(camera: str = cameras[0]) -> ToolReturn[str]:
        reply = await _ask(desk, Look(camera))
        image = [BinaryContent(reply.image_png, media_type="image/png")] if reply.image_png else []
        return ToolReturn(return_value=reply.text, content=image)

    return _schema_tool(look, "look", "See the newest image of a camera.", _one_of("camera", cameras))
