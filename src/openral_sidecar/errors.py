"""Errors between a client and its sidecar; all are `SidecarError`s, with a message for the user."""

from __future__ import annotations

from openral_core.cli.printable import one_line
from openral_core.errors import SidecarError


class SidecarDown(SidecarError):
    """There is no server, it ended, or it is being restarted; the call was not carried out completely."""


class SidecarTimeout(SidecarError):
    """The deadline of a call passed without a reply."""


class SidecarRefused(SidecarError):
    """The server refused the request.

    A handler raises it for unusable input; its code and message reach the caller.

    Args:
        code: one word that a program can compare. Those of this library are `version`, `token`, `malformed`,
            `unknown_op`, `busy`, `too_large` and `internal`.
        message: one line for the user, with a remedy.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = one_line(code[:40])
        self.message = one_line(message[:500])
        super().__init__(f"{self.code}: {self.message}")


class WireError(SidecarError):
    """Bytes are not a message of the protocol, or a value cannot be encoded as one."""


class IdentityMismatch(SidecarError):
    """A server serves another model than the requested one; the message names both."""
