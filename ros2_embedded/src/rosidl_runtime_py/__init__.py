"""Messages from and to dicts, YAML and CSV, under the names of the ROS 2 package `rosidl_runtime_py`."""

from .convert import get_message_slot_types, message_to_csv, message_to_ordereddict, message_to_yaml
from .set_message import set_message_fields

__all__ = [
    "get_message_slot_types",
    "message_to_csv",
    "message_to_ordereddict",
    "message_to_yaml",
    "set_message_fields",
]
