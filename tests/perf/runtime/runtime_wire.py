"""What both sides of a comparison share: the same frame and text, the same bytes on the wire, the same session set-up.

The bare side is Zenoh without ROS, in a session of its own, configured alike. Its sender starts from a frame in
a numpy array and puts the CDR bytes that ROS sends too; its receiver has the bytes when its callback runs.
"""

from __future__ import annotations

import atexit
import os
import struct
from typing import Any

import numpy as np
import zenoh
from rclpy.qos import HistoryPolicy, QoSProfile
from rclpy.serialization import serialize_message
from ros2_embedded.session_config import open_session
from sensor_msgs.msg import Image
from std_msgs.msg import String

HEIGHT, WIDTH = 480, 640
FRAME_BYTES = 3 * HEIGHT * WIDTH
LETTERS = 100
RATE_HZ = 30.0
TOPIC = "/perf"
LOSSLESS = QoSProfile(depth=1, history=HistoryPolicy.KEEP_ALL)
"""Reliable and keep all: a publisher waits for the network rather than drop."""
_STAMP = struct.Struct("<iI")
_STAMP_AT = 4  # behind the encapsulation header


def bare_session() -> zenoh.Session:
    """A Zenoh session set up like that of a ROS context; closed at exit, before Python's threads end."""
    _, session = open_session(int(os.environ.get("ROS_DOMAIN_ID", "0")))
    atexit.register(session.close)
    return session


def bare_key(domain: int, what: str) -> str:
    """A key that no ROS node uses; the domain keeps runs apart."""
    return f"openral/perf/{domain}/{what}"


class Images:
    """Frames of 640x480 rgb8, each with a stamp of its own."""

    type = Image

    def __init__(self) -> None:
        self.frame = np.random.default_rng(0).integers(0, 256, FRAME_BYTES, np.uint8)
        self._message = Image(height=HEIGHT, width=WIDTH, encoding="rgb8", step=3 * WIDTH, data=self.frame)
        self._head = bytearray(serialize_message(self._message)[:-FRAME_BYTES])

    def message(self, seconds: int, nanoseconds: int) -> Image:
        """The ROS message."""
        stamp = self._message.header.stamp
        stamp.sec, stamp.nanosec = seconds, nanoseconds
        return self._message

    def payload(self, seconds: int, nanoseconds: int) -> bytes:
        """The CDR bytes of the same message."""
        _STAMP.pack_into(self._head, _STAMP_AT, seconds, nanoseconds)
        return b"".join((self._head, self.frame.data))

    @staticmethod
    def stamp(message: Any) -> tuple[int, int]:
        """Seconds and nanoseconds of a message or of CDR bytes."""
        if isinstance(message, bytes):
            seconds, nanoseconds = _STAMP.unpack_from(message, _STAMP_AT)
            return seconds, nanoseconds
        assert len(message.data) == FRAME_BYTES
        return message.header.stamp.sec, message.header.stamp.nanosec


class Strings:
    """Texts of 100 bytes."""

    type = String

    def __init__(self) -> None:
        self._message = String(data="x" * LETTERS)
        self._payload = serialize_message(self._message)

    def message(self, seconds: int, nanoseconds: int) -> String:
        """The ROS message; a text has no stamp."""
        return self._message

    def payload(self, seconds: int, nanoseconds: int) -> bytes:
        """The CDR bytes of the same message."""
        return self._payload


KINDS = {"images": Images, "strings": Strings}
