"""The container processes."""

from __future__ import annotations

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor

from .manager import ComponentManager


def main() -> int:
    """Run a container whose nodes share one thread."""
    return _run(SingleThreadedExecutor)


def main_multi_threaded() -> int:
    """Run a container whose nodes share a pool of threads."""
    return _run(MultiThreadedExecutor)


def _run(executor_type: type[SingleThreadedExecutor] | type[MultiThreadedExecutor]) -> int:
    rclpy.init()
    executor = executor_type()
    manager = ComponentManager(executor)
    executor.add_node(manager)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        manager.destroy_node()
        rclpy.try_shutdown()
    return 0
