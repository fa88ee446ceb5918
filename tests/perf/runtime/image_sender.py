"""Sends camera images from a process of its own: `python image_sender.py rclpy|zenoh DOMAIN COUNT`.

Each carries the monotonic time [ns], which all processes of a machine share, at which it was handed over.
"""

from __future__ import annotations

import sys
import time
from array import array

PERIOD_S = 0.05
SIDE = 128
TOPIC = "/openral/cameras/corner2/image_raw"
KEY = "openral/perf/image"


def send_with_rclpy(domain: int, count: int) -> None:
    import rclpy
    from rclpy.qos import QoSProfile, QoSReliabilityPolicy
    from sensor_msgs.msg import Image

    context = rclpy.Context()
    context.init(domain_id=domain)
    node = rclpy.create_node("sender", context=context)
    publisher = node.create_publisher(
        Image, TOPIC, QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
    )
    while not publisher.get_subscription_count():
        time.sleep(0.05)
    message = Image(height=SIDE, width=SIDE, encoding="rgb8", step=3 * SIDE)
    pixels = bytes(3 * SIDE * SIDE)
    for _ in range(count):
        time.sleep(PERIOD_S)
        now = time.monotonic_ns()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
        message.data = array("B", pixels)
        publisher.publish(message)
    time.sleep(0.5)
    context.try_shutdown()


def send_with_zenoh(domain: int, count: int) -> None:
    from ros2_embedded.session import RosSession

    session = RosSession(domain)
    publisher = session.zenoh.declare_publisher(f"{KEY}/{domain}")
    time.sleep(1.0)
    pixels = bytes(3 * SIDE * SIDE + 60)
    for _ in range(count):
        time.sleep(PERIOD_S)
        publisher.put(time.monotonic_ns().to_bytes(8, "little") + pixels)
    time.sleep(0.5)
    session.close()


if __name__ == "__main__":
    {"rclpy": send_with_rclpy, "zenoh": send_with_zenoh}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
