"""Validates the fields of an `openral/msg/ControlStatus` before a policy node uses them."""

from __future__ import annotations

from typing import Any

from openral_core.cli.printable import one_line
from openral_core.message_field_checks import goal_id_field, stamp_field, text_field
from openral_core.teleoperation_names import TAKEN_OVER
from openral_policy_nodes.goal_supervisor import BridgeStatus

MAX_REASON, MAX_MODE = 500, 32
"""Characters of a reason that are kept, and longest text of a mode."""


def read_status(message: Any) -> BridgeStatus:
    """Return the fields of a ControlStatus that a goal needs, validated.

    Reasons are words for people, of any length, as where one names the path of a scene: what the status says besides
    must not be lost by them.

    Raises:
        ContractError: an id, the mode or the stamp is invalid.
    """
    return BridgeStatus(
        active_goal=goal_id_field("active_goal", message.active_goal),
        executed=int(message.executed),
        rejected_goal=goal_id_field("rejected_goal", message.rejected_goal),
        rejected_streak=int(message.rejected_streak),
        last_rejection=one_line(message.last_rejection[:MAX_REASON]),
        lockstep=text_field("mode", message.mode, MAX_MODE) == "lockstep",
        holding=bool(message.holding),
        stamp_s=stamp_field("header.stamp", message.header.stamp.sec, message.header.stamp.nanosec),
        stopped_by=one_line(message.stopped_by[:MAX_REASON]),
        taken_over=text_field("intervention", message.intervention, MAX_MODE) in TAKEN_OVER,
    )
