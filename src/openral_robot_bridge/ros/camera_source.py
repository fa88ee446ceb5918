"""Where a real camera's pictures come from: a topic of its driver, or a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage
from sensor_msgs.msg import Image as ImageMessage

from openral_core.errors import ContractError
from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.hardware.real_camera import RealCamera
from openral_core.image_message import decode_compressed, parse_stamp, unpack_image
from openral_core.ros.qos import NEWEST
from openral_core.types import Image
from openral_robot_bridge.cameras.device import CameraDevice


@dataclass(frozen=True)
class Optics:
    """What a CameraInfo says of pictures of a size."""

    k: NDArray[np.float64]
    """(3, 3) [px]"""
    size: tuple[int, int]
    """[px] width and height."""
    model: str = "plumb_bob"
    """Of distortion."""
    d: tuple[float, ...] = (0.0,) * 5
    """Its numbers."""


class PictureSink(Protocol):
    """What a source is for. Calls come from the thread of the executor, or of the device."""

    def picture(self, stamp_ns: int, image: Image) -> None:
        """A picture (H, W, 3) uint8 RGB was taken at a wall time [ns]."""
        ...

    def optics(self, optics: Optics) -> None:
        """The camera said what its lens is like."""
        ...

    def failed(self, why: str) -> None:
        """There is no picture, or one that cannot be used."""
        ...


def open_source(node: Node, name: str, camera: RealCamera, sink: PictureSink) -> Callable[[], None]:
    """Begin to hand on what a camera sends; return what ends it.

    Args:
        node: which listens.
        name: of the camera.
        camera: what the scene says of its source.
        sink: gets the pictures.
    """
    if camera.device is not None:
        lens = camera.lens
        if lens is not None and camera.capture is not None:
            k = np.array([[lens.fx, 0.0, lens.cx], [0.0, lens.fy, lens.cy], [0.0, 0.0, 1.0]])
            sink.optics(Optics(k, (camera.capture.width, camera.capture.height)))
        return CameraDevice(camera.device, camera.capture, sink.picture, sink.failed).close
    topic = _CameraTopic(name, sink)
    kind: Any = ImageMessage
    heard = topic.on_image
    if str(camera.topic).endswith(COMPRESSED_SUFFIX):
        kind, heard = CompressedImage, topic.on_compressed
    made = [
        node.create_subscription(kind, str(camera.topic), heard, NEWEST),
        node.create_subscription(CameraInfo, camera.camera_info, topic.on_info, NEWEST),
    ]

    def close() -> None:
        for subscription in made:
            node.destroy_subscription(subscription)

    return close


class _CameraTopic:
    """Reads the messages of one camera's driver."""

    def __init__(self, name: str, sink: PictureSink) -> None:
        self._name, self._sink = name, sink

    def on_image(self, message: Any) -> None:
        """Take a sensor_msgs/Image."""
        self._take(
            message,
            lambda: unpack_image(
                self._name, message.width, message.height, message.encoding, message.step, message.data
            ),
        )

    def on_compressed(self, message: Any) -> None:
        """Take a sensor_msgs/CompressedImage."""
        self._take(message, lambda: self._decompress(message))

    def on_info(self, message: Any) -> None:
        """Take a sensor_msgs/CameraInfo."""
        k = np.array(message.k, np.float64).reshape(3, 3)
        if (
            not np.isfinite(k).all()
            or k[0, 0] <= 0.0
            or k[1, 1] <= 0.0
            or min(message.width, message.height) < 1
        ):
            return  # a camera that was never calibrated sends zeros
        size = (int(message.width), int(message.height))
        self._sink.optics(Optics(k, size, str(message.distortion_model), tuple(map(float, message.d))))

    def _take(self, message: Any, read: Callable[[], Image]) -> None:
        stamp = message.header.stamp
        try:
            parse_stamp(self._name, stamp.sec, stamp.nanosec, time.time())
            self._sink.picture(int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec), read())
        except ContractError as error:
            self._sink.failed(str(error))

    def _decompress(self, message: Any) -> Image:
        picture = decode_compressed(message.data)
        if picture is None:
            kind = ascii(str(message.format)[:40])[1:-1]
            raise ContractError(
                f"camera '{self._name}': {len(message.data)} bytes of '{kind}' are no picture"
            )
        return picture
