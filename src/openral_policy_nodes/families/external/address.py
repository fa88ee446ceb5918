"""Address of a policy server, and the check whether connecting to it is allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from openral_core.errors import PolicyError
from openral_core.loopback import is_loopback

TOKEN_VARIABLE = "OPENRAL_POLICY_TOKEN"
"""Environment variable with the server's token; command-line arguments would be visible to every user."""
Scheme = Literal["ws", "wss", "zmq"]


@dataclass(frozen=True)
class Address:
    """Address of a policy server."""

    scheme: Scheme
    host: str
    port: int
    path: str = ""
    token: str = ""
    """Token that is sent with every connection (WebSocket) or request (ZeroMQ); empty: none is sent."""

    @property
    def url(self) -> str:
        """The URL, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_url(url: str, environment: Mapping[str, str] = os.environ) -> Address:
    """Parse a URL such as ws://127.0.0.1:8000 or zmq://127.0.0.1:5555.

    Raises:
        PolicyError: the URL is malformed, or its host is not this machine and `OPENRAL_POLICY_TOKEN` is not set.
            Without a token anyone in the network could answer, and receive the images.
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
