"""The machinery below the embedded `rclpy`: messages, wire format, graph and package lookup."""

from __future__ import annotations

__all__ = ["checks"]


def checks(enabled: bool = True) -> None:
    """Switch the type and range checks on assignment to message fields on or off (off at start).

    Args:
        enabled: True makes a wrong type, a wrong length or an integer out of range raise at the assignment.
    """
    from ros2_embedded.rosidl.message import set_checks

    set_checks(enabled)
