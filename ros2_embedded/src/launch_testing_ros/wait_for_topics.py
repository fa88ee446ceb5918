"""Waiting until topics have messages."""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_system_default

from .message_pump import MessagePump


class WaitForTopics:
    """Waits until a message came on each of some topics, with a node and a context of its own.

    with WaitForTopics([("/chatter", String)], timeout=5.0):
        ...  # every topic has had a message

    Args:
        topic_tuples: names and message classes.
        timeout: how long to wait [s].
        messages_received_buffer_length: how many messages of each topic to keep; None for all.
        trigger: called with the node, and what `wait` is given, once it listens.
        node_namespace: of the node.
    """

    def __init__(
        self,
        topic_tuples: Iterable[tuple[str, Any]],
        timeout: float = 5.0,
        messages_received_buffer_length: int | None = None,
        trigger: Callable[..., Any] | None = None,
        node_namespace: str | None = None,
    ) -> None:
        self.topic_tuples, self.timeout = list(topic_tuples), timeout
        self.trigger = trigger
        self._received: dict[str, deque[Any]] = {
            name: deque(maxlen=messages_received_buffer_length) for name, _ in self.topic_tuples
        }
        self._changed = threading.Condition()
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context)
        name = f"_wait_for_topics_{uuid.uuid4().hex[:8]}"
        self._node = Node(name, context=self._context, namespace=node_namespace)
        self._pump = MessagePump(self._node)
        for topic, kind in self.topic_tuples:
            self._node.create_subscription(kind, topic, self._keeper(topic), qos_profile_system_default)
        self._pump.start()

    def _keeper(self, topic: str) -> Callable[[Any], None]:
        def keep(message: Any) -> None:
            with self._changed:
                self._received[topic].append(message)
                self._changed.notify_all()

        return keep

    def wait(self, *args: Any, **kwargs: Any) -> bool:
        """Wait; returns whether a message came on each topic in time. Arguments go to the trigger."""
        if self.trigger is not None:
            self.trigger(self._node, *args, **kwargs)
        with self._changed:
            return self._changed.wait_for(lambda: not self.topics_not_received(), self.timeout)

    def topics_received(self) -> set[str]:
        """The topics that had a message."""
        return {topic for topic, messages in self._received.items() if messages}

    def topics_not_received(self) -> set[str]:
        """The topics that had none."""
        return set(self._received) - self.topics_received()

    def received_messages(self, topic_name: str) -> list[Any]:
        """The messages of a topic, the oldest first.

        Raises:
            KeyError: it is not one of those waited for.
        """
        with self._changed:
            return list(self._received[topic_name])

    def shutdown(self) -> None:
        """End the node."""
        self._pump.stop()
        self._node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self) -> WaitForTopics:
        if not self.wait():
            missing = ", ".join(sorted(self.topics_not_received()))
            self.shutdown()
            raise RuntimeError(f"Did not receive messages on these topics: {missing}")
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
