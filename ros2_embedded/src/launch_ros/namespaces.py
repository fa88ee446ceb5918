"""Names and namespaces of nodes."""

from __future__ import annotations


def expand_namespace(pushed: str | None, own: str | None) -> str | None:
    """Return the namespace of a node inside a pushed one.

    An absolute namespace stands for itself, a relative one goes below the pushed one or the root, and without
    one the pushed one counts. None when there is neither.
    """
    if own is None or own == "":
        return pushed
    if own.startswith("/"):
        return own.rstrip("/") or "/"
    return f"{(pushed or '').rstrip('/')}/{own.rstrip('/')}"


def join_name(namespace: str, name: str) -> str:
    """Return namespace and name as one."""
    return f"{namespace.rstrip('/')}/{name}"
