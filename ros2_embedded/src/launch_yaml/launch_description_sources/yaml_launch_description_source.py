"""Descriptions from YAML launch files, whatever their names."""

from __future__ import annotations

from launch.frontend.parser import description_from_markup
from launch.launch_description_source import LaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType

from ..parser import Parser


class YAMLLaunchDescriptionSource(LaunchDescriptionSource):
    """The description in a launch file written in YAML.

    Args:
        launch_file_path: path of the file, which may hold substitutions.
    """

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(
            None,
            launch_file_path,
            "interpreted YAML launch file",
            loader=lambda path: description_from_markup(path, Parser),
        )
