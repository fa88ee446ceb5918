"""The action that lets tests begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from launch.action import Action

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext
    from launch.launch_description_entity import LaunchDescriptionEntity

READY = "launch_testing_ready"
"""The name of the function in the launch context that is called."""


class ReadyToTest(Action):
    """Says that the system is up: the tests that run beside it may begin."""

    def describe(self) -> str:
        """Return a short text for people."""
        return "ReadyToTest()"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Tell the test runner; nothing happens where there is none."""
        ready: Callable[[], None] | None = context.get_locals_as_dict().get(READY)
        if ready is not None:
            ready()
        return None
