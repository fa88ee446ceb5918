"""Rules for node, namespace, topic and service names (ROS 2 design: topic and service names)."""

from __future__ import annotations

import re

from rclpy.exceptions import (
    InvalidNamespaceException,
    InvalidNodeNameException,
    InvalidServiceNameException,
    InvalidTopicNameException,
    NameValidationException,
)

TOPIC_SEPARATOR_STRING = "/"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"(?:[A-Za-z_]|\{[A-Za-z_][A-Za-z0-9_]*\})(?:[A-Za-z0-9_]|\{[A-Za-z_][A-Za-z0-9_]*\})*")


def _first_bad(token: str, pattern: re.Pattern[str]) -> int:
    match = pattern.match(token)
    return match.end() if match else 0


def _fail(kind: type[NameValidationException], name: str, reason: str, index: int) -> None:
    raise kind(name, reason, index)  # type: ignore[call-arg]


def validate_node_name(node_name: str) -> bool:
    """True for a valid node name.

    Raises:
        InvalidNodeNameException: says what is wrong and where.
    """
    if not node_name:
        _fail(InvalidNodeNameException, node_name, "node name must not be empty", 0)
    if not _NAME.fullmatch(node_name):
        reason = (
            "node name must not contain characters other than alphanumerics or '_' or start with a number"
        )
        _fail(InvalidNodeNameException, node_name, reason, _first_bad(node_name, _NAME))
    if len(node_name) > 255:
        _fail(InvalidNodeNameException, node_name, "node name length should not exceed '255'", 255)
    return True


def validate_namespace(namespace: str) -> bool:
    """True for a valid, absolute namespace.

    Raises:
        InvalidNamespaceException: says what is wrong and where.
    """
    if not namespace.startswith("/"):
        _fail(InvalidNamespaceException, namespace, "namespace must be absolute, it must lead with a '/'", 0)
    if namespace != "/":
        _check_tokens(InvalidNamespaceException, namespace, namespace[1:], 1, _NAME)
    return True


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """True for a fully qualified, valid topic or service name.

    Raises:
        InvalidTopicNameException, InvalidServiceNameException: says what is wrong and where.
    """
    kind = InvalidServiceNameException if is_service else InvalidTopicNameException
    if not name.startswith("/"):
        _fail(kind, name, "topic name must be absolute, it must lead with a '/'", 0)
    _check_tokens(kind, name, name[1:], 1, _NAME)
    return True


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """True for a valid name that may be relative or private and may hold substitutions such as `{node}`.

    Raises:
        InvalidTopicNameException, InvalidServiceNameException: says what is wrong and where.
    """
    kind = InvalidServiceNameException if is_service else InvalidTopicNameException
    if not name:
        _fail(kind, name, "topic name must not be empty", 0)
    if name == "~":
        return True
    start = 2 if name.startswith("~/") else 1 if name.startswith("/") else 0
    if name.startswith("~") and start == 0:
        _fail(kind, name, "tilde must be followed by a '/'", 1)
    _check_tokens(kind, name, name[start:], start, _TOKEN)
    return True


def _check_tokens(
    kind: type[NameValidationException], name: str, rest: str, index: int, pattern: re.Pattern[str]
) -> None:
    """Check each part between slashes."""
    if not rest or rest.endswith("/"):
        _fail(kind, name, "name must not end with a '/'", max(len(name) - 1, 0))
    for token in rest.split("/"):
        if not token:
            _fail(kind, name, "name must not contain repeated '/'", index)
        if not pattern.fullmatch(token):
            reason = "name must not contain characters other than alphanumerics, '_' or start with a number"
            _fail(kind, name, reason, index + _first_bad(token, pattern))
        index += len(token) + 1
