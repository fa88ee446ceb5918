"""Interface classes by name."""

from __future__ import annotations

from typing import Any

from rosidl_parser.definition import NamespacedType

from .import_message import import_message_from_namespaced_type


def get_namespaced_type(identifier: str) -> NamespacedType:
    """Return the type of `package/kind/Name`; raise ValueError for a text of another form."""
    return _parse(identifier, None)


def get_message_namespaced_type(identifier: str) -> NamespacedType:
    """As `get_namespaced_type`, where `package/Name` is a message."""
    return _parse(identifier, "msg")


def get_service_namespaced_type(identifier: str) -> NamespacedType:
    """As `get_namespaced_type`, where `package/Name` is a service."""
    return _parse(identifier, "srv")


def get_action_namespaced_type(identifier: str) -> NamespacedType:
    """As `get_namespaced_type`, where `package/Name` is an action."""
    return _parse(identifier, "action")


def get_interface(identifier: str) -> Any:
    """Return the class of `package/kind/Name`.

    Raises:
        ValueError: when the text has not that form, or the class is no interface.
        ModuleNotFoundError: when nothing provides the package.
        AttributeError: when the package has no such interface.
    """
    interface = import_message_from_namespaced_type(get_namespaced_type(identifier))
    if not (is_message(interface) or is_service(interface) or is_action(interface)):
        raise ValueError(f"Expected the full name of a message, service or action, got '{identifier}'")
    return interface


def get_message(identifier: str) -> Any:
    """Return a message class by `package/msg/Name`; raises as `get_interface` does."""
    interface = import_message_from_namespaced_type(get_message_namespaced_type(identifier))
    if not is_message(interface):
        raise ValueError(f"Expected the full name of a message, got '{identifier}'")
    return interface


def get_service(identifier: str) -> Any:
    """Return a service class by `package/srv/Name`; raises as `get_interface` does."""
    interface = import_message_from_namespaced_type(get_service_namespaced_type(identifier))
    if not is_service(interface):
        raise ValueError(f"Expected the full name of a service, got '{identifier}'")
    return interface


def get_action(identifier: str) -> Any:
    """Return an action class by `package/action/Name`; raises as `get_interface` does."""
    interface = import_message_from_namespaced_type(get_action_namespaced_type(identifier))
    if not is_action(interface):
        raise ValueError(f"Expected the full name of an action, got '{identifier}'")
    return interface


def is_message(interface: Any) -> bool:
    """Return whether this is a message class or a message."""
    return hasattr(interface, "SLOT_TYPES")


def is_service(interface: Any) -> bool:
    """Return whether this is a service class."""
    return hasattr(interface, "Request") and hasattr(interface, "Response")


def is_action(interface: Any) -> bool:
    """Return whether this is an action class."""
    return all(hasattr(interface, part) for part in ("Goal", "Result", "Feedback"))


def _parse(identifier: str, default_kind: str | None) -> NamespacedType:
    parts = identifier.split("/")
    if len(parts) == 2 and default_kind is not None:
        parts.insert(1, default_kind)
    if len(parts) != 3 or not all(parts):
        raise ValueError(f"'{identifier}' is no interface name; write package/msg/Name (or srv, action)")
    return NamespacedType(parts[:-1], parts[-1])
