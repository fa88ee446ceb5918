"""Between the reasoner's values and openral's messages, and the QoS profile both sides of a latched topic use."""

from __future__ import annotations

from typing import Any

from openral.msg import Mission as MissionMessage
from openral.msg import MissionStep, MissionTask, SkillInfo, TaskProgress
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from openral_reasoner.gate import Reading
from openral_reasoner.mission import LogEntry, Mission
from openral_reasoner.palette import Skill
from openral_reasoner.record import describe

LATCHED = QoSProfile(
    depth=32, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Deep enough for one message of each policy node on `/openral/skills`."""

NEWEST = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Of `/openral/mission`: who comes late gets the mission as it is now, and none as it was."""
STEPS = QoSProfile(
    depth=256, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Of `/openral/mission_log`: who comes late gets the last 256 steps."""


def skill_of(info: SkillInfo) -> Skill:
    """A palette entry from what a policy node says about itself."""
    return Skill(
        name=info.name,
        slug=info.slug,
        node=info.node,
        action_server=info.action_server,
        active=info.active,
        kind=info.kind,
        description=info.description,
        license=info.license,
        commercial_use=info.commercial_use,
        embodiment_tags=tuple(info.embodiment_tags),
        actions=tuple(info.actions),
        objects=tuple(info.objects),
        scenes=tuple(info.scenes),
        tasks=Skill.parse_tasks(info.tasks, info.examples),
        max_execution_s=info.max_execution_s,
    )


def reading_of(message: TaskProgress) -> Reading:
    """A reading from the reward monitor's topic."""
    stamp = message.header.stamp
    return Reading(
        stamp.sec + stamp.nanosec * 1e-9,
        message.progress,
        message.success,
        calibrated=message.calibrated,
        abstained=message.abstained,
        remark=message.remark,
    )


def step_of(entry: LogEntry) -> MissionStep:
    """A step of the mission log as it is published."""
    sec, nanosec = divmod(round(entry.stamp_s * 1e9), 1_000_000_000)
    message = MissionStep(
        mission=entry.mission, task=entry.task, text=entry.text, kind=entry.kind, reason=entry.reason,
        attempt=entry.attempt, state=entry.outcome,
    )  # fmt: skip
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    return message


def message_of(mission: Mission, stamp: Any) -> MissionMessage:
    """The mission as it is published, with a `builtin_interfaces/Time`."""
    fields = describe(mission)
    tasks = [
        MissionTask(**{name: value for name, value in task.items() if name != "instruction"})
        for task in fields.pop("tasks")
    ]
    message = MissionMessage(**fields, tasks=tasks)
    message.header.stamp = stamp
    return message
