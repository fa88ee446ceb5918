"""Message classes by their parsed type."""

from __future__ import annotations

import importlib
from typing import Any

from rosidl_parser.definition import NamespacedType


def import_message_from_namespaced_type(message_type: NamespacedType) -> Any:
    """Return the class of a type.

    Raises:
        ModuleNotFoundError: nothing provides the package.
        AttributeError: the package has no such interface.
    """
    module = importlib.import_module(".".join(message_type.namespaces))
    return getattr(module, message_type.name)
