"""Checks parameter names."""

from __future__ import annotations

from rclpy.exceptions import InvalidParameterException


def validate_parameter_name(name: str) -> bool:
    """True for a name a parameter may have.

    Raises:
        InvalidParameterException: it is empty.
    """
    if not name:
        raise InvalidParameterException(name)
    return True
