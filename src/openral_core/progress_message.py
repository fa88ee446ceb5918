"""Validation of the fields of an `openral/msg/TaskProgress`."""

from __future__ import annotations

from typing import Any

from openral_core.errors import ContractError
from openral_core.message_field_checks import goal_id_field, stamp_field
from openral_core.progress_judgement import ProgressReading

AHEAD_S = 2.0
"""[s] by which the stamp of a reading may be ahead of a node's clock, which follows `/clock`."""


def read_progress(message: Any, now_s: float) -> tuple[str, ProgressReading]:
    """Return the goal (hex UUID) and the reading, without its remark, of a message of the reward monitor.

    Args:
        message: as received; `ProgressReading.valid` tells whether its numbers are finite.
        now_s: [s] node clock.

    Raises:
        ContractError: the goal id or the stamp is invalid, or the stamp is in the future.
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
