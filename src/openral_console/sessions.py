"""Authentication: a token in the address on this machine, name and password from elsewhere, and then a cookie.

Cookies are signed and not stored, so that the process that serves the stop can check them with the same key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass

LIFETIME_S = 12 * 3600.0
"""[s] for which a cookie is valid: a working day."""
PAGE, STOP = "page", "stop"
"""Purposes of a signed name: `PAGE` for everything; `STOP` for the stop alone, which the page's script sends, and which
is valid as long as the console runs."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, and nobody sets it: a clock that is set when the network comes signs nobody out."""


@dataclass(frozen=True)
class Sessions:
    """Signs names and checks them."""

    key: bytes
    """32 bytes, anew at every start."""
    token: str
    """What the address must carry on loopback."""

    @staticmethod
    def create() -> Sessions:
        """Return sessions with a key and a token of their own."""
        return Sessions(secrets.token_bytes(32), secrets.token_urlsafe(32))

    def admits(self, token: str) -> bool:
        """Return whether a token is the one in the address."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def sign(self, name: str, purpose: str = PAGE) -> str:
        """Return a name with its signature for a purpose; for the page it is valid for `LIFETIME_S`."""
        head = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")
        body = f"{head}.{int(_now_s() + LIFETIME_S) if purpose == PAGE else 0}"
        return f"{body}.{self._mac(purpose, body)}"

    def name_in(self, signed: str, purpose: str = PAGE) -> str | None:
        """Return the name of a text that was signed for a purpose; None: the signature is invalid or has expired."""
        body, _, mac = signed.rpartition(".")
        head, _, until = body.partition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(purpose, body).encode()):
            return None
        try:
            name = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode()
            return name if purpose == STOP or _now_s() < int(until) else None
        except (ValueError, binascii.Error):
            return None

    def left_s(self, signed: str) -> float:
        """Return the time [s] for which a text that `name_in` has accepted for the page stays valid."""
        return int(signed.split(".")[1]) - _now_s()

    def _mac(self, purpose: str, body: str) -> str:
        return hmac.new(self.key, f"{purpose}:{body}".encode(), hashlib.sha256).hexdigest()


def _now_s() -> float:
    """Return the time [s] since the machine started."""
    return time.clock_gettime(_CLOCK)
