"""Descriptions from launch files in markup."""

from __future__ import annotations

from ..frontend.parser import Parser, description_from_markup
from ..launch_description import LaunchDescription
from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType


def get_launch_description_from_frontend_launch_file(
    path: str, *, parser: type[Parser] = Parser
) -> LaunchDescription:
    """Return the description in the launch file at `path`; raise InvalidFrontendLaunchFileError if there is
    none."""
    return description_from_markup(path, parser)


class FrontendLaunchDescriptionSource(LaunchDescriptionSource):
    """The description in a launch file in markup, by default of the format that its name tells.

    Args:
        launch_file_path: path of the file, which may hold substitutions.
        method: how the description is obtained, in words.
        parser: of the format.
    """

    def __init__(
        self,
        launch_file_path: SomeSubstitutionsType,
        *,
        method: str = "interpreted frontend launch file",
        parser: type[Parser] = Parser,
    ) -> None:
        super().__init__(
            None,
            launch_file_path,
            method,
            loader=lambda path: get_launch_description_from_frontend_launch_file(path, parser=parser),
        )
