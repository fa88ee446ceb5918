"""Descriptions from launch files of any known format."""

from __future__ import annotations

from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from .any_launch_file_utilities import get_launch_description_from_any_launch_file


class AnyLaunchDescriptionSource(LaunchDescriptionSource):
    """The description in a launch file whose suffix says its format.

    Args:
        launch_file_path: path of the file, which may hold substitutions.
    """

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(
            None, launch_file_path, "any launch file", loader=get_launch_description_from_any_launch_file
        )
