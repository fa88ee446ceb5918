"""Between the reasoner's values and openral's messages.

Anybody in the graph may send anything: what comes in is checked here, field by field, before it is kept or repeated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from openral.msg import ControlStatus, MissionStep, MissionTask, SkillInfo, TaskProgress
from openral.msg import Mission as MissionMessage
from openral.msg import StartPose as StartPoseMessage
from pydantic import ValidationError

from openral_core.cli.printable import plain_line
from openral_core.errors import ContractError
from openral_core.goal_params import check_params_schema
from openral_core.hardware.arm_mode import takes_commands
from openral_core.manifest import StartPose
from openral_core.message_field_checks import goal_id_field, text_field
from openral_core.progress_judgement import ProgressReading
from openral_core.progress_message import read_progress
from openral_core.teleoperation_names import TAKEN_OVER
from openral_reasoner.mission.mission import LogEntry, Mission
from openral_reasoner.mission.record import recorded
from openral_reasoner.palette import Skill

MAX_TEXT = 256
"""Characters of a name, an id, a tag."""
MAX_DESCRIPTION = 2000
"""Characters of a skill's description that are kept."""
MAX_PHRASES = 4096
"""Characters of the phrases of one task."""
MAX_ENTRIES = 512
"""Entries of a list."""
MAX_SCHEMA = 16_384
"""Characters of the JSON Schema of a skill's parameters."""
MAX_ALL = 200_000
"""Characters of all texts of one message."""
_ROS_NAME = re.compile(r"(?:/[A-Za-z_][A-Za-z0-9_]*)+")


def skill_of(info: SkillInfo) -> Skill:
    """Return a palette entry from what a policy node says about itself.

    Raises:
        ContractError: a field is no honest description of a skill; the text names it.
    """
    lists = (info.embodiment_tags, info.actions, info.objects, info.scenes, info.tasks, info.examples)
    length = len(info.name) + sum(len(text) for each in lists for text in each)
    if length > MAX_ALL:
        raise ContractError(f"its texts have {length} characters; send at most {MAX_ALL}")
    if not info.name:
        raise ContractError("name is empty; send the manifest's")
    if not (math.isfinite(info.max_execution_s) and info.max_execution_s >= 0):
        raise ContractError(f"max_execution_s is {info.max_execution_s}; send seconds, 0 for none")
    goal_id_field("goal_id", info.goal_id)
    ids, examples = _texts("tasks", info.tasks), _texts("examples", info.examples, MAX_PHRASES)
    return Skill(
        name=text_field("name", info.name, MAX_TEXT),
        slug=text_field("slug", info.slug, MAX_TEXT),
        node=_ros_name("node", info.node),
        action_server=_ros_name("action_server", info.action_server),
        active=info.active,
        kind=text_field("kind", info.kind, MAX_TEXT),
        description=plain_line(info.description, MAX_DESCRIPTION),
        license=text_field("license", info.license, MAX_TEXT),
        commercial_use=info.commercial_use,
        embodiment_tags=_texts("embodiment_tags", info.embodiment_tags),
        actions=_texts("actions", info.actions),
        objects=_texts("objects", info.objects),
        scenes=_texts("scenes", info.scenes),
        tasks=Skill.parse_tasks(ids, examples, _texts("task_leaves", info.task_leaves)),
        max_execution_s=info.max_execution_s,
        start_poses=_start_poses(info.start_poses),
        leaves=text_field("leaves", info.leaves, MAX_TEXT) or "anything",
        goal_params_schema=_schema(info.goal_params_schema),
    )


def _start_poses(messages: Sequence[StartPoseMessage]) -> tuple[StartPose, ...]:
    if len(messages) > MAX_ENTRIES:
        raise ContractError(f"start_poses has {len(messages)} entries; send at most {MAX_ENTRIES}")
    return tuple(_start_pose(message) for message in messages)


def _start_pose(message: StartPoseMessage) -> StartPose:
    try:
        return StartPose(
            task=text_field("start_poses.task", message.task, MAX_TEXT) or None,
            position=(message.position.x, message.position.y, message.position.z),
            tolerance_m=message.tolerance_m,
            gripper_m=message.gripper_m if not message.gripper_m < 0 else None,
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ContractError(f"start_poses.{where}: {plain_line(first['msg'])}") from error


def _schema(text: str) -> Mapping[str, Any] | None:
    if not text:
        return None
    if len(text) > MAX_SCHEMA:
        raise ContractError(f"goal_params_schema has {len(text)} characters; send at most {MAX_SCHEMA}")
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"goal_params_schema is no JSON: {plain_line(str(error))}") from error
    if not isinstance(schema, dict):
        raise ContractError("goal_params_schema is no JSON object; send a JSON Schema")
    check_params_schema("the skill", schema)
    return schema


def _texts(field: str, values: Sequence[str], longest: int = MAX_TEXT) -> tuple[str, ...]:
    if len(values) > MAX_ENTRIES:
        raise ContractError(f"{field} has {len(values)} entries; send at most {MAX_ENTRIES}")
    return tuple(text_field(field, value, longest) for value in values)


def _ros_name(field: str, value: str) -> str:
    if len(value) > MAX_TEXT or not _ROS_NAME.fullmatch(value):
        raise ContractError(f"{field} is {plain_line(value, 40)!r}; send a fully qualified ROS name")
    return value


def goal_of(status: ControlStatus) -> str:
    """Return the hex UUID of the goal that the bridge executes, empty for none.

    Raises:
        ContractError: it is none.
    """
    return goal_id_field("active_goal", status.active_goal)


def operator_of(status: ControlStatus) -> str:
    """Return who has taken the arm over from the policies, in words; empty: nobody."""
    return plain_line(status.taken_over_by) if status.intervention in TAKEN_OVER else ""


def why_arm_refuses(status: ControlStatus) -> str:
    """Return why the arm takes no commands: its user stop, a reflex, a fault, a hand that guides it; empty: it does."""
    return "" if takes_commands(status.stopped_by) else plain_line(status.stopped_by)


def control_of(status: ControlStatus) -> dict[str, object]:
    """What the bridge says about itself, as plain values for an agent."""
    return {
        "executes": plain_line(status.instruction),
        "skill": plain_line(status.skill),
        "holding": bool(status.holding),
        "stopped_by": plain_line(status.stopped_by),
        "estopped": bool(status.estopped),
        "steps_executed": int(status.executed),
        "chunks_rejected": int(status.rejected),
        "last_rejection": plain_line(status.last_rejection),
    }


def reading_of(message: TaskProgress, now_s: float) -> tuple[str, ProgressReading]:
    """Return the goal and the reading of a message of the reward monitor.

    Args:
        message: as received; numbers that are not finite are left to `ProgressReading.valid`.
        now_s: [s] node clock.

    Raises:
        ContractError: its goal is no UUID, or its stamp is none, or in the future.
    """
    goal_id, reading = read_progress(message, now_s)
    return goal_id, replace(reading, remark=plain_line(message.remark))


def step_of(entry: LogEntry) -> MissionStep:
    """A step of the mission log as it is published."""
    sec, nanosec = divmod(round(entry.stamp_s * 1e9), 1_000_000_000)
    message = MissionStep(
        mission=entry.mission,
        task=entry.task,
        text=entry.text,
        kind=entry.kind,
        reason=entry.reason,
        attempt=entry.attempt,
        state=entry.outcome,
    )
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    return message


def message_of(mission: Mission, stamp: Any) -> MissionMessage:
    """The mission as it is published, with a `builtin_interfaces/Time`."""
    record = recorded(mission)
    tasks = [MissionTask(**task.model_dump(exclude={"instruction"})) for task in record.tasks]
    fields = record.model_dump(mode="json", exclude={"tasks"})
    message = MissionMessage(**fields, tasks=tasks)
    message.header.stamp = stamp
    return message
