"""The request to change a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from launch import Event

from .transitions import transition_name

if TYPE_CHECKING:
    from ...actions.lifecycle_node import LifecycleNode


class ChangeState(Event):
    """Matching lifecycle nodes are to make a transition.

    Args:
        lifecycle_node_matcher: decides for each action whether it is meant.
        transition_id: number of the transition, from `lifecycle_msgs.msg.Transition`; ValueError for any
            other.
    """

    name = "launch_ros.events.lifecycle.ChangeState"

    def __init__(
        self, *, lifecycle_node_matcher: Callable[[LifecycleNode], bool], transition_id: int
    ) -> None:
        transition_name(transition_id)
        self.__matcher = lifecycle_node_matcher
        self.__transition_id = int(transition_id)

    @property
    def lifecycle_node_matcher(self) -> Callable[[LifecycleNode], bool]:
        """Decides for each action whether it is meant."""
        return self.__matcher

    @property
    def transition_id(self) -> int:
        """The number of the transition."""
        return self.__transition_id
