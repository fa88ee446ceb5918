"""Loading of launch files by their suffix."""

from __future__ import annotations

import os

from ..frontend.parser import Parser, description_from_markup
from ..invalid_launch_file_error import InvalidLaunchFileError, LaunchFileNotFoundError
from ..launch_description import LaunchDescription
from .python_launch_file_utilities import get_launch_description_from_python_launch_file


def get_launch_description_from_any_launch_file(
    launch_file_path: str, *, parser: type[Parser] = Parser
) -> LaunchDescription:
    """Return the description in a launch file; raise InvalidLaunchFileError for an unknown suffix, which is a
    FileNotFoundError too when there is no such file."""
    path = os.fspath(launch_file_path)
    suffix = os.path.splitext(path)[1]
    if not os.path.isfile(path):
        raise LaunchFileNotFoundError(f"launch file '{path}' was not found")
    if suffix == ".py":
        return get_launch_description_from_python_launch_file(path)
    known = Parser.get_file_extensions_from_parsers()
    if suffix[1:] not in known:
        raise InvalidLaunchFileError(
            f"no front end reads '{suffix}' ('{path}'); known: {', '.join(sorted(['py', *known]))}"
        )
    return description_from_markup(path, parser)
