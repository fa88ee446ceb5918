"""Robot model, joint positions and snapshots of backends whose MuJoCo model is in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from openral_sim_bridge.backend import WORLD, Frame, RobotModel, Snapshot
from openral_sim_bridge.backends.mjcf_to_urdf import link_name, make_urdf, robot_root, subtree


class Articulation:
    """The robot in a MuJoCo model: its URDF, base pose and joint positions."""

    def __init__(
        self,
        model: Any,
        base_frame: str,
        *,
        hidden_groups: Sequence[int] = (),
        is_root: bool = False,
        names: Mapping[str, str] | None = None,
        sites: Sequence[str] = (),
    ) -> None:
        """Find the robot's bodies and joints.

        Args:
            model: mujoco.MjModel.
            base_frame: any body of the robot.
            hidden_groups: geometry groups that are left out of the URDF.
            is_root: whether `base_frame` is the robot's root; else the root is the topmost body above it.
            names: name in the model -> name in the URDF, where they differ.
            sites: sites that become links, too.

        Raises:
            SimulationError: the model has no such body.
        """
        self._model = model
        self._hidden_groups = tuple(hidden_groups)
        self._names, self._sites = dict(names or {}), tuple(sites)
        self._root = base_frame if is_root else robot_root(model, base_frame)
        self._bodies = subtree(model, self._root)
        joints = [int(model.body_jntadr[body]) for body in self._bodies[1:] if model.body_jntnum[body]]
        own = (model.jnt(joint).name for joint in joints)
        self.joint_names = tuple(self._names.get(name, name) for name in own)
        self._addresses = np.array([model.jnt_qposadr[joint] for joint in joints], dtype=int)

    def describe(
        self, data: Any, name: str, base_frame: str, mesh_directory: Path | None = None
    ) -> RobotModel:
        """Return the robot's model; see `Backend.robot`. `data` is the mujoco.MjData of any world."""
        subtree(self._model, base_frame)  # raises if there is no such link
        urdf = make_urdf(
            self._model,
            self._root,
            name,
            mesh_directory,
            hidden_groups=self._hidden_groups,
            names=self._names,
            sites=self._sites,
        )
        body = self._bodies[0]
        w, x, y, z = data.xquat[body]
        root = str(self.link_of(body))
        return RobotModel(urdf, Frame(WORLD, root, data.xpos[body].copy(), np.array([x, y, z, w])))

    def link_of(self, body: int) -> str | None:
        """Return the name of the link for a body of the model; None: the body is not part of the robot."""
        name = link_name(self._model, body)
        return self._names.get(name, name) if body in self._bodies else None

    def positions(self, data: Any) -> dict[str, float]:
        """Return the position [rad or m] of each joint by name; see `Backend.joint_positions`."""
        return dict(zip(self.joint_names, data.qpos[self._addresses].tolist(), strict=True))


def take_snapshot(data: Any) -> Snapshot:
    """Return the snapshot of a world from its mujoco.MjData; see `Backend.snapshot`."""
    mocap = data.mocap_pos[0] if len(data.mocap_pos) else np.full(3, np.nan)
    return Snapshot(data.qpos.copy(), np.array(mocap))


def restore_snapshot(model: Any, data: Any, snapshot: Snapshot) -> None:
    """Set a world to a snapshot; see `Backend.restore`."""
    data.qpos[:] = snapshot.qpos
    if len(data.mocap_pos):
        data.mocap_pos[0] = snapshot.mocap_pos
    mujoco.mj_forward(model, data)
