"""Full names of nodes."""

from __future__ import annotations


def join_name(namespace: str, name: str) -> str:
    """Return namespace and name as one."""
    return f"{namespace.rstrip('/')}/{name}"
