"""Frames of TCPROS: a length and as many bytes; the first frame in each direction is a header of `key=value` fields."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping

from openral_robot_bridge.ros1.messages import Ros1Error

MAX_HEADER_BYTES = 1 << 20
"""[bytes] size of a header, which includes a message's definition, beyond which it is rejected."""
MAX_MESSAGE_BYTES = 1 << 26
"""[bytes] size of a message beyond which it is rejected: that of four images of 4096 by 4096 bytes."""
CUT_S = 10
"""[s] of a peer's silence, on TCP's own level, after which its connection ends."""
_LENGTH = struct.Struct("<I")


def notice_a_cut(connection: socket.socket) -> None:
    """Let the connection end within about CUT_S if the peer answers no more, as where a cable is pulled.

    Without that, a side that only reads never learns of it, and one that writes after a quarter of an hour.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, CUT_S // 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, CUT_S // 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * CUT_S)


def frame(payload: bytes) -> bytes:
    """Return a payload as a frame."""
    return _LENGTH.pack(len(payload)) + payload


def read_frame(connection: socket.socket, most: int) -> bytes | None:
    """Return the content of the next frame; None: the peer closed the connection.

    Raises:
        Ros1Error: the frame is longer than `most` [bytes], or the connection ended within it.
        OSError: the connection is lost, or nothing came within its timeout.
    """
    head = _read(connection, _LENGTH.size)
    if not head:
        return None
    if len(head) == _LENGTH.size:
        (size,) = _LENGTH.unpack(head)
        if size > most:
            raise Ros1Error(f"a peer sent a frame of {size} bytes; at most {most} are read")
        content = _read(connection, size)
        if len(content) == size:
            return content
    raise Ros1Error("a peer closed its connection amid a message")


def encode_header(fields: Mapping[str, str]) -> bytes:
    """Return a header as a frame."""
    return frame(b"".join(frame(f"{key}={value}".encode()) for key, value in fields.items()))


def read_header(connection: socket.socket) -> dict[str, str]:
    """Return the header that a peer sends first.

    Raises:
        Ros1Error: it is malformed or missing.
        OSError: see `read_frame`.
    """
    content = read_frame(connection, MAX_HEADER_BYTES)
    if content is None:
        raise Ros1Error("a peer closed its connection before its header")
    fields: dict[str, str] = {}
    at = 0
    try:
        while at < len(content):
            (size,) = _LENGTH.unpack_from(content, at)
            at += _LENGTH.size
            key, equals, value = content[at : at + size].decode().partition("=")
            at += size
            if not equals or at > len(content):
                raise Ros1Error("a peer began with what is no header of TCPROS")
            fields[key] = value
    except (struct.error, UnicodeDecodeError) as error:
        raise Ros1Error("a peer began with what is no header of TCPROS") from error
    return fields


def _read(connection: socket.socket, size: int) -> bytes:
    """Return `size` bytes, or fewer if the peer closed the connection."""
    parts, missing = [], size
    while missing:
        part = connection.recv(min(missing, 1 << 16))
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
