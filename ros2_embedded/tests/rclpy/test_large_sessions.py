"""A process with more endpoints than fit into a link's short default queue is seen by all who come later."""

from __future__ import annotations

import subprocess
import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor

NODES, TOPICS = 10, 200
MANY = f"""
import sys
import rclpy
from std_msgs.msg import Empty
rclpy.init()
nodes = [rclpy.create_node(f"large{{n}}", start_parameter_services=False) for n in range({NODES})]
kept = [node.create_subscription(Empty, f"~/t{{n}}", print, 1) for node in nodes for n in range({TOPICS})]
print("ready", flush=True)
sys.stdin.read()
"""


def test_newcomers_see_every_endpoint_of_a_large_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MANY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as large:
        assert large.stdout.readline() == "ready\n"
        for newcomer in range(4):
            with rclpy.init(context=(context := rclpy.Context())):
                node = rclpy.create_node(f"newcomer{newcomer}", context=context)
                executor = SingleThreadedExecutor(context=context)
                executor.add_node(node)
                found: list[str] = []
                for _ in range(100):
                    executor.spin_once(timeout_sec=0.1)
                    found = [
                        name for name, _ in node.get_topic_names_and_types() if name.startswith("/large")
                    ]
                    if len(found) == NODES * TOPICS:
                        break
                node.destroy_node()
            assert len(found) == NODES * TOPICS, f"newcomer {newcomer}"
        large.stdin.close()
