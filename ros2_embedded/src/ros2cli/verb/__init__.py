"""The base of verbs, for the plug-ins of other packages."""

from __future__ import annotations

import argparse
from typing import Any

from ..plugin_system import PLUGIN_SYSTEM_VERSION, instantiate_extensions, satisfies_version
from ..plugins import name_extensions

__all__ = [
    "PLUGIN_SYSTEM_VERSION",
    "VerbExtension",
    "add_task_arguments",
    "get_verb_extensions",
    "instantiate_extensions",
    "satisfies_version",
]


class VerbExtension:
    """The base of verbs that other packages add to a command."""

    NAME: str | None = None
    EXTENSION_POINT_VERSION = "0.1"

    def __init__(self) -> None:
        """Check that the class fits."""
        super().__init__()
        satisfies_version(PLUGIN_SYSTEM_VERSION, "^0.1")

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """Add the arguments; none here."""

    def main(self, *, args: Any) -> int | str | None:
        """Do the work and return the exit code.

        Raises:
            NotImplementedError: a verb must say what it does.
        """
        raise NotImplementedError


def get_verb_extensions(name: str) -> dict[str, Any]:
    """Return the verbs of a group by name; one that is broken is told and left out."""
    return name_extensions(instantiate_extensions(name))


def add_task_arguments(parser: argparse.ArgumentParser, task_name: str) -> None:
    """Let each extension of a group add the arguments of a task by its `add_<task>_arguments`."""
    for name, extension in get_verb_extensions(task_name).items():
        group = parser.add_argument_group(title=f"Arguments for '{name}' packages")
        add = getattr(extension, f"add_{task_name}_arguments", None)
        if add is not None:
            add(group)
