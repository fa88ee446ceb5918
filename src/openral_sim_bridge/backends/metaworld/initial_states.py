"""MetaWorld's fixed initial states, by number.

`MT1(task, seed).train_tasks` are fifty goals that depend on the seed alone. Initial state `i` of a task is number
`i % 50` of the seed `42 + i // 50`, so 0 to 49 are the ones of the benchmark's usual seed 42, and any number
of further states follows without a list to keep.
"""

from __future__ import annotations

from functools import lru_cache

import metaworld
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


@lru_cache(maxsize=256)
def _goals(task_id: str, seed: int) -> tuple[NDArray[np.float64], ...]:
    benchmark = metaworld.MT1(task_id, seed=seed)  # type: ignore[no-untyped-call]
    env = make_env(task_id)
    vectors = []
    for task in benchmark.train_tasks:
        env.set_task(task)
        vectors.append(np.asarray(env._last_rand_vec, dtype=np.float64).copy())
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
