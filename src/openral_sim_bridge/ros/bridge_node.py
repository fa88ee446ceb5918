"""The lifecycle node `sim_bridge`: the only process that moves the simulated arm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openral.srv import ResetScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

from openral_control.estop_latch import latch_of_run
from openral_control.ros.bridge_node_base import ControlNode, run_bridge
from openral_control.ros.robot_publisher import to_time
from openral_core.errors import OpenralError
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.ros.bridge_topics import BridgeTopics
from openral_sim_bridge.ros.depth_topics import DepthTopics
from openral_sim_bridge.ros.position_topic import PositionTopic
from openral_sim_bridge.simulation import BridgeOptions, Simulation, read_reset


class BridgeNode(ControlNode[Simulation]):
    """Connects a `Simulation` to the ROS graph. Its parameters are the fields of `BridgeOptions`, and `autostart`."""

    what = "the simulation"

    def __init__(self, backend_factory: Callable[..., Backend] = make_backend) -> None:
        super().__init__("sim_bridge", vars(BridgeOptions(scene="metaworld_drawer")))
        self._factory = backend_factory
        self._topics: BridgeTopics | None = None
        self._truth: PositionTopic | None = None

    def begin(self, stamp_s: float) -> None:
        """Publish that no control step led to the next state, and what a reset has moved: robot, cameras, lenses."""
        super().begin(stamp_s)
        run, topics = self._run, self._topics
        if run is not None and topics is not None and run.is_elsewhere():
            topics.place(run.links, run.cameras)

    def clock(self, stamp_s: float) -> None:
        """Publish the arm's time [s], which does not advance while the loop waits."""
        if self._topics is not None:
            self._topics.clock(stamp_s)

    def state(self, state: RobotState) -> None:
        """Publish the robot's state after a control step; its `stamp_s` is on the bridge's clock."""
        if self._topics is not None:
            self._topics.state(state)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish new camera images (H, W, 3) uint8 RGB, and object positions where they are asked for."""
        if self._topics is not None:
            self._topics.images(stamp_s, images)
        if self._truth is not None:
            self._truth.publish(stamp_s)

    def _make_run(self) -> Simulation:
        return Simulation(BridgeOptions(**self._options()), self, self._factory)

    def _latch_file(self, run: Simulation) -> Path:
        return latch_of_run(run.options.run_dir, self.context.get_domain_id(), self.get_namespace())

    def _open(self, run: Simulation) -> None:
        """Make the publishers of the world's topics, and the service that resets it."""
        self._topics = BridgeTopics(
            self,
            run.cameras,
            run.links,
            run.joint_positions,
            run.robot.urdf,
            self.outbox,
            DepthTopics(self, run.scene.cameras, run.cameras, run.depth_images),
        )
        if run.options.sim_positions:
            self._truth = PositionTopic(self, run.object_positions)
        apart = MutuallyExclusiveCallbackGroup()  # status and diagnostics continue during a reset
        self.create_service(ResetScene, "sim/reset", self._on_reset, callback_group=apart)

    def _forget(self) -> None:
        self._topics = self._truth = None

    def _on_reset(self, request: Any, response: Any) -> Any:
        assert self._run is not None
        try:
            done = self._run.reset(*read_reset(request))
        except OpenralError as error:
            response.ok, response.message = False, str(error)
            return response
        response.ok, response.task, response.seed = True, done.task, done.init_id
        response.stamp = to_time(done.stamp_s)
        return response


def main(args: list[str] | None = None) -> int:
    """Run the bridge until it is stopped; return the exit status, 1 if the simulation failed."""
    return run_bridge(BridgeNode, args)


if __name__ == "__main__":
    sys.exit(main())
