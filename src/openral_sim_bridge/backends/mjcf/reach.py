"""Checks whether the arm can move its hand along a path without collision, with the model of a scene of family `mjcf`.

The path is followed in small steps by inverse kinematics (`Chain`). Movable objects, such as a cube or a drawer, are
left out, since their positions are unknown. `mink` would do this, too, but it needs another MuJoCo than MetaWorld's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.types import RobotState
from openral_sim_bridge.backends.mjcf.world import CompiledScene

STEP_M = 0.02
"""[m] distance between checked points of a path."""
ATTEMPTS = 12
"""Most calls of the solver for one point."""
OFF_M = 0.01
"""[m] largest distance of the hand from a point that counts as reached."""
CLEAR_M = 0.01
"""[m] least distance between the arm and static geoms, except for pairs that are nearer at the start."""
AT_TARGET_M = 0.06
"""[m] distance from the end of a line within which the hand may be near static geoms, since it may go to one."""

Vector = NDArray[np.float64]


class ReachCheck:
    """The compiled model of one scene, with which paths are checked."""

    def __init__(self, scene: DeployScene) -> None:
        """Compile the scene.

        Raises:
            OpenralError: see `CompiledScene`.
        """
        compiled = CompiledScene(scene, load_robot(scene.robot_id))
        self._model, self._robot = compiled.model, compiled.robot
        self._data = mujoco.MjData(self._model)
        chain = self._robot.chain
        of_joint = [int(self._model.dof_bodyid[dof]) for dof in chain.dofs]
        self._arm = self._geoms_below(of_joint[0])
        self._hand = self._geoms_below(of_joint[-1])
        solid = [self._is_solid(geom) for geom in range(self._model.ngeom)]
        base = int(self._model.body_rootid[of_joint[0]])
        # mj_geomDistance does not support planes; the floor of the workspace is above them.
        self._still = [
            geom
            for geom in range(self._model.ngeom)
            if solid[geom]
            and self._model.body_weldid[self._model.geom_bodyid[geom]] == 0
            and self._model.body_rootid[self._model.geom_bodyid[geom]] != base
            and self._model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE
        ]

    def fault(self, state: RobotState, path: Sequence[Vector]) -> str:
        """Return why the hand cannot move along straight lines from its present position; empty: it can.

        Args:
            state: of the robot.
            path: end points (3,) [m] of the lines in the world frame; the hand keeps its orientation.
        """
        data, chain = self._data, self._robot.chain
        positions = dict(zip(state.joint_names, state.joint_positions, strict=True))
        for name, address in self._robot.reported:
            if address >= 0 and name in positions:
                data.qpos[address] = positions[name]
        mujoco.mj_kinematics(self._model, data)
        here, turn = chain.hand(data)
        joints = data.qpos[chain.qpos].copy()
        at_start = self._near(self._arm)
        for target in path:
            for point in _points(here, target):
                for _ in range(ATTEMPTS):
                    joints = chain.solve(data, joints, point, turn, joints)
                    off_m = float(np.linalg.norm(chain.position_at(data, joints) - point))
                    if off_m < OFF_M / 4:
                        break
                if off_m > OFF_M:
                    x, y, z = point
                    return (
                        f"the arm does not reach [{x:.3f}, {y:.3f}, {z:.3f}] m with the hand turned as it is; "
                        f"its model comes no nearer than {1e2 * off_m:.1f} cm"
                    )
                data.qpos[chain.qpos] = joints
                mujoco.mj_kinematics(self._model, data)
                near_end = float(np.linalg.norm(point - target)) < AT_TARGET_M
                near = self._near(self._arm - self._hand if near_end else self._arm)
                for pair in sorted(set(near) - set(at_start)):
                    x, y, z = point
                    return (
                        f"on its way, at [{x:.3f}, {y:.3f}, {z:.3f}] m, the arm comes within "
                        f"{1e2 * max(near[pair], 0.0):.1f} cm of {self._name(pair[1])}"
                    )
            here = target
        return ""

    def _near(self, geoms: set[int]) -> dict[tuple[int, int], float]:
        """Return the pairs (geom of the arm, static geom) that are nearer than CLEAR_M, with their distances [m]."""
        found = {}
        for geom in geoms:
            for other in self._still:
                distance = mujoco.mj_geomDistance(self._model, self._data, geom, other, CLEAR_M, None)
                if distance < CLEAR_M:
                    found[geom, other] = float(distance)
        return found

    def _geoms_below(self, body: int) -> set[int]:
        """Return the ids of the solid geoms of a body and its descendants."""
        bodies = {body}
        for index in range(body + 1, self._model.nbody):
            if int(self._model.body_parentid[index]) in bodies:
                bodies.add(index)
        return {
            g
            for g in range(self._model.ngeom)
            if int(self._model.geom_bodyid[g]) in bodies and self._is_solid(g)
        }

    def _is_solid(self, geom: int) -> bool:
        return bool(self._model.geom_contype[geom] or self._model.geom_conaffinity[geom])

    def _name(self, geom: int) -> str:
        """Return the name of a geom, else that of its body."""
        body = int(self._model.geom_bodyid[geom])
        return str(
            self._model.geom(geom).name or self._model.body(body).name or "something that stands still"
        )


def make_check(scene: DeployScene) -> ReachCheck:
    """Return the check of a scene whose family is mjcf."""
    return ReachCheck(scene)


def _points(start: Vector, end: Vector) -> list[Vector]:
    """Return points (3,) [m] of a line, at most STEP_M apart, with its end and without its start."""
    count = max(1, math.ceil(float(np.linalg.norm(end - start)) / STEP_M))
    return [start + (end - start) * (index / count) for index in range(1, count + 1)]
