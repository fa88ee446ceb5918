"""Messages to CDR bytes and back."""

from __future__ import annotations

from typing import Any

from rclpy.passed_on import pass_on
from ros2_embedded.rosidl import classes


def serialize_message(message: Any) -> bytes:
    """The CDR bytes of a message, encapsulation header included."""
    return bytes(classes.serialize(message))


def deserialize_message(serialized_message: bytes, message_type: type) -> Any:
    """The message held by CDR bytes."""
    return classes.deserialize(serialized_message, message_type)


pass_on(__name__)
