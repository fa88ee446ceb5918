"""Types of ROS 1 messages by their definitions: values, bytes on the wire, and the checksum that both ends compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openral_core.errors import InstallationError, OpenralError

try:
    from rosbags.serde import SerdeError
    from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore
except ImportError as missing:
    raise InstallationError("ROS 1 needs rosbags; run: pip install 'openral[sawyer]'") from missing

ANY = "*"
"""Name and checksum of a subscription to whatever a publisher sends."""


class Ros1Error(OpenralError):
    """A peer of a ROS 1 graph cannot be reached, refused, or sent what cannot be read."""


class MessageTypes:
    """The message types of ROS 1 Noetic, and those of given definitions.

    Names are those of ROS 1, such as `std_msgs/Float64`.
    """

    def __init__(self, definitions: Mapping[str, str]) -> None:
        """Take definitions by name, as in .msg files; they may name each other.

        Raises:
            Ros1Error: a definition cannot be read.
        """
        self._store = get_typestore(Stores.ROS1_NOETIC)
        self._checksums: dict[str, tuple[str, str]] = {}
        try:
            found = {}
            for name, text in definitions.items():
                found.update(get_types_from_msg(text, _long(name)))
            self._store.register(found)
        except TypesysError as error:
            raise Ros1Error(f"a definition of {', '.join(definitions)} cannot be read: {error}") from error

    def __contains__(self, name: str) -> bool:
        return _long(name) in self._store.types

    def make(self, name: str, /, **fields: Any) -> Any:
        """Return a value of a type; all its fields are given. Arrays of numbers are (n,) of the field's type."""
        if name == "std_msgs/Empty":
            fields = {"structure_needs_at_least_one_member": 0}  # of ROS 2; it is not sent
        return self._store.types[_long(name)](**fields)

    def header(self, stamp_s: float) -> Any:
        """Return a std_msgs/Header."""
        return self.make("std_msgs/Header", seq=0, stamp=self.time(stamp_s), frame_id="")

    def time(self, stamp_s: float) -> Any:
        """Return a time of the Unix epoch [s]; it has the fields sec and nanosec."""
        sec = int(stamp_s)
        return self._store.types["builtin_interfaces/msg/Time"](sec=sec, nanosec=int((stamp_s - sec) * 1e9))

    def definition(self, name: str) -> tuple[str, str]:
        """Return the text of a type and of all that it is made of, and its MD5 checksum."""
        if name not in self._checksums:
            self._checksums[name] = self._store.generate_msgdef(_long(name), ros_version=1)
        return self._checksums[name]

    def encode(self, name: str, message: Any) -> bytes:
        """Return a value as it goes over the wire."""
        return bytes(self._store.serialize_ros1(message, _long(name)))

    def decode(self, name: str, data: bytes) -> Any:
        """Return a value from the wire. Raises Ros1Error: the bytes are no such value."""
        try:
            return self._store.deserialize_ros1(data, _long(name))
        except SerdeError as error:
            raise Ros1Error(f"no {name} came, although its publisher says so: {error}") from error


def _long(name: str) -> str:
    """Return the name that rosbags knows a type by."""
    package, _, short = name.partition("/")
    return f"{package}/msg/{short}"
