"""Interface classes by name."""

from __future__ import annotations

import importlib
from typing import Any


def get_interface(identifier: str) -> Any:
    """Return the class of `package/kind/Name`.

    Raises:
        ValueError: when the text has not that form.
        ModuleNotFoundError: when nothing provides the package.
        AttributeError: when the package has no such interface.
    """
    parts = identifier.split("/")
    if len(parts) != 3 or not all(parts) or parts[1] not in ("msg", "srv", "action"):
        raise ValueError(f"'{identifier}' is no interface name; write package/msg/Name (or srv, action)")
    module = importlib.import_module(f"{parts[0]}.{parts[1]}")
    return getattr(module, parts[2])


def get_message(identifier: str) -> Any:
    """Return a message class by `package/msg/Name`; raises as `get_interface` does."""
    return get_interface(_as(identifier, "msg"))


def get_service(identifier: str) -> Any:
    """Return a service class by `package/srv/Name`; raises as `get_interface` does."""
    return get_interface(_as(identifier, "srv"))


def get_action(identifier: str) -> Any:
    """Return an action class by `package/action/Name`; raises as `get_interface` does."""
    return get_interface(_as(identifier, "action"))


def _as(identifier: str, kind: str) -> str:
    """Complete the short form `package/Name`, and refuse interfaces of another kind."""
    parts = identifier.split("/")
    if len(parts) == 2:
        return f"{parts[0]}/{kind}/{parts[1]}"
    if len(parts) == 3 and parts[1] != kind:
        raise ValueError(f"'{identifier}' is no interface of kind '{kind}'")
    return identifier
