"""MetaWorld's environments, each scene compiled once in a process.

Reading a scene's XML and meshes takes MuJoCo 0.1 to 0.2 s, copying the compiled model a few milliseconds, and a
benchmark makes many worlds of one scene.
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
"""Beginning of the names of bodies that are of no task."""
DISTRACTOR_M, DISTRACTOR_KG = 0.04, 0.1
"""[m] their edge or diameter; [kg]"""
DISTRACTOR_COLOURS = ((0.6, 0.1, 0.7), (0.9, 0.8, 0.1))
"""Red, green and blue of one after the other: purple, yellow. Goals are red, green or blue, and the puck is red."""
KEPT = 4
"""Compiled scenes that are kept; a model has about 20 MB."""


def make_env(task_id: str, distractors: int = 0) -> Any:
    """Return a new environment of a task, without a task set; `task_id` is known to be MetaWorld's.

    Args:
        task_id: of the task.
        distractors: things that lie about and are of no task, behind all others in the model.
    """
    return _class(task_id, distractors)()


@cache
def _class(task_id: str, distractors: int) -> type[Any]:
    """Return MetaWorld's class with another way to come to its model."""
    upstream: type[Any] = ALL_V3_ENVIRONMENTS[task_id]

    def initialise(self: Any) -> tuple[mujoco.MjModel, mujoco.MjData]:
        """Return model and data, as gymnasium's MujocoEnv asks for; the compiled model is shared."""
        model = copy.copy(_compiled(self.fullpath, self.width, self.height, distractors))
        return model, mujoco.MjData(model)

    return type(upstream.__name__, (upstream,), {"_initialize_simulation": initialise})


@lru_cache(maxsize=KEPT)
def _compiled(path: str, width: int, height: int, distractors: int) -> mujoco.MjModel:
    """Return the model of a scene; its off-screen buffer is at least `width` x `height` [px], as gymnasium makes it."""
    log_warnings()
    model = _with_distractors(path, distractors) if distractors else mujoco.MjModel.from_xml_path(path)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    return model


def _with_distractors(path: str, count: int) -> mujoco.MjModel:
    """Return the model of a scene with loose boxes and cylinders in it, the size of MetaWorld's puck."""
    spec = mujoco.MjSpec.from_file(path)
    for index in range(count):
        body = spec.worldbody.add_body(name=f"{DISTRACTOR}{index}", pos=[0.5, 0.5 + 0.1 * index, 0.03])
        body.add_freejoint()
        # MetaWorld's compiler counts the inertia of collision groups only.
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
