"""Functions of programs that find, print and launch launch files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription, LaunchIntrospector, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.frontend import Parser
from launch.launch_description_sources import (
    AnyLaunchDescriptionSource,
    get_launch_description_from_any_launch_file,
)
from ros2cli.verbs.launch.main import print_arguments

from ..option import run_with_options


class MultipleLaunchFilesError(Exception):
    """Several files of a package have the name.

    Attributes:
        paths: of these files.
    """

    def __init__(self, msg: str, paths: Sequence[str]) -> None:
        """Keep the paths."""
        super().__init__(msg)
        self.paths = paths


def get_share_file_path_from_package(*, package_name: str, file_name: str) -> str:
    """Return the path of the file of a name, wherever below the share directory of a package it lies.

    Raises:
        PackageNotFoundError: there is no such package.
        FileNotFoundError: it has no such file.
        MultipleLaunchFilesError: it has several.
    """
    share = get_package_share_directory(package_name)
    paths = [os.path.join(root, file_name) for root, _, files in os.walk(share) if file_name in files]
    if not paths:
        raise FileNotFoundError(f"package '{package_name}' has no file '{file_name}' below {share}")
    if len(paths) > 1:
        text = f"package '{package_name}' has several files '{file_name}': {', '.join(paths)}"
        raise MultipleLaunchFilesError(text, paths)
    return paths[0]


def get_launch_file_paths(*, path: str) -> list[str]:
    """Return the paths of the launch files below a folder."""
    paths = (os.path.join(root, name) for root, _, files in os.walk(path) for name in files)
    return [each for each in paths if is_launch_file(each)]


def is_launch_file(path: str) -> bool:
    """Return whether a path is that of a launch file."""
    endings = tuple(f"launch.{extension}" for extension in ("py", *Parser.get_available_extensions()))
    return path.endswith(endings) and os.path.isfile(path)


def print_a_launch_file(*, launch_file_path: str) -> None:
    """Print the description of a launch file."""
    description = get_launch_description_from_any_launch_file(launch_file_path)
    sys.stdout.write(LaunchIntrospector().format_launch_description(description) + "\n")


def print_arguments_of_launch_description(*, launch_description: LaunchDescription) -> None:
    """Print the launch arguments of a description."""
    print_arguments(launch_description)


def print_arguments_of_launch_file(*, launch_file_path: str) -> None:
    """Print the launch arguments of a launch file."""
    print_arguments(get_launch_description_from_any_launch_file(launch_file_path))


def parse_launch_arguments(launch_arguments: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Return pairs of name and value of words such as `name:=value`; the last of a name counts.

    Raises:
        RuntimeError: a word has another form.
    """
    arguments = {}
    for word in launch_arguments:
        name, separator, value = word.partition(":=")
        if not separator or not name:
            raise RuntimeError(f"malformed launch argument '{word}', expected format '<name>:=<value>'")
        arguments[name] = value
    return arguments.items()


def launch_a_launch_file(
    *,
    launch_file_path: str,
    launch_file_arguments: Sequence[str],
    noninteractive: bool = False,
    args: Any = None,
    option_extensions: Mapping[str, Any] | None = None,
    debug: bool = False,
) -> int:
    """Launch a file with arguments such as `name:=value`, and return the exit code."""
    words = list(launch_file_arguments)
    for name in ("launch_prefix", "launch_prefix_filter"):
        if getattr(args, name, None):
            words.append(f"{name.replace('_', '-')}:={getattr(args, name)}")
    source = AnyLaunchDescriptionSource(launch_file_path)
    include = IncludeLaunchDescription(source, launch_arguments=list(parse_launch_arguments(words)))
    return run_with_options(
        lambda: LaunchService(argv=words, noninteractive=noninteractive, debug=debug),
        LaunchDescription([include]),
        args,
        option_extensions or {},
    )


class LaunchFileNameCompleter:
    """Completes the names of the launch files of a package.

    Args:
        package_name_key: attribute of the parsed arguments with the name of the package.
    """

    def __init__(self, *, package_name_key: str | None = None) -> None:
        """Keep the attribute's name."""
        self.package_name_key = package_name_key or "package_name"

    def __call__(self, prefix: str, parsed_args: Any, **kwargs: object) -> list[str]:
        """Return the names, none for an unknown package."""
        try:
            share = get_package_share_directory(getattr(parsed_args, self.package_name_key))
        except PackageNotFoundError:
            return []
        return [os.path.basename(path) for path in get_launch_file_paths(path=share)]
