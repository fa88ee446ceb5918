"""Loading of Python launch files."""

from __future__ import annotations

import importlib.util
import os
from types import ModuleType

from ..invalid_launch_file_error import InvalidLaunchFileError, LaunchFileNotFoundError
from ..launch_description import LaunchDescription


class InvalidPythonLaunchFileError(InvalidLaunchFileError):
    """A Python launch file could not be read or executed, or generates no description."""


class PythonLaunchFileNotFoundError(InvalidPythonLaunchFileError, LaunchFileNotFoundError):
    """There is no such launch file."""


def load_python_launch_file_as_module(python_launch_file_path: str | os.PathLike[str]) -> ModuleType:
    """Execute a launch file and return it as a module; raise InvalidPythonLaunchFileError if it cannot be
    read."""
    path = os.fspath(python_launch_file_path)
    from importlib.machinery import SourceFileLoader

    loader = SourceFileLoader("python_launch_file", path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    if spec is None:
        raise InvalidPythonLaunchFileError(f"cannot load launch file '{path}'")
    module = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except FileNotFoundError as error:
        if error.filename == path:
            raise PythonLaunchFileNotFoundError(f"launch file '{path}' was not found") from error
        raise
    except SyntaxError as error:
        raise InvalidPythonLaunchFileError(
            f"launch file '{path}', line {error.lineno}: {error.msg}"
        ) from error
    return module


def get_launch_description_from_python_launch_file(
    python_launch_file_path: str | os.PathLike[str],
) -> LaunchDescription:
    """Return what `generate_launch_description()` of a file returns; raise InvalidPythonLaunchFileError
    without it."""
    path = os.fspath(python_launch_file_path)
    module = load_python_launch_file_as_module(path)
    generate = getattr(module, "generate_launch_description", None)
    if generate is None:
        raise InvalidPythonLaunchFileError(
            f"launch file '{path}' has no function generate_launch_description()"
        )
    description = generate()
    if not isinstance(description, LaunchDescription):
        raise InvalidPythonLaunchFileError(
            f"generate_launch_description() of '{path}' returned {type(description).__name__}, "
            "not a LaunchDescription"
        )
    return description
