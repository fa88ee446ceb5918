"""Namespaces as text."""

from __future__ import annotations


def is_namespace_absolute(ns: str) -> bool:
    """Return whether a namespace starts with '/'."""
    return ns.startswith("/")


def is_root_namespace(ns: str) -> bool:
    """Return whether a namespace is '/'."""
    return ns == "/"


def make_namespace_absolute(ns: str) -> str:
    """Return a namespace with a leading '/'."""
    return ns if is_namespace_absolute(ns) else f"/{ns}"


def prefix_namespace(base_ns: str | None, ns: str | None, *, return_absolute_ns: bool = True) -> str | None:
    """Return a namespace below another one, or as it is when it is absolute.

    Args:
        base_ns: the other one, None for none.
        ns: the namespace, None for none.
        return_absolute_ns: whether the result gets a leading '/'.
    """
    if ns is None:
        ns, base_ns = base_ns, None
    if ns is None:
        return None
    if not base_ns or is_namespace_absolute(ns):
        combined: str | None = ns
    else:
        combined = base_ns if not ns else f"{base_ns.rstrip('/')}/{ns}"
    combined = combined or ""
    if len(combined) > 1:
        combined = combined.rstrip("/")
    return make_namespace_absolute(combined) if return_absolute_ns else combined
