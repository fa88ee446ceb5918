"""Tests of whole systems as plain functions of pytest: a fixture describes what to launch, a mark names it.

A function decorated with `launch_pytest.fixture` returns a launch description. Tests with the mark
`pytest.mark.launch(fixture=that_function)` run beside its launch, or after it: with `shutdown=True`, and the
part of a generator that follows its `yield`. The names are those of the ROS 2 package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .fixture import fixture

if TYPE_CHECKING:
    from . import actions, tools

__all__ = ["actions", "fixture", "tools"]


def __getattr__(name: str) -> Any:
    """Import what is used: the plug-in lies in this package, and every start of pytest imports that."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
