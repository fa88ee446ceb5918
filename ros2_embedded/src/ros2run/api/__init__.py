"""Programs of packages, as other programs start them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from ros2pkg.api import PackageNotFound, get_executable_paths

__all__ = [
    "ExecutableNameCompleter",
    "MultipleExecutables",
    "PackageNotFound",
    "get_executable_path",
    "get_executable_paths",
    "run_executable",
]


class MultipleExecutables(Exception):
    """Several programs of a package have the name."""

    def __init__(self, paths: list[str]) -> None:
        """Keep the paths."""
        super().__init__(", ".join(paths))
        self.paths = paths


def get_executable_path(*, package_name: str, executable_name: str) -> str | None:
    """Return the path of a program, None when there is none.

    Raises:
        PackageNotFound: nothing provides the package.
        MultipleExecutables: several files have the name.
    """
    paths = get_executable_paths(package_name=package_name)
    found = [path for path in paths if os.path.basename(path) == executable_name]
    if len(found) > 1:
        raise MultipleExecutables(found)
    return found[0] if found else None


def run_executable(*, path: str, argv: list[str], prefix: list[str] | None = None) -> int:
    """Run a program to its end and return its exit code; a Python file is run by this interpreter."""
    interpreter = [sys.executable] if os.path.splitext(path)[1] == ".py" else []
    command = [*(prefix or []), *interpreter, path, *argv]
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the program got the signal too, and decides


class ExecutableNameCompleter:
    """Completes program names on a command line."""

    def __init__(self, *, package_name_key: str | None = None) -> None:
        """Name the argument that holds the package."""
        self.package_name_key = package_name_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the names of the package's programs."""
        package = getattr(parsed_args, self.package_name_key or "")
        return [os.path.basename(path) for path in get_executable_paths(package_name=package)]
