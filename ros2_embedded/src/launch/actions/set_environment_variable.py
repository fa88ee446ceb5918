"""Setting environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frontend.expose import expose_action
from .variable_actions import SetVariable

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_action("set_env")
class SetEnvironmentVariable(SetVariable):
    """Sets a variable in the environment of what the launch starts from here on."""

    def _values(self, context: LaunchContext) -> dict[str, str]:
        return context.environment
