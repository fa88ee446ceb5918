"""Wait for one message of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile
from rclpy.task import Future

if TYPE_CHECKING:
    from rclpy.node import Node


def wait_for_message(
    msg_type: Any,
    node: Node,
    topic: str,
    *,
    qos_profile: QoSProfile | int = 1,
    time_to_wait: float = -1,
) -> tuple[bool, Any]:
    """Wait for the next message of a topic.

    Args:
        msg_type: message class.
        node: makes the subscription; it must not be spun by another thread.
        topic: topic name.
        qos_profile: profile of the subscription.
        time_to_wait: [s]; negative waits for ever.

    Returns:
        Whether a message came, and the message or None.
    """
    future: Future[Any] = Future()
    subscription = node.create_subscription(msg_type, topic, future.set_result, qos_profile)
    former = node.executor
    executor = SingleThreadedExecutor(context=node.context)
    try:
        executor.add_node(node)
        executor.spin_until_future_complete(future, None if time_to_wait < 0 else time_to_wait)
    finally:
        executor.shutdown()
        node.destroy_subscription(subscription)
        if former is not None:
            former.add_node(node)
    return future.done(), future.result()


pass_on(__name__)
