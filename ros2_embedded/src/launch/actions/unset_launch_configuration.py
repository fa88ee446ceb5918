"""Removing launch configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frontend.expose import expose_action
from .variable_actions import UnsetVariable

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_action("unset")
class UnsetLaunchConfiguration(UnsetVariable):
    """Removes a launch configuration."""

    def _values(self, context: LaunchContext) -> dict[str, str]:
        return context.launch_configurations
