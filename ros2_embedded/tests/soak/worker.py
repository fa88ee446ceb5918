"""A node with topics of its own, which works until it is killed: `python worker.py INDEX NODES TOPICS`.

It prints `ready`, publishes on its topics, and listens to those of the next node.
"""

from __future__ import annotations

import sys

from std_msgs.msg import String

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

PERIOD_S = 0.5


def make_node(index: int, nodes: int, topics: int) -> Node:
    """The node with its publishers, subscriptions and timer."""
    node = Node(f"worker{index}")
    publishers = [node.create_publisher(String, f"/topic{index}_{number}", 10) for number in range(topics)]
    neighbour = (index + 1) % nodes
    for number in range(topics):
        node.create_subscription(String, f"/topic{neighbour}_{number}", lambda _: None, 10)

    def publish() -> None:
        for publisher in publishers:
            publisher.publish(String(data="x" * 100))

    node.create_timer(PERIOD_S, publish)
    return node


def main() -> None:
    """Run a worker."""
    rclpy.init(args=[])
    node = make_node(*(int(word) for word in sys.argv[1:]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        return
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
