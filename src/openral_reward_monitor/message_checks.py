"""Checks of the messages that the monitor receives. Each function raises a ContractError for invalid fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.message_field_checks import MAX_INSTRUCTION, goal_id_field, text_field
from openral_core.scene import SceneCamera
from openral_reward_monitor.window import WatchedGoal

MAX_JOINTS = 256
"""Most joints in one message."""
MAX_SIDE = 4096
"""[px] greatest width and height of an image whose size no scene gives."""


def parse_status(active_goal: str, instruction: str) -> WatchedGoal | None:
    """Return the goal of a ControlStatus, None while no goal is running."""
    if not goal_id_field("active_goal", active_goal):
        return None
    return WatchedGoal(active_goal, text_field("instruction", instruction, MAX_INSTRUCTION))


def parse_joints(names: Sequence[str], positions: Sequence[float]) -> NDArray[np.float64] | None:
    """Return the positions (J,) [rad or m] of a JointState, or None if it has none, only velocities for example."""
    if len(positions) > MAX_JOINTS:
        raise ContractError(f"joint states have {len(positions)} positions; send at most {MAX_JOINTS}")
    if len(positions) == 0:
        return None
    if len(names) != len(positions):
        raise ContractError(
            f"joint states have {len(names)} names and {len(positions)} positions; send as many"
        )
    values = np.array(positions, np.float64)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ContractError(f"joint states: position {place} is {values[place]}; send finite numbers")
    return values


def camera_of_size(name: str, width: int, height: int) -> SceneCamera:
    """Return a camera of the size [px] of its first image, for robots without a scene."""
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise ContractError(
            f"camera '{name}' sends {width}x{height}; a picture has 1 to {MAX_SIDE} pixels a side"
        )
    return SceneCamera(name=name, feature_key=name, width=width, height=height)
