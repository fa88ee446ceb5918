"""The one place where the fields of an `openral/msg/TaskProgress` are checked before anybody believes them."""

from __future__ import annotations

from typing import Any

from openral_core.errors import ContractError
from openral_core.message_field_checks import goal_id_field, stamp_field
from openral_core.progress_judgement import ProgressReading

AHEAD_S = 2.0
"""[s] that the stamp of a reading may be ahead of a node's clock, which follows `/clock`."""


def read_progress(message: Any, now_s: float) -> tuple[str, ProgressReading]:
    """Return the goal (hex UUID) and the reading of a message of the reward monitor; its remark is left out.

    Args:
        message: as received; numbers that are not finite are left to `ProgressReading.valid`.
        now_s: [s] node clock.

    Raises:
        ContractError: its goal is no UUID, or its stamp is none, or in the future.
    """
    stamp_s = stamp_field("header.stamp", message.header.stamp.sec, message.header.stamp.nanosec)
    if stamp_s > now_s + AHEAD_S:
        raise ContractError(f"header.stamp is {stamp_s - now_s:.1f} s in the future; is use_sim_time set?")
    return goal_id_field("goal_id", message.goal_id), ProgressReading(
        stamp_s,
        message.progress,
        message.success,
        calibrated=message.calibrated,
        abstained=message.abstained,
    )
