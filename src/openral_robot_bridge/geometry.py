"""What the scene's MuJoCo model says about a posture of the real arm: points, distances, condition."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from openral_control.safety.arm_limits import Vector
from openral_sim_bridge.backends.mjcf.world import CompiledScene

APART = 3
"""Bodies that lie between two of the arm's own before their distance is looked at; neighbours overlap at the joints."""


class MujocoGeometry:
    """`openral_control.safety.step.ArmGeometry` of a scene of family mjcf. Used from one thread.

    Things that move on their own are left out: nobody knows where they are. The hand and its fingers may come as near
    to things as their work demands; the workspace box bounds them.
    """

    def __init__(self, scene: CompiledScene, elbow_joint: int) -> None:
        """Take the scene, and which of the arm's joints, counted from 0, is its elbow."""
        self._model = scene.model
        self._data: Any = mujoco.MjData(scene.model)
        self._chain = scene.robot.chain
        bodies = [int(self._model.dof_bodyid[dof]) for dof in self._chain.dofs]
        self._elbow = bodies[elbow_joint]
        self._jacobian = np.zeros((6, self._model.nv))
        self._pairs = np.array(self._own_pairs(bodies) + self._scene_pairs(bodies)).reshape(-1, 2)
        self._reach = self._model.geom_rbound[self._pairs].sum(axis=1)

    def points(self, joints: Vector) -> tuple[Vector, Vector]:
        """Return where hand and elbow are, (3,) [m] each in the world frame."""
        self._place(joints)
        return self._chain.hand(self._data)[0], np.array(self._data.xpos[self._elbow])

    def distance(self, joints: Vector, limit_m: float) -> float:
        """Return the least distance [m] of the arm to itself and to what stands around it; at most `limit_m`."""
        self._place(joints)
        first, second = self._pairs.T
        between = np.linalg.norm(self._data.geom_xpos[first] - self._data.geom_xpos[second], axis=1)
        # Bounding spheres that are further apart than the limit hold geoms that are.
        near = self._pairs[between - self._reach < limit_m]
        return min(
            (mujoco.mj_geomDistance(self._model, self._data, a, b, limit_m, None) for a, b in near),
            default=limit_m,
        )

    def condition(self, joints: Vector) -> float:
        """Return the condition number of the hand's Jacobian; inf where it is singular."""
        self._place(joints)
        mujoco.mj_comPos(self._model, self._data)
        singular = np.linalg.svd(self._chain.jacobian(self._data), compute_uv=False)
        return float(singular[0] / singular[-1]) if singular[-1] > 1e-9 else float("inf")

    def _place(self, joints: Vector) -> None:
        self._data.qpos[self._chain.qpos] = joints
        mujoco.mj_kinematics(self._model, self._data)

    def _geoms(self, bodies: list[int]) -> list[int]:
        """Return the solid geoms of bodies."""
        model = self._model
        return [
            geom
            for geom in range(model.ngeom)
            if int(model.geom_bodyid[geom]) in bodies
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]

    def _own_pairs(self, bodies: list[int]) -> list[tuple[int, int]]:
        """Return the pairs of geoms of the arm, its base and its hand that could meet."""
        base = int(self._model.body_parentid[bodies[0]])
        links = [self._geoms([body]) for body in (base, *bodies)]
        links[-1] += self._geoms(self._below(bodies[-1]))
        return [
            (a, b)
            for first in range(len(links))
            for second in range(first + APART, len(links))
            for a in links[first]
            for b in links[second]
        ]

    def _scene_pairs(self, bodies: list[int]) -> list[tuple[int, int]]:
        """Return the pairs of a link, but the last, and of something that stands still; planes have no distance."""
        model = self._model
        root = model.body_rootid[bodies[0]]
        still = [
            geom
            for geom in self._geoms(list(range(model.nbody)))
            if model.body_weldid[model.geom_bodyid[geom]] == 0
            and model.body_rootid[model.geom_bodyid[geom]] != root
            and model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE
        ]
        return [(a, b) for a in self._geoms(bodies[1:-1]) for b in still]

    def _below(self, body: int) -> list[int]:
        """Return the bodies that hang from a body."""
        found = [body]
        for index in range(body + 1, self._model.nbody):
            if int(self._model.body_parentid[index]) in found:
                found.append(index)
        return found[1:]
