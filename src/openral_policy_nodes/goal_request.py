"""Checks what a client asks of a skill before anything moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openral_core.errors import ContractError, OpenralError
from openral_core.goal_params import parse_goal_params
from openral_core.manifest import RSkillManifest
from openral_core.message_field_checks import text_field
from openral_core.stop_conditions import StopCondition, parse_stop_when

MAX_INSTRUCTION, MAX_TASK = 1000, 128
"""Characters."""
MAX_DEADLINE_S = 86_400.0
"""[s]"""


class GoalRefused(OpenralError):
    """The goal cannot be run as asked; `check` names the check that refused it."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


@dataclass(frozen=True)
class GoalRequest:
    """A goal that the skill can run."""

    instruction: str
    deadline_s: float
    """[s] node clock."""
    params: Mapping[str, Any]
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions that end it."""
    max_steps: int = 0
    """Control steps after which it ends; 0: no such bound."""


def parse_goal(
    manifest: RSkillManifest,
    instruction: str,
    task: str,
    deadline_s: float,
    params_json: str,
    default_deadline_s: float,
    stop_when: str = "",
    max_steps: int = 0,
) -> GoalRequest:
    """Turn the fields of an ExecuteSkill goal into a request.

    Args:
        manifest: the skill's.
        instruction: words for the policy; empty: the first phrase of `task`, or the name of a skill that reads none.
        task: one of the skill's task ids, or empty.
        deadline_s: [s], at most a day; 0: the skill's `max_execution_s`, else `default_deadline_s`.
        params_json: JSON object for the manifest's `goal_params_schema`, or empty.
        default_deadline_s: [s] for skills that suggest none.
        stop_when: JSON array of conditions that end it (`openral_core.stop_conditions`), or empty.
        max_steps: control steps after which it ends; 0: no such bound.

    Raises:
        GoalRefused: no words, an unknown task, a deadline that is none, parameters that do not fit the skill's schema,
            conditions that are none, or a text that is too long or holds control characters.
    """
    _check_texts(instruction, task)
    if not (math.isfinite(deadline_s) and 0.0 <= deadline_s <= MAX_DEADLINE_S):
        text = f"deadline_s is {deadline_s:g}; send seconds from 0 (the skill's own) to {MAX_DEADLINE_S:g}"
        raise GoalRefused("deadline", text)
    phrases = {example.task: example.phrases[0] for example in manifest.examples}
    if task and task not in phrases:
        known = ", ".join(phrases) or "none"
        raise GoalRefused("task", f"{manifest.name} has no task {task!r}; its tasks: {known}")
    words = instruction.strip() or phrases.get(task, "")
    if not words and manifest.kind != "vla":
        words = manifest.short_name  # it reads its parameters, and no words
    if not words:
        raise GoalRefused("instruction", "no instruction and no task; say in words what to do")
    suggested = manifest.latency_budget.max_execution_s or default_deadline_s
    params = _params(manifest, params_json)
    return GoalRequest(words, deadline_s or suggested, params, _conditions(stop_when), max_steps)


def _conditions(text: str) -> tuple[StopCondition, ...]:
    try:
        return parse_stop_when(text)
    except ContractError as error:
        raise GoalRefused("stop_when", str(error)) from error


def _check_texts(instruction: str, task: str) -> None:
    """Raise GoalRefused unless the texts of a goal are such that they may be read, logged and passed on."""
    for check, value, longest in (("instruction", instruction, MAX_INSTRUCTION), ("task", task, MAX_TASK)):
        try:
            text_field(check, value, longest)
        except ContractError as error:
            raise GoalRefused(check, str(error)) from error


def _params(manifest: RSkillManifest, text: str) -> Mapping[str, Any]:
    try:
        return parse_goal_params(manifest.name, manifest.goal_params_schema, text)
    except ContractError as error:
        raise GoalRefused("params", str(error)) from error
