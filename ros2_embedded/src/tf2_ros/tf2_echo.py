"""The program `tf2_echo`: prints the transform between two frames until it is ended.

ros2 run tf2_ros tf2_echo base_link camera 5
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.time import Time
from rclpy.utilities import remove_ros_args
from tf2_py import TransformException
from tf2_py.rigid import Quaternion, normalise, rotate
from tf2_ros.buffer import Buffer
from tf2_ros.transform_listener import TransformListener

_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def euler_from_quaternion(q: Quaternion) -> tuple[float, float, float]:
    """Roll about x, pitch about the fixed y and yaw about the fixed z [rad] of a rotation."""
    x, y, z, w = normalise(q)
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    return roll, pitch, math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def describe(transform: Any, precision: int = 3) -> str:
    """A `TransformStamped` in words: translation [m], rotation as quaternion and angles, and the matrix."""

    def numbers(values: Any, width: int = 0) -> str:
        return ", ".join(f"{value:{width}.{precision}f}" for value in values)

    stamp, t, r = transform.header.stamp, transform.transform.translation, transform.transform.rotation
    q = (r.x, r.y, r.z, r.w)
    angles = euler_from_quaternion(q)
    columns = [rotate(normalise(q), axis) for axis in _AXES]
    rows = [[*row, shift] for row, shift in zip(zip(*columns, strict=True), (t.x, t.y, t.z), strict=True)]
    lines = [
        f"At time {stamp.sec}.{stamp.nanosec}",
        f"- Translation: [{numbers((t.x, t.y, t.z))}]",
        f"- Rotation: in Quaternion (xyzw) [{numbers(q)}]",
        f"- Rotation: in RPY (radian) [{numbers(angles)}]",
        f"- Rotation: in RPY (degree) [{numbers(map(math.degrees, angles))}]",
        "- Matrix:",
        *[f"  {numbers(row, precision + 3)}" for row in [*rows, [0.0, 0.0, 0.0, 1.0]]],
    ]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Print the pose of the target frame in the source frame at a rate."""
    words = list(sys.argv if argv is None else argv)
    parser = argparse.ArgumentParser(prog="tf2_echo")
    parser.add_argument("source_frame", help="the frame to look from")
    parser.add_argument("target_frame", help="the frame to look at")
    parser.add_argument("rate", type=float, nargs="?", default=1.0, help="how often to print [Hz]")
    parser.add_argument("precision", type=int, nargs="?", default=3, help="digits behind the point")
    found = parser.parse_args(remove_ros_args(words)[1:])
    if found.rate <= 0:
        parser.error("the rate must be greater than zero")
    rclpy.init(args=words)
    node = rclpy.create_node("tf2_echo")
    buffer = Buffer(node=node)
    TransformListener(buffer, node)

    def look() -> None:
        try:
            transform = buffer.lookup_transform(found.source_frame, found.target_frame, Time())
        except TransformException as error:
            node.get_logger().info(
                f"Waiting for transform {found.source_frame} ->  {found.target_frame}: {error}"
            )
            return
        sys.stdout.write(describe(transform, found.precision) + "\n")
        sys.stdout.flush()

    node.create_timer(1.0 / found.rate, look)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0
