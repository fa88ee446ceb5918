"""The lifecycle node `robot_bridge`, whose process is the only one that moves a real arm."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from openral_control.estop_latch import latch_of_arm
from openral_control.ros.bridge_node_base import ControlNode, run_bridge
from openral_control.ros.robot_publisher import RobotTopics
from openral_core.errors import OpenralError
from openral_core.ros.qos import NEWEST
from openral_core.types import RobotState
from openral_robot_bridge.arm_bridge import ArmBridgeOptions, DeployedArm


class RobotBridgeNode(ControlNode[DeployedArm]):
    """Connects a `DeployedArm` to the ROS graph; its parameters are those of `ArmBridgeOptions`, and `autostart`."""

    what = "the robot bridge"

    def __init__(self) -> None:
        super().__init__("robot_bridge", vars(ArmBridgeOptions(scene="fr3_tabletop")))
        self._topics: RobotTopics | None = None

    def clock(self, stamp_s: float) -> None:
        """Publish no `/clock`, as a real arm runs in wall time."""

    def state(self, state: RobotState) -> None:
        """Publish the robot's state after a control step; `stamp_s` is wall time [s]."""
        if self._topics is not None:
            self._topics.state(state)
            self._topics.links(state.stamp_s)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish no images, as `camera_bridge` does."""

    def _make_run(self) -> DeployedArm:
        return DeployedArm(ArmBridgeOptions(**self._options()), self)

    def _latch_file(self, run: DeployedArm) -> Path:
        assert run.scene.arm is not None  # `load_arm_scene`
        return latch_of_arm(run.scene.arm.driver, run.scene.arm.address)

    def _open(self, run: DeployedArm) -> None:
        """Create the publishers of the robot, the subscription to hold-to-run, and the service `recover`."""
        self._topics = RobotTopics(self, run.links, run.joint_positions, run.robot.urdf, self.outbox)
        alone = MutuallyExclusiveCallbackGroup()  # no other callback may delay hold-to-run
        self.create_subscription(Empty, "hold_to_run", self._on_beat, NEWEST, callback_group=alone)
        apart = MutuallyExclusiveCallbackGroup()  # status and diagnostics continue while the arm recovers
        self.create_service(Trigger, "recover", self._on_recover, callback_group=apart)

    def _forget(self) -> None:
        self._topics = None

    def _on_beat(self, message: Empty) -> None:
        if self._run is not None:
            self._run.beat()

    def _on_recover(self, request: Any, response: Any) -> Any:
        assert self._run is not None
        try:
            response.success, response.message = True, f"the arm is {self._run.recover()}"
        except OpenralError as error:
            response.success, response.message = False, str(error)
        return response


def main(args: list[str] | None = None) -> int:
    """Run the bridge until it is stopped; return 1 if the arm failed."""
    return run_bridge(RobotBridgeNode, args)


if __name__ == "__main__":
    sys.exit(main())
