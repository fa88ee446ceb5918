"""The program `static_transform_publisher`: one transform on `/tf_static` until it is ended.

ros2 run tf2_ros static_transform_publisher --x 0.1 --yaw 1.57 --frame-id base --child-frame-id camera

The older form, `x y z yaw pitch roll parent child` or `x y z qx qy qz qw parent child`, is taken with a
warning.
"""

from __future__ import annotations

import argparse
import math
import re
import sys

from geometry_msgs.msg import TransformStamped

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from tf2_py.rigid import Quaternion, normalise
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster


def quaternion_from_euler(roll: float, pitch: float, yaw: float) -> Quaternion:
    """The rotation by `roll` about x, then `pitch` about the fixed y, then `yaw` about the fixed z [rad]."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


_OLD_FORMS = {
    8: ("x", "y", "z", "yaw", "pitch", "roll"),
    9: ("x", "y", "z", "qx", "qy", "qz", "qw"),
}
_NUMBERS = {name for names in _OLD_FORMS.values() for name in names}


def from_old_form(arguments: list[str]) -> list[str]:
    """The options that a command line of numbers and two frames stands for; any other stays as it is."""
    names = _OLD_FORMS.get(len(arguments))
    if names is None or any(word.startswith("--") for word in arguments):
        return arguments
    sys.stderr.write("[WARN] []: Old-style arguments are deprecated; see --help for new-style arguments\n")
    options = [f"--{name}={value}" for name, value in zip(names, arguments[:-2], strict=True)]
    return [*options, f"--frame-id={arguments[-2]}", f"--child-frame-id={arguments[-1]}"]


def _joined(arguments: list[str]) -> list[str]:
    """The words, with numbers such as -1e-05 joined to their options, as argparse takes them for options."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1].removeprefix("--") in _NUMBERS and re.match(r"-[\d.]", word):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def parse(arguments: list[str]) -> TransformStamped:
    """The transform a command line asks for.

    Raises:
        SystemExit: it is wrong; the usage is on standard error.
    """
    parser = argparse.ArgumentParser(prog="static_transform_publisher")
    for name in ("x", "y", "z"):
        parser.add_argument(f"--{name}", type=float, default=0.0, help="translation [m]")
    for name in ("qx", "qy", "qz", "qw"):
        parser.add_argument(f"--{name}", type=float, help="rotation, a quaternion")
    for name in ("roll", "pitch", "yaw"):
        parser.add_argument(f"--{name}", type=float, help="rotation [rad]")
    parser.add_argument("--frame-id", required=True, help="parent frame")
    parser.add_argument("--child-frame-id", required=True, help="child frame")
    found = parser.parse_args(_joined(from_old_form(arguments)))
    by_quaternion = [found.qx, found.qy, found.qz, found.qw]
    by_angles = [found.roll, found.pitch, found.yaw]
    if any(v is not None for v in by_quaternion) and any(v is not None for v in by_angles):
        parser.error("give the rotation as a quaternion or as angles, not both")
    if found.frame_id == found.child_frame_id:
        parser.error("a frame cannot be its own parent")
    rotation = quaternion_from_euler(*(v or 0.0 for v in by_angles))
    if any(v is not None for v in by_quaternion):
        x, y, z, w = (v or 0.0 for v in by_quaternion)
        if not any((x, y, z, w)):
            parser.error("the quaternion is zero")
        rotation = normalise((x, y, z, w))
    message = TransformStamped(child_frame_id=found.child_frame_id)
    message.header.frame_id = found.frame_id
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = found.x, found.y, found.z
    q.x, q.y, q.z, q.w = rotation
    return message


def main(argv: list[str] | None = None) -> int:
    """Publish until the process is told to end; returns the exit status."""
    command_line = sys.argv if argv is None else argv
    message = parse(remove_ros_args(command_line)[1:])
    try:
        with rclpy.init(args=command_line), Node("static_transform_publisher") as node:
            message.header.stamp = node.get_clock().now().to_msg()
            StaticTransformBroadcaster(node).sendTransform(message)
            rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    return 0
