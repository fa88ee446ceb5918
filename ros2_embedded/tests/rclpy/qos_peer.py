"""A publisher in another process: `python qos_peer.py PROFILE COUNT LENGTH`.

It waits for a subscription (when latched: for the node of the test), sends COUNT numbered texts, prints
`sent`, and sends one more for each line it reads.
"""

from __future__ import annotations

import sys
import time

from std_msgs.msg import String

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

PROFILES = {
    "keep_all": QoSProfile(depth=1, history=HistoryPolicy.KEEP_ALL),
    "best_effort": QoSProfile(depth=3, reliability=ReliabilityPolicy.BEST_EFFORT),
    "latched": QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}


def main() -> None:
    """Publish."""
    profile, count, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rclpy.init(args=[])
    node = Node("qos_peer")
    publisher = node.create_publisher(String, "/numbers", PROFILES[profile])
    while not (
        "tester" in node.get_node_names() if profile == "latched" else publisher.get_subscription_count()
    ):
        time.sleep(0.01)
    for index in range(count):
        publisher.publish(String(data=f"{index} ".ljust(length, "x")))
    sys.stdout.write("sent\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        while not publisher.get_subscription_count():
            time.sleep(0.01)
        publisher.publish(String(data=f"{count} "))
        count += 1
    rclpy.shutdown()


if __name__ == "__main__":
    main()
