"""ROS 1 message types from their definitions: values, serialization, and the MD5 checksum that both peers compare."""

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
"""Type name and checksum of a subscription to any type."""


class Ros1Error(OpenralError):
    """A peer of a ROS 1 graph cannot be reached, refused a request, or sent malformed data."""


class MessageTypes:
    """The message types of ROS 1 Noetic, and those of given definitions.

    Names are those of ROS 1, such as `std_msgs/Float64`.
    """

    def __init__(self, definitions: Mapping[str, str]) -> None:
        """Register definitions by name, in the format of .msg files; they may refer to each other.

        Raises:
            Ros1Error: a definition cannot be parsed.
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
        """Return a message of a type, with all its fields; numeric arrays are (n,) of the field's dtype."""
        if name == "std_msgs/Empty":
            fields = {"structure_needs_at_least_one_member": 0}  # a field of ROS 2, which is not sent
        return self._store.types[_long(name)](**fields)

    def header(self, stamp_s: float) -> Any:
        """Return a std_msgs/Header."""
        return self.make("std_msgs/Header", seq=0, stamp=self.time(stamp_s), frame_id="")

    def time(self, stamp_s: float) -> Any:
        """Return a time, with the fields sec and nanosec, from `stamp_s` [s] since the Unix epoch."""
        sec = int(stamp_s)
        return self._store.types["builtin_interfaces/msg/Time"](sec=sec, nanosec=int((stamp_s - sec) * 1e9))

    def definition(self, name: str) -> tuple[str, str]:
        """Return the definition of a type, with those of all types in it, and its MD5 checksum."""
        if name not in self._checksums:
            self._checksums[name] = self._store.generate_msgdef(_long(name), ros_version=1)
        return self._checksums[name]

    def encode(self, name: str, message: Any) -> bytes:
        """Return a message as bytes."""
        return bytes(self._store.serialize_ros1(message, _long(name)))

    def decode(self, name: str, data: bytes) -> Any:
        """Return a message from bytes.

        Raises:
            Ros1Error: the bytes are not a message of this type.
        """
        try:
            return self._store.deserialize_ros1(data, _long(name))
        except SerdeError as error:
            raise Ros1Error(f"no {name} came, although its publisher says so: {error}") from error


def _long(name: str) -> str:
    """Return the name of a type in rosbags."""
    package, _, short = name.partition("/")
    return f"{package}/msg/{short}"
