"""The implementation below the embedded `rclpy`: messages, wire format, graph and package look-up."""

from __future__ import annotations

__all__ = ["checks"]


def checks(enabled: bool = True) -> None:
    """Switch the checks on assignment to message fields on or off; they are off at first.

    Args:
        enabled: whether a wrong type, a wrong length or an integer out of range raises at the assignment.
    """
    from ros2_embedded.rosidl.message import set_checks

    set_checks(enabled)
