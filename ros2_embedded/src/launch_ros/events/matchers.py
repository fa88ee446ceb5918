"""Predicates that choose nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..actions.node import Node


def matches_node_name(node_name: str) -> Callable[[Node], bool]:
    """Return a predicate for the action whose node has this full name; a leading '/' is added if missing."""
    wanted = node_name if node_name.startswith("/") else f"/{node_name}"
    return lambda action: getattr(action, "node_name", None) == wanted
