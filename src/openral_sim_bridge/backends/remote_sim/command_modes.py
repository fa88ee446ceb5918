"""Command modes of robosuite's arms, shared by client and server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError

CONTROL_HZ = 20.0
"""[Hz] control rate of the data sets and evaluations of LIBERO and robosuite."""
OPEN = -1.0
"""Command that opens the gripper, the last number of each action; 1 closes it."""

ControlName = Literal["relative", "absolute", "joints"]
"""relative, absolute: as in a manifest's `sim_env_control_mode`; joints: displacements of the joints."""


@dataclass(frozen=True)
class CommandMode:
    """The meaning of an arm's actions."""

    name: ControlName
    """Name in the server's identity and arguments."""
    dim: int
    """Length of an action, including the gripper's number."""


CONTROLS = {
    "delta_ee_6d_plus_gripper": CommandMode("relative", 7),
    "cartesian_pose": CommandMode("absolute", 7),
    "delta_joints_plus_gripper": CommandMode("joints", 8),
}
"""Command mode by the representation of a scene's actions."""


def named_control(name: ControlName) -> CommandMode:
    """Return the command mode of a name."""
    return next(control for control in CONTROLS.values() if control.name == name)


def control_of(representation: str, simulator: str, offered: tuple[str, ...]) -> CommandMode:
    """Return the command mode for the actions of a scene.

    Args:
        representation: of the actions.
        simulator: its name, for the error.
        offered: representations that the simulator supports.

    Raises:
        SimulationError: the representation is not in `offered`.
    """
    if representation not in offered:
        raise SimulationError(
            f"action.representation: {simulator} takes {' or '.join(offered)}, not {representation}"
        )
    return CONTROLS[representation]


@dataclass(frozen=True)
class ExpertAction:
    """The action of a scripted expert in one world. It uses privileged state, so it is for training data only."""

    action: NDArray[np.float64]
    """(7,) action in the scene's action contract, each number -1 to 1."""
    thing: NDArray[np.float64]
    """(3,) [m] centre of the object that is to be moved, in the world frame."""
    goal: NDArray[np.float64]
    """(3,) [m] where this centre is to come to rest, or to be held, in the world frame."""
