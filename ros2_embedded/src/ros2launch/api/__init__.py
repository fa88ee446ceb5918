"""Functions of programs that find, print and launch launch files."""

from .api import (
    LaunchFileNameCompleter,
    MultipleLaunchFilesError,
    get_launch_file_paths,
    get_share_file_path_from_package,
    is_launch_file,
    launch_a_launch_file,
    parse_launch_arguments,
    print_a_launch_file,
    print_arguments_of_launch_description,
    print_arguments_of_launch_file,
)

__all__ = [
    "LaunchFileNameCompleter",
    "MultipleLaunchFilesError",
    "get_launch_file_paths",
    "get_share_file_path_from_package",
    "is_launch_file",
    "launch_a_launch_file",
    "parse_launch_arguments",
    "print_a_launch_file",
    "print_arguments_of_launch_description",
    "print_arguments_of_launch_file",
]
