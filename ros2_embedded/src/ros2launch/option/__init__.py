"""Options that other packages add to `ros2 launch`, by the entry points of the group `ros2launch.option`."""

from __future__ import annotations

import argparse
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ros2cli.entry_points import get_entry_points, tell_broken
from ros2cli.plugin_system import PLUGIN_SYSTEM_VERSION, instantiate_extensions, satisfies_version

if TYPE_CHECKING:
    from launch import LaunchDescription, LaunchService

__all__ = [
    "PLUGIN_SYSTEM_VERSION",
    "OptionExtension",
    "get_option_extensions",
    "instantiate_extensions",
    "satisfies_version",
]

_GROUP = "ros2launch.option"


class OptionExtension:
    """The base of options that other packages add to `ros2 launch`."""

    NAME: str | None = None
    EXTENSION_POINT_VERSION = "0.1"

    def __init__(self) -> None:
        """Check that the class fits."""
        super().__init__()
        satisfies_version(self.EXTENSION_POINT_VERSION, "^0.1")

    def add_arguments(
        self, parser: argparse.ArgumentParser, cli_name: str, *, argv: Sequence[str] | None = None
    ) -> None:
        """Add the arguments; none here."""

    def prestart(self, args: Any) -> None:
        """Do what comes before the launch service is made."""

    def prelaunch(self, launch_description: LaunchDescription, args: Any) -> tuple[LaunchDescription, ...]:
        """Return, in a tuple, the description that is launched in place of the given one."""
        return (launch_description,)

    def postlaunch(self, launch_return_code: int, args: Any) -> None:
        """Do what comes after the launch."""


def get_option_extensions(exclude_names: Container[str] | None = None) -> dict[str, Any]:
    """Return the options by name; one that is broken is told and left out."""
    extensions = instantiate_extensions(_GROUP, exclude_names=exclude_names)
    for name, extension in extensions.items():
        extension.NAME = name
    return extensions


def add_option_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the options add their arguments; one that fails is told, and takes no part in the launch."""
    usable = {}
    for name, extension in (get_option_extensions() if get_entry_points(_GROUP) else {}).items():
        try:
            extension.add_arguments(parser, "ros2 launch")
        except Exception as error:  # noqa: BLE001  a plug-in of other people may raise anything
            tell_broken(_GROUP, name, error)
        else:
            usable[name] = extension
    parser.set_defaults(option_extensions=usable)


def run_with_options(
    make_service: Any, description: LaunchDescription, args: Any, extensions: Mapping[str, Any]
) -> int:
    """Launch a description with options: each acts before the service is made, before it runs, and after it.

    Args:
        make_service: function without arguments that returns a `LaunchService`.
        description: what is launched, unless an option gives another one.
        args: parsed arguments, for the options.
        extensions: the options by name.

    Returns:
        The exit code of the launch.
    """
    for _, extension in sorted(extensions.items()):
        extension.prestart(args)
    service: LaunchService = make_service()
    for _, extension in sorted(extensions.items()):
        description = extension.prelaunch(description, args)[0]
    service.include_launch_description(description)
    code = service.run()
    for _, extension in sorted(extensions.items()):
        extension.postlaunch(code, args)
    return code
