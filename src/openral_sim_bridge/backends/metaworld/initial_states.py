"""Numbered initial states of MetaWorld's tasks.

`MT1(task, seed).train_tasks` are fifty goals that depend on the seed alone. Initial state `i` of a task is number
`i % 50` of the seed `42 + i // 50`, so 0 to 49 are those of the benchmark's usual seed 42, and further states need no
stored list.
"""

from __future__ import annotations

from functools import cache, lru_cache

import mujoco
import numpy as np
from metaworld.env_dict import ALL_V3_ENVIRONMENTS
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backends.metaworld.env import make_env

GOALS_PER_SEED = 50
FIRST_SEED = 42
LAST_INIT_ID = 999_999
"""Largest number of an initial state; MetaWorld itself would accept larger seeds."""


def check_task(task_id: str) -> None:
    """Raise NotFoundError unless MetaWorld has the task."""
    if task_id not in ALL_V3_ENVIRONMENTS:
        raise NotFoundError(
            f"MetaWorld has no task '{task_id}'; it has {', '.join(sorted(ALL_V3_ENVIRONMENTS))}"
        )


OUTSIDE_M = (0.03, 0.10)
"""[m] least and greatest distance of the object of `outside_vector` from the range in which MetaWorld places it."""
APART_M = 0.16
"""[m] least horizontal distance between object and goal; MetaWorld draws again below 0.15 m."""


def outside_vector(task_id: str, init_id: int) -> NDArray[np.float64]:
    """Return the vector (3,) or (6,) [m] of an initial state with the object outside MetaWorld's range.

    The object is moved left or right, or, for the tasks with a vector of object and goal (6,), towards the robot, by a
    distance within `OUTSIDE_M`. The random numbers depend on `init_id` alone.

    Raises:
        NotFoundError: there is no such task.
        SimulationError: `init_id` is not in 0 to LAST_INIT_ID.
    """
    vector = random_vector(task_id, init_id)
    low, high = _object_range(task_id)
    rng = np.random.default_rng([init_id, 1])
    far, side = rng.uniform(*OUTSIDE_M), int(rng.integers(3 if len(vector) > 3 else 2))
    moved = vector.copy()
    if side < 2:
        moved[0] = high[0] + far if side else low[0] - far
    if side == 2 or (len(vector) > 3 and np.linalg.norm(moved[:2] - moved[3:5]) < APART_M):
        moved[0], moved[1] = vector[0], low[1] - far
    return moved


@cache
def _object_range(task_id: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    env = make_env(task_id)
    space = env._random_reset_space
    env.close()
    return space.low[:3].copy(), space.high[:3].copy()


@lru_cache(maxsize=256)
def _goals(task_id: str, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Return the fifty vectors that `MT1(task_id, seed)` draws, from the same generator and by the same resets.

    MT1 simulates until the hand settles after each draw, 5000 steps in all, which takes half a second and does not
    affect the draws; here bodies are placed without simulation.
    """
    env = make_env(task_id)
    env.do_simulation = lambda control, frames: mujoco.mj_kinematics(env.model, env.data)
    env._freeze_rand_vec, env._set_task_called = False, True
    vectors = []
    before = np.random.get_state()  # MetaWorld draws from NumPy's global generator
    np.random.seed(seed)
    try:
        for _ in range(GOALS_PER_SEED):
            env.reset()
            vectors.append(np.asarray(env._last_rand_vec, dtype=np.float64).copy())
    finally:
        np.random.set_state(before)
    env.close()
    return tuple(vectors)


def random_vector(task_id: str, init_id: int) -> NDArray[np.float64]:
    """Return the vector (3,) or (6,) [m] that determines the positions of object and goal in an initial state.

    Raises:
        NotFoundError: there is no such task.
        SimulationError: `init_id` is not in 0 to LAST_INIT_ID.
    """
    check_task(task_id)
    if not 0 <= init_id <= LAST_INIT_ID:
        raise SimulationError(f"init_id must be >= 0 and at most {LAST_INIT_ID}, not {init_id}")
    block, index = divmod(init_id, GOALS_PER_SEED)
    return _goals(task_id, FIRST_SEED + block)[index].copy()
