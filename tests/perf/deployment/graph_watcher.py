"""Tells how much of the graph a newcomer knows, how soon, and what that costs it: a line of JSON at each change.

python graph_watcher.py ENTRIES [--listen]: ends its work when that many nodes and endpoints of robots are known; with
--listen it then receives the status of every robot.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import psutil
import rclpy
from openral.msg import ControlStatus
from rclpy.node import Node

OWN = "watcher"
LOOK_S = 0.5


def known(node: Node) -> int:
    """Return the number of nodes and endpoints of robots that the node knows of."""
    graph = node.context.session.graph
    return sum(record.namespace.startswith("/r") for record in graph.nodes()) + sum(
        record.node.namespace.startswith("/r") for record in graph.endpoints()
    )


def main() -> None:
    wanted, listens = int(sys.argv[1]), "--listen" in sys.argv
    rclpy.init(args=[])
    node = rclpy.create_node(OWN)
    count, heard = -1, 0

    def hear(message: ControlStatus) -> None:
        nonlocal heard
        heard += 1

    while True:
        entries = known(node)
        if entries != count:
            used = resource.getrusage(resource.RUSAGE_SELF)
            told = {
                "entries": entries,
                "cpu_s": round(used.ru_utime + used.ru_stime, 2),
                "rss_mb": round(psutil.Process().memory_info().rss / 1e6),
            }
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
        if entries >= wanted > count and listens:
            for name, kinds in node.get_topic_names_and_types():
                if kinds == ["openral/msg/ControlStatus"]:
                    node.create_subscription(ControlStatus, name, hear, 10)
        count = entries
        end = time.monotonic() + LOOK_S
        while time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=LOOK_S)


if __name__ == "__main__":
    main()
