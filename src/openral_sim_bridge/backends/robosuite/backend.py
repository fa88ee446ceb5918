"""The Backend of robosuite's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_sim_bridge.backends.remote_sim.arm_models import arm_of
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend, open_worlds
from openral_sim_bridge.backends.remote_sim.command_modes import control_of
from openral_sim_bridge.backends.robosuite.spec import SPEC

REPRESENTATIONS = ("delta_ee_6d_plus_gripper", "delta_joints_plus_gripper")
"""Supported actions: displacements of the hand (controller OSC_POSE), or of the joints (JOINT_POSITION)."""


def open_robosuite(
    task_ids: Sequence[str],
    *,
    representation: str,
    robot: str = "franka_panda",
    object_outside: bool = False,
    **options: Any,
) -> ArmBackend:
    """Start a process with robosuite's worlds.

    Args:
        task_ids: Lift, Stack, PickPlaceCan, Door, NutAssembly. Initial state i of a task is what robosuite draws from
            the seed i.
        representation: of the actions, one of `REPRESENTATIONS`.
        robot: name of the arm's description, franka_panda or sawyer_rethink.
        object_outside: whether the cube of Lift, or the red one of Stack, begins 3 to 10 cm outside the range in which
            robosuite places it.
        options: of `open_worlds`.

    Raises:
        NotFoundError: there is no such robot.
        SimulationError: the representation is not supported.
        OpenralError: as in `open_worlds`.
    """
    arm, control = arm_of(robot), control_of(representation, "robosuite", REPRESENTATIONS)
    words = ["--robot", robot, *(["--object-outside"] if object_outside else [])]
    return open_worlds(SPEC, task_ids, words, arm=arm, control=control, **options)
