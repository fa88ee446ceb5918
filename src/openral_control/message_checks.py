"""Validation of the fields of the messages that a bridge receives, before they are used."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import GoalAnnouncement
from openral_core.errors import ContractError
from openral_core.message_field_checks import MAX_INSTRUCTION, goal_id_field, stamp_field, text_field

MAX_BYTES = 256 * 1024
"""Largest size of the actions of one chunk, as float32: that of 5 s at 1 kHz with 13 numbers."""
GOAL_ID_DIGITS = 32
MAX_SKILL, MAX_REPRESENTATION, MAX_NODE = 128, 64, 256
"""Largest lengths of text fields, in characters."""


def read_chunk(message: Any) -> Chunk:
    """Return the chunk of an `openral/msg/ActionChunk`.

    The actions are not checked for their values, only for their number, which is horizon x dim (0 for the end of a
    goal).

    Raises:
        ContractError: a field is too long, malformed or not finite.
    """
    goal = _goal_id(message.goal_id)
    if not goal:
        raise ContractError("goal_id is empty; send the UUID of the goal as 32 hexadecimal digits")
    stamp_s = stamp_field("header.stamp", message.header.stamp.sec, message.header.stamp.nanosec)
    horizon, dim, values = int(message.horizon), int(message.dim), len(message.data)
    if 4 * values > MAX_BYTES:
        raise ContractError(f"data: {values} numbers; send at most {MAX_BYTES // 4}")
    if values != horizon * dim:
        raise ContractError(f"data: {values} numbers, not horizon {horizon} x dim {dim}")
    for name in ("dt", "latency_s"):
        if not math.isfinite(getattr(message, name)):
            raise ContractError(f"{name} is {getattr(message, name)}; send a finite number")
    return Chunk(
        stamp_s=stamp_s,
        goal_id=goal,
        skill=text_field("skill", message.skill, MAX_SKILL),
        instruction=text_field("instruction", message.instruction, MAX_INSTRUCTION),
        representation=text_field("representation", message.representation, MAX_REPRESENTATION),
        sequence=int(message.sequence),
        horizon=horizon,
        dim=dim,
        dt=float(message.dt),
        data=np.array(message.data, dtype=np.float32),
        latency_s=float(message.latency_s),
    )


def unreadable_chunk(message: Any, fault: str) -> Chunk | None:
    """Return a chunk with `fault` and no actions for a message that `read_chunk` refused; None: its goal is unknown."""
    try:
        goal, skill = _goal_id(message.goal_id), text_field("skill", message.skill, MAX_SKILL)
    except ContractError:
        return None
    try:
        stamp_s = stamp_field("header.stamp", message.header.stamp.sec, message.header.stamp.nanosec)
    except ContractError:
        stamp_s = math.nan
    nothing = np.empty(0, np.float32)
    return (
        Chunk(stamp_s, goal, skill, "", "", int(message.sequence), 1, 0, 0.0, nothing, fault=fault)
        if goal
        else None
    )


def read_announcement(message: Any) -> GoalAnnouncement:
    """Return the announcement of an `openral/msg/SkillInfo`.

    Raises:
        ContractError: a field is too long, malformed or not finite.
    """
    horizon_s = float(message.horizon_s)
    if not (math.isfinite(horizon_s) and horizon_s >= 0.0):
        raise ContractError(f"horizon_s is {horizon_s}; send the length of the chunks in seconds")
    return GoalAnnouncement(
        node=text_field("node", message.node, MAX_NODE),
        skill=text_field("name", message.name, MAX_SKILL),
        active=bool(message.active),
        goal_id=_goal_id(message.goal_id),
        horizon_s=horizon_s,
    )


def _goal_id(value: str) -> str:
    if value and len(value) != GOAL_ID_DIGITS:
        raise ContractError(f"goal_id has {len(value)} characters; send a UUID as 32 hexadecimal digits")
    return goal_id_field("goal_id", value)
