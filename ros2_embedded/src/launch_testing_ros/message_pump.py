"""Spinning the node of a test."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

if TYPE_CHECKING:
    from rclpy.context import Context
    from rclpy.node import Node


class MessagePump:
    """Spins a node in a thread, from `start` to `stop` or as long as a `with` block lasts."""

    def __init__(self, node: Node, context: Context | None = None) -> None:
        self._node = node
        self._executor = SingleThreadedExecutor(context=context or node.context)
        self._thread = threading.Thread(target=self._spin, name=f"pump-{node.get_name()}", daemon=True)

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def start(self) -> None:
        """Begin."""
        self._executor.add_node(self._node)
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for what runs.

        Raises:
            RuntimeError: a callback does not come to an end.
        """
        ended = self._executor.shutdown(timeout_sec=5.0)
        self._thread.join(timeout=5.0)
        if not ended or self._thread.is_alive():
            raise RuntimeError(f"a callback of {self._node.get_fully_qualified_name()} does not end")

    def __enter__(self) -> MessagePump:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
