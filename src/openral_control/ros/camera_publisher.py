"""The image topics of one camera: raw, and as JPEG for subscribers over a slow network."""

from __future__ import annotations

from array import array
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CompressedImage
from sensor_msgs.msg import Image as ImageMessage

from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.image_message import ENCODING, encode_jpeg
from openral_core.ros.qos import NEWEST
from openral_core.types import Image

QUALITY = 80
"""JPEG quality, 0 to 100; an image of 640x480 is compressed to about a twentieth of its raw size."""
FORMAT = f"{ENCODING}; jpeg compressed bgr8"
"""`format` of the message as in image_transport: encoding of the raw image, codec, and encoding of the codec's input.
"""


class ImageTopics:
    """Publishes `cameras/<name>/image_raw`, and `…/image_raw/compressed` while somebody subscribes to it."""

    def __init__(self, node: Node, name: str, size: tuple[int, int], frame_id: str) -> None:
        """Create the publishers.

        Args:
            node: which publishes.
            name: of the camera.
            size: [px] width and height.
            frame_id: of the camera's optical frame.
        """
        raw = f"cameras/{name}/image_raw"
        self._node = node
        self._images = node.create_publisher(ImageMessage, raw, NEWEST)
        self._compressed = node.create_publisher(CompressedImage, f"{raw}{COMPRESSED_SUFFIX}", NEWEST)
        width, height = size
        self._image = ImageMessage(width=width, height=height, encoding=ENCODING, step=3 * width)
        self._packed = CompressedImage(format=FORMAT)
        self._image.header.frame_id = self._packed.header.frame_id = frame_id

    def publish(self, stamp: Any, image: Image) -> None:
        """Publish an image (H, W, 3) uint8 RGB with its stamp (builtin_interfaces/Time)."""
        self._image.header.stamp = stamp
        self._image.data = array("B", image.tobytes())
        self._images.publish(self._image)  # before the compression, since a policy waits for it
        if self._compressed.get_subscription_count():
            self._packed.header.stamp = stamp
            self._packed.data = array("B", encode_jpeg(image, QUALITY))
            self._compressed.publish(self._packed)

    def close(self) -> None:
        """Destroy the publishers."""
        self._node.destroy_publisher(self._images)
        self._node.destroy_publisher(self._compressed)
