"""Completing names of interfaces, and their default values, for programs that use the command line."""

from __future__ import annotations

from typing import Any

from rosidl_runtime_py import get_interface_packages, get_interfaces, message_to_yaml, utilities


def package_name_completer(**_: Any) -> list[str]:
    """Return the names of the packages that have interfaces."""
    return list(get_interface_packages())


def type_completer(**_: Any) -> list[str]:
    """Return the full names of all interfaces, sorted."""
    return sorted(f"{package}/{name}" for package, names in get_interfaces().items() for name in names)


def interface_to_yaml(identifier: str) -> str:
    """Return the default value of a message, of the request of a service, or of the goal of an action.

    Args:
        identifier: `package/kind/Name`.
    """
    interface: Any = utilities.get_interface(identifier)
    if utilities.is_action(interface):
        return message_to_yaml(interface.Goal())
    if utilities.is_service(interface):
        return message_to_yaml(interface.Request())
    return message_to_yaml(interface())
