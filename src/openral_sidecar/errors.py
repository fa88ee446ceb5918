"""What can go wrong between a client and its sidecar. All are `SidecarError`s, with a text fit to be shown."""

from __future__ import annotations

from openral_core.errors import SidecarError


class SidecarDown(SidecarError):
    """There is no server, it ended, or it is being restarted; the call was not, or not wholly, carried out."""


class SidecarTimeout(SidecarError):
    """The deadline of a call passed without a reply."""


class SidecarRefused(SidecarError):
    """The server answered and refused.

    A handler raises it for input that it cannot work with; the same code and message reach the caller.

    Args:
        code: one word that a program can compare. The library's own: `version`, `token`, `malformed`, `unknown_op`,
            `busy`, `too_large`, `internal`.
        message: one line for people; it says what to do.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = _one_line(code, 40)
        self.message = _one_line(message, 500)
        super().__init__(f"{self.code}: {self.message}")


def _one_line(text: str, longest: int) -> str:
    """Return text from another machine as a terminal may show it."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[:longest]).split())


class WireError(SidecarError):
    """Bytes that are not a message of the protocol, or a value that cannot be written as one."""


class IdentityMismatch(SidecarError):
    """Another model answers there than the one that was asked for. The text names both."""
