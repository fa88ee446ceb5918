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
MAX_NODE_NAME = 255
MAX_TOPIC_NAME = 247
_UNBALANCED = "topic name must not have unbalanced (unmatched) curly braces '{}'"
_WORD = re.compile(r"[A-Za-z0-9_]*")
_TEMPLATE = re.compile(r"(?:[A-Za-z0-9_]|\{[A-Za-z_][A-Za-z0-9_]*\})*")


def _fail(kind: type[NameValidationException], name: str, reason: str, index: int) -> None:
    raise kind(name, reason, index)  # type: ignore[call-arg]


def validate_node_name(node_name: str) -> bool:
    """True for a valid node name.

    Raises:
        InvalidNodeNameException: says what is wrong and where.
    """
    kind, what = InvalidNodeNameException, "node name"
    if not node_name:
        _fail(kind, node_name, f"{what} must not be empty", 0)
    _check_word(kind, node_name, node_name, 0, f"{what} must not", "alphanumerics or '_'", _WORD)
    if len(node_name) > MAX_NODE_NAME:
        reason = f"{what} length should not exceed '{MAX_NODE_NAME}'"
        _fail(kind, node_name, reason, MAX_NODE_NAME)
    return True


def validate_namespace(namespace: str) -> bool:
    """True for a valid, absolute namespace.

    Raises:
        InvalidNamespaceException: says what is wrong and where.
    """
    kind, what = InvalidNamespaceException, "namespace"
    if not namespace:
        _fail(kind, namespace, f"{what} must not be empty", 0)
    if not namespace.startswith("/"):
        _fail(kind, namespace, f"{what} must be absolute, it must lead with a '/'", 0)
    if namespace != "/":
        _check_tokens(kind, what, namespace, 1, _WORD)
    return True


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """True for a fully qualified, valid topic or service name.

    Raises:
        InvalidTopicNameException, InvalidServiceNameException: says what is wrong and where.
    """
    kind = InvalidServiceNameException if is_service else InvalidTopicNameException
    if not name.startswith("/"):
        _fail(kind, name, "topic name must be absolute, it must lead with a '/'", 0)
    _check_tokens(kind, "topic name", name, 1, _WORD)
    if len(name) > MAX_TOPIC_NAME:
        _fail(kind, name, f"topic name length should not exceed '{MAX_TOPIC_NAME}'", MAX_TOPIC_NAME - 1)
    return True


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """True for a name that may be relative or private and may hold substitutions such as `{node}`.

    Raises:
        InvalidTopicNameException, InvalidServiceNameException: says what is wrong and where.
    """
    kind = InvalidServiceNameException if is_service else InvalidTopicNameException
    if not name:
        _fail(kind, name, "topic name must not be empty string", 0)
    if name == "~":
        return True
    start = 2 if name.startswith("~/") else 1 if name.startswith("/") else 0
    if name.startswith("~") and start == 0:
        _fail(kind, name, "topic name has tilde '~' not followed by a forward slash '/'", 1)
    _check_braces(kind, name)
    _check_tokens(kind, "topic name", name, start, _TEMPLATE)
    return True


def _check_braces(kind: type[NameValidationException], name: str) -> None:
    """Check what stands between curly braces, and that there are two of them."""
    opened = -1
    for index, character in enumerate(name):
        if character == "{" and opened < 0:
            opened = index
        elif character == "}" and opened < 0:
            _fail(kind, name, _UNBALANCED, index)
        elif character == "}":
            opened = -1
        elif opened >= 0 and character.isdigit() and index == opened + 1:
            _fail(kind, name, "substitution name must not start with a number", index)
        elif opened >= 0 and not _WORD.fullmatch(character):
            reason = "substitution name must not contain characters other than alphanumerics or '_'"
            _fail(kind, name, reason, index)
    if opened >= 0:
        _fail(kind, name, _UNBALANCED, opened)


def _check_tokens(
    kind: type[NameValidationException], what: str, name: str, index: int, pattern: re.Pattern[str]
) -> None:
    """Check each part between slashes, from an index on."""
    if index == len(name) or name.endswith("/"):
        _fail(kind, name, f"{what} must not end with a forward slash '/'", max(len(name) - 1, 0))
    allowed = "alphanumerics, '_', '~', '{', or '}'" if pattern is _TEMPLATE else "alphanumerics or '_'"
    for token in name[index:].split("/"):
        if not token:
            _fail(kind, name, f"{what} must not contain repeated '/'", index)
        _check_word(kind, name, token, index, f"{what} token must not", allowed, pattern)
        index += len(token) + 1


def _check_word(
    kind: type[NameValidationException],
    name: str,
    word: str,
    index: int,
    what: str,
    allowed: str,
    pattern: re.Pattern[str],
) -> None:
    """Check one word of a name; `what` begins the reason."""
    match = pattern.match(word)
    end = match.end() if match else 0
    if end < len(word):
        _fail(kind, name, f"{what} contain characters other than {allowed}", index + end)
    if word[0].isdigit():
        _fail(kind, name, f"{what} start with a number", index)
