"""Converts messages to values for pages. Since any node may send anything, texts are cut to one printable line."""

from __future__ import annotations

import time
from typing import Any

from openral_console.live.frame_tree import Pose
from openral_console.live.views import ControlView, DiagnosticView, ReadingView, RecordingView, SkillView
from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.mission_record import RecordedMission, RecordedStep, RecordedTask

MAX_TASKS, MAX_ANSWERS, MAX_VALUES = 64, 8, 64
"""Tasks of a mission, answers of a question, values of a diagnostic that are shown."""


def mission_of(message: Any) -> RecordedMission:
    """Return what an `openral/msg/Mission` says."""
    return RecordedMission(
        id=plain_line(message.id),
        text=plain_line(message.text, MAX_SHOWN),
        state=plain_line(message.state),
        active_task=message.active_task,
        message=plain_line(message.message, MAX_SHOWN),
        question=plain_line(message.question, MAX_SHOWN),
        answers=tuple(plain_line(answer) for answer in message.answers[:MAX_ANSWERS]),
        tasks=tuple(_task_of(task) for task in message.tasks[:MAX_TASKS]),
    )


def _task_of(task: Any) -> RecordedTask:
    return RecordedTask(
        id=plain_line(task.id),
        text=plain_line(task.text),
        skill=plain_line(task.skill),
        skill_task=plain_line(task.skill_task),
        match_score=task.match_score,
        state=plain_line(task.state),
        attempts=task.attempts,
        depth=task.depth,
        progress=task.progress,
        success=task.success,
        outcome=plain_line(task.outcome, MAX_SHOWN),
        started_s=task.started_s,
        ended_s=task.ended_s,
    )


def step_of(message: Any) -> RecordedStep:
    """Return what an `openral/msg/MissionStep` says."""
    return RecordedStep(
        stamp_s=seconds(message.header.stamp),
        kind=plain_line(message.kind),
        reason=plain_line(message.reason, MAX_SHOWN),
        mission=plain_line(message.mission),
        task=message.task,
        text=plain_line(message.text),
        attempt=message.attempt,
        outcome=plain_line(message.state),
    )


def skill_of(message: Any) -> SkillView:
    """Return what an `openral/msg/SkillInfo` says."""
    return SkillView(
        name=plain_line(message.name),
        version=plain_line(message.version),
        kind=plain_line(message.kind),
        state=plain_line(message.state),
        license=plain_line(message.license),
        commercial_use=message.commercial_use,
        running=bool(message.goal_id),
        node=plain_line(message.node),
    )


def control_of(message: Any) -> ControlView:
    """Return what an `openral/msg/ControlStatus` says."""
    return ControlView(
        received_s=time.monotonic(),
        skill=plain_line(message.skill),
        instruction=plain_line(message.instruction),
        mode=plain_line(message.mode),
        goal=plain_line(message.active_goal),
        holding=message.holding,
        estopped=message.estopped,
        executed=message.executed,
        held=message.held,
        rejected=message.rejected,
        expired=message.expired,
        effective_hz=message.effective_hz,
        control_hz=message.control_hz,
        real_time_factor=message.real_time_factor,
        last_rejection=plain_line(message.last_rejection),
        operator=plain_line(message.taken_over_by),
        correcting=message.intervention == "correcting",
        waits=bool(message.paused_goal),
    )


def diagnostic_of(status: Any) -> DiagnosticView:
    """Return what a `diagnostic_msgs/msg/DiagnosticStatus` says."""
    level = status.level if isinstance(status.level, int) else status.level[0]  # a byte, as rosidl has it
    return DiagnosticView(
        received_s=time.monotonic(),
        name=plain_line(status.name),
        level=level,
        message=plain_line(status.message),
        values={plain_line(each.key): plain_line(each.value) for each in status.values[:MAX_VALUES]},
    )


def recording_of(message: Any) -> RecordingView:
    """Return what an `openral/msg/RecorderStatus` says."""
    return RecordingView(
        received_s=time.monotonic(),
        strategy=plain_line(message.strategy),
        recording=message.recording,
        instruction=plain_line(message.instruction),
        episode_s=message.episode_s,
        frames=message.frames,
        episodes=message.episodes,
        dropped_images=message.dropped_images,
        repeated_images=message.repeated_images,
        missing_steps=message.missing_steps,
        free_gb=message.free_gb,
        stopped_by=plain_line(message.stopped_by, MAX_SHOWN),
        folder=plain_line(message.folder, MAX_SHOWN),
    )


def reading_of(message: Any) -> ReadingView:
    """Return what an `openral/msg/TaskProgress` says."""
    return ReadingView(
        stamp_s=seconds(message.header.stamp),
        goal=plain_line(message.goal_id),
        task=plain_line(message.task),
        camera=plain_line(message.camera),
        progress=message.progress,
        success=message.success,
        threshold=message.threshold,
        abstained=message.abstained,
        remark=plain_line(message.remark),
    )


def poses_of(message: Any, prefix: str = "") -> dict[str, tuple[str, Pose]]:
    """Return child -> parent and pose of a `tf2_msgs/msg/TFMessage`.

    Args:
        message: frames of any robots of the domain.
        prefix: of the frames of one deployment; others are left out, and it is left out of their names.
    """
    found = {}
    for transform in message.transforms:
        shift, turn = transform.transform.translation, transform.transform.rotation
        pose = Pose((shift.x, shift.y, shift.z), (turn.x, turn.y, turn.z, turn.w))
        parent, child = transform.header.frame_id, transform.child_frame_id
        if parent.startswith(prefix) and child.startswith(prefix):
            found[child.removeprefix(prefix)] = (parent.removeprefix(prefix), pose)
    return found


def seconds(stamp: Any) -> float:
    """Return a stamp in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)
