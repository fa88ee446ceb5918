"""The event of a changed state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from launch import Event

if TYPE_CHECKING:
    from ...actions.lifecycle_node import LifecycleNode


class StateTransition(Event):
    """A lifecycle node went from one state to another.

    Args:
        action: the node.
        msg: the `lifecycle_msgs/msg/TransitionEvent` it sent.
    """

    name = "launch_ros.events.lifecycle.StateTransition"

    def __init__(self, *, action: LifecycleNode, msg: Any) -> None:
        self.__action = action
        self.__msg = msg

    @property
    def action(self) -> LifecycleNode:
        """The node."""
        return self.__action

    @property
    def msg(self) -> Any:
        """The message."""
        return self.__msg

    @property
    def timestamp(self) -> int:
        """When, as the message says."""
        return int(self.__msg.timestamp)

    @property
    def transition(self) -> str:
        """The transition's label."""
        return str(self.__msg.transition.label)

    @property
    def start_state(self) -> str:
        """The label of the state before, such as `configuring`."""
        return str(self.__msg.start_state.label)

    @property
    def goal_state(self) -> str:
        """The label of the state after, such as `inactive`."""
        return str(self.__msg.goal_state.label)
