"""Read the CDR bytes that another runtime made of messages, and write those that this one makes, as JSON by type.

Standard input has an object of type names, such as `std_msgs/msg/String` or `std_srvs/srv/Trigger/Request`, and bytes
in hexadecimal, or empty texts. Every message has the same values on every runtime.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from peer import filled
from rclpy.serialization import deserialize_message, serialize_message


def class_of(name: str) -> Any:
    """The class of a type name."""
    package, kind, *names = name.split("/")
    found: Any = importlib.import_module(f"{package}.{kind}")
    for each in names:
        found = getattr(found, each)
    return found


def main() -> None:
    """Print the bytes, by name; what was read wrongly has the text of what it became."""
    found: dict[str, str] = {}
    for name, theirs in json.load(sys.stdin).items():
        message = filled(class_of(name))
        data = serialize_message(message)
        read = deserialize_message(bytes.fromhex(theirs) or data, type(message))
        found[name] = data.hex() if read == message else f"{read} in place of {message}"
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
