"""Checks of classes, under the name they have in ROS 2."""

import inspect
from typing import Any

from .arguments import is_a, is_a_subclass, is_not_a

__all__ = ["is_a", "is_a_subclass", "is_not_a", "isclassinstance"]


def isclassinstance(obj: Any) -> bool:
    """Return whether `obj` is an instance of a class, and no class itself."""
    return not inspect.isclass(obj)
