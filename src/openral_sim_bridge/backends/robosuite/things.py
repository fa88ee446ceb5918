"""The things of a robosuite world: where they are, how one is moved, and how one begins where training never had it.

For the sidecar's interpreter only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError

OUTSIDE_M = (0.03, 0.10)
"""[m] least and greatest distance of a thing that begins outside from the range in which robosuite puts it."""
RANGES_M = {"Lift": 0.03, "Stack": 0.08}
"""[m] robosuite puts the cubes of these tasks so far from the table's middle at most, along x and along y. The can of
PickPlaceCan begins anywhere in its bin, so there is no outside."""
APART_M = 0.07
"""[m] least distance, horizontally, between the centres of two things: cubes of 4 and 5 cm at any yaw do not touch."""
BIN_HALF_M = (0.15, 0.20)
"""[m] half the part of the first bin, along x and y, in which a can stands free of the walls."""
RIM_M = 0.1
"""[m] of a bin's walls above its position: what is put into a bin goes over its rim."""
NEARER_M = 0.05
"""[m] towards the arm from the middle of a compartment, 20 by 25 cm, to the point that stands for it. A Panda's hand
that points down ends 3 cm short of the middle."""

Position = NDArray[np.float64]


def positions(env: Any, task: str) -> dict[str, Position]:
    """Return where the things of a world are, (3,) [m] by name, first the one that the task moves.

    A bin is at the height of its rim, `NEARER_M` from the middle of the can's compartment.

    Raises:
        SimulationError: this task's things have no names here.
    """
    found = {name: np.array(env.sim.data.body_xpos[body]) for name, (_, body) in _things(env, task).items()}
    if task == "PickPlaceCan":
        middle = np.array(env.target_bin_placements[env.object_id])
        way = np.asarray(env.robots[0].base_pos)[:2] - middle[:2]
        found["bin"] = middle + np.append(NEARER_M * way / np.linalg.norm(way), RIM_M)
    return found


def move(env: Any, task: str, name: str, by: Position) -> None:
    """Move a thing by (3,) [m] and leave it at rest.

    Raises:
        SimulationError: nothing of that name can be moved, or there is no room where it would go.
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
    """Put the thing that a task moves beside the range in which robosuite puts it, by `OUTSIDE_M`.

    It goes to any of the four sides; the same number gives the same state.

    Raises:
        SimulationError: there is no outside for this task.
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
    """Return whether a thing can stand at a spot (3,) [m]: off all others, and inside its bin."""
    if task == "PickPlaceCan":
        middle = np.asarray(env.bin1_pos[:2])
        return bool((np.abs(spot[:2] - middle) <= BIN_HALF_M).all())
    others = (there for other, there in positions(env, task).items() if other != name)
    return all(float(np.linalg.norm((there - spot)[:2])) >= APART_M for there in others)


def _things(env: Any, task: str) -> dict[str, tuple[Any, int]]:
    """Return robosuite's object and the id of its body, by the thing's name."""
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
"""By robosuite's name of the task."""
