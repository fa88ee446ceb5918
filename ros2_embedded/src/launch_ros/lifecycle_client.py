"""The launch's connection to one lifecycle node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from launch import LaunchContext
from launch.logging import get_logger

from .events.lifecycle.transitions import transition_name
from .ros_adapters import get_ros_node
from .service_calls import call_service


class LifecycleClient:
    """Follows a node's transitions and requests others.

    Args:
        context: the launch's state; construct the object in the loop's thread.
        node_name: full name of the node.
        on_transition: called in a thread of rclpy with each `lifecycle_msgs/msg/TransitionEvent`, if
            given.
    """

    def __init__(
        self, context: LaunchContext, node_name: str, on_transition: Callable[[Any], None] | None
    ) -> None:
        from lifecycle_msgs.msg import TransitionEvent
        from lifecycle_msgs.srv import ChangeState

        self._context = context
        self._node_name = node_name
        self._request_type = ChangeState.Request
        node = get_ros_node(context)
        if on_transition is not None:
            node.create_subscription(TransitionEvent, f"{node_name}/transition_event", on_transition, 10)
        self._client = node.create_client(ChangeState, f"{node_name}/change_state")
        self._logger = get_logger("launch_ros")

    def change_state(self, transition_id: int) -> asyncio.Future[bool]:
        """Request a transition, given by its number.

        The future is done when the node has answered, or the launch ends, and says whether the node made it.
        """
        return asyncio.ensure_future(self._change_state(transition_id))

    async def _change_state(self, transition_id: int) -> bool:
        request = self._request_type()
        request.transition.id = transition_id
        answer = await call_service(self._context, self._client, request)
        if answer is not None and not answer.success:
            self._logger.error(
                f"node '{self._node_name}' refused or failed "
                f"the transition '{transition_name(transition_id)}'"
            )
        return answer is not None and bool(answer.success)
