"""Boxes in place of the planes of a MuJoCo model, for computations that need geoms of finite size."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

HALF_M = 10.0
"""[m] half the side of a box along its plane, far more than an arm reaches."""
DEPTH_M = 5.0
"""[m] half the thickness of a box, so great that for a geom inside it the face in the plane is the nearest one."""


def with_boxes_for_planes(model: Any, body: int) -> Any:
    """Return a copy of a model in which each plane that cannot move is a box whose one face lies in the plane.

    Args:
        model: mujoco.MjModel.
        body: index of a body, such as the first one of an arm; the middle of each face is the point nearest to it.
    """
    made, world = copy.copy(model), mujoco.MjData(model)
    mujoco.mj_kinematics(model, world)
    near = world.xpos[body]
    half = np.array([HALF_M, HALF_M, DEPTH_M])
    bounds = np.concatenate([np.zeros(3), half])
    for geom in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE):
        parent = model.geom_bodyid[geom]
        if model.body_weldid[parent] != 0 or model.body_mocapid[model.body_rootid[parent]] >= 0:
            continue
        normal = world.geom_xmat[geom].reshape(3, 3)[:, 2]
        middle = near - (normal @ (near - world.geom_xpos[geom]) + DEPTH_M) * normal
        made.geom_type[geom], made.geom_size[geom] = mujoco.mjtGeom.mjGEOM_BOX, half
        made.geom_pos[geom] = world.xmat[parent].reshape(3, 3).T @ (middle - world.xpos[parent])
        made.geom_sameframe[geom] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
        made.geom_aabb[geom], made.geom_rbound[geom] = bounds, np.linalg.norm(half)
    return made
