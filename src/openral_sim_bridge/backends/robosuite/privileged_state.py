"""Reads the privileged state that experts use (true poses of hand and objects) from robosuite.

Import it only in the sidecar's interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backends.robosuite.expert import ARM_SETTINGS, PrivilegedState

HELD_AT = 0.14
"""[m] height above the table at which Lift's cube is held; for robosuite 4 cm are a success."""
CUBE_ON_CUBE = 0.045
"""[m] between the centres of Stack's cubes with edges of 4 and 5 cm."""
HALF_A_CAN = 0.06
"""[m] height of the centre of a standing can."""

Position = NDArray[np.float64]


def look(env: Any, task: str) -> PrivilegedState:
    """Return the present state of a robosuite environment of Lift, Stack or PickPlaceCan."""
    thing, where, goal = _FINDERS[task](env)
    robot, data = env.robots[0], env.sim.data
    site = robot.eef_site_id["right"]
    return PrivilegedState(
        hand=np.array(data.site_xpos[site]),
        rotation=np.array(data.site_xmat[site]).reshape(3, 3),
        held=bool(env._check_grasp(robot.gripper, thing)),
        thing=where,
        settings=ARM_SETTINGS[robot.name],
        goal=goal,
    )


def _lift(env: Any) -> tuple[Any, Position, Position]:
    cube = _place(env, env.cube_body_id)
    height = env.model.mujoco_arena.table_offset[2] + HELD_AT
    return env.cube, cube, np.array([cube[0], cube[1], height])


def _stack(env: Any) -> tuple[Any, Position, Position]:
    base = _place(env, env.cubeB_body_id)
    return env.cubeA, _place(env, env.cubeA_body_id), base + np.array([0.0, 0.0, CUBE_ON_CUBE])


def _can(env: Any) -> tuple[Any, Position, Position]:
    can = env.objects[env.object_id]
    goal = env.target_bin_placements[env.object_id] + [0.0, 0.0, HALF_A_CAN]
    return can, _place(env, env.obj_body_id[can.name]), goal


def _place(env: Any, body: int) -> Position:
    return np.array(env.sim.data.body_xpos[body])


_FINDERS: dict[str, Callable[[Any], tuple[Any, Position, Position]]] = {
    "Lift": _lift,
    "Stack": _stack,
    "PickPlaceCan": _can,
}
"""Task -> function of the environment that returns the task's object, its position and its goal (3,) [m]."""
