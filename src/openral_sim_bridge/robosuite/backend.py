"""robosuite behind the Backend interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_core.errors import SimulationError
from openral_sim_bridge.arm_worlds.backend import ArmBackend, open_worlds
from openral_sim_bridge.robosuite.spec import SPEC

REPRESENTATION = "delta_ee_6d_plus_gripper"


def open_robosuite(task_ids: Sequence[str], *, representation: str, **options: Any) -> ArmBackend:
    """Start a process with robosuite's worlds.

    Args:
        task_ids: Lift, Stack, PickPlaceCan, Door, NutAssembly. Initial state i of a task is what robosuite draws from
            the seed i.
        representation: of the actions.
        options: of `open_worlds`.

    Raises:
        SimulationError: another representation than displacements.
        OpenralError: as `open_worlds`.
    """
    if representation != REPRESENTATION:
        raise SimulationError(
            f"action.representation: robosuite takes {REPRESENTATION}, not {representation}"
        )
    return open_worlds(SPEC, task_ids, representation=representation, **options)
