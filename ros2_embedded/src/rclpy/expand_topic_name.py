"""Expansion of relative and private names."""

from __future__ import annotations

import re

from rclpy.exceptions import NameValidationException
from rclpy.validate_names import validate_namespace, validate_node_name, validate_topic_name

_SUBSTITUTION = re.compile(r"\{(\w+)\}")


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """The fully qualified form of a name in a node.

    Args:
        topic_name: absolute (`/a`), relative (`a`) or private (`~/a`), with `{node}`, `{ns}`, `{namespace}`.
        node_name: the node's name.
        node_namespace: the node's absolute namespace.

    Raises:
        ValueError: one of the three is not valid, or a substitution is unknown.
    """
    try:
        validate_topic_name(topic_name)
        validate_node_name(node_name)
        validate_namespace(node_namespace)
    except NameValidationException as error:
        raise ValueError(str(error)) from error
    prefix = node_namespace.rstrip("/")
    full = topic_name
    if full == "~" or full.startswith("~/"):
        full = f"{prefix}/{node_name}{full[1:]}"
    values = {"node": node_name, "ns": node_namespace, "namespace": node_namespace}

    def replace(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise ValueError(f"unknown substitution {match[0]} in topic name {topic_name!r}")
        return values[match[1]]

    full = _SUBSTITUTION.sub(replace, full)
    if not full.startswith("/"):
        full = f"{prefix}/{full}"
    return full.replace("//", "/")
