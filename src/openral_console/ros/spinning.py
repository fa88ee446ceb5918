"""A node that a thread of its own spins, beside a server that has the main thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

JOIN_S = 2.0
"""[s] that the thread has to end, since nothing that it waits for may be destroyed."""


@contextmanager
def spinning(node: Node) -> Iterator[None]:
    """Spin a node as long as the block lasts; then destroy it and shut rclpy down."""
    executor = SingleThreadedExecutor()

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin, name="ros", daemon=True)
    try:
        executor.add_node(node)
        thread.start()
        yield
    finally:
        executor.shutdown()
        thread.join(timeout=JOIN_S)
        node.destroy_node()
        rclpy.try_shutdown()
