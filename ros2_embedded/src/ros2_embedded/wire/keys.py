"""Key expressions of topics and services, type names on the wire, GIDs and attachments."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import xxhash

_ATTACHMENT = struct.Struct("<qqB16s")
GID_SIZE = 16


def dds_type(interface: str) -> str:
    """`std_msgs/msg/String` -> `std_msgs::msg::dds_::String_`."""
    package, kind, name = interface.split("/")
    return f"{package}::{kind}::dds_::{name}_"


def interface_name(dds_name: str) -> str:
    """`std_msgs::msg::dds_::String_` -> `std_msgs/msg/String`; other text comes back unchanged."""
    parts = dds_name.split("::")
    if len(parts) != 4 or parts[2] != "dds_":
        return dds_name
    return f"{parts[0]}/{parts[1]}/{parts[3].removesuffix('_')}"


def data_key(domain: int, name: str, type_name: str, type_hash: str) -> str:
    """The key of a topic or a service.

    Args:
        domain: ROS domain id.
        name: fully qualified name, e.g. `/rob/chatter`.
        type_name: DDS type name, of the whole service for a service.
        type_hash: `RIHS01_...`.
    """
    return f"{domain}/{name.strip('/')}/{type_name}/{type_hash}"


def gid_of(liveliness_key: str) -> bytes:
    """The 16-byte GID of an endpoint: XXH3-128 of its liveliness key, low half first, each little endian."""
    return xxhash.xxh3_128_digest(liveliness_key.encode())[::-1]


@dataclass(frozen=True)
class Attachment:
    """What travels beside each payload.

    Attributes:
        sequence: counts from 1 for each publisher or client.
        stamp: time of sending [ns since the epoch].
        gid: of the publisher, or of the client whose request this answers.
    """

    sequence: int
    stamp: int
    gid: bytes

    def encode(self) -> bytes:
        """33 bytes: sequence, stamp, GID size, GID."""
        return _ATTACHMENT.pack(self.sequence, self.stamp, GID_SIZE, self.gid)

    @classmethod
    def decode(cls, data: bytes) -> Attachment:
        """Parse an attachment.

        Raises:
            ValueError: not 33 bytes; a peer older than jazzy 0.2.4 sends another form.
        """
        return cls(*decode_attachment(data))


def encode_attachment(sequence: int, stamp: int, gid: bytes) -> bytes:
    """As `Attachment(...).encode()`, without making the object: it runs for every message."""
    return _ATTACHMENT.pack(sequence, stamp, GID_SIZE, gid)


def decode_attachment(data: bytes) -> tuple[int, int, bytes]:
    """Sequence number, time of sending and GID: `Attachment.decode` without the object.

    Raises:
        ValueError: not 33 bytes; a peer older than jazzy 0.2.4 sends another form.
    """
    if len(data) != _ATTACHMENT.size:
        raise ValueError(f"attachment of {len(data)} bytes, {_ATTACHMENT.size} expected: peer too old?")
    sequence, stamp, _, gid = _ATTACHMENT.unpack(data)
    return sequence, stamp, gid
