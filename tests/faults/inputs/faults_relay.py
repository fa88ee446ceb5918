"""What stands between the bridge and the other nodes where a camera and joint encoders would be, and can be faulty."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any
from unittest import mock

from faults_deployment import Deployed
from faults_files import PLUGIN, World
from faults_member import Member
from openral.msg import TaskProgress
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image, JointState
from system_operator import Operator
from system_stack import Stack

IMAGE, JOINTS = "/openral/cameras/corner2/image_raw", "/joint_states"
CAMERA = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Relay(Member):
    """Passes images and joints on; its attributes are the faults."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack, "relay")
        self.dropped = 0.0
        """Share of the images that are lost at random."""
        self.frozen = self.shuffled = False
        """Old pixels under new stamps; joints in another order."""
        self.size = self.encoding = self.renamed = ""
        """`WxH` and encoding that an image claims to have, and the joint that is called otherwise."""
        self.last_s = 0.0
        """[s] stamp of the last image that was passed on with its own pixels."""
        self.passed = self.lost = 0
        self.progress: list[Any] = []
        """TaskProgress messages."""
        self._chance = random.Random(0)
        self._pixels: Any = None
        self._images = self.node.create_publisher(Image, IMAGE, CAMERA)
        self._joints = self.node.create_publisher(JointState, JOINTS, 10)
        self.node.create_subscription(Image, f"/faults{IMAGE}", self._on_image, CAMERA)
        self.node.create_subscription(JointState, f"/faults{JOINTS}", self._on_joints, 10)
        self.node.create_subscription(TaskProgress, "/openral/progress", self.progress.append, 10)

    def fix(self) -> None:
        """Turn all faults off."""
        self.dropped = 0.0
        self.frozen = self.shuffled = False
        self.size = self.encoding = self.renamed = ""

    def _on_image(self, message: Any) -> None:
        if self._chance.random() < self.dropped:
            self.lost += 1
            return
        if self.frozen and self._pixels is not None:
            message.data = self._pixels
        else:
            self._pixels = message.data
            self.last_s = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        if self.size:
            message.width, message.height = map(int, self.size.split("x"))
            message.step = 3 * message.width
            message.data = bytes(message.step * message.height)
        message.encoding = self.encoding or message.encoding
        self.passed += 1
        self._images.publish(message)

    def _on_joints(self, message: Any) -> None:
        pairs = list(zip(message.name, message.position, strict=True))
        if self.shuffled:
            self._chance.shuffle(pairs)
        names = [f"other_{name}" if name == self.renamed else name for name, _ in pairs]
        relayed = JointState(name=names, position=[position for _, position in pairs])
        relayed.header = message.header
        self._joints.publish(relayed)


@contextlib.contextmanager
def relayed(world: World) -> Iterator[tuple[Deployed, Relay]]:
    """Launch a world whose sensors pass through a relay in this process."""
    launch = str(PLUGIN / "relayed.launch.py")
    with (
        mock.patch.dict("os.environ", world.environment),
        Stack(world.folder, "ros2", "launch", launch, f"folder:={world.folder}") as stack,
        Relay(stack) as relay,
        Operator(stack) as operator,
    ):
        yield Deployed(world, stack, operator), relay
