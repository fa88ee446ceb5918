"""The directory of the launch file at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from .path_substitution import PathLikeSubstitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("dirname")
class ThisLaunchFileDir(PathLikeSubstitution):
    """The directory of the launch file that is being visited."""

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(dirname)`."""
        () = data
        return cls, {}

    def describe(self) -> str:
        """Return a short text for people."""
        return "ThisLaunchFileDir()"

    def perform(self, context: LaunchContext) -> str:
        """Return the directory; raise SubstitutionFailure when the description came from no file."""
        path = context.get_locals_as_dict().get("current_launch_file_directory")
        if path is None:
            raise SubstitutionFailure("ThisLaunchFileDir used outside of a launch file")
        return str(path)
