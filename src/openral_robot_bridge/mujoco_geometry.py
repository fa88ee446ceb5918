"""Geometry of a real arm's postures by the scene's MuJoCo model: points, distances, condition of the Jacobian."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_robot_bridge.jacobian_condition import condition_of, condition_slope_of
from openral_robot_bridge.nearness import Nearness, ordered
from openral_robot_bridge.path_clearance import PathClearance
from openral_robot_bridge.plane_boxes import with_boxes_for_planes
from openral_sim_bridge.backends.mjcf.kinematics import as_slice
from openral_sim_bridge.backends.mjcf.world import CompiledScene

APART = 3
"""Least difference of the indices of two links whose distance is measured, as neighbours overlap at the joints."""


REMEMBERED = 32
"""Number of postures whose results are cached.

The checks of a control step ask for the same few postures repeatedly, and one step begins where the last one ended."""


@dataclass
class _Posture:
    """Cached results for a posture; None: not computed yet."""

    points: Vector | None = None
    distance: tuple[float, int, float] | None = None
    """Least distance [m], the index of its pair, and the limit [m] up to which it was measured."""
    condition: float | None = None


class MujocoGeometry:
    """`openral_control.safety.joint_step.ArmGeometry` of a scene of family mjcf; used from one thread.

    Distances leave out movable objects, as their positions are unknown, and those between fingers and fixed objects, as
    fingers must touch what they grasp; the workspace box bounds the hand.
    """

    def __init__(self, scene: CompiledScene, elbow_joint: int) -> None:
        """Collect the pairs of geoms whose distances matter.

        Args:
            scene: with its compiled model.
            elbow_joint: index, from 0, of the elbow among the arm's joints.
        """
        self._chain = scene.robot.chain
        bodies = [int(scene.model.dof_bodyid[dof]) for dof in self._chain.dofs]
        self._model = with_boxes_for_planes(scene.model, bodies[0])
        self._data: Any = mujoco.MjData(self._model)
        self._elbow = bodies[elbow_joint]
        # Views, which change with the data.
        self._qpos, self._at = self._data.qpos, as_slice(self._chain.qpos)
        self._points = self._chain.place(self._data), self._data.xpos[self._elbow]
        self._rows = np.zeros((3, self._model.nv))
        pairs = np.array(self._own_pairs(bodies) + self._scene_pairs(bodies), dtype=np.int64).reshape(-1, 2)
        self.pairs = pairs = ordered(self._model, pairs)
        """(k, 2) indices of the geoms whose distances matter."""
        self._nearness = Nearness(self._model, self._data, pairs)
        self._path = PathClearance(self._model, self._data, pairs, self._place)
        self._known: OrderedDict[bytes, _Posture] = OrderedDict()
        self._placed = self._moved = b""

    def points(self, joints: Vector) -> Vector:
        """Return the positions (2, 3) [m] of hand and elbow in the world frame."""
        posture = self._posture(joints)
        if posture.points is None:
            self._place(joints)
            posture.points = np.array(self._points)
        return posture.points

    def point_slopes(self, joints: Vector) -> Vector:
        """Return the position Jacobians (2, 3, n) [m/rad] of hand and elbow in the world frame."""
        hand = self.jacobian(joints)[:3]
        mujoco.mj_jacBody(self._model, self._data, self._rows, None, self._elbow)
        return np.array([hand, self._rows[:, self._chain.dofs]])

    def distance(self, joints: Vector, limit_m: float) -> float:
        """Return the least distance [m] of the arm to itself and to fixed objects; at most `limit_m`."""
        return self._nearest(joints, limit_m)[0]

    def distance_slope(self, joints: Vector, limit_m: float) -> Vector:
        """Return the gradient (n,) [m/rad] of `distance` with respect to the joints; zeros where it is `limit_m`."""
        nearest = self._nearest(joints, limit_m)[1]
        if nearest < 0:
            return np.zeros(len(joints))
        self._move(joints)
        return self._nearness.slope(nearest, limit_m, self._chain.dofs)

    def clear_between(self, postures: Vector, least_m: float) -> bool:
        """Return whether the arm is proved to keep `least_m` [m] in the triangle of three postures (3, n) [rad]."""
        return self._path.clear(postures, least_m)

    def condition(self, joints: Vector) -> float:
        """Return the condition number of the Jacobian of the hand's commanded motion; inf where it is singular."""
        posture = self._posture(joints)
        if posture.condition is None:
            posture.condition = condition_of(self.jacobian(joints))
        return posture.condition

    def condition_slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) [1/rad] of the logarithm of the condition number with respect to the joints."""
        return condition_slope_of(self.jacobian(joints))

    def jacobian(self, joints: Vector) -> Vector:
        """Return the hand's Jacobian (6, n) in the world frame: rows [m/rad] of velocity, then of angular velocity."""
        self._move(joints)
        return self._chain.jacobian(self._data)

    def _posture(self, joints: Vector) -> _Posture:
        """Return the cache entry of joint positions (n,) [rad]."""
        key = joints.tobytes()
        posture = self._known.get(key)
        if posture is None:
            posture = self._known[key] = _Posture()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return posture

    def _place(self, joints: Vector) -> None:
        key = joints.tobytes()
        if key != self._placed:
            self._qpos[self._at], self._placed = joints, key
            mujoco.mj_kinematics(self._model, self._data)

    def _move(self, joints: Vector) -> None:
        """Set the joints, and compute the quantities that Jacobians need (`mj_comPos`)."""
        self._place(joints)
        if self._moved != self._placed:
            self._moved = self._placed
            mujoco.mj_comPos(self._model, self._data)

    def _nearest(self, joints: Vector, limit_m: float) -> tuple[float, int]:
        """Return the least distance [m], at most `limit_m`, and the index of its pair; -1: no pair is nearer."""
        posture = self._posture(joints)
        if posture.distance is None or posture.distance[2] < limit_m:
            self._place(joints)
            posture.distance = *self._nearness.least(limit_m), limit_m
        distance, pair, _ = posture.distance
        return (distance, pair) if distance < limit_m else (limit_m, -1)

    def _geoms(self, bodies: list[int]) -> list[int]:
        """Return the geoms of bodies that can collide."""
        model = self._model
        return [
            geom
            for geom in range(model.ngeom)
            if int(model.geom_bodyid[geom]) in bodies
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]

    def _own_pairs(self, bodies: list[int]) -> list[tuple[int, int]]:
        """Return the pairs of geoms of the arm, its base and its hand that could collide."""
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
        """Return the pairs of a geom of a link, or of the hand without its fingers, and a geom of a fixed object.

        A plane that is left is one of a mocap body; it has no size by which its distance could be bounded.
        """
        model = self._model
        root = model.body_rootid[bodies[0]]
        still = [
            geom
            for geom in self._geoms(list(range(model.nbody)))
            if model.body_weldid[model.geom_bodyid[geom]] == 0
            and model.body_rootid[model.geom_bodyid[geom]] != root
            and model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE
        ]
        hand = [body for body in self._below(bodies[-1]) if model.body_weldid[body] == bodies[-1]]
        return [(a, b) for a in self._geoms([*bodies[1:], *hand]) for b in still]

    def _below(self, body: int) -> list[int]:
        """Return the descendants of a body in the kinematic tree."""
        found = [body]
        for index in range(body + 1, self._model.nbody):
            if int(self._model.body_parentid[index]) in found:
                found.append(index)
        return found[1:]
