"""The two languages of the wire, as the client speaks them: how a call becomes a frame, and a frame a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from openral_sidecar.environment.spec import DialectName
from openral_sidecar.errors import SidecarRefused, WireError
from openral_sidecar.wires import openral as wire
from openral_sidecar.wires import rldx as rldx_wire

PROTOCOL = 1
"""Version of the `openral` dialect; both sides must speak the same."""


class Dialect(Protocol):
    """One frame each way over ZeroMQ REQ/REP."""

    def request(
        self, op: str, data: Mapping[str, Any] | None, token: str, call: int, timeout_s: float
    ) -> bytes:
        """Return the frame of a call. Raises WireError for a value that has no form on the wire."""

    def reply(self, frame: memoryview, call: int) -> dict[str, Any]:
        """Return what the server answered to that call.

        Raises:
            SidecarRefused: it refused.
            WireError: these bytes are no reply to it.
        """


class OpenralDialect:
    """For servers of our own.

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
        code, data = message.get("code"), message.get("data")
        if isinstance(code, str):
            raise SidecarRefused(code, str(message.get("message", "")))
        if message.get("v") != PROTOCOL:
            raise WireError(
                f"the server speaks protocol {message.get('v')!r}, this client {PROTOCOL}; update one"
            )
        if message.get("id") != call or not isinstance(data, dict):
            raise WireError("the reply answers another call, or has no data")
        return data


class RldxDialect:
    """Of RLDX-1 and GR00T servers: `{endpoint, data, api_token}` up; a value, or `{error}`, down.

    A reply that is no map (`get_action` answers a list of two, `kill` null) arrives as `{"result": value}`.
    """

    def request(
        self, op: str, data: Mapping[str, Any] | None, token: str, call: int, timeout_s: float
    ) -> bytes:
        """See `Dialect`; `data` None leaves the field out, as endpoints without input demand."""
        message: dict[str, Any] = {"endpoint": op}
        if data is not None:
            message["data"] = dict(data)
        if token:
            message["api_token"] = token
        return rldx_wire.encode(message)

    def reply(self, frame: memoryview, call: int) -> dict[str, Any]:
        """See `Dialect`; a refusal has the code `error`, the dialect knows no other."""
        answer = bytes(frame)
        if answer == b"ERROR":
            raise SidecarRefused("error", "the server failed and did not say why; see its log")
        value = rldx_wire.decode(answer)
        if isinstance(value, dict) and "error" in value:
            raise SidecarRefused("error", str(value["error"]))
        return value if isinstance(value, dict) else {"result": value}


def dialect_of(name: DialectName) -> Dialect:
    """Return the dialect of that name."""
    return RldxDialect() if name == "rldx" else OpenralDialect()
