"""MetaWorld's environments, each scene compiled once in a process.

Reading a scene's XML and meshes takes MuJoCo 0.1 to 0.2 s, copying the compiled model a few milliseconds, and a
benchmark makes many worlds of one scene.
"""

from __future__ import annotations

import copy
from functools import cache, lru_cache
from typing import Any

import mujoco
from metaworld.env_dict import ALL_V3_ENVIRONMENTS

from openral_sim_bridge.backends.mujoco_warnings import log_warnings

KEPT = 4
"""Compiled scenes that are kept; a model has about 20 MB."""


def make_env(task_id: str) -> Any:
    """Return a new environment of a task, without a task set; `task_id` is known to be MetaWorld's."""
    return _class(task_id)()


@cache
def _class(task_id: str) -> type[Any]:
    """Return MetaWorld's class with another way to come to its model."""
    upstream: type[Any] = ALL_V3_ENVIRONMENTS[task_id]

    def initialise(self: Any) -> tuple[mujoco.MjModel, mujoco.MjData]:
        """See gymnasium's MujocoEnv."""
        model = copy.copy(_compiled(self.fullpath, self.width, self.height))
        return model, mujoco.MjData(model)

    return type(upstream.__name__, (upstream,), {"_initialize_simulation": initialise})


@lru_cache(maxsize=KEPT)
def _compiled(path: str, width: int, height: int) -> mujoco.MjModel:
    """Return the model of a scene; its off-screen buffer is at least `width` x `height` [px], as gymnasium makes it."""
    log_warnings()
    model = mujoco.MjModel.from_xml_path(path)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    return model
