"""How these arms are commanded; both sides of the wire agree on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError

CONTROL_HZ = 20.0
"""[Hz] of LIBERO's and robosuite's data sets and evaluations."""
OPEN = -1.0
"""The gripper's command, the last number of each action, that opens it; 1 closes it."""

ControlName = Literal["relative", "absolute", "joints"]
"""relative, absolute: as in a manifest's `sim_env_control_mode`; joints: displacements of the joints."""


@dataclass(frozen=True)
class CommandMode:
    """One way to command an arm."""

    name: ControlName
    """In identities and arguments of the server."""
    dim: int
    """Length of an action, the gripper's number included."""


CONTROLS = {
    "delta_ee_6d_plus_gripper": CommandMode("relative", 7),
    "cartesian_pose": CommandMode("absolute", 7),
    "delta_joints_plus_gripper": CommandMode("joints", 8),
}
"""By the representation of a scene's actions."""


def named_control(name: ControlName) -> CommandMode:
    """Return the control of that name."""
    return next(control for control in CONTROLS.values() if control.name == name)


def control_of(representation: str, simulator: str, offered: tuple[str, ...]) -> CommandMode:
    """Return how a simulator takes the actions of a scene. Raises SimulationError: it takes no such ones."""
    if representation not in offered:
        raise SimulationError(
            f"action.representation: {simulator} takes {' or '.join(offered)}, not {representation}"
        )
    return CONTROLS[representation]


@dataclass(frozen=True)
class ExpertAction:
    """What a scripted expert would do in one world. It knows what no camera sees, so it is for teaching only."""

    action: NDArray[np.float64]
    """(7,) what the expert would do, in the scene's action contract, -1..1."""
    thing: NDArray[np.float64]
    """(3,) [m] centre of what is to be moved, in the world frame."""
    goal: NDArray[np.float64]
    """(3,) [m] where that centre shall come to rest, or be held."""
