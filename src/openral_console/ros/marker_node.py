"""The node `markers` of a deployment: publishes plan and progress for RViz and Foxglove, and commands nothing.

`planned_path` is the path of the hand under the newest chunk, and empty while the arm holds. `markers` has the
workspace's box, and text above it: the mission, the running skill, and the reward monitor's newest reading.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, PointStamped, PoseStamped
from nav_msgs.msg import Path
from openral.msg import ActionChunk, ControlStatus, Mission, TaskProgress
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from openral_console.live.planned_path import box_edges, planned_points
from openral_console.ros.convert import control_of, mission_of, reading_of, seconds
from openral_core.cli.printable import plain_line
from openral_core.errors import ContractError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, frame_prefix
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.ros.qos import LATCHED
from openral_core.ros.run_node import run_node
from openral_core.scene import load_scene

ABOVE_M, LETTER_M, LINE_M = 0.08, 0.04, 0.004
"""[m] from the box to the words; height of a capital letter; width of an edge."""
MAX_WORDS = 80
"""Most characters of a line of text."""
STOPPED, MOVING, HOLDING = (0.9, 0.2, 0.2), (0.3, 0.8, 0.4), (0.8, 0.8, 0.8)
"""Red, green and blue, 0..1, of the text: while the emergency stop is latched, while the arm moves, while it holds."""


class MarkerNode(GuardedCallbacks, Node):
    """Parameter: `scene`."""

    def __init__(self) -> None:
        super().__init__("markers", namespace=DEFAULT_NAMESPACE)
        self._scene = load_scene(str(self.declare_parameter("scene", "metaworld_drawer").value))
        self.declare_parameter("run_dir", "")  # given to every node of a launch; nothing is written there
        self._world = f"{frame_prefix(self.get_namespace())}world"
        self._start: np.ndarray[Any, Any] | None = None
        self._target_stamp = self._now_s = -1.0
        self._drawn = True
        self._mission: Any = None
        self._reading: Any = None
        self._path = self.create_publisher(Path, "planned_path", LATCHED)
        self._markers = self.create_publisher(MarkerArray, "markers", LATCHED)
        subscribe = self.create_subscription
        subscribe(PointStamped, "ee_target", self._on_target, 10)
        subscribe(PoseStamped, "ee_pose", self._on_pose, 10)
        subscribe(ActionChunk, "action_chunk", self._on_chunk, 10)
        subscribe(ControlStatus, "control_status", self._on_status, 10)
        subscribe(Mission, "mission", self._on_mission, LATCHED)
        subscribe(TaskProgress, "progress", self._on_progress, 10)

    # -- the path ------------------------------------------------------------------------------------

    def _on_target(self, message: Any) -> None:
        self._target_stamp = seconds(message.header.stamp)
        self._start = np.array([message.point.x, message.point.y, message.point.z])

    def _on_pose(self, message: Any) -> None:
        self._now_s = seconds(message.header.stamp)
        if self._now_s != self._target_stamp:  # nobody says where the controller leads the hand
            at = message.pose.position
            self._start = np.array([at.x, at.y, at.z])

    def _on_chunk(self, message: Any) -> None:
        if self._start is None:
            return
        horizon, dim = int(message.horizon), int(message.dim)
        if not horizon:
            self._show([])
            return
        try:
            if len(message.data) != horizon * dim:
                raise ContractError(f"a chunk of {len(message.data)} numbers is not {horizon} x {dim}")
            data = np.array(message.data, np.float32).reshape(horizon, dim)
            age_s = self._now_s - seconds(message.header.stamp)
            self._show(planned_points(self._scene, data, self._start, age_s).tolist())
        except ContractError as error:
            self.get_logger().warning(f"not drawn: {error}", throttle_duration_sec=5.0)

    def _show(self, points: list[list[float]]) -> None:
        if not points and not self._drawn:
            return
        self._drawn = bool(points)
        path = Path()
        path.header.frame_id = self._world
        for x, y, z in points:
            pose = PoseStamped()
            pose.header.frame_id = self._world
            pose.pose.position = Point(x=x, y=y, z=z)
            pose.pose.orientation.w = 1.0
            path.poses.append(pose)
        self._path.publish(path)

    # -- the markers ---------------------------------------------------------------------------------

    def _on_mission(self, message: Any) -> None:
        self._mission = mission_of(message)

    def _on_progress(self, message: Any) -> None:
        self._reading = reading_of(message)

    def _on_status(self, message: Any) -> None:
        control = control_of(message)
        if control.holding or control.estopped:
            self._show([])
        colour = STOPPED if control.estopped else HOLDING if control.holding else MOVING
        self._markers.publish(MarkerArray(markers=[*self._box(), self._words(self._lines(control), colour)]))

    def _lines(self, control: Any) -> list[str]:
        """Return the lines of the text: state of the arm, mission, and the running goal's newest reading."""
        doing = "holds" if control.holding else f'{control.skill}: "{control.instruction}"'
        lines = ["EMERGENCY STOP" if control.estopped else doing]
        if self._mission is not None and self._mission.text:
            lines.insert(0, f'{self._mission.state}: "{self._mission.text}"')
        reading = self._reading
        of_this_goal = reading is not None and reading.goal == control.goal
        if of_this_goal and np.isfinite([reading.progress, reading.success]).all():
            said = "cannot tell" if reading.abstained else f"success {reading.success:.2f}"
            lines.append(f"progress {reading.progress:.2f}, {said}")
        return [plain_line(line, MAX_WORDS) for line in lines]

    def _box(self) -> list[Marker]:
        box = self._scene.workspace
        if box is None:
            return []
        edges = self._marker("workspace", Marker.LINE_LIST, (0.4, 0.7, 1.0), 0.6)
        edges.scale.x = LINE_M
        points = box_edges(np.asarray(box.low, np.float64), np.asarray(box.high, np.float64))
        edges.points = [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
        return [edges]

    def _words(self, lines: list[str], colour: tuple[float, float, float]) -> Marker:
        words = self._marker("words", Marker.TEXT_VIEW_FACING, colour, 1.0)
        words.scale.z, words.text = LETTER_M, "\n".join(lines)
        box, at = self._scene.workspace, words.pose.position
        if box is not None:
            at.x, at.y = (0.5 * (box.low[axis] + box.high[axis]) for axis in range(2))
            at.z = box.high[2] + ABOVE_M
        return words

    def _marker(self, name: str, kind: int, colour: tuple[float, float, float], alpha: float) -> Marker:
        """Return a marker in the world frame, at whatever time a viewer looks (stamp 0)."""
        marker = Marker(ns=name, id=0, type=kind, action=Marker.ADD)
        marker.header.frame_id = self._world
        marker.pose.orientation.w = 1.0
        red, green, blue = colour
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        return marker


def main(args: list[str] | None = None) -> int:
    """Run the node until it is stopped; return EXIT_UNFIT if there is no such scene."""
    return run_node(MarkerNode, args)


if __name__ == "__main__":
    sys.exit(main())
