"""Run an action unless a value is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .if_condition import IfCondition

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class UnlessCondition(IfCondition):
    """Holds when `IfCondition` would not."""

    def _holds(self, context: LaunchContext) -> bool:
        return not super()._holds(context)
