"""How these arms are commanded; both sides of the wire agree on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from openral_core.errors import SimulationError

CONTROL_HZ = 20.0
"""[Hz] of LIBERO's and robosuite's data sets and evaluations."""
OPEN = -1.0
"""The gripper's command, the last number of each action, that opens it; 1 closes it."""

ControlName = Literal["relative", "absolute", "joints"]
"""relative, absolute: as in a manifest's `sim_env_control_mode`; joints: displacements of the joints."""


@dataclass(frozen=True)
class Control:
    """One way to command an arm."""

    name: ControlName
    """In identities and arguments of the server."""
    dim: int
    """Length of an action, the gripper's number included."""


CONTROLS = {
    "delta_ee_6d_plus_gripper": Control("relative", 7),
    "cartesian_pose": Control("absolute", 7),
    "delta_joints_plus_gripper": Control("joints", 8),
}
"""By the representation of a scene's actions."""


def named_control(name: ControlName) -> Control:
    """Return the control of that name."""
    return next(control for control in CONTROLS.values() if control.name == name)


def control_of(representation: str, simulator: str, offered: tuple[str, ...]) -> Control:
    """Return how a simulator takes the actions of a scene. Raises SimulationError: it takes no such ones."""
    if representation not in offered:
        raise SimulationError(
            f"action.representation: {simulator} takes {' or '.join(offered)}, not {representation}"
        )
    return CONTROLS[representation]
