"""Checks that a class is an interface of the kind wanted."""

from __future__ import annotations

from typing import Any

from rclpy.endpoint import check_is_interface
from rclpy.exceptions import NoTypeSupportImportedException


def check_for_type_support(msg_or_srv_type: Any) -> None:
    """Check that a class is a message, a service or an action.

    Raises:
        NoTypeSupportImportedException: it is another class.
        AttributeError: it is no class.
    """
    if not isinstance(msg_or_srv_type, type):
        raise AttributeError(f"{msg_or_srv_type!r} is no class")
    if not getattr(msg_or_srv_type, "_TYPE_NAME", ""):
        raise NoTypeSupportImportedException(f"{msg_or_srv_type!r} is no ROS interface class")


def check_is_valid_msg_type(msg_type: Any) -> None:
    """Check that a class is a message.

    Raises:
        RuntimeError: it is something else.
    """
    _check(msg_type, "msg")


def check_is_valid_srv_type(srv_type: Any) -> None:
    """Check that a class is a service.

    Raises:
        RuntimeError: it is something else.
    """
    _check(srv_type, "srv")


def check_is_valid_action_type(action_type: Any) -> None:
    """Check that a class is an action.

    Raises:
        RuntimeError: it is something else.
    """
    _check(action_type, "action")


def _check(interface: Any, kind: str) -> None:
    try:
        name = check_is_interface(interface, (kind,))
    except NoTypeSupportImportedException as error:
        raise RuntimeError(str(error)) from error
    if f"/{kind}/" not in name:
        raise RuntimeError(f"{name} is no {kind}")
