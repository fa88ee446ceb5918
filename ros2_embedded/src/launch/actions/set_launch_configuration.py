"""Setting launch configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frontend.expose import expose_action
from .variable_actions import SetVariable

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_action("let")
class SetLaunchConfiguration(SetVariable):
    """Sets a launch configuration."""

    def _values(self, context: LaunchContext) -> dict[str, str]:
        return context.launch_configurations
