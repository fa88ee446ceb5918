"""Expansion of relative and private names."""

from __future__ import annotations

from rclpy.validate_names import validate_namespace, validate_node_name, validate_topic_name


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """The fully qualified form of a name in a node.

    Args:
        topic_name: absolute (`/a`), relative (`a`) or private (`~/a`), with `{node}`, `{ns}`, `{namespace}`.
        node_name: the node's name.
        node_namespace: the node's absolute namespace.

    Raises:
        NameValidationException: one of the three is not valid.
    """
    validate_topic_name(topic_name)
    validate_node_name(node_name)
    validate_namespace(node_namespace)
    prefix = node_namespace.rstrip("/")
    full = topic_name
    if full == "~" or full.startswith("~/"):
        full = f"{prefix}/{node_name}{full[1:]}"
    for key, value in (("{node}", node_name), ("{ns}", node_namespace), ("{namespace}", node_namespace)):
        full = full.replace(key, value)
    if not full.startswith("/"):
        full = f"{prefix}/{full}"
    return full.replace("//", "/")
