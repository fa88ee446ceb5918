"""MetaWorld's fixed initial states, by number.

`MT1(task, seed).train_tasks` are fifty goals that depend on the seed alone. Initial state `i` of a task is number
`i % 50` of the seed `42 + i // 50`, so 0 to 49 are the ones of the benchmark's usual seed 42, and any number
of further states follows without a list to keep.
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
"""The last initial state; MetaWorld's seeds would go further."""


def check_task(task_id: str) -> None:
    """Raise NotFoundError unless MetaWorld has that task."""
    if task_id not in ALL_V3_ENVIRONMENTS:
        raise NotFoundError(
            f"MetaWorld has no task '{task_id}'; it has {', '.join(sorted(ALL_V3_ENVIRONMENTS))}"
        )


OUTSIDE_M = (0.03, 0.10)
"""[m] least and greatest distance of `outside_vector` from the range in which MetaWorld puts the object."""
APART_M = 0.16
"""[m] between object and goal, horizontally; MetaWorld draws again where it is less than 0.15."""


def outside_vector(task_id: str, init_id: int) -> NDArray[np.float64]:
    """Return the vector of an initial state with the object moved out of the range in which MetaWorld puts it.

    It goes left or right, or, for the tasks whose object comes first and a goal behind it, towards the robot, by
    `OUTSIDE_M`. The same number gives the same state.

    Raises: as `random_vector`.
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

    MT1 lets the hand settle after each draw, 5000 steps in all, which takes half a second and decides no draw; here the
    bodies are placed and nothing moves.
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
    """Return the vector (3,) or (6,) [m] that fixes where the objects and the goal of this initial state are.

    Raises:
        NotFoundError: no such task.
        SimulationError: a negative number.
    """
    check_task(task_id)
    if not 0 <= init_id <= LAST_INIT_ID:
        raise SimulationError(f"init_id must be >= 0 and at most {LAST_INIT_ID}, not {init_id}")
    block, index = divmod(init_id, GOALS_PER_SEED)
    return _goals(task_id, FIRST_SEED + block)[index].copy()
