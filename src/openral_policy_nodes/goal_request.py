"""Validates the goals that clients send to a skill."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openral_core.errors import ContractError, OpenralError
from openral_core.goal_params import parse_goal_params
from openral_core.manifest import RSkillManifest
from openral_core.message_field_checks import MAX_INSTRUCTION, text_field
from openral_core.stop_conditions import StopCondition, parse_stop_when

MAX_TASK = 128
"""Longest task id, in characters."""
MAX_DEADLINE_S = 86_400.0
"""[s] longest deadline, one day."""


class GoalRefused(OpenralError):
    """The goal was refused before anything moved; `check` names the check that refused it."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


@dataclass(frozen=True)
class GoalRequest:
    """A validated goal."""

    instruction: str
    deadline_s: float
    """[s] allowed duration on the node's clock."""
    params: Mapping[str, Any]
    """Parameters that fit the manifest's `goal_params_schema`."""
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions each of which ends the goal."""
    max_steps: int = 0
    """Control steps after which the goal ends; 0: unlimited."""


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
    """Validate the fields of an ExecuteSkill goal and return them as a request.

    Args:
        manifest: of the skill.
        instruction: language instruction of the policy. Empty: the first phrase of `task`; for a skill that takes no
            instruction, its name.
        task: one of the skill's task ids, or empty.
        deadline_s: [s] from 0 to MAX_DEADLINE_S; 0: the skill's `max_execution_s`, else `default_deadline_s`.
        params_json: JSON object that fits the manifest's `goal_params_schema`, or empty.
        default_deadline_s: [s] deadline where neither the goal nor the skill has one.
        stop_when: JSON array of stop conditions (`openral_core.stop_conditions`), or empty.
        max_steps: control steps after which the goal ends; 0: unlimited.

    Raises:
        GoalRefused: there is no instruction, the task is unknown, the deadline is out of range, the parameters do not
            fit the skill's schema, the stop conditions are invalid, or a text is too long or has control characters.
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
        words = manifest.short_name  # such a skill uses its parameters and takes no instruction
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
    """Raise GoalRefused if a text of a goal is too long or has characters that must not be logged or passed on."""
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
