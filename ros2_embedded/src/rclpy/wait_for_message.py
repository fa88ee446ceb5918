"""Wait for one message of a topic."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rclpy.impl.blocking import Wakeups
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
    """Wait for the next message of a topic. The node need not be spun, and its callbacks are not called here.

    Args:
        msg_type: message class.
        node: makes the subscription.
        topic: topic name.
        qos_profile: profile of the subscription.
        time_to_wait: [s]; negative waits for ever.

    Returns:
        Whether a message came before that time and the end of the context, and the message or None.
    """
    woken = Wakeups()
    future: Future[Any] = Future()  # set by an executor that spins the node and is faster
    future._add_waker(lambda _: woken.wake())
    subscription = node.create_subscription(msg_type, topic, future.set_result, qos_profile)
    unwatch = subscription._watch(woken.wake)
    end = time.monotonic() + time_to_wait if time_to_wait >= 0 else None
    try:
        with woken.at_end_of(node.context):
            while node.context.ok():
                taken = subscription.take_message()
                if taken is not None or future.done():
                    return True, future.result() if taken is None else taken[0]
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    break
                woken.wait(left)
        return False, None
    finally:
        unwatch()
        node.destroy_subscription(subscription)


pass_on(__name__)
