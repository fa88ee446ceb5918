"""The launch's own ROS node, for launch files that talk to nodes."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from launch import LaunchContext
from launch.event_handlers import OnShutdown

if TYPE_CHECKING:
    from rclpy.node import Node


class ROSAdapter:
    """A node in a context of its own, spun in a thread.

    Its rclpy context leaves signals alone: they belong to the `LaunchService`.
    """

    def __init__(self) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node: Node = rclpy.create_node(f"launch_ros_{os.getpid()}", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="launch_ros", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop.is_set() and self._context.ok():
            self._executor.spin_once(timeout_sec=0.5)

    def shutdown(self) -> None:
        """Stop spinning and take the node out of the graph."""
        self._stop.set()
        self._executor.wake()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()


def get_ros_node(context: LaunchContext) -> Node:
    """Return the launch's node, made on the first call; it goes when the launch shuts down."""
    return get_ros_adapter(context).node


def get_ros_adapter(context: LaunchContext) -> ROSAdapter:
    """Return what spins the launch's node, made on the first call; it goes when the launch shuts down."""
    adapter: ROSAdapter | None = context.get_locals_as_dict().get("ros_adapter")
    if adapter is None:
        made = adapter = ROSAdapter()
        context.extend_globals({"ros_adapter": made})

        def shutdown(event: object, context: LaunchContext) -> None:
            # In a thread, as spinning may take a moment to end and processes want their signals now.
            context.running_loop().run_in_executor(None, made.shutdown)

        context.register_event_handler(OnShutdown(on_shutdown=shutdown))
    return adapter
