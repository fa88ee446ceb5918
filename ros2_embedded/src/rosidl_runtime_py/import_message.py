"""Message classes by their parsed type."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from rosidl_parser.definition import AbstractNestedType, NamespacedType


def import_message_from_namespaced_type(message_type: NamespacedType | AbstractNestedType) -> Any:
    """Return the class of a type; of a sequence, with a DeprecationWarning, that of its elements.

    Raises:
        ModuleNotFoundError: nothing provides the package.
        AttributeError: the package has no such interface.
    """
    if isinstance(message_type, AbstractNestedType):
        warnings.warn(
            "import_message_from_namespaced_type takes the type of the elements of a sequence: "
            "pass message_type.value_type",
            DeprecationWarning,
            stacklevel=2,
        )
        return import_message_from_namespaced_type(message_type.value_type)  # type: ignore[arg-type]
    module = importlib.import_module(".".join(message_type.namespaces))
    return getattr(module, message_type.name)
