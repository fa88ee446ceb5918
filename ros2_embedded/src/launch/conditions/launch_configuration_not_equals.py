"""Run an action unless a launch configuration has a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch_configuration_equals import LaunchConfigurationEquals

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LaunchConfigurationNotEquals(LaunchConfigurationEquals):
    """Holds when `LaunchConfigurationEquals` would not."""

    def _holds(self, context: LaunchContext) -> bool:
        return not super()._holds(context)
