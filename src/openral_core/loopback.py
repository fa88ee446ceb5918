"""Detection of loopback addresses. It uses the standard library only."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`; for a name other than localhost it is False."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Return the host of a URL, or of `//host:port`, in lower case; empty: it names none, or is malformed."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
