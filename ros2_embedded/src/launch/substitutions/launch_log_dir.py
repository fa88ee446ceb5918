"""The directory of the log files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..substitution import Substitution
from .path_substitution import PathLikeSubstitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("log_dir")
@expose_substitution("launch_log_dir")
class LaunchLogDir(PathLikeSubstitution):
    """The directory this launch writes its logs to."""

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(log_dir)`."""
        () = data
        return cls, {}

    def describe(self) -> str:
        """Return a short text for people."""
        return "LaunchLogDir()"

    def perform(self, context: LaunchContext) -> str:
        """Return the path, creating the directory if need be."""
        from ..logging import launch_config

        return launch_config.log_dir
