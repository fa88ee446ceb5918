"""The client's side of the two dialects: encoding of calls as frames, and decoding of replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from openral_sidecar.environment.spec import DialectName
from openral_sidecar.errors import SidecarRefused, WireError
from openral_sidecar.wires import openral as wire
from openral_sidecar.wires import rldx as rldx_wire

PROTOCOL = 1
"""Version of the `openral` dialect, which must be equal on both sides."""


def other_version(version: Any) -> str:
    """Return the words for a message's version if it is not PROTOCOL, else an empty text.

    Nobody has looked at it before: it may be an array, or lists as deep as a message can have them.
    """
    if type(version) is int and version == PROTOCOL:
        return ""
    plain = version is None or isinstance(version, int | float | str)
    return str(version)[:20] if plain else f"a {type(version).__name__}"


class Dialect(Protocol):
    """Encoding of one frame in each direction over ZeroMQ REQ/REP."""

    def request(
        self, op: str, data: Mapping[str, Any] | None, token: str, call: int, timeout_s: float
    ) -> bytes:
        """Return the frame of a call.

        Raises:
            WireError: a value cannot be encoded.
        """

    def reply(self, frame: memoryview, call: int) -> dict[str, Any]:
        """Return the server's answer to a call.

        Raises:
            SidecarRefused: the server refused.
            WireError: the bytes are not a reply to the call.
        """


class OpenralDialect:
    """Dialect of openral's own servers.

    Request `{v, id, op, token, wait_ms, data}`; reply `{v, id, data}` or `{v, id, code, message}`.
    """

    def request(
        self, op: str, data: Mapping[str, Any] | None, token: str, call: int, timeout_s: float
    ) -> bytes:
        """Return the frame of a call. Raises WireError for a value that has no form on the wire."""
        wait_ms = int(timeout_s * 1e3)
        message = {
            "v": PROTOCOL,
            "id": call,
            "op": op,
            "token": token,
            "wait_ms": wait_ms,
            "data": data or {},
        }
        return wire.pack(message)

    def reply(self, frame: memoryview, call: int) -> dict[str, Any]:
        """Return what the server answered to that call."""
        message = wire.unpack(frame)
        if not isinstance(message, dict):
            raise WireError("the reply is not a map")
        code, said, data = (message.get(name) for name in ("code", "message", "data"))
        if isinstance(code, str):
            raise SidecarRefused(code, said if isinstance(said, str) else "")
        if other := other_version(message.get("v")):
            raise WireError(f"the server speaks protocol {other}, this client {PROTOCOL}; update one")
        answered = message.get("id")
        if type(answered) is not int or answered != call or not isinstance(data, dict):
            raise WireError("the reply answers another call, or has no data")
        return data


class RldxDialect:
    """Dialect of RLDX-1 and GR00T servers: request `{endpoint, data, api_token}`; reply a value, or `{error}`.

    A reply that is not a map (`get_action` returns a list of two, `kill` null) is returned as `{"result": value}`.
    """

    def request(
        self, op: str, data: Mapping[str, Any] | None, token: str, call: int, timeout_s: float
    ) -> bytes:
        """Return the frame of a call; with `data` None it has no such field, as endpoints without input require.

        Raises:
            WireError: a value cannot be encoded.
        """
        message: dict[str, Any] = {"endpoint": op}
        if data is not None:
            message["data"] = dict(data)
        if token:
            message["api_token"] = token
        return rldx_wire.encode(message)

    def reply(self, frame: memoryview, call: int) -> dict[str, Any]:
        """Return the server's answer to a call; a refusal has the code `error`, the only one of this dialect."""
        answer = bytes(frame)
        value = {"error": None} if answer == b"ERROR" else rldx_wire.decode(answer)
        if isinstance(value, dict) and "error" in value:
            said = value["error"]
            unsaid = "the server failed and did not say why; see its log"
            raise SidecarRefused("error", said if isinstance(said, str) else unsaid)
        return value if isinstance(value, dict) else {"result": value}


def dialect_of(name: DialectName) -> Dialect:
    """Return the dialect of that name."""
    return RldxDialect() if name == "rldx" else OpenralDialect()
