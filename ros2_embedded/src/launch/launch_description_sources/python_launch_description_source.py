"""Descriptions from Python launch files."""

from __future__ import annotations

from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from .python_launch_file_utilities import get_launch_description_from_python_launch_file


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """The description that a Python launch file generates.

    Args:
        launch_file_path: path of the file, which may hold substitutions.
    """

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(
            None,
            launch_file_path,
            "interpreted python launch file",
            loader=get_launch_description_from_python_launch_file,
        )
