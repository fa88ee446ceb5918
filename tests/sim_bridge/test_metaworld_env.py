"""Environments made of one compiled scene are MetaWorld's own, to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from metaworld.env_dict import ALL_V3_ENVIRONMENTS

from openral_sim_bridge.backends.metaworld.env import make_env
from openral_sim_bridge.backends.metaworld.initial_states import random_vector

TASK = "door-open-v3"


def moved(env: Any) -> bytes:
    """Every position of forty control steps from a fixed initial state."""
    env._freeze_rand_vec, env._partially_observable, env._set_task_called = True, False, True
    env._last_rand_vec = random_vector(TASK, 1000)
    env.reset()
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 4)).astype(np.float32)
    return b"".join(np.concatenate([env.step(action)[0], env.data.qpos]).tobytes() for action in actions)


def test_worlds_of_one_compiled_scene_move_as_upstream_does():
    upstream = moved(ALL_V3_ENVIRONMENTS[TASK]())
    first, second = make_env(TASK), make_env(TASK)
    assert isinstance(first, ALL_V3_ENVIRONMENTS[TASK])
    assert first.model is not second.model
    first.model.body_pos[:] += 1.0  # a world of its own: this is not to be seen in the second
    assert moved(second) == upstream
