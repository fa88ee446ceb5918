"""Sources of a real camera's images: a topic of its ROS driver, or a device."""

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
from openral_core.image_message import as_rgb, decode_compressed, packed_pixels, parse_stamp
from openral_core.ros.qos import NEWEST
from openral_core.types import Image
from openral_robot_bridge.cameras.device import CameraDevice


@dataclass(frozen=True)
class Optics:
    """Camera model, as in sensor_msgs/CameraInfo."""

    k: NDArray[np.float64]
    """(3, 3) [px] intrinsic matrix."""
    size: tuple[int, int]
    """[px] width and height of the images to which it applies."""
    model: str = "plumb_bob"
    """Distortion model."""
    d: tuple[float, ...] = (0.0,) * 5
    """Coefficients of the distortion model."""


class PictureSink(Protocol):
    """Receiver of a source's images; calls come from the thread of the executor, or of the device."""

    def picture(self, stamp_ns: int, image: Image) -> None:
        """Take an image (H, W, 3) uint8 RGB with its wall time [ns]."""
        ...

    def optics(self, optics: Optics) -> None:
        """Take the camera model."""
        ...

    def failed(self, why: str) -> None:
        """Take the reason why there is no image, or why one cannot be used."""
        ...


def open_source(node: Node, name: str, camera: RealCamera, sink: PictureSink) -> Callable[[], None]:
    """Begin to pass a camera's images on, and return the function that closes the source.

    Args:
        node: which subscribes.
        name: of the camera.
        camera: with its topic or device.
        sink: gets the images.
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
        self._take(message, lambda: self._unpack(message))

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
            return  # an uncalibrated camera sends zeros
        size = (int(message.width), int(message.height))
        self._sink.optics(Optics(k, size, str(message.distortion_model), tuple(map(float, message.d))))

    def _take(self, message: Any, read: Callable[[], Image]) -> None:
        stamp = message.header.stamp
        try:
            parse_stamp(self._name, stamp.sec, stamp.nanosec, time.time())
            self._sink.picture(int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec), read())
        except ContractError as error:
            self._sink.failed(str(error))

    def _unpack(self, message: Any) -> Image:
        width, height, encoding = message.width, message.height, message.encoding
        return as_rgb(
            packed_pixels(self._name, width, height, encoding, message.step, message.data), encoding
        )

    def _decompress(self, message: Any) -> Image:
        picture = decode_compressed(message.data)
        if picture is None:
            kind = ascii(str(message.format)[:40])[1:-1]
            raise ContractError(
                f"camera '{self._name}': {len(message.data)} bytes of '{kind}' are no picture"
            )
        return picture
