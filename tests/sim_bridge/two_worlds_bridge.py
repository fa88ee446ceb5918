"""A bridge whose tasks have worlds of their own, as robosuite's have: the arm and the camera stand elsewhere in each.

Its scene is the first argument.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.types import RobotState
from openral_sim_bridge.backend import CameraModel, RobotModel
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.ros import bridge_node

TASKS = ("drawer-open-v3", "drawer-close-v3")
ASIDE_M = 0.5
"""[m] by which the arm and the camera of the second task's world stand further along x."""


class TwoWorlds(FakeBackend):
    """The fake world, and another one beside it."""

    aside_m = 0.0

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Reset the world of the task."""
        states = super().reset(task_ids, init_ids, envs)
        self.aside_m = ASIDE_M * self.task_ids.index(task_ids[0])
        return states

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the robot where it stands in the world of the present task."""
        robot = super().robot(name, base_frame, mesh_directory)
        return replace(robot, base=replace(robot.base, position=robot.base.position + self._aside()))

    def camera(self, name: str) -> CameraModel:
        """Return the camera where it stands in the world of the present task, and its lens there."""
        camera = super().camera(name)
        position = camera.position + self._aside()
        return replace(camera, position=position, fovy_deg=camera.fovy_deg - 20 * self.aside_m)

    def _aside(self) -> NDArray[np.float64]:
        return np.array([self.aside_m, 0.0, 0.0])


def make(scene: Any) -> TwoWorlds:
    """Return the worlds."""
    return TwoWorlds(TASKS, width=64, height=48)


if __name__ == "__main__":
    node = bridge_node.BridgeNode
    bridge_node.BridgeNode = lambda: node(make)  # type: ignore[assignment,misc]
    sys.exit(bridge_node.main(["x", "--ros-args", "-p", f"scene:={sys.argv[1]}"]))
