"""The objects of a robosuite world: their positions, how one is moved, and initial states outside robosuite's range.

Import it only in the sidecar's interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError

OUTSIDE_M = (0.03, 0.10)
"""[m] least and greatest distance of an object that begins outside from the range in which robosuite places it."""
RANGES_M = {"Lift": 0.03, "Stack": 0.08}
"""[m] largest distance along x and along y from the table's centre at which robosuite places the cubes of a task. The
can of PickPlaceCan begins anywhere in its bin, so that task has no states outside the range."""
APART_M = 0.07
"""[m] least horizontal distance between the centres of two objects, at which cubes of 4 and 5 cm do not touch at any
yaw."""
BIN_HALF_M = (0.15, 0.20)
"""[m] half extents, along x and y, of the part of the first bin in which a can does not touch the walls."""
RIM_M = 0.1
"""[m] height of a bin's rim above its position; an object is moved into a bin over its rim."""
NEARER_M = 0.05
"""[m] distance, towards the arm, of a bin's reported position from the centre of the compartment (20 by 25 cm), since a
Panda's hand that points down reaches no further than 3 cm short of the centre."""

Position = NDArray[np.float64]


def positions(env: Any, task: str) -> dict[str, Position]:
    """Return the position (3,) [m] in the world frame of each object by name; the one that the task moves is first.

    The position of a bin is at the height of its rim, `NEARER_M` from the centre of the can's compartment.

    Raises:
        SimulationError: the objects of this task are not known here.
    """
    found = {name: np.array(env.sim.data.body_xpos[body]) for name, (_, body) in _things(env, task).items()}
    if task == "PickPlaceCan":
        middle = np.array(env.target_bin_placements[env.object_id])
        way = np.asarray(env.robots[0].base_pos)[:2] - middle[:2]
        found["bin"] = middle + np.append(NEARER_M * way / np.linalg.norm(way), RIM_M)
    return found


def move(env: Any, task: str, name: str, by: Position) -> None:
    """Displace an object by a vector (3,) [m] in the world frame and leave it at rest.

    Raises:
        SimulationError: no object of that name can be moved, or its new place is not free.
    """
    things = _things(env, task)
    if name not in things:
        raise SimulationError(f"{task} has no {name} that can be moved; it has {', '.join(things)}")
    spot = positions(env, task)[name] + by
    if not _is_free(env, task, name, spot):
        raise SimulationError(f"there is no room for the {name} at {np.round(spot, 3).tolist()} m")
    joint = things[name][0].joints[0]
    qpos = np.array(env.sim.data.get_joint_qpos(joint))
    qpos[:3] += by
    env.sim.data.set_joint_qpos(joint, qpos)
    env.sim.data.set_joint_qvel(joint, np.zeros(6))
    env.sim.forward()


def begin_outside(env: Any, task: str, init_id: int) -> None:
    """Move the task's object outside the range in which robosuite places it, by a distance within `OUTSIDE_M`.

    It moves to one of the four sides, drawn with a seed that depends on `init_id`.

    Raises:
        SimulationError: the task has no states outside the range.
    """
    if task not in RANGES_M:
        raise SimulationError(f"{task}: nothing of it can begin outside; use {' or '.join(RANGES_M)}")
    name, there = next(iter(positions(env, task).items()))
    rng = np.random.default_rng([init_id, 1])
    while True:
        axis, side, far = int(rng.integers(2)), rng.choice([-1.0, 1.0]), rng.uniform(*OUTSIDE_M)
        spot = there.copy()
        spot[axis] = side * (RANGES_M[task] + far)
        if _is_free(env, task, name, spot):
            return move(env, task, name, spot - there)


def _is_free(env: Any, task: str, name: str, spot: Position) -> bool:
    """Return whether an object can stand at `spot` (3,) [m]: away from all others, or inside the bin of the can."""
    if task == "PickPlaceCan":
        middle = np.asarray(env.bin1_pos[:2])
        return bool((np.abs(spot[:2] - middle) <= BIN_HALF_M).all())
    others = (there for other, there in positions(env, task).items() if other != name)
    return all(float(np.linalg.norm((there - spot)[:2])) >= APART_M for there in others)


def _things(env: Any, task: str) -> dict[str, tuple[Any, int]]:
    """Return robosuite's object and the id of its body for each movable object by name."""
    if task not in _FINDERS:
        raise SimulationError(
            f"{task}: where its things are is not known here; {', '.join(_FINDERS)} tell it"
        )
    return _FINDERS[task](env)


def _can(env: Any) -> dict[str, tuple[Any, int]]:
    can = env.objects[env.object_id]
    return {"can": (can, env.obj_body_id[can.name])}


_FINDERS: dict[str, Callable[[Any], dict[str, tuple[Any, int]]]] = {
    "Lift": lambda env: {"cube": (env.cube, env.cube_body_id)},
    "Stack": lambda env: {
        "red cube": (env.cubeA, env.cubeA_body_id),
        "green cube": (env.cubeB, env.cubeB_body_id),
    },
    "PickPlaceCan": _can,
}
"""Function that finds the objects of a task, by robosuite's name of the task."""
