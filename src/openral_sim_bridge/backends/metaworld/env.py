"""MetaWorld's environments, with each scene compiled once per process.

MuJoCo takes 0.1 to 0.2 s to compile a scene and a few milliseconds to copy the compiled model, and a benchmark makes
many worlds of one scene.
"""

from __future__ import annotations

import copy
from functools import cache, lru_cache
from typing import Any

import mujoco
import numpy as np
from metaworld.env_dict import ALL_V3_ENVIRONMENTS

from openral_sim_bridge.backends.mujoco_warnings import log_warnings

DISTRACTOR = "distractor"
"""Prefix of the names of the distractors' bodies."""
DISTRACTOR_M, DISTRACTOR_KG = 0.04, 0.1
"""[m] edge or diameter of a distractor; [kg] its mass."""
DISTRACTOR_COLOURS = ((0.6, 0.1, 0.7), (0.9, 0.8, 0.1))
"""RGB colours of the distractors in turn, purple and yellow; goals are red, green or blue, and the puck is red."""
KEPT = 4
"""Number of compiled scenes that are cached; a model has about 20 MB."""


def make_env(task_id: str, distractors: int = 0) -> Any:
    """Return a new environment of a task, on which `set_task` was not called.

    Args:
        task_id: an existing task of MetaWorld.
        distractors: number of loose bodies that belong to no task; they are the last bodies of the model.
    """
    return _class(task_id, distractors)()


@cache
def _class(task_id: str, distractors: int) -> type[Any]:
    """Return a subclass of MetaWorld's environment that copies a cached model."""
    upstream: type[Any] = ALL_V3_ENVIRONMENTS[task_id]

    def initialise(self: Any) -> tuple[mujoco.MjModel, mujoco.MjData]:
        """Return model and data, as gymnasium's MujocoEnv requires; the model is a copy of the cached one."""
        model = copy.copy(_compiled(self.fullpath, self.width, self.height, distractors))
        return model, mujoco.MjData(model)

    return type(upstream.__name__, (upstream,), {"_initialize_simulation": initialise})


@lru_cache(maxsize=KEPT)
def _compiled(path: str, width: int, height: int, distractors: int) -> mujoco.MjModel:
    """Return the model of a scene, with an offscreen buffer of at least `width` x `height` [px] as in gymnasium."""
    log_warnings()
    model = _with_distractors(path, distractors) if distractors else mujoco.MjModel.from_xml_path(path)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    return model


def _with_distractors(path: str, count: int) -> mujoco.MjModel:
    """Return the model of a scene with `count` loose boxes and cylinders of the size of MetaWorld's puck."""
    spec = mujoco.MjSpec.from_file(path)
    for index in range(count):
        body = spec.worldbody.add_body(name=f"{DISTRACTOR}{index}", pos=[0.5, 0.5 + 0.1 * index, 0.03])
        body.add_freejoint()
        # The compiler settings of MetaWorld's models take inertia from collision groups only.
        body.explicitinertial, body.mass = True, DISTRACTOR_KG
        body.inertia = np.full(3, DISTRACTOR_KG * DISTRACTOR_M**2 / 6)
        box = index % 2 == 0
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX if box else mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[DISTRACTOR_M / 2] * 3,
            rgba=[*DISTRACTOR_COLOURS[index % len(DISTRACTOR_COLOURS)], 1.0],
            contype=1,
            conaffinity=1,
        )
    return spec.compile()
