"""The tags and substitution names that markup may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

ParseMethod = Callable[..., tuple[Any, dict[str, Any]]]
"""Takes an entity and its parser, or a substitution's arguments; returns what to call with which keywords."""

action_parse_methods: dict[str, ParseMethod] = {}
substitution_parse_methods: dict[str, ParseMethod] = {}

_T = TypeVar("_T")


def expose_action(name: str) -> Callable[[_T], _T]:
    """Make a class with a class method `parse(entity, parser)`, or such a function, what a tag means."""
    return _expose(name, action_parse_methods)


def expose_substitution(name: str) -> Callable[[_T], _T]:
    """Make a class with a class method `parse(data)`, or such a function, the meaning of `$(name ...)`.

    `data` has one list of substitutions for each argument.
    """
    return _expose(name, substitution_parse_methods)


def _expose(name: str, known: dict[str, ParseMethod]) -> Callable[[_T], _T]:
    def expose(exposed: _T) -> _T:
        method: Any = exposed
        if isinstance(exposed, type):
            method = getattr(exposed, "parse", None)
            if method is None:
                raise RuntimeError(f"cannot expose {exposed.__name__} as '{name}': no class method 'parse'")
        elif not callable(exposed):
            raise RuntimeError(f"cannot expose {exposed!r} as '{name}': expected a class or a function")
        if name in known and known[name] != method:
            raise RuntimeError(f"'{name}' is exposed already, by {known[name]!r}")
        known[name] = method
        return exposed

    return expose
