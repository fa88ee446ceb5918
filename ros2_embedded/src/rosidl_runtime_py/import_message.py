"""Message classes by their parsed type."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Sequence
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
    name = ".".join(message_type.namespaces)
    if name not in sys.modules and not _is_there(message_type.namespaces):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return getattr(importlib.import_module(name), message_type.name)


def _is_there(namespaces: Sequence[str]) -> bool:
    """Return whether a package has a module of interfaces, without a run of the package's code.

    The names come from bags and from other machines, and may be those of programs.
    """
    package, *rest = namespaces
    if not package.isidentifier() or rest not in (["msg"], ["srv"], ["action"]):
        return False
    if package in sys.modules:
        return True
    spec = importlib.util.find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    if places is None:
        return False
    return any(finder.find_spec(".".join(namespaces), places) is not None for finder in sys.meta_path)
