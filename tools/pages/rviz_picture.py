"""Make the picture of docs/see.md: what RViz shows of a deployment that moves, by the layout of its scene.

    python tools/pages/rviz_picture.py

The deployment is a real one, and what is drawn came over its topics. The picture says in its metadata of which layout
it is, so that a test notices when the layout has changed since (tests/docs/test_rviz_picture.py).
"""

from __future__ import annotations

import hashlib
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as PathMessage
from PIL import Image
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rviz_drawing import Seen, draw
from sensor_msgs.msg import Image as ImageMessage
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "system")]

from system_stack import Stack  # noqa: E402  it lies in the folder above

from openral_cli.deploy.rviz_layout import rviz_layout  # noqa: E402
from openral_console.live.frame_tree import Frames, Pose  # noqa: E402
from openral_console.live.urdf_visuals import read_urdf  # noqa: E402
from openral_console.ros.convert import poses_of  # noqa: E402
from openral_core.scene import load_scene  # noqa: E402

PICTURE = ROOT / "docs" / "see" / "rviz.webp"
SCENE, MISSION = "metaworld_window", "slide the window open"
"""The handle goes aside as the eye of the layout sees it, and with it the planned path."""
DESCRIPTION = 0x010E
"""Tag ImageDescription of EXIF."""
PATIENCE_S = 120.0
SKILL, POINTS, ASIDE_M = "mini-metaworld", 8, 0.07
"""Who runs, and how many points the planned path has and how far it leads aside [m], where the fingers
do not hide it."""
LATCHED = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)


def digest(layout: str) -> str:
    """Return what a picture says of the layout that it is of."""
    return f"layout {hashlib.sha256(layout.encode()).hexdigest()[:16]}"


class Listener:
    """Hears what the displays of a layout show."""

    def __init__(self, node: Any, camera: str) -> None:
        """Subscribe."""
        self.seen, self._frames, self._camera = Seen(), Frames(), f"/openral/cameras/{camera}/image_raw"
        for kind, name, take, qos in (
            (String, "/robot_description", self._on_description, LATCHED),
            (TFMessage, "/tf", self._on_frames, 10),
            (TFMessage, "/tf_static", self._on_frames, LATCHED),
            (PoseStamped, "/openral/ee_pose", self._on_hand, 10),
            (PathMessage, "/openral/planned_path", self._on_path, LATCHED),
            (MarkerArray, "/openral/markers", self._on_markers, LATCHED),
            (ImageMessage, self._camera, self._on_image, NEWEST),
        ):
            node.create_subscription(kind, name, take, qos)

    @property
    def complete(self) -> bool:
        """Whether all is there, the arm has some way to go, and the reward monitor has said something."""
        seen = self.seen
        words = "".join(marker.text for marker in seen.markers)
        moves = SKILL in words and "progress" in words and len(seen.path) >= POINTS
        return (
            moves
            and bool(seen.robot and seen.images)
            and math.dist(seen.path[0][:2], seen.path[-1][:2]) > ASIDE_M
        )

    def _on_description(self, message: Any) -> None:
        self.seen.robot = read_urdf(message.data)

    def _on_frames(self, message: Any) -> None:
        self._frames.update(poses_of(message, ""))
        self.seen.frames = self._frames.poses

    def _on_hand(self, message: Any) -> None:
        at, turned = message.pose.position, message.pose.orientation
        self.seen.hand = Pose((at.x, at.y, at.z), (turned.x, turned.y, turned.z, turned.w))

    def _on_path(self, message: Any) -> None:
        places = [pose.pose.position for pose in message.poses]
        self.seen.path = [(at.x, at.y, at.z) for at in places]

    def _on_markers(self, message: Any) -> None:
        self.seen.markers = message.markers

    def _on_image(self, message: Any) -> None:
        pixels = np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3)
        self.seen.images = {self._camera: pixels.copy()}


def main() -> int:
    """Start a deployment, wait until it moves, draw; 1 where that does not come about."""
    scene = load_scene(SCENE)
    layout = rviz_layout(scene)
    words = (f"scene:={SCENE}", "markers:=true", "real_time_factor:=0.3", f"mission:={MISSION}")
    with (
        tempfile.TemporaryDirectory() as folder,
        Stack(
            Path(folder),
            "ros2",
            "launch",
            "openral",
            "deploy_sim.launch.py",
            *words,
            f"run_dir:={folder}/run",
        ) as stack,
    ):
        rclpy.init(args=[], domain_id=stack.domain)
        node = rclpy.create_node("viewer")
        listener = Listener(node, scene.cameras[0].name)
        end = time.monotonic() + PATIENCE_S
        while not listener.complete and time.monotonic() < end and stack.running:
            rclpy.spin_once(node, timeout_sec=0.05)
        picture = draw(layout, listener.seen) if listener.complete else None
        node.destroy_node()
        rclpy.try_shutdown()
    if picture is None:
        sys.stderr.write("the deployment did not come to move its arm\n")
        return 1
    about = Image.Exif()
    about[DESCRIPTION] = digest(layout)
    PICTURE.parent.mkdir(exist_ok=True)
    picture.save(PICTURE, quality=90, method=6, exif=about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
