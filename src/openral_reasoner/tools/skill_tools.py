"""The tools that run a skill: one for each policy and each motion of the palette."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from openral_core.cli.printable import one_line
from openral_core.errors import ContractError
from openral_core.stop_conditions import parse_stop_when, stop_when_schema
from openral_reasoner.mission.agent_requests import Execute, Reply
from openral_reasoner.mission.ladder.rungs import WAYS
from openral_reasoner.palette import MOTION, Skill
from openral_reasoner.tools.tool import Arguments, Tool

MAX_NAME = 64
"""Characters of a tool's name that all providers take."""
MAX_DESCRIPTION = 600
WAYS_TOLD = (
    "how a task that failed is tried anew, each way once: home, from its start pose; restage, from above its object;"
    " grasp, once a motion has put the object into the hand; motions, by motions alone. Absent: from where the arm is."
)


def skill_tool_name(skill: Skill) -> str:
    """Return `execute_skill__<name>`, cut with a hash where it would be too long for a provider."""
    name = "execute_skill__" + re.sub(r"[^A-Za-z0-9_-]+", "__", skill.name)
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(skill.name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def skill_tool(skill: Skill) -> Tool:
    """Return the tool that runs a skill until it was judged."""

    def ask(given: Arguments) -> Execute | Reply:
        try:
            conditions = parse_stop_when(json.dumps(given.get("stop_when", [])))
        except ContractError as error:
            return Reply(False, f"refused: {error}")
        return Execute(
            skill.name,
            given.get("task", ""),
            given.get("instruction", ""),
            given.get("why", ""),
            params=given.get("params", {}),
            stop_when=conditions,
            max_steps=int(given.get("max_steps", 0)),
            way=given.get("way", ""),
        )

    return Tool(skill_tool_name(skill), describe(skill), _schema(skill), ask, moves=True, gate_judges=True)


def _schema(skill: Skill) -> dict[str, Any]:
    task: dict[str, Any] = {"type": "string", "description": "which of the skill's tasks"}
    if skill.tasks:
        task["enum"] = [known.id for known in skill.tasks]
    instruction = {
        "type": "string",
        "description": "words for the policy; empty: the task's own words, which work best",
    }
    properties: dict[str, Any] = {
        "task": task,
        "instruction": instruction,
        "stop_when": _stop_when(),
        "max_steps": {"type": "integer", "minimum": 1, "description": "control steps after which it ends"},
        "way": {"type": "string", "enum": [way.value for way in WAYS], "description": WAYS_TOLD},
    }
    required = ["task"] if skill.tasks else ["instruction"]
    params: Mapping[str, Any] | None = skill.goal_params_schema
    if skill.kind == MOTION:
        properties, required = {}, []
    if params is not None:
        properties["params"] = {"description": "the skill's parameters", **params, "type": "object"}
        required += ["params"] if params.get("required") else []
    properties["why"] = {"type": "string", "description": "one sentence, for the mission log"}
    return {
        "type": "object",
        "properties": properties,
        "required": [*required, "why"],
        "additionalProperties": False,
    }


def _stop_when() -> dict[str, Any]:
    """Return the schema of `stop_when` in few words: its own, with all numbers, would be most of what a model reads."""
    conditions = stop_when_schema()["$defs"].values()
    names = [each["properties"]["name"]["const"] for each in conditions]
    descriptions = "; ".join(
        f"{name} ({', '.join(field for field in each['properties'] if field != 'name')}): {each['description']}"
        for name, each in zip(names, conditions, strict=True)
    )
    item = {"type": "object", "properties": {"name": {"enum": names}}, "required": ["name"]}
    return {
        "type": "array",
        "items": item,
        "description": " ".join(f"conditions that end it, the first to hold counts; {descriptions}".split()),
    }


def describe(skill: Skill) -> str:
    """Return what a manifest says about a skill, as data: one paragraph, cut to size."""
    end = "until it has ended" if skill.kind == MOTION else "until the reward monitor has judged it"
    parts = [f"Run the {'motion' if skill.kind == MOTION else 'skill'} {skill.name} {end}."]
    if skill.description:
        parts.append(f"Its maker says: {skill.description!r}.")
    if skill.tasks:
        parts.append("Tasks: " + "; ".join(f"{task.id} = {task.phrase!r}" for task in skill.tasks) + ".")
    for title, values in (("Actions", skill.actions), ("Objects", skill.objects), ("Scenes", skill.scenes)):
        if values:
            parts.append(f"{title}: {', '.join(values)}.")
    text = one_line(" ".join(parts))
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 2] + " …"
