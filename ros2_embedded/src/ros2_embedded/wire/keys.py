"""Key expressions of topics and services, type names on the wire, GIDs and attachments."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import xxhash

_ATTACHMENT = struct.Struct("<qqB16s")
GID_SIZE = 16


def dds_type(interface: str) -> str:
    """Return the DDS name of an interface: `std_msgs/msg/String` -> `std_msgs::msg::dds_::String_`."""
    package, kind, name = interface.split("/")
    return f"{package}::{kind}::dds_::{name}_"


def interface_name(dds_name: str) -> str:
    """Return the interface of a DDS name, as the inverse of `dds_type`; other text is returned unchanged."""
    parts = dds_name.split("::")
    if len(parts) != 4 or parts[2] != "dds_":
        return dds_name
    return f"{parts[0]}/{parts[1]}/{parts[3].removesuffix('_')}"


def data_key(domain: int, name: str, type_name: str, type_hash: str) -> str:
    """Return the key of a topic or a service.

    Args:
        domain: ROS domain id.
        name: fully qualified name, e.g. `/rob/chatter`.
        type_name: DDS type name, of the whole service for a service.
        type_hash: `RIHS01_...`.
    """
    return f"{domain}/{name.strip('/')}/{type_name}/{type_hash}"


def gid_of(liveliness_key: str) -> bytes:
    """Return the GID (16 bytes) of an endpoint: XXH3-128 of its token, low half first, little endian."""
    return xxhash.xxh3_128_digest(liveliness_key.encode())[::-1]


@dataclass(frozen=True)
class Attachment:
    """Metadata that is sent with each payload.

    Attributes:
        sequence: number of the message, from 1 for each publisher or client.
        stamp: time of sending [ns since the epoch].
        gid: of the publisher, or of the client whose request this answers.
    """

    sequence: int
    stamp: int
    gid: bytes

    def encode(self) -> bytes:
        """Return 33 bytes: sequence, stamp, GID size, GID."""
        return _ATTACHMENT.pack(self.sequence, self.stamp, GID_SIZE, self.gid)

    @classmethod
    def decode(cls, data: bytes) -> Attachment:
        """Parse an attachment.

        Raises:
            ValueError: it does not have 33 bytes; peers older than jazzy 0.2.4 send another format.
        """
        return cls(*decode_attachment(data))


def encode_attachment(sequence: int, stamp: int, gid: bytes) -> bytes:
    """Return `Attachment(...).encode()` without making the object, since it runs for every message."""
    return _ATTACHMENT.pack(sequence, stamp, GID_SIZE, gid)


def decode_attachment(data: bytes) -> tuple[int, int, bytes]:
    """Return sequence number, time of sending [ns] and GID, as `Attachment.decode` without the object.

    Raises:
        ValueError: it does not have 33 bytes; peers older than jazzy 0.2.4 send another format.
    """
    if len(data) != _ATTACHMENT.size:
        raise ValueError(f"attachment of {len(data)} bytes, {_ATTACHMENT.size} expected: peer too old?")
    sequence, stamp, _, gid = _ATTACHMENT.unpack(data)
    return sequence, stamp, gid
