"""Where a policy is served, and whether one may go there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from openral_core.errors import PolicyError
from openral_core.loopback import is_loopback

TOKEN_VARIABLE = "OPENRAL_POLICY_TOKEN"
"""Holds what the server demands; words of a command line are seen by every user of a machine."""
Scheme = Literal["ws", "wss", "zmq"]


@dataclass(frozen=True)
class Address:
    """One server."""

    scheme: Scheme
    host: str
    port: int
    path: str = ""
    token: str = ""
    """Sent with every connection or request; empty: nothing is."""

    @property
    def url(self) -> str:
        """The address in words, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_url(url: str, environment: Mapping[str, str] = os.environ) -> Address:
    """Read an address such as ws://127.0.0.1:8000 or zmq://127.0.0.1:5555.

    Raises:
        PolicyError: malformed, or off this machine without a token in `OPENRAL_POLICY_TOKEN`. Unencrypted servers
            without a token are anyone's, and so are the images and actions that go there.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    schemes = get_args(Scheme)
    if not host or not port or parts.scheme not in schemes or parts.username or parts.query:
        forms = "ws://host:port, wss://host:port or zmq://host:port"
        raise PolicyError(f"policy url '{url}': write {forms}")
    token = environment.get(TOKEN_VARIABLE, "")
    if not is_loopback(host) and not token:
        raise PolicyError(
            f"policy url '{url}' is not on this machine; put the server's token into {TOKEN_VARIABLE}, "
            "or reach it through an SSH tunnel on 127.0.0.1"
        )
    return Address(parts.scheme, host, port, parts.path.rstrip("/"), token)  # type: ignore[arg-type]
